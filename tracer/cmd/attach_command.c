/* attach_command.c - `wsdbg attach`: finds the armed processes that are meant, and shows stacks of others.
 *
 * Reads: /proc, the tables of armed processes.  Writes: stdout with --list; what join.c writes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/console.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/join.h"
#include "cmd/options.h"
#include "evidence/evidence.h"
#include "model/process.h"

static const char default_stall_seconds[] = "1";

/* The processes that are attached to, and their locks. */
struct targets {
    struct wsdbg_armed_place place;
    uint32_t *processes;
    int *locks;
    size_t count;
};

static void targets_deinit(struct targets *targets)
{
    for (size_t i = 0; targets->locks && i < targets->count; i++) {
        wsdbg_armed_clean_after(&targets->place, targets->processes[i]);
        close(targets->locks[i]);
    }
    free(targets->locks);
    free(targets->processes);
    *targets = (struct targets){0};
}

/* ---- --list ---- */

static const struct wsdbg_process *process_row(const struct wsdbg_snapshot *snapshot, uint32_t process, uint32_t *row)
{
    *row = wsdbg_snapshot_process(snapshot, process);
    return *row < snapshot->process_count ? &snapshot->processes[*row] : NULL;
}

static void program_of(uint32_t process, char *out, size_t bytes)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%u/cmdline", process);
    FILE *file = fopen(path, "re");
    const size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i + 1 < count; i++)
        if (!text[i])
            text[i] = ' ';
    text[count] = '\0';
    wsdbg_text_escape_into(count ? text : "?", out, bytes);
}

/* Ordinals of the devices on which it has contexts. */
static void devices_of(const struct wsdbg_snapshot *snapshot, uint32_t process, char *out, size_t bytes)
{
    size_t length = 0;
    snprintf(out, bytes, "?");
    for (size_t i = 0; i < snapshot->context_count && length + 12 < bytes; i++)
        if (snapshot->contexts[i].process_id == process && snapshot->contexts[i].alive)
            length += (size_t)snprintf(out + length, bytes - length, "%s%u", length ? "," : "",
                                       snapshot->contexts[i].device_ordinal);
}

static void print_process(const struct wsdbg_armed_place *place, const struct wsdbg_snapshot *snapshot,
                          uint32_t process)
{
    uint32_t row;
    const struct wsdbg_process *known = process_row(snapshot, process, &row);
    char rank[16] = "?", age[24] = "?", devices[32], program[512], state[64] = "?";
    const uint64_t age_ns = wsdbg_armed_age_ns((pid_t)process);
    const pid_t watcher = wsdbg_armed_locked_by(place, process);
    if (known && known->rank.known)
        snprintf(rank, sizeof rank, "%u", known->rank.value);
    if (known)
        snprintf(state, sizeof state, "%s", wsdbg_process_state_name(wsdbg_process_work(snapshot, row).state));
    if (watcher > 0)
        snprintf(state, sizeof state, "watched by %d", (int)watcher);
    else if (watcher)
        snprintf(state, sizeof state, "watched");
    devices_of(snapshot, process, devices, sizeof devices);
    program_of(process, program, sizeof program);
    if (age_ns)
        snprintf(age, sizeof age, "%" PRIu64 " s", age_ns / 1000000000u);
    printf("%7u  %4s  %8s  %-6s  %-16s  %s\n", process, rank, age, devices, state, program);
}

static struct wsdbg_error *list(const struct wsdbg_armed_place *place)
{
    struct wsdbg_evidence *evidence = NULL;
    struct wsdbg_snapshot snapshot = {0};
    uint32_t *processes = NULL;
    size_t count = 0;
    struct wsdbg_error *error = wsdbg_armed_list(place, &processes, &count);
    if (!error)
        error = wsdbg_evidence_attach_ring(place->session, place->folder, &evidence);
    if (!error)
        error = evidence->ops->poll(evidence, wsdbg_monotonic_ns(), &snapshot);
    if (!error) {
        printf("%7s  %4s  %8s  %-6s  %-16s  %s\n", "PROCESS", "RANK", "AGE", "GPU", "STATE", "PROGRAM");
        for (size_t i = 0; i < count; i++)
            print_process(place, &snapshot, processes[i]);
        fflush(stdout);
    }
    wsdbg_snapshot_deinit(&snapshot);
    if (evidence)
        evidence->ops->close(evidence);
    free(processes);
    return error;
}

