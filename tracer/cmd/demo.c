/* demo.c - `wsdbg demo`: a demo kernel, most with a deliberate hang, under wsdbg: on a GPU, else on the simulator, else
 * the session recorded of it.
 *
 * Reads: the demo programs beside wsdbg, or the recordings.  Writes: what run or replay write.
 */
#include <stdlib.h>
#include <string.h>

#include "base/console.h"
#include "base/sheet.h"
#include "base/near_word.h"
#include "cmd/demo_list.h"
#include "cmd/gpu_probe.h"
#include "cmd/launch.h"
#include "cmd/options.h"
#include "cmd/paths.h"
#include "cmd/replay.h"

static const char default_demo[] = "parity-wrong";

static void put_row(const struct wsdbg_sheet *sheet, const char *name, const char *program, const char *recorded,
                    const char *story)
{
    char first[128];
    const int columns = snprintf(first, sizeof first, "%-24s %-15s %-8s ", name, program, recorded);
    wsdbg_sheet_put(sheet, NULL, first, (size_t)columns, SIZE_MAX, *story ? story : " ");
}

static void print_list(const struct wsdbg_demo *demos, size_t count)
{
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(stdout, stdout);
    put_row(&sheet, "NAME", "PROGRAM", "RECORDED", "WHAT HAPPENS");
    for (size_t i = 0; i < count; i++)
        put_row(&sheet, demos[i].name, demos[i].program ? demos[i].program : "-", demos[i].recorded ? "yes" : "no",
                demos[i].story);
}

static const struct wsdbg_demo *find_demo(const struct wsdbg_demo *demos, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(demos[i].name, name) == 0)
            return &demos[i];
    return NULL;
}

/* `why` there is no GPU to run it on: NULL = there is one. */
static struct wsdbg_error *run_live(const struct wsdbg_invocation *invocation, const struct wsdbg_demo *demo,
                                    const char *why, uint64_t stall_ns, int *status)
{
    char *path;
    struct wsdbg_error *error = wsdbg_path_program(demo->program, &path);
    if (error)
        return error;
    const bool has_bug = demo->bug[0] != '\0';
    char *words[] = {path, has_bug ? (char[]){"--bug"} : NULL, (char *)demo->bug, NULL};
    struct wsdbg_run_options options = {
        .program = words,
        .output = wsdbg_option_value(invocation, "output"),
        .device = why ? WSDBG_RUN_ON_SIMULATOR : WSDBG_RUN_ON_GPU,
        .observer = "driver",
        .stall_ns = stall_ns,
        .work_stall_ns = stall_ns,
        .on_stall = WSDBG_ON_STALL_KILL,
        .json = wsdbg_option_value(invocation, "json") != NULL,
    };
    wsdbg_say("%s%srunning %s%s%s%s", why ? why : "", why ? ": " : "", path, has_bug ? " --bug " : "", demo->bug,
              why ? " on the simulated sm_90" : "");
    error = wsdbg_run_program(&options, status);
    free(path);
    return error;
}

static struct wsdbg_error *run_recorded(const struct wsdbg_invocation *invocation, const struct wsdbg_demo *demo,
                                        const char *why, uint64_t stall_ns, int *status)
{
    char *path;
    struct wsdbg_error *error = wsdbg_path_recording(demo->name, &path);
    if (error)
        return wsdbg_error_prefix(error, "%s, and %s is not one of the demos with a recording (wsdbg demo --list)", why,
                                  demo->name);
    struct wsdbg_replay_options options = {
        .path = path,
        .output = wsdbg_option_value(invocation, "output"),
        .stall_ns = stall_ns,
        .work_stall_ns = stall_ns,
        .json = wsdbg_option_value(invocation, "json") != NULL,
    };
    wsdbg_say("this is a replay: %s; nothing is run here, the evidence was recorded on an H200", why);
    error = wsdbg_replay_file(&options, status);
    free(path);
    return error;
}

/* Why the demo cannot run on a GPU here, or NULL. */
static const char *obstacle(const struct wsdbg_demo *demo)
{
    struct wsdbg_gpu_probe probe;
    wsdbg_gpu_probe(WSDBG_GPU_PROBE_MS, &probe);
    if (!probe.ready)
        return "no NVIDIA driver with a GPU was found";
    if (!wsdbg_gpu_probe_has_hopper(&probe))
        return "no GPU of compute capability 9.0 was found";
    return demo->program ? NULL : "the demo program was not built";
}

static bool can_simulate(const struct wsdbg_demo *demo)
{
    char *folder = NULL;
    struct wsdbg_error *error = wsdbg_path_simulator(&folder);
    const bool found = !error;
    wsdbg_error_destroy(error);
    free(folder);
    return found && demo->program;
}

static struct wsdbg_error *no_such_demo(const struct wsdbg_demo *demos, size_t count, const char *name)
{
    const char *meant = NULL;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (wsdbg_word_is_nearer(name, demos[i].name, &fewest))
            meant = demos[i].name;
    if (meant)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "there is no demo '%s'; did you mean %s?", name, meant);
    return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "there is no demo '%s'; wsdbg demo --list shows them", name);
}

static struct wsdbg_error *demo_run(const struct wsdbg_invocation *invocation, int *status)
{
    struct wsdbg_demo demos[WSDBG_DEMOS_MAX];
    const char *name = invocation->operand_count ? invocation->operands[0] : default_demo;
    const char *stall = wsdbg_option_value(invocation, "stall");
    uint64_t stall_ns;
    struct wsdbg_error *error = wsdbg_parse_seconds("stall", stall ? stall : "2", &stall_ns);
    if (error)
        return error;
    size_t count = wsdbg_demo_list(demos);
    *status = 0;
    if (wsdbg_option_value(invocation, "list")) {
        print_list(demos, count);
        return NULL;
    }
    const struct wsdbg_demo *demo = find_demo(demos, count, name);
    if (!demo)
        return no_such_demo(demos, count, name);
    if (wsdbg_option_value(invocation, "replay"))
        return run_recorded(invocation, demo, "a replay was asked for", stall_ns, status);
    const char *why = obstacle(demo);
    return why && !can_simulate(demo) ? run_recorded(invocation, demo, why, stall_ns, status)
                                      : run_live(invocation, demo, why, stall_ns, status);
}

static const struct wsdbg_option options[] = {
    {0, "list", NULL, "list the demos: name, program, recorded or not, story", NULL, NULL},
    {0, "replay", NULL, "replay the recording instead of running it", NULL, NULL},
    {'o', "output", "FILE", "session database (default: as run; none for a replay)", NULL, NULL},
    {0, "stall", "SECONDS", "no progress for this long is a stall (default 2)", NULL, NULL},
    {0, "json", NULL, "the report as JSON on stdout at the end", NULL, NULL},
};

const struct wsdbg_command wsdbg_command_demo = {
    .name = "demo",
    .summary = "Run a demo kernel under wsdbg; most of them hang",
    .usage = "[NAME] [--list]",
    .description =
        "Runs a demo kernel under wsdbg; without NAME it is parity-wrong, which hangs. Most demos have one\n"
        "deliberate mistake; some are slow, fault or are correct, and --list says what each does. Without a\n"
        "Hopper GPU it runs on the simulator. If the demo programs were not built, wsdbg replays what was\n"
        "recorded of it on an H200, with the same watchdog, diagnosis and report; not every demo was recorded.",
    .needs = "nothing; a GPU of compute capability 9.0 is used where there is one",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_max = 1,
    .exits = WSDBG_EXITS_PROGRAM,
    .operand = WSDBG_OPERAND_DEMO,
    .lives_on = true,
    .run = demo_run,
};
