/* run.c - runs a program under the observer, watches it, ends it after a hang.
 *
 * Reads: the program's shared segments and what the evidence sees of the GPU.  Writes: the report on stderr, the
 * session database, a recording on request, JSON on stdout on request.
 *
 * After a hang the exit status is 124 whatever the program does later, also with --on-stall wait: the caller asked
 * whether it hangs, as timeout(1) is asked whether it took too long.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watch/closing.h"
#include "base/console.h"
#include "cmd/device.h"
#include "program/environment.h"
#include "program/executable.h"
#include "cmd/launch.h"
#include "cmd/paths.h"
#include "base/progress_line.h"
#include "watch/refusals.h"
#include "cmd/run_marks.h"
#include "cmd/run_tui.h"
#include "watch/session.h"
#include "cmd/sessions.h"
#include "program/spool.h"
#include "program/supervise.h"
#include "program/unseen.h"
#include "evidence/sim_stands.h"

extern char **environ;

/* A dump that takes longer says how far it is. */
enum { DUMP_PATIENCE_NS = 500000000 };
/* A standstill of the simulator that lasts so long is no moment between two launches. */
enum { SIMULATOR_STANDS_NS = 50000000 };

/* Everything a run holds; freed in one place. */
struct run {
    const struct wsdbg_run_options *options;
    struct wsdbg_clock clock;
    struct wsdbg_device device;
    struct wsdbg_cancel cancel;
    char *shim, *command, *output;
    struct wsdbg_spool spool;
    char name[64]; /* of the session */
    enum wsdbg_run_evidence evidence;
    uint64_t look_ns; /* most that a look at the GPU itself may take, 0 = it cannot be looked at */
    char **environment;
    struct wsdbg_child *child;
    struct wsdbg_session *session;
    struct wsdbg_publication *publication;
    struct wsdbg_tui *tui; /* NULL = without --tui */
    struct wsdbg_progress_line dump;
    struct wsdbg_unseen unseen;
    struct wsdbg_run_marks marks;
    bool executed, ended_by_follower, stands_said, outlived_said, end_looked_at;
    bool discard; /* the database is not kept */
};

static uint64_t live_now_ns(struct wsdbg_clock *clock)
{
    (void)clock;
    return wsdbg_monotonic_ns();
}

static enum wsdbg_followed follow(struct run *run)
{
    struct wsdbg_follower *follower = run->options->follower;
    if (follower)
        follower->store = wsdbg_session_state(run->session)->store;
    return follower ? follower->look(follower, run->tui ? wsdbg_tui_listener(run->tui) : NULL) : WSDBG_FOLLOWED_GOES_ON;
}

/* Once: the simulator proves what on a GPU would take the stall time to be believed.  A recording cannot show the
 * proof: it needs the time. */
static bool stands_for_ever(struct run *run)
{
    if (!run->device.simulator || run->options->follower || run->options->record_path || run->stands_said)
        return false;
    run->stands_said = wsdbg_sim_stands(run->spool.path, wsdbg_monotonic_ns(), SIMULATOR_STANDS_NS);
    return run->stands_said;
}

/* Whether the first process has ended and another one still uses the GPU: a hang of that one is one of the program. */
static bool is_outlived(struct run *run)
{
    const struct wsdbg_watch *watch = wsdbg_session_state(run->session);
    if (!watch->outlived_by || wsdbg_child_end_was_asked(run->child, 0))
        return false;
    const bool lives = kill((pid_t)watch->outlived_by, 0) == 0; /* else the next look tells who does */
    if (lives && !run->outlived_said)
        wsdbg_watch_say(watch,
                        "the program's first process has ended; process %u of it still uses the GPU: watching on",
                        watch->outlived_by);
    run->outlived_said |= lives;
    return true;
}

