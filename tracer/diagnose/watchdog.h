/* watchdog.h - decides from snapshots and a clock when progress has stopped.  Pure: the clock is an argument.
 *
 * A stall: some grid is running and no slot of it has changed for `stall_ns`.  The watchdog does not say
 * "hang": the diagnosis does, after the stall.  A stall is reported once until progress is seen again; then
 * again after twice as long each time (back-off for slow kernels).
 */
#ifndef WSDBG_DIAGNOSE_WATCHDOG_H
#define WSDBG_DIAGNOSE_WATCHDOG_H

#include "model/snapshot.h"

enum wsdbg_watchdog_verdict {
    WSDBG_WATCHDOG_IDLE = 0,    /* nothing running that can be seen */
    WSDBG_WATCHDOG_PROGRESS,    /* running, slots change */
    WSDBG_WATCHDOG_QUIET,       /* running, no change, threshold not reached */
    WSDBG_WATCHDOG_STALLED,     /* threshold just passed: look now */
    WSDBG_WATCHDOG_STILL_STALLED
};

struct wsdbg_watchdog {
    uint64_t stall_ns;
    uint64_t progress_ns;   /* last progress seen */
    uint64_t next_look_ns;  /* age of the stall at which the next STALLED is due */
    bool reported;          /* this stall was reported; cleared by progress */
};

void wsdbg_watchdog_init(struct wsdbg_watchdog *watchdog, uint64_t stall_ns);

/* One tick.  Looks only at grids[].running and progress_ns of the snapshot. */
enum wsdbg_watchdog_verdict wsdbg_watchdog_tick(struct wsdbg_watchdog *watchdog, const struct wsdbg_snapshot *snapshot,
                                                uint64_t now_ns);

#endif
