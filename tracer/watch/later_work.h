/* later_work.h - whether a late look at the GPU could hold back the work that a running kernel waits for.
 *
 * When a debugger attaches while kernels run, driver 580 holds back what the program gives the context from then on,
 * until those kernels have ended (docs/results/live-attach.md).  A kernel that waits for a later copy or kernel would
 * then wait for ever.  Contexts to which an inspector is attached already are not counted: a look at them holds nothing
 * back.  Processes that wait in a collective for an ended one are not counted either: no later work ends that wait.
 */
#ifndef WSDBG_WATCH_LATER_WORK_H
#define WSDBG_WATCH_LATER_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/snapshot.h"

enum wsdbg_submitter {
    WSDBG_SUBMITTER_NONE,
    WSDBG_SUBMITTER_ANY,     /* no thread of the program is known to have waited for the GPU for half of age_ns */
    WSDBG_SUBMITTER_ANOTHER, /* one thread has, but another one is not known to be blocked */
};

/* Which thread may soon give the GPU more work, while work of its process has been unfinished for age_ns.  Every thread
 * of the program counts, even one that never used the driver: it may write what a kernel waits for, or wake a thread
 * that does. */
enum wsdbg_submitter wsdbg_work_submitter(const struct wsdbg_snapshot *snapshot, uint64_t age_ns, uint64_t now_ns);

#endif