static enum wsdbg_wait live_wait(struct wsdbg_clock *clock, uint64_t deadline_ns)
{
    struct run *run = (struct run *)((char *)clock - offsetof(struct run, clock));
    enum wsdbg_child_event event = wsdbg_child_wait(run->child, deadline_ns);
    if (run->tui && wsdbg_tui_ends_program(run->tui)) {
        wsdbg_child_kill(run->child);
        return WSDBG_WAIT_OVER;
    }
    if (event == WSDBG_CHILD_ENDED) {
        if (!run->end_looked_at && !wsdbg_child_end_was_asked(run->child, 0)) {
            run->end_looked_at = true; /* the last look may be of a time when another process had no context yet */
            return WSDBG_WAIT_TICK;
        }
        if (!is_outlived(run)) {
            follow(run); /* its last words, while the session is there to keep them */
            return WSDBG_WAIT_OVER;
        }
        wsdbg_child_pause(run->child, deadline_ns);
    }
    wsdbg_unseen_look(&run->unseen, run->name, run->spool.path, wsdbg_monotonic_ns());
    const enum wsdbg_followed followed = follow(run);
    if (followed == WSDBG_FOLLOWED_ENDS) {
        run->ended_by_follower = true;
        wsdbg_child_kill(run->child);
        return WSDBG_WAIT_OVER;
    }
    if (followed == WSDBG_FOLLOWED_STANDS || stands_for_ever(run))
        return WSDBG_WAIT_STANDS;
    if (wsdbg_run_marks_look(&run->marks, wsdbg_session_state(run->session), wsdbg_monotonic_ns()))
        return WSDBG_WAIT_MARKED;
    if (event == WSDBG_CHILD_LOOK)
        return WSDBG_WAIT_LOOK;
    if (event == WSDBG_CHILD_REFRESH || (run->tui && wsdbg_tui_wants_look(run->tui, wsdbg_monotonic_ns())))
        return WSDBG_WAIT_REFRESH;
    return event == WSDBG_CHILD_RESUMED ? WSDBG_WAIT_RESUMED : WSDBG_WAIT_TICK;
}

static bool end_was_asked(struct wsdbg_cancel *cancel, uint64_t since_ns)
{
    struct run *run = (struct run *)((char *)cancel - offsetof(struct run, cancel));
    return wsdbg_child_end_was_asked(run->child, since_ns);
}

/* An attach takes 1.9 s where the driver has much code to prepare, 2.5 s the first time on a machine, and may take half
 * of a look.  A dump of a full chip
 * takes the driver ten seconds, and more where the program holds much. */
static uint64_t most_look_ns(enum wsdbg_run_evidence evidence)
{
    static const uint64_t milliseconds[] = {
        [WSDBG_RUN_AUTO] = 5500, [WSDBG_RUN_RING] = 0, [WSDBG_RUN_LIVE] = 5500, [WSDBG_RUN_CORE] = 120000};
    return milliseconds[evidence] * 1000000u;
}

/* Whether the GPU, or the simulated one, can be looked at as often as somebody asks. */
static bool can_look(const struct run *run)
{
    if (run->device.simulator)
        return run->options->evidence != WSDBG_RUN_RING;
    return run->evidence == WSDBG_RUN_AUTO || run->evidence == WSDBG_RUN_LIVE;
}

/* How long the first launch waits for an inspector.  An attach takes 0.1 to 0.3 s, 0.6 s the first time on a machine,
 * and comes 0.05 s after the context.  It must not meet a kernel that has just begun, and may fail.  Probes tell enough
 * by themselves. */
