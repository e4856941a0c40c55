/* run.c - runs a program under the observer, watches it, ends it after a hang.
 *
 * Reads: the program's shared segments and what the evidence sees of the GPU.  Writes: the report on stderr, the
 * session database, a recording on request, JSON on stdout on request.
 *
 * After a hang the exit status is 124 whatever the program does later, also with --on-stall wait: the caller asked
 * whether it hangs, as timeout(1) is asked whether it took too long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/console.h"
#include "cmd/running.h"
#include "program/environment.h"

/* A dump that takes longer says how far it is. */
enum { DUMP_PATIENCE_NS = 500000000 };

static bool end_was_asked(struct wsdbg_cancel *cancel, uint64_t since_ns)
{
    struct wsdbg_run *run = (struct wsdbg_run *)((char *)cancel - offsetof(struct wsdbg_run, cancel));
    return wsdbg_child_end_was_asked(run->child, since_ns);
}

/* Whether the GPU, or the simulated one, can be looked at as often as somebody asks. */
static bool can_look(const struct wsdbg_run *run)
{
    if (run->device.simulator)
        return run->options->evidence != WSDBG_RUN_RING;
    return run->evidence == WSDBG_RUN_AUTO || run->evidence == WSDBG_RUN_LIVE;
}

static const char *after_hang(enum wsdbg_on_stall on_stall)
{
    static const char *const texts[] = {
        [WSDBG_ON_STALL_KILL] = "the program is ended now",
        [WSDBG_ON_STALL_WAIT] = "the program is left running, wsdbg watches on",
        [WSDBG_ON_STALL_DETACH] = "the program is left running, wsdbg leaves",
    };
    return texts[on_stall];
}

static struct wsdbg_error *choose_output(struct wsdbg_run *run)
{
    const char *program = run->options->program[0];
    const char *slash = strrchr(program, '/');
    if (run->options->output)
        run->output = strdup(run->options->output);
    else if (asprintf(&run->output, "wsdbg-%s-%d.db", slash ? slash + 1 : program, (int)wsdbg_child_pid(run->child)) <
             0)
        run->output = NULL;
    return run->output ? NULL : &wsdbg_error_no_memory;
}

static struct wsdbg_error *create_child(struct wsdbg_run *run)
{
    bool outlives = run->options->on_stall == WSDBG_ON_STALL_DETACH;
    struct wsdbg_child_options options = {.die_with_parent = !outlives, .quit_looks = can_look(run), .terminal = -1};
    /* A simulated GPU stops with the program. */
    options.is_seen_stopped = !run->device.simulator && run->options->ring && strcmp(run->options->ring, "mapped") == 0;
    options.look_signal = options.quit_looks ? WSDBG_LOOK_SIGNAL : 0;
    if (run->tui) {
        wsdbg_tui_prepare_child(run->tui, &options);
        options.ignore_hangup = outlives;
    }
    return wsdbg_child_create(&options, run->options->program, run->environment, &run->child);
}

static struct wsdbg_error *open_evidence(struct wsdbg_run *run, struct wsdbg_evidence **out)
{
    if (run->device.simulator && run->options->evidence != WSDBG_RUN_RING)
        return wsdbg_evidence_open_simulator(
            run->name, run->spool.path,
            run->options->evidence == WSDBG_RUN_LIVE ? WSDBG_ATTACH_ALWAYS : WSDBG_ATTACH_WHERE_NEEDED, out);
    if (run->evidence == WSDBG_RUN_AUTO)
        return wsdbg_evidence_open_live(run->name, run->spool.path, WSDBG_ATTACH_WHERE_NEEDED, out);
    if (run->evidence == WSDBG_RUN_LIVE)
        return wsdbg_evidence_open_live(run->name, run->spool.path, WSDBG_ATTACH_ALWAYS, out);
    if (run->evidence == WSDBG_RUN_RING)
        return wsdbg_evidence_open_ring(run->name, run->spool.path, out);
    run->cancel.is_wanted = end_was_asked;
    wsdbg_progress_begin(&run->dump, "the driver writes a GPU core dump", DUMP_PATIENCE_NS);
    return wsdbg_evidence_open_core(run->name, run->spool.path, run->spool.path, WSDBG_ATTACH_ALWAYS,
                                    run->tui ? NULL : &run->dump.progress, &run->cancel, out);
}