/* ---- the processes that are meant ---- */

/* With `above`, only that process and those below it. */
static struct wsdbg_error *find(struct targets *targets, pid_t above)
{
    uint32_t *all;
    size_t count, kept = 0;
    wsdbg_armed_clean(&targets->place);
    struct wsdbg_error *error = wsdbg_armed_list(&targets->place, &all, &count);
    if (error)
        return error;
    for (size_t i = 0; i < count; i++)
        if (!above || wsdbg_armed_is_below((pid_t)all[i], above))
            all[kept++] = all[i];
    targets->processes = all;
    targets->count = kept;
    return NULL;
}

/* Leaves out each process that another wsdbg has locked, and says so.  An error only if none is left. */
static struct wsdbg_error *lock_all(struct targets *targets)
{
    size_t kept = 0;
    struct wsdbg_error *first = NULL;
    targets->locks = calloc(targets->count + 1, sizeof *targets->locks);
    if (!targets->locks)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < targets->count; i++) {
        struct wsdbg_error *error = wsdbg_armed_lock(&targets->place, targets->processes[i], &targets->locks[kept]);
        if (!error) {
            targets->processes[kept++] = targets->processes[i];
            continue;
        }
        if (targets->count > 1)
            wsdbg_say("%s; left out", wsdbg_error_message(error));
        if (first)
            wsdbg_error_destroy(error);
        else
            first = error;
    }
    targets->count = kept;
    if (!kept && first)
        return first;
    wsdbg_error_destroy(first);
    return NULL;
}

/* What can be seen of a process without the observer's tables. */
static struct wsdbg_error *say_not_armed(const struct wsdbg_armed_place *place, pid_t process, bool is_armed)
{
    char reason[256], shown[1024];
    const uint32_t process_id = (uint32_t)process;
    struct wsdbg_error *error = wsdbg_join_say_stacks(&process_id, 1);
    if (error)
        return error;
    wsdbg_armed_reason(place, process_id, reason, sizeof reason);
    wsdbg_text_escape_into(reason, shown, sizeof shown);
    if (is_armed && reason[0])
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%d: armed, but not observed: %s", (int)process, shown);
    if (is_armed)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND,
                                  "%d: armed, but neither it nor a process below it has used CUDA yet", (int)process);
    return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND,
                              "%d: not armed; start the program with wsdbg arm, or with the environment that wsdbg arm "
                              "--env prints",
                              (int)process);
}

static struct wsdbg_error *find_below(const char *word, struct targets *targets)
{
    unsigned process;
    bool is_armed;
    struct wsdbg_error *error = wsdbg_parse_count("PID", word, 1, INT32_MAX, &process);
    if (error) {
        wsdbg_error_destroy(error);
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: not the number of a process", word);
    }
    error = wsdbg_armed_place_of((pid_t)process, &targets->place, &is_armed);
    if (!error)
        error = find(targets, (pid_t)process);
    return error || targets->count ? error : say_not_armed(&targets->place, (pid_t)process, is_armed);
}

static struct wsdbg_error *find_all(struct targets *targets)
{
    struct wsdbg_error *error = find(targets, 0);
    if (error || targets->count)
        return error;
    return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no armed process of yours that uses CUDA runs here (%s)",
                              targets->place.folder);
}

static struct wsdbg_error *attach_to(const struct wsdbg_invocation *invocation, const struct targets *targets,
                                     int *status)
{
    const char *stall = wsdbg_option_value(invocation, "stall"), *on_stall = wsdbg_option_value(invocation, "on-stall");
    struct wsdbg_join_options join = {
        .place = &targets->place,
        .process_ids = targets->processes,
        .process_count = targets->count,
        .output = wsdbg_option_value(invocation, "output"),
        .look_anyway = wsdbg_option_value(invocation, "look-anyway") != NULL,
        .json = wsdbg_option_value(invocation, "json") != NULL,
        .on_stall = on_stall && strcmp(on_stall, "kill") == 0 ? WSDBG_ON_STALL_KILL : WSDBG_ON_STALL_DETACH,
    };
    struct wsdbg_error *error = wsdbg_parse_seconds("stall", stall ? stall : default_stall_seconds, &join.stall_ns);
    if (error)
        return error;
    return wsdbg_option_value(invocation, "top") ? wsdbg_join_top(&join, status) : wsdbg_join_watch(&join, status);
}

