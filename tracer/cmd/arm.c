/* arm.c - `wsdbg arm`: starts a program with the observer alone, or prints the environment that does so.
 *
 * Reads: the paths of the observer and the simulator.  Writes: stdout with --env.  The program replaces this process
 * (exec). Only wsdbg's library stays in it, and sleeps until somebody runs `wsdbg attach`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/console.h"
#include "base/sim_settings.h"
#include "cmd/command.h"
#include "cmd/gpu_probe.h"
#include "cmd/options.h"
#include "cmd/paths.h"
#include "program/armed.h"
#include "program/environment.h"
#include "program/executable.h"
#include "program/unseen.h"

extern char **environ;

static struct wsdbg_error *find_parts(const struct wsdbg_invocation *invocation, char **shim, char **simulator)
{
    const char *device = wsdbg_option_value(invocation, "device");
    const bool is_simulated = device && strcmp(device, "sim") == 0;
    struct wsdbg_sim_settings settings;
    struct wsdbg_error *error = wsdbg_path_shim(shim);
    if (!error && is_simulated)
        error = wsdbg_sim_settings_read(&settings);
    if (!error && is_simulated)
        error = wsdbg_path_simulator(simulator);
    return error;
}

/* The environment of an armed program, made from `from`.  filters: see environment.h. */
static struct wsdbg_error *make_environment(const struct wsdbg_invocation *invocation, const char *filters, char **from,
                                            char ***out)
{
    const char *folder = wsdbg_option_value(invocation, "folder");
    struct wsdbg_armed_place place;
    char *shim = NULL, *simulator = NULL;
    const char *history = wsdbg_option_value(invocation, "history");
    unsigned depth;
    struct wsdbg_error *error = folder ? wsdbg_armed_place(folder, &place) : NULL;
    if (!error && history)
        error = wsdbg_parse_count("history", history, 0, WSDBG_HISTORY_DEPTH_MAX, &depth);
    if (!error && folder && folder[0] != '/')
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--folder: %s: no absolute path", folder);
    if (!error)
        error = find_parts(invocation, &shim, &simulator);
    if (!error) {
        const struct wsdbg_environment_options options = {
            .shim = shim,
            .simulator = simulator,
            .armed = folder ? folder : "1",
            .history = history,
            .ring = wsdbg_option_value(invocation, "ring"),
            .filters = filters,
            .rank_from = wsdbg_option_value(invocation, "rank-from"),
            .launch_sites = wsdbg_option_value(invocation, "launch-sites"),
        };
        error = wsdbg_environment_create(&options, from, out);
    }
    free(shim);
    free(simulator);
    return error;
}

/* In single quotes, which end nowhere inside. */
static void print_value(const char *value, char quote)
{
    putchar(quote);
    for (; *value; value++) {
        if (quote == '\'' && *value == '\'')
            fputs("'\\'", stdout);
        else if (quote == '"' && (*value == '"' || *value == '\\'))
            putchar('\\');
        putchar(*value);
    }
    putchar(quote);
}

static void print_entry(const char *format, const char *entry, bool is_first)
{
    const char *value = strchr(entry, '=') + 1;
    const int length = (int)(value - entry - 1);
    if (strcmp(format, "plain") == 0) {
        puts(entry);
    } else if (strcmp(format, "yaml") == 0) {
        printf("- name: %.*s\n  value: ", length, entry);
        print_value(value, '"');
        putchar('\n');
    } else if (strcmp(format, "fish") == 0) {
        printf("%sset -gx %.*s ", is_first ? "" : "; ", length, entry);
        print_value(value, '\'');
    } else {
        printf("%s%.*s=", is_first ? "export " : " ", length, entry);
        print_value(value, '\'');
    }
}

/* Such a program fails, but it does not say that wsdbg has a simulator. */
static void say_missing_driver(const struct wsdbg_invocation *invocation)
{
    if (wsdbg_option_value(invocation, "device") || !wsdbg_gpu_driver_is_missing(WSDBG_GPU_PROBE_MS))
        return;
    if (wsdbg_option_value(invocation, "env"))
        wsdbg_say("no NVIDIA driver was found here; these settings are for a machine with a GPU, those of wsdbg arm "
                  "--env --device sim for the simulator");
    else
        wsdbg_say("no NVIDIA driver was found here; wsdbg arm --device sim arms the program on the simulator");
}

static struct wsdbg_error *print_environment(const struct wsdbg_invocation *invocation)
{
    const char *word = wsdbg_option_value(invocation, "format"), *format = word ? word : "sh";
    char *from[3] = {NULL}, **made = NULL;
    size_t count = 0;
    for (char **entry = environ; *entry; entry++)
        if (count < 2 && (strncmp(*entry, "LD_PRELOAD=", 11) == 0 ||
                          (strncmp(*entry, "LD_LIBRARY_PATH=", 16) == 0 && wsdbg_option_value(invocation, "device"))))
            from[count++] = *entry;
    struct wsdbg_error *error = make_environment(invocation, NULL, from, &made);
    if (error)
        return error;
    say_missing_driver(invocation);
    for (size_t i = 0; made[i]; i++)
        print_entry(format, made[i], i == 0);
    if (strcmp(format, "sh") == 0 || strcmp(format, "fish") == 0)
        putchar('\n');
    wsdbg_environment_destroy(made);
    return fflush(stdout) == 0 ? NULL : wsdbg_error_os(errno, "write the environment");
}

