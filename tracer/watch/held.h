/* held.h - whether something other than wsdbg holds the program: a debugger, a signal.
 *
 * The program's own child processes, and what a debugger holds, stop without a word to wsdbg.  A process that is found
 * stopped is not held for that: under strace each of its calls stops it for a moment.  A process is held if it stays in
 * one stop from one tick to the next.
 */
#ifndef WSDBG_WATCH_HELD_H
#define WSDBG_WATCH_HELD_H

#include <stdbool.h>

#include "program/processes.h"
#include "model/snapshot.h"

struct wsdbg_held {
    struct wsdbg_process_stop *stops; /* as the tick before found them */
    size_t stop_count;
    uint64_t ticked_ns; /* the tick before */
    uint64_t part_ns;   /* how long before that a process may have been stopped already */
};

/* One tick: how much of the time that has passed some process of the snapshot's contexts was held.  Out of memory: it
 * was not. */
uint64_t wsdbg_held_tick(struct wsdbg_held *held, const struct wsdbg_snapshot *snapshot, uint64_t now_ns);
/* What the tick found stopped was all stopped by signals, and no debugger follows it. */
bool wsdbg_held_by_signals(const struct wsdbg_held *held);
void wsdbg_held_deinit(struct wsdbg_held *held);

#endif