static struct wsdbg_error *attach_run(const struct wsdbg_invocation *invocation, int *status)
{
    const bool all = wsdbg_option_value(invocation, "all") != NULL,
               lists = wsdbg_option_value(invocation, "list") != NULL;
    const char *word = invocation->operands[0];
    struct targets targets = {0};
    *status = 0;
    if ((word != NULL) + all + lists != 1)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "say one of these: a process id, --all, --list");
    struct wsdbg_error *error = wsdbg_armed_place(wsdbg_option_value(invocation, "folder"), &targets.place);
    if (!error && lists) {
        wsdbg_armed_clean(&targets.place);
        return list(&targets.place);
    }
    if (!error)
        error = all ? find_all(&targets) : find_below(word, &targets);
    if (!error)
        error = lock_all(&targets);
    if (!error)
        error = attach_to(invocation, &targets, status);
    targets_deinit(&targets);
    return error;
}

static const struct wsdbg_choice on_stalls[] = {{"detach", NULL}, {"kill", NULL}, {NULL, NULL}};

static const struct wsdbg_option options[] = {
    {'a', "all", NULL, "every armed process of yours, as one verdict", NULL, NULL},
    {'l', "list", NULL, "list the armed processes", NULL, NULL},
    {'o', "output", "FILE", "keep the session in that database (default: it is not kept)", NULL, NULL},
    {0, "stall", "SECONDS", "no progress for this long is a stall (default 1)", NULL, NULL},
    {0, "look-anyway", NULL, "look at the GPU also where that may hold back work of the program", NULL, NULL},
    {0, "on-stall", "detach|kill", "after a hang: leave, or end all processes that were watched (default detach)",
     on_stalls, NULL},
    {'t', "top", NULL, "show it live on this terminal, as wsdbg top does, until q", NULL, NULL},
    {0, "json", NULL, "the report as JSON on stdout at the end", NULL, NULL},
    {0, "folder", "FOLDER", "with --all, --list: the folder that wsdbg arm was given", NULL, NULL},
};

const struct wsdbg_command wsdbg_command_attach = {
    .name = "attach",
    .summary = "Say why a program that is armed hangs, and leave it running",
    .usage = "[options] PID | --all | --list",
    .description =
        "wsdbg attach comes to a process that runs already, watches it for the stall time, looks at its GPU if\n"
        "something stands still, reports once, and leaves. The program goes on as it was. It must have been\n"
        "armed when it started: by wsdbg arm, or by the environment that wsdbg arm --env prints. PID stands\n"
        "for that process and those that it started: that of torchrun means all its ranks. --all takes every\n"
        "armed process of the same user on this machine. They get one verdict, with ranks.\n"
        "\n"
        "The exit status is 124 when a hang was found, else 0. A signal that ends the watch before a verdict\n"
        "ends wsdbg, too. What happened before wsdbg came is not known, except launches and since when threads\n"
        "wait. So a hang is what stands still from then on: at once where the cause is proven or likely, else\n"
        "when three looks about one stall time apart show the same.\n"
        "Work that only takes long is no hang. wsdbg does not wait for the stall time where in each process\n"
        "with unfinished work a thread has waited for the GPU for that long already, and every other thread\n"
        "is blocked: it looks after 0.1 s.\n"
        "\n"
        "A look at the GPU comes late here, when kernels run already. The driver then holds back all new work\n"
        "of the program until these kernels end. A kernel that waits for such work would never end. So wsdbg\n"
        "looks only where one thread of the program has waited for the GPU for half of the stall time and every\n"
        "other thread is blocked. Else it says that it did not look, and why, and shows what is known without\n"
        "a look: launches, calls, stacks of threads. --look-anyway looks all the same.\n"
        "\n"
        "--top shows the processes live instead, as wsdbg top does, and leaves them when you leave. It looks at\n"
        "the GPU where something stands still, by the same rules, and when you press Ctrl-\\.\n"
        "\n"
        "Of a process that is not armed only the stacks of its threads are shown. One wsdbg at a time may be\n"
        "attached to a process. If it is killed, the program goes on, and another one can attach. A process in\n"
        "a container with process ids of its own needs wsdbg attach inside of that container.",
    .needs = "a program that wsdbg arm started; to look at a GPU, a driver whose debug interface is free",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_max = 1,
    .exits = WSDBG_EXITS_VERDICT,
    .run = attach_run,
};
