/* stall.c - see stall.h.  Reads: what is watched, and a clock.  Writes: its own struct. */
#include "watch/stall.h"

void wsdbg_stall_init(struct wsdbg_stall *stall, uint64_t stall_ns)
{
    *stall = (struct wsdbg_stall){0};
    wsdbg_watchdog_init(&stall->watchdog, stall_ns);
}

uint64_t wsdbg_stall_age_ns(const struct wsdbg_stall *stall, uint64_t now_ns)
{
    const uint64_t since_ns = stall->watchdog.progress_ns + stall->held_ns;
    return now_ns > since_ns ? now_ns - since_ns : 0;
}

void wsdbg_stall_hold(struct wsdbg_stall *stall, uint64_t held_ns)
{
    stall->held_ns += held_ns;
}

static void look_again_at(struct wsdbg_stall *stall, uint64_t age_ns, uint64_t next_ns)
{
    const bool gives_up_before = stall->give_up_ns > age_ns && stall->give_up_ns < next_ns;
    stall->look_again_ns = gives_up_before ? stall->give_up_ns : next_ns;
}

void wsdbg_stall_look_after(struct wsdbg_stall *stall, uint64_t now_ns, uint64_t pause_ns)
{
    const uint64_t age_ns = wsdbg_stall_age_ns(stall, now_ns);
    look_again_at(stall, age_ns, age_ns + pause_ns);
}

void wsdbg_stall_look_soon(struct wsdbg_stall *stall, uint64_t now_ns)
{
    wsdbg_stall_look_after(stall, now_ns, stall->watchdog.stall_ns);
}

/* The longer a kernel has moved, the later it is looked at again; not so late as to miss that moment. */
static void keep_moment(struct wsdbg_stall *stall)
{
    struct wsdbg_watchdog *watchdog = &stall->watchdog;
    const uint64_t latest_ns = stall->give_up_ns > watchdog->stall_ns ? stall->give_up_ns : watchdog->stall_ns;
    if (stall->give_up_ns && watchdog->next_look_ns > latest_ns)
        watchdog->next_look_ns = latest_ns;
}

uint64_t wsdbg_stall_due_ns(const struct wsdbg_stall *stall, uint64_t progress_ns)
{
    return progress_ns + stall->held_ns +
           (stall->watchdog.reported ? stall->look_again_ns : stall->watchdog.next_look_ns);
}

bool wsdbg_stall_is_due(struct wsdbg_stall *stall, struct wsdbg_watched watched, uint64_t now_ns)
{
    if (!watched.running || watched.progress_ns > stall->watchdog.progress_ns)
        stall->held_ns = 0;
    const uint64_t held_ns = stall->held_ns < now_ns ? stall->held_ns : now_ns;
    enum wsdbg_watchdog_verdict verdict = wsdbg_watchdog_tick(&stall->watchdog, watched, now_ns - held_ns);
    keep_moment(stall);
    const uint64_t age_ns = wsdbg_stall_age_ns(stall, now_ns);
    if (verdict == WSDBG_WATCHDOG_STALLED) {
        look_again_at(stall, age_ns, age_ns * 2);
        return true;
    }
    if (verdict != WSDBG_WATCHDOG_STILL_STALLED)
        stall->undecided = false;
    if (verdict != WSDBG_WATCHDOG_STILL_STALLED || !stall->undecided || age_ns < stall->look_again_ns)
        return false;
    look_again_at(stall, age_ns, stall->look_again_ns * 2);
    return true;
}

bool wsdbg_stall_is_judged(const struct wsdbg_stall *stall)
{
    return stall->watchdog.reported && !stall->undecided;
}
