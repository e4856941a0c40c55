/* side_process.h - a process forked beside wsdbg that neither the terminal nor wsdbg's own death ends.
 *
 * It holds nothing of wsdbg's but two descriptors, says nothing, and ignores every signal that asks it to end: whoever
 * wants to end it kills it.  A killed inspector may take the traced program with it, so two common ways to kill one by
 * mistake are closed: it has a name that `pkill wsdbg` does not match, and the kernel spares it when memory runs out,
 * where wsdbg may ask for that.
 */
#ifndef WSDBG_EVIDENCE_SIDE_PROCESS_H
#define WSDBG_EVIDENCE_SIDE_PROCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct wsdbg_side_process {
    pid_t id;    /* 0 = none, or it has ended and was collected */
    int process; /* its pidfd, -1 = none: the number above may be another's once somebody else collected it */
};

/* The new process calls work(argument), with `kept` (-1 = none) as its only descriptors from 3 on, and ends.  name: what
 * ps shows, 15 bytes at most. */
struct wsdbg_error *wsdbg_side_process_start(struct wsdbg_side_process *out, const char *name, const int kept[2],
                                             void (*work)(const void *argument), const void *argument);
/* Waits until it has ended, deadline_ns (CLOCK_MONOTONIC) at most; a process that has ended leaves no zombie.  False:
 * it has not.  True where there is none. */
bool wsdbg_side_process_wait(struct wsdbg_side_process *process, uint64_t deadline_ns);
void wsdbg_side_process_kill(const struct wsdbg_side_process *process);
/* One that still runs goes on alone. */
void wsdbg_side_process_release(struct wsdbg_side_process *process);

#endif
