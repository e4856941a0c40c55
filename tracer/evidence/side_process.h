/* side_process.h - a process forked beside wsdbg that neither the terminal nor wsdbg's own death ends.
 *
 * It keeps only two of wsdbg's descriptors, prints nothing, and ignores every signal that asks it to end: whoever wants
 * to end it must kill it.  A killed inspector may take the traced program with it.  So two ways to kill one by mistake
 * are closed.  Its name is one that `pkill wsdbg` does not match.  And the kernel's OOM killer takes it nearly last, if
 * wsdbg has the right to ask for that.
 */
#ifndef WSDBG_EVIDENCE_SIDE_PROCESS_H
#define WSDBG_EVIDENCE_SIDE_PROCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WSDBG_SIDE_PROCESS_OOM_SCORE "-900" /* of -1000 (never) to 1000 */

struct wsdbg_side_process {
    pid_t id;    /* 0 = none, or it has ended and was collected */
    int process; /* its pidfd, -1 = none: the number above may be another's once somebody else collected it */
};

/* The new process calls work(argument), with `kept` (-1 = none) as its only descriptors from 3 on, and ends.  name:
 * what /proc/PID/comm shows, 15 bytes at most. */
struct wsdbg_error *wsdbg_side_process_start(struct wsdbg_side_process *out, const char *name, const int kept[2],
                                             void (*work)(const void *argument), const void *argument);
/* Waits until it has ended, deadline_ns (CLOCK_MONOTONIC) at most; a process that has ended leaves no zombie.  False:
 * it has not.  True where there is none. */
bool wsdbg_side_process_wait(struct wsdbg_side_process *process, uint64_t deadline_ns);
void wsdbg_side_process_kill(const struct wsdbg_side_process *process);
/* One that still runs goes on alone. */
void wsdbg_side_process_release(struct wsdbg_side_process *process);

#endif
