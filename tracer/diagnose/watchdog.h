/* watchdog.h - decides from snapshots and a clock when progress has stopped.  Pure: the clock is an argument.
 *
 * A stall: something runs and nothing of it has moved for `stall_ns`.  Two things can be watched: the grids whose warps
 * write into slots, and the work of contexts, whatever it consists of.  The watchdog does not say "hang": the diagnosis
 * does, after the stall.  A stall is reported once until progress is seen again; then again after twice as long each
 * time (back-off for slow kernels).
 */
#ifndef WSDBG_DIAGNOSE_WATCHDOG_H
#define WSDBG_DIAGNOSE_WATCHDOG_H

#include "model/snapshot.h"

enum wsdbg_watchdog_verdict {
    WSDBG_WATCHDOG_IDLE = 0, /* nothing running that can be seen */
    WSDBG_WATCHDOG_PROGRESS, /* running, it moves */
    WSDBG_WATCHDOG_QUIET,    /* running, no movement, threshold not reached */
    WSDBG_WATCHDOG_STALLED,  /* threshold just passed: look now */
    WSDBG_WATCHDOG_STILL_STALLED
};

struct wsdbg_watchdog {
    uint64_t stall_ns;
    uint64_t progress_ns;  /* last progress seen */
    uint64_t next_look_ns; /* age of the stall at which the next STALLED is due */
    bool reported;         /* this stall was reported; cleared by progress */
};

/* What is watched, at one moment. */
struct wsdbg_watched {
    bool running;
    uint64_t progress_ns; /* host time of the last movement */
};

/* The grids whose slots are seen: they move together. */
struct wsdbg_watched wsdbg_watched_slots(const struct wsdbg_snapshot *snapshot);
/* The work of contexts: the context whose work has been unfinished the longest.  It moves while the slots of every grid
 * that is seen there do; what a look at the GPU saw at moved_ns (0 = none) is movement too. */
struct wsdbg_watched wsdbg_watched_work(const struct wsdbg_snapshot *snapshot, uint64_t moved_ns);
/* The same of the contexts whose work is known to be unfinished. */
struct wsdbg_watched wsdbg_watched_known_work(const struct wsdbg_snapshot *snapshot, uint64_t moved_ns);

/* Calls of NCCL that wait on the host, of all processes: the one that has done so for the longest, but not since before
 * moved_ns (0 = none).  They move when it returns.  unseen: those too whose kernels no look shows. */
struct wsdbg_watched wsdbg_watched_calls(const struct wsdbg_snapshot *snapshot, uint64_t moved_ns, bool unseen);

void wsdbg_watchdog_init(struct wsdbg_watchdog *watchdog, uint64_t stall_ns);
/* One tick. */
enum wsdbg_watchdog_verdict wsdbg_watchdog_tick(struct wsdbg_watchdog *watchdog, struct wsdbg_watched watched,
                                                uint64_t now_ns);
/* A grid whose slots changed within that time before the snapshot is not the one that stalls: it is marked as moving.
 */
void wsdbg_watchdog_mark_moving(struct wsdbg_snapshot *snapshot, uint64_t within_ns);

#endif
