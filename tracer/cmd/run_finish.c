/* run_finish.c - ends a run: the program, its session, the terminal; and says how it ended.  See running.h.
 *
 * Reads: what the watch found.  Writes: words on stderr, the report, JSON on request.
 */
#include "cmd/running.h"

#include <stdlib.h>
#include <string.h>

#include "base/console.h"
#include "watch/closing.h"
#include "watch/refusals.h"

/* By wsdbg, or by whoever told wsdbg to end. */
static bool was_ended(struct wsdbg_run *run)
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
static void finish_child(struct wsdbg_run *run, const struct wsdbg_watch *watch, char *outcome, size_t outcome_bytes,
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
static void end_session(struct wsdbg_run *run, int status, const char *outcome)
{
    struct wsdbg_error *error = wsdbg_session_end(run->session, status, outcome);
    if (error)
        wsdbg_say("the session is not complete: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    wsdbg_session_withdraw(run->publication);
    run->publication = NULL;
}

/* With --tui the end stays on the screen until the reader leaves. */
static void close_tui(struct wsdbg_run *run, const struct wsdbg_watch *watch, int status, const char *outcome)
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

static void tell_result(const struct wsdbg_run *run, const struct wsdbg_watch *watch)
{
    struct wsdbg_run_result *result = run->options->result;
    if (!result)
        return;
    memcpy(result->cause, watch->cause, sizeof result->cause);
    result->database = strdup(run->output);
}

/* Nobody wants a file that holds nothing but the program's name. */
static bool has_nothing(const struct wsdbg_run *run, const struct wsdbg_watch *watch)
{
    return !run->options->output && !run->options->tui && !run->options->result && !watch->cuda_seen &&
           !watch->unread_segments && !watch->not_stored && !watch->blind && !watch->hang && !watch->given_up_ns &&
           !watch->lost && !watch->cut && !run->ended_by_follower;
}

/* With --require-watch, a run of which something was not watched fails. */
static void say_end(const struct wsdbg_run *run, const struct wsdbg_watch *watch, int *status)
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

struct wsdbg_error *wsdbg_run_finish(struct wsdbg_run *run, const struct wsdbg_watch *watch, int *status)
{
    char outcome[64];
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
