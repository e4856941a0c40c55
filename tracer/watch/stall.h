/* stall.h - one thing that may stall, as the watch follows it: a watchdog, and when a stall that is no hang is looked
 * at again.  Pure: the clock is an argument. */
#ifndef WSDBG_WATCH_STALL_H
#define WSDBG_WATCH_STALL_H

#include "diagnose/watchdog.h"

struct wsdbg_stall {
    struct wsdbg_watchdog watchdog;
    uint64_t look_again_ns; /* age of an undecided stall at the next inspection */
    uint64_t give_up_ns;    /* age at which it is looked at in any case; 0 = none.  Set by the watch, after init */
    uint64_t held_ns;       /* of the time since the last movement: the program could not run; counts for nothing */
    bool undecided;         /* the stall going on was inspected and is no hang; set by the watch */
};

void wsdbg_stall_init(struct wsdbg_stall *stall, uint64_t stall_ns);
/* The next look at this undecided stall comes after one more stall time, not after as long again as it has lasted. */
void wsdbg_stall_look_soon(struct wsdbg_stall *stall, uint64_t now_ns);
/* ... after so long. */
void wsdbg_stall_look_after(struct wsdbg_stall *stall, uint64_t now_ns, uint64_t pause_ns);
/* One tick: whether to look now.  The watchdog reports a stall once; an undecided one is looked at again after twice
 * the time. */
bool wsdbg_stall_is_due(struct wsdbg_stall *stall, struct wsdbg_watched watched, uint64_t now_ns);
/* The program has been held for that long just now. */
void wsdbg_stall_hold(struct wsdbg_stall *stall, uint64_t held_ns);
/* Time since the last movement, less what the program was held. */
uint64_t wsdbg_stall_age_ns(const struct wsdbg_stall *stall, uint64_t now_ns);
/* When it is, or was, due for the next time if nothing has moved since progress_ns. */
uint64_t wsdbg_stall_due_ns(const struct wsdbg_stall *stall, uint64_t progress_ns);
/* The stall going on is a hang, and that was said. */
bool wsdbg_stall_is_judged(const struct wsdbg_stall *stall);

#endif
