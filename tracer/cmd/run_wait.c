/* run_wait.c - what a run does between two looks of the watch: see running.h.
 *
 * Reads: the child's events, marks of other nodes, whether the simulator stands.  Writes: nothing but what it says.
 */
#include "cmd/running.h"

#include <signal.h>
#include <stddef.h>

#include "base/console.h"
#include "evidence/sim_stands.h"

/* A standstill of the simulator that lasts so long is no moment between two launches. */
enum { SIMULATOR_STANDS_NS = 50000000 };

static uint64_t live_now_ns(struct wsdbg_clock *clock)
{
    (void)clock;
    return wsdbg_monotonic_ns();
}

static enum wsdbg_followed follow(struct wsdbg_run *run)
{
    struct wsdbg_follower *follower = run->options->follower;
    if (follower)
        follower->store = wsdbg_session_state(run->session)->store;
    return follower ? follower->look(follower, run->tui ? wsdbg_tui_listener(run->tui) : NULL) : WSDBG_FOLLOWED_GOES_ON;
}

/* Whether the simulator has proven that nothing can move any more; true only once in a run.  Then wsdbg need not wait
 * for the stall time.  With a recording it does wait: a replay sees no proof, only how long nothing moved. */
static bool stands_for_ever(struct wsdbg_run *run)
{
    if (!run->device.simulator || run->options->follower || run->options->record_path || run->stands_said)
        return false;
    run->stands_said = wsdbg_sim_stands(run->spool.path, wsdbg_monotonic_ns(), SIMULATOR_STANDS_NS);
    return run->stands_said;
}

/* Whether the first process has ended and another one still uses the GPU: a hang of that one is one of the program. */
static bool is_outlived(struct wsdbg_run *run)
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
    struct wsdbg_run *run = (struct wsdbg_run *)((char *)clock - offsetof(struct wsdbg_run, clock));
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

struct wsdbg_clock wsdbg_run_clock(void)
{
    return (struct wsdbg_clock){.now_ns = live_now_ns, .wait = live_wait, .is_live = true};
}
