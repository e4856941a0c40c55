/* watchdog.c - when has progress stopped?  A pure function of snapshots and a clock; see watchdog.h.
 *
 * Reads: whether a grid runs, and when a slot of a running grid last changed.  Writes: its own struct.
 */
#include "diagnose/watchdog.h"

void wsdbg_watchdog_init(struct wsdbg_watchdog *watchdog, uint64_t stall_ns)
{
    *watchdog = (struct wsdbg_watchdog){.stall_ns = stall_ns, .next_look_ns = stall_ns};
}

static bool any_grid_runs(const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->grid_count; i++)
        if (snapshot->grids[i].running)
            return true;
    return false;
}

/* A clock that steps back makes nothing older. */
static uint64_t age_ns(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

static uint64_t twice(uint64_t value)
{
    return value > UINT64_MAX / 2 ? UINT64_MAX : 2 * value;
}

enum wsdbg_watchdog_verdict wsdbg_watchdog_tick(struct wsdbg_watchdog *watchdog, const struct wsdbg_snapshot *snapshot,
                                                uint64_t now_ns)
{
    if (!any_grid_runs(snapshot)) {
        /* The slow kernel that caused a back-off is gone; the next one is judged afresh. */
        const uint64_t progress_ns = watchdog->progress_ns;
        wsdbg_watchdog_init(watchdog, watchdog->stall_ns);
        watchdog->progress_ns = progress_ns;
        return WSDBG_WATCHDOG_IDLE;
    }
    const bool moved = snapshot->progress_ns > watchdog->progress_ns;
    if (moved) {
        watchdog->progress_ns = snapshot->progress_ns;
        watchdog->reported = false;
    }
    if (watchdog->reported)
        return WSDBG_WATCHDOG_STILL_STALLED;
    if (age_ns(now_ns, watchdog->progress_ns) >= watchdog->next_look_ns) {
        watchdog->reported = true;
        watchdog->next_look_ns = twice(watchdog->next_look_ns);
        return WSDBG_WATCHDOG_STALLED;
    }
    return moved ? WSDBG_WATCHDOG_PROGRESS : WSDBG_WATCHDOG_QUIET;
}