static struct wsdbg_error *create_session(struct wsdbg_run *run)
{
    const struct wsdbg_run_options *options = run->options;
    struct wsdbg_evidence *evidence;
    struct wsdbg_error *error = open_evidence(run, &evidence);
    if (error)
        return error;
    if (options->looks_folder && evidence->ops->keep)
        evidence->ops->keep(evidence, options->looks_folder);
    run->clock = wsdbg_run_clock();
    struct wsdbg_session_options session = {
        .output = run->output,
        .command = run->command,
        .device = run->device.simulator ? "sim" : "gpu",
        .observer = options->observer,
        /* Until the device itself is looked at. */
        .evidence = run->evidence == WSDBG_RUN_AUTO || run->device.simulator ? "ring" : NULL,
        .spool = run->spool.path,
        .record_path = options->record_path,
        .after_hang = after_hang(options->on_stall),
        .listener = run->tui ? wsdbg_tui_listener(run->tui) : NULL,
        .stall_ns = options->stall_ns,
        .work_stall_ns = options->work_stall_ns,
        .give_up_ns = options->give_up_ns,
        .program_id = (uint32_t)wsdbg_child_pid(run->child),
        .look_ns = run->look_ns,
        .look_spares_later_work = run->evidence == WSDBG_RUN_AUTO && !run->device.simulator,
        .look_ends_work = run->evidence == WSDBG_RUN_CORE,
        .stop_at_hang = options->on_stall != WSDBG_ON_STALL_WAIT,
        .keep_history = options->keep_history,
        .json = options->json,
    };
    return wsdbg_session_create(&session, evidence, &run->clock, &run->session);
}

/* So that `wsdbg top` finds it.  A session that nobody can find runs all the same. */
static void publish(struct wsdbg_run *run)
{
    char *database = realpath(run->output, NULL), *spool = realpath(run->spool.path, NULL);
    struct wsdbg_running running = {
        .name = run->name,
        .database = database,
        .command = run->command,
        .spool = spool,
        .wsdbg_pid = getpid(),
        .program_pid = wsdbg_child_pid(run->child),
        .started_ns = wsdbg_session_info(run->session)->started_ns,
        .looks = can_look(run),
    };
    if (database)
        wsdbg_error_destroy(wsdbg_session_publish(&running, &run->publication));
    free(database);
    free(spool);
}

/* The child exists, waiting, before the database does: its pid is in the file's name.  If the database cannot be
 * made the child goes away without having executed anything. */
static struct wsdbg_error *open_session(struct wsdbg_run *run)
{
    struct wsdbg_error *error = create_child(run);
    if (!error)
        error = choose_output(run);
    if (!error)
        error = create_session(run);
    if (!error && run->tui)
        error = wsdbg_tui_open(run->tui, run->child, run->session);
    if (!error)
        publish(run);
    return error;
}

static int cannot_execute(const struct wsdbg_run *run, int code)
{
    const char *program = run->options->program[0];
    wsdbg_say("%s: %s", program[0] ? program : "the program's name is empty", strerror(code));
    return code == ENOENT ? WSDBG_EXIT_NOT_FOUND : WSDBG_EXIT_CANNOT_EXECUTE;
}

static struct wsdbg_error *watch_program(struct wsdbg_run *run, int *status)
{
    const int code = wsdbg_child_execute(run->child);
    if (code) {
        wsdbg_tui_destroy(run->tui);
        run->tui = NULL;
        *status = cannot_execute(run, code);
        return NULL;
    }
    run->executed = true;
    return wsdbg_run_finish(run, wsdbg_session_watch(run->session), status);
}

static void run_deinit(struct wsdbg_run *run)
{
    wsdbg_tui_destroy(run->tui);
    wsdbg_run_marks_close(&run->marks);
    wsdbg_session_withdraw(run->publication);
    wsdbg_session_destroy(run->session, !run->executed || run->discard);
    wsdbg_child_destroy(run->child);
    if (run->name[0])
        wsdbg_ring_unlink(run->name, run->spool.path);
    wsdbg_environment_destroy(run->environment);
    wsdbg_spool_destroy(&run->spool);
    wsdbg_device_deinit(&run->device);
    free(run->shim);
    free(run->command);
    free(run->output);
}

struct wsdbg_error *wsdbg_run_program(const struct wsdbg_run_options *options, int *status)
{
    struct wsdbg_run run = {.options = options, .spool = {.lock = -1}};
    struct wsdbg_error *error = wsdbg_run_prepare(&run);
    if (!error)
        error = open_session(&run);
    if (!error)
        error = watch_program(&run, status);
    run_deinit(&run);
    return error;
}