/* A wsdbg watches already: what it starts stays its own. */
static bool is_watched(void)
{
    const char *session = getenv(WSDBG_ENV_SESSION);
    return session && *session;
}

static struct wsdbg_error *execute(const struct wsdbg_invocation *invocation, int *status)
{
    char **program = invocation->operands, **made = NULL, filters[24];
    const long filter_count = wsdbg_filters_of(0);
    snprintf(filters, sizeof filters, "%ld", filter_count);
    struct wsdbg_error *error = wsdbg_executable_check(program[0]);
    if (!error && !is_watched())
        error = make_environment(invocation, filter_count < 0 ? NULL : filters, environ, &made);
    if (error)
        return error;
    if (made)
        say_missing_driver(invocation);
    execvpe(program[0], program, made ? made : environ);
    const int code = errno;
    if (made)
        wsdbg_environment_destroy(made);
    wsdbg_say("%s: %s", program[0][0] ? program[0] : "the program's name is empty", strerror(code));
    *status = code == ENOENT ? WSDBG_EXIT_NOT_FOUND : WSDBG_EXIT_CANNOT_EXECUTE;
    return NULL;
}

static struct wsdbg_error *arm_run(const struct wsdbg_invocation *invocation, int *status)
{
    const bool prints = wsdbg_option_value(invocation, "env") != NULL;
    *status = 0;
    if (wsdbg_option_value(invocation, "format") && !prints)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--format is for --env");
    if (prints && invocation->operand_count)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--env prints the environment and runs no program");
    if (!prints && !invocation->operand_count)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "say which program, or --env");
    return prints ? print_environment(invocation) : execute(invocation, status);
}

static const struct wsdbg_choice devices[] = {{"gpu", NULL}, {"sim", NULL}, {NULL, NULL}};
static const struct wsdbg_choice formats[] = {
    {"sh", NULL}, {"fish", NULL}, {"plain", NULL}, {"yaml", NULL}, {NULL, NULL}};

static const struct wsdbg_choice rings[] = {{"device", NULL}, {"mapped", NULL}, {NULL, NULL}};
static const struct wsdbg_choice sites[] = {{"on", NULL}, {"off", NULL}, {NULL, NULL}};

static const struct wsdbg_option options[] = {
    {'e', "env", NULL, "print the environment that arms a program, and run none", NULL, NULL},
    {0, "format", "sh|fish|plain|yaml", "how --env prints it (default sh: one line)", formats, NULL},
    {0, "folder", "FOLDER", "where armed processes keep all their files (default: the folders above)", NULL, NULL},
    {0, "device", "gpu|sim", "where the kernels run (default gpu)", devices, NULL},
    {0, "history", "N", "events kept a warp, 0 to 128 (default 128)", NULL, NULL},
    {0, "ring", "device|mapped", "where warps record: GPU memory, or host memory that it maps (default device)", rings,
     NULL},
    {0, "launch-sites", "on|off", "note which line of the program makes each launch (default on)", sites, NULL},
    {0, "rank-from", "VARIABLE", "environment variable with a process's rank (default: its launcher's)", NULL, NULL},
};

const struct wsdbg_command wsdbg_command_arm = {
    .name = "arm",
    .summary = "Start a program so that wsdbg attach can look at it later",
    .usage = "[options] [--] PROGRAM [ARGS...] | --env [--format FORMAT]",
    .description =
        "wsdbg starts PROGRAM with its observer library preloaded and is gone: PROGRAM takes its place, with\n"
        "the same process id. Nobody watches, nothing is attached to the GPU, and the observer's threads\n"
        "sleep. It only notes what PROGRAM gives the GPU. When something hangs, wsdbg attach looks at it. The\n"
        "processes that PROGRAM starts are armed too.\n"
        "\n"
        "--env prints the environment instead, to put into a batch script or a pod's specification: one line\n"
        "for a shell, with --format plain one variable a line (docker run --env-file), with --format yaml the\n"
        "entries of a container's env. WSDBG_ARM=0 in the environment of a process switches it off again.\n"
        "\n"
        "The tables of a process lie in /dev/shm/wsdbg.armed-UID, or where there is little room in\n"
        "/tmp/wsdbg-UID, with what was loaded onto the GPU, up to 64 MiB. Both folders are the user's alone.\n"
        "--folder names another one. The files go when the process exits; what a killed process left goes\n"
        "when the next one begins to use CUDA, or with the next wsdbg attach.",
    .needs = "an NVIDIA driver, or --device sim",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_max = -1,
    .runs_program = true,
    .exits = WSDBG_EXITS_AS_PROGRAM,
    .run = arm_run,
};