static const char *first_launch_waits(const struct run *run)
{
    if (run->device.simulator)
        return NULL;
    return run->evidence == WSDBG_RUN_LIVE ? "1500" : run->evidence == WSDBG_RUN_AUTO ? "1500,cheap" : NULL;
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

/* CUPTI takes the place in the process that debuggers need: no look at the GPU itself, and no dump of it. */
static struct wsdbg_error *choose_evidence(struct run *run)
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

/* The observer's files and the program's environment: nothing is started yet. */
static struct wsdbg_error *prepare(struct run *run)
{
    const struct wsdbg_run_options *options = run->options;
    bool cupti = strcmp(options->observer, "cupti") == 0;
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
    if (error)
        return error;
    if (options->races && !run->device.simulator)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--races needs the simulator: --device sim");
    snprintf(run->name, sizeof run->name, "%d-%" PRIx64, (int)getpid(), wsdbg_unix_ns());
    run->command = wsdbg_quote_command(options->program);
    if (!run->command)
        return &wsdbg_error_no_memory;
    if (options->output && access(options->output, F_OK) == 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s exists already, not overwritten; -o FILE names another",
                                  options->output);
    if (options->record_path && access(options->record_path, F_OK) == 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%s exists already, not overwritten; --record FILE names another",
                                  options->record_path);
    error = check_folder(options->looks_folder);
    if (error)
        return error;
    error = wsdbg_run_marks_open(options->mark_folder, &run->marks);
    if (error)
        return error;
    error = options->tui ? wsdbg_tui_create(options->look_every_ns, &run->tui) : NULL;
    if (!error)
        error = wsdbg_spool_create(&run->spool);
    if (error)
        return error;
    char filters[24], namespace[24];
    struct stat own_namespace;
    const long filter_count = wsdbg_filters_of(0);
    snprintf(filters, sizeof filters, "%ld", filter_count);
    const bool has_namespace = stat("/proc/self/ns/pid", &own_namespace) == 0;
    snprintf(namespace, sizeof namespace, "%ju", has_namespace ? (uintmax_t)own_namespace.st_ino : 0);
    struct wsdbg_environment_options environment = {.shim = run->shim,
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
                                                    .core_folder =
                                                        run->evidence == WSDBG_RUN_CORE ? run->spool.path : NULL};
    return wsdbg_environment_create(&environment, environ, &run->environment);
}

static struct wsdbg_error *choose_output(struct run *run)
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

static struct wsdbg_error *create_child(struct run *run)
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

static struct wsdbg_error *open_evidence(struct run *run, struct wsdbg_evidence **out)
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

static struct wsdbg_error *create_session(struct run *run)
{
    const struct wsdbg_run_options *options = run->options;
    struct wsdbg_evidence *evidence;
    struct wsdbg_error *error = open_evidence(run, &evidence);
    if (error)
        return error;
    if (options->looks_folder && evidence->ops->keep)
        evidence->ops->keep(evidence, options->looks_folder);
    run->clock = (struct wsdbg_clock){.now_ns = live_now_ns, .wait = live_wait, .is_live = true};
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
static void publish(struct run *run)
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
static struct wsdbg_error *open_session(struct run *run)
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

static int cannot_execute(const struct run *run, int code)
{
    const char *program = run->options->program[0];
    wsdbg_say("%s: %s", program[0] ? program : "the program's name is empty", strerror(code));
    return code == ENOENT ? WSDBG_EXIT_NOT_FOUND : WSDBG_EXIT_CANNOT_EXECUTE;
}

/* By wsdbg, or by whoever told wsdbg to end. */
static bool was_ended(struct run *run)
{
    return run->ended_by_follower || (run->tui && wsdbg_tui_ends_program(run->tui)) ||
           wsdbg_child_end_was_asked(run->child, 0);
}

/* What became of a program that did not end by itself, and why. */
static void say_stopped(const struct wsdbg_watch *watch, bool is_left, char *outcome, size_t outcome_bytes)
{
    const char *verb = is_left ? "left" : "killed";
    if (watch->hang)
        snprintf(outcome, outcome_bytes, "%s", is_left ? "left hanging" : "killed after a hang");
    else if (watch->given_up_ns)
        snprintf(outcome, outcome_bytes, "%s, given up: no movement for %.1f s", verb,
                 (double)watch->given_up_ns / 1e9);
    else
        snprintf(outcome, outcome_bytes, "%s%s", verb,
                 watch->cut ? " after a GPU core dump" : ", no GPU core dump came");
}

/* Ends the program if that is asked for; says how the run ended. */
static void finish_child(struct run *run, const struct wsdbg_watch *watch, char *outcome, size_t outcome_bytes,
                         int *status)
{
    const bool verdict = watch->hang || watch->given_up_ns;
    bool stopped_early = (verdict || watch->lost || watch->cut) && run->options->on_stall != WSDBG_ON_STALL_WAIT;
    *status = watch->cut && !verdict ? WSDBG_EXIT_FAILED : WSDBG_EXIT_HANG;
    if (stopped_early)
        say_stopped(watch, run->options->on_stall == WSDBG_ON_STALL_DETACH, outcome, outcome_bytes);
    if (stopped_early && run->options->on_stall == WSDBG_ON_STALL_DETACH)
        return;
    if (stopped_early) {
        if (verdict)
            wsdbg_run_marks_wait(&run->marks, watch, run->child);
        size_t left = wsdbg_child_kill(run->child);
        if (left > 0)
            wsdbg_watch_say(watch, "%zu process%s of the program would not die, not even of SIGKILL", left,
                            left == 1 ? "" : "es");
        return;
    }
    int own = wsdbg_child_status(run->child), signal_number = wsdbg_child_signal(run->child);
    const char *after = watch->given_up_ns && !watch->hang ? ", after it was given up" : "";
    const char *name = signal_number ? sigabbrev_np(signal_number) : NULL;
    if (name)
        snprintf(outcome, outcome_bytes, "killed by SIG%s%s", name, after);
    else if (signal_number)
        snprintf(outcome, outcome_bytes, "killed by signal %d%s", signal_number, after);
    else
        snprintf(outcome, outcome_bytes, "exited %d%s", own, after);
    if (signal_number && !run->options->quiet && !was_ended(run))
        wsdbg_watch_say(watch, "the program was %s", outcome);
    if (own != 0 && !was_ended(run))
        wsdbg_refusals_say_held(watch->refusals, watch);
    if (!verdict)
        *status = own;
}

/* The program's status counts more than a database that could not be finished. */
static void end_session(struct run *run, int status, const char *outcome)
{
    struct wsdbg_error *error = wsdbg_session_end(run->session, status, outcome);
    if (error)
        wsdbg_say("the session is not complete: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    wsdbg_session_withdraw(run->publication);
    run->publication = NULL;
}

/* With --tui the end stays on the screen until the reader leaves. */
static void close_tui(struct run *run, const struct wsdbg_watch *watch, int status, const char *outcome)
{
    struct wsdbg_session_end end = {.exit_status = status,
                                    .hang = watch->hang,
                                    .outcome = outcome,
                                    .stalled_ns = watch->stalled_ns,
                                    .verdict_ns = watch->verdict_ns,
                                    .ended_ns = wsdbg_monotonic_ns()};
    if (run->tui)
        wsdbg_tui_hold(run->tui, &end);
    wsdbg_tui_destroy(run->tui);
    run->tui = NULL;
}

static void tell_result(const struct run *run, const struct wsdbg_watch *watch)
{
    struct wsdbg_run_result *result = run->options->result;
    if (!result)
        return;
    memcpy(result->cause, watch->cause, sizeof result->cause);
    result->database = strdup(run->output);
}

/* Nobody wants a file that holds nothing but the program's name. */
static bool has_nothing(const struct run *run, const struct wsdbg_watch *watch)
{
    return !run->options->output && !run->options->tui && !run->options->result && !watch->cuda_seen &&
           !watch->unread_segments && !watch->not_stored && !watch->blind && !watch->hang && !watch->given_up_ns &&
           !watch->lost && !watch->cut && !run->ended_by_follower;
}

/* What nobody watched is no run without a hang. */
static void say_end(const struct run *run, const struct wsdbg_watch *watch, int *status)
{
    struct wsdbg_unwatched unwatched;
    wsdbg_unwatched_read(run->spool.path, &unwatched);
    wsdbg_unseen_add(&run->unseen, run->spool.path, &unwatched);
    const bool lacks_driver = !watch->cuda_seen && !run->options->quiet && wsdbg_device_lacks_driver(run->options);
    const struct wsdbg_closing closing = {.watch = watch,
                                          .unwatched = &unwatched,
                                          .output = run->discard ? NULL : run->output,
                                          .hint = lacks_driver ? "there is no NVIDIA driver here; without "
                                                                 "--device gpu the program runs on the simulator"
                                                               : NULL,
                                          .quiet = run->options->quiet,
                                          .ended_by_follower = run->ended_by_follower,
                                          .could_dump = run->evidence != WSDBG_RUN_CORE && !run->device.simulator};
    wsdbg_closing_say(&closing);
    if (!run->options->require_watch || watch->hang || watch->given_up_ns || !wsdbg_closing_lacks_something(&closing))
        return;
    wsdbg_watch_say(watch, "--require-watch: not all of the program was watched, which itself exited with %d", *status);
    *status = WSDBG_EXIT_FAILED;
}

static struct wsdbg_error *watch_program(struct run *run, int *status)
{
    char outcome[64];
    int code = wsdbg_child_execute(run->child);
    if (code) {
        wsdbg_tui_destroy(run->tui);
        run->tui = NULL;
        *status = cannot_execute(run, code);
        return NULL;
    }
    run->executed = true;
    const struct wsdbg_watch *watch = wsdbg_session_watch(run->session);
    finish_child(run, watch, outcome, sizeof outcome, status);
    if (run->tui)
        wsdbg_tui_finish_log(run->tui);
    run->discard = has_nothing(run, watch);
    say_end(run, watch, status);
    end_session(run, *status, outcome);
    close_tui(run, watch, *status, outcome);
    tell_result(run, watch);
    if (wsdbg_child_signal(run->child) && *status == wsdbg_child_status(run->child))
        *status = -wsdbg_child_signal(run->child);
    return wsdbg_session_print(run->session);
}

static void run_deinit(struct run *run)
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
    struct run run = {.options = options, .spool = {.lock = -1}};
    struct wsdbg_error *error = prepare(&run);
    if (!error)
        error = open_session(&run);
    if (!error)
        error = watch_program(&run, status);
    run_deinit(&run);
    return error;
}
