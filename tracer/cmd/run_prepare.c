/* run_prepare.c - what a run decides before it starts the program: see running.h.
 *
 * Reads: the options, the machine.  Writes: the spool's folder, the environment that the program will have.
 */
#include "cmd/running.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/console.h"
#include "cmd/paths.h"
#include "program/environment.h"
#include "program/executable.h"

extern char **environ;

/* The longest time that a look may take.  An attach takes 1.9 s where the driver has much code to prepare, 2.5 s the
 * first time on a machine, and may take half of a look.  A dump of a full chip takes the driver ten seconds, and more
 * where the program holds much memory. */
static uint64_t most_look_ns(enum wsdbg_run_evidence evidence)
{
    static const uint64_t milliseconds[] = {
        [WSDBG_RUN_AUTO] = 5500, [WSDBG_RUN_RING] = 0, [WSDBG_RUN_LIVE] = 5500, [WSDBG_RUN_CORE] = 120000};
    return milliseconds[evidence] * 1000000u;
}

/* How long the first launch waits for an inspector.  An attach takes 0.1 to 0.3 s, 0.6 s the first time on a machine,
 * and comes 0.05 s after the context.  It must not meet a kernel that has just begun, and may fail.  Probes tell enough
 * by themselves. */
static const char *first_launch_waits(const struct wsdbg_run *run)
{
    if (run->device.simulator)
        return NULL;
    return run->evidence == WSDBG_RUN_LIVE ? "1500" : run->evidence == WSDBG_RUN_AUTO ? "1500,cheap" : NULL;
}

/* CUPTI takes the place in the process that debuggers need: no look at the GPU itself, and no dump of it. */
static struct wsdbg_error *choose_evidence(struct wsdbg_run *run)
{
    static const char *const words[] = {[WSDBG_RUN_LIVE] = "live", [WSDBG_RUN_CORE] = "core"};
    const enum wsdbg_run_evidence wanted = run->options->evidence;
    const bool cupti = strcmp(run->options->observer, "cupti") == 0;
    if (cupti && (wanted == WSDBG_RUN_LIVE || wanted == WSDBG_RUN_CORE))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "--evidence=%s: not with --observer=cupti, which takes the place in the program that "
                                  "debuggers need; use --observer=driver",
                                  words[wanted]);
    const char *injection = getenv("CUDA_INJECTION64_PATH");
    if (wanted == WSDBG_RUN_CORE && injection && *injection)
        return wsdbg_error_create(
            WSDBG_ERROR_BAD_INPUT,
            "--evidence=core: not with CUDA_INJECTION64_PATH set (to %s), beside which the driver "
            "makes no core dump",
            injection);
    if (cupti && wanted == WSDBG_RUN_AUTO)
        wsdbg_say("with --observer=cupti only kernels with probes can be looked at");
    /* A simulated device is never stopped: what it shows costs no more than the ring does. */
    const bool has_attach = !cupti && !run->device.simulator;
    run->evidence = (wanted == WSDBG_RUN_AUTO && !has_attach) || run->device.simulator ? WSDBG_RUN_RING : wanted;
    run->look_ns = most_look_ns(run->evidence);
    if (run->options->looks_folder && !run->look_ns)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--keep-looks: %s",
                                  run->device.simulator ? "on the simulator nothing is looked at"
                                                        : "with this evidence the GPU is not looked at");
    return NULL;
}

static struct wsdbg_error *check_folder(const char *path)
{
    struct stat status;
    if (!path)
        return NULL;
    if (stat(path, &status) != 0)
        return wsdbg_error_os(errno, "--keep-looks: %s", path);
    return S_ISDIR(status.st_mode) ? NULL
                                   : wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--keep-looks: %s: not a folder", path);
}

/* Where the kernels execute, what is looked at, and the observer's file. */
static struct wsdbg_error *choose_device(struct wsdbg_run *run)
{
    const struct wsdbg_run_options *options = run->options;
    const bool cupti = strcmp(options->observer, "cupti") == 0;
    struct wsdbg_error *error = wsdbg_executable_check(options->program[0]);
    if (!error)
        error = wsdbg_device_choose(options, &run->device);
    if (!error)
        error = choose_evidence(run);
    if (error)
        return error;
    if (run->device.simulator && wsdbg_executable_is_static(options->program[0]))
        wsdbg_say("%s is linked statically as a whole: the simulator cannot be put into it, only into programs that it "
                  "starts; link it without -static, or try wsdbg lint",
                  options->program[0]);
    error = cupti ? wsdbg_path_cupti(&run->shim) : wsdbg_path_shim(&run->shim);
    if (!error && options->races && !run->device.simulator)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--races needs the simulator: --device sim");
    return error;
}

static struct wsdbg_error *check_files(const struct wsdbg_run_options *options)
{
    if (options->output && access(options->output, F_OK) == 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s exists already, not overwritten; -o FILE names another",
                                  options->output);
    if (options->record_path && access(options->record_path, F_OK) == 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%s exists already, not overwritten; --record FILE names another",
                                  options->record_path);
    return check_folder(options->looks_folder);
}

static struct wsdbg_error *create_environment(struct wsdbg_run *run)
{
    const struct wsdbg_run_options *options = run->options;
    char filters[24], namespace[24];
    struct stat own_namespace;
    const long filter_count = wsdbg_filters_of(0);
    snprintf(filters, sizeof filters, "%ld", filter_count);
    const bool has_namespace = stat("/proc/self/ns/pid", &own_namespace) == 0;
    snprintf(namespace, sizeof namespace, "%ju", has_namespace ? (uintmax_t)own_namespace.st_ino : 0);
    const struct wsdbg_environment_options environment = {
        .shim = run->shim,
        .simulator = run->device.simulator,
        .simulator_reason = run->device.reason,
        .explore = options->explore,
        .races = options->races,
        .rank_from = options->rank_from,
        .launch_sites = options->launch_sites,
        .session = run->name,
        .spool = run->spool.path,
        .observer = options->observer,
        .history = options->history,
        .ring = options->ring,
        .attach_first = first_launch_waits(run),
        .filters = filter_count < 0 ? NULL : filters,
        .pid_namespace = has_namespace ? namespace : NULL,
        .markers = run->evidence == WSDBG_RUN_RING ? NULL : "1",
        .core_folder = run->evidence == WSDBG_RUN_CORE ? run->spool.path : NULL,
    };
    return wsdbg_environment_create(&environment, environ, &run->environment);
}

struct wsdbg_error *wsdbg_run_prepare(struct wsdbg_run *run)
{
    const struct wsdbg_run_options *options = run->options;
    struct wsdbg_error *error = choose_device(run);
    if (error)
        return error;
    snprintf(run->name, sizeof run->name, "%d-%" PRIx64, (int)getpid(), wsdbg_unix_ns());
    run->command = wsdbg_quote_command(options->program);
    error = run->command ? check_files(options) : &wsdbg_error_no_memory;
    if (!error)
        error = wsdbg_run_marks_open(options->mark_folder, &run->marks);
    if (!error && options->tui)
        error = wsdbg_tui_create(options->look_every_ns, &run->tui);
    if (!error)
        error = wsdbg_spool_create(&run->spool);
    return error ? error : create_environment(run);
}
