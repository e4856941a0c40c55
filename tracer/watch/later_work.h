/* later_work.h - whether a look at the GPU could keep from a running kernel what it waits for.
 *
 * Once a debugger has attached, driver 580 lets what the program gives the context from then on wait until the kernels
 * that ran at the attach are over (docs/results/live-attach.md).  A kernel that waits for a later copy or kernel
 * would stand for ever because of a look that attaches late.  Contexts to which somebody attached before are not asked
 * about.
 */
#ifndef WSDBG_WATCH_LATER_WORK_H
#define WSDBG_WATCH_LATER_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/snapshot.h"

enum wsdbg_submitter {
    WSDBG_SUBMITTER_NONE,
    WSDBG_SUBMITTER_ANY,     /* no thread of the program is known to have waited for the GPU for half of the time */
    WSDBG_SUBMITTER_ANOTHER, /* one has, but another one is not known to be blocked */
};

/* Who may be about to give the GPU more while work of their process has been unfinished for age_ns.  Each thread of the
 * program counts, also one that never used the driver: it may write what a kernel waits for, or wake one that does. */
enum wsdbg_submitter wsdbg_work_submitter(const struct wsdbg_snapshot *snapshot, uint64_t age_ns, uint64_t now_ns);

#endif
