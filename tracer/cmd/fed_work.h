/* fed_work.h - whether a look at the GPU could keep from a running kernel what it waits for.
 *
 * Once a debugger has attached, driver 580 lets what the program gives the context from then on wait until the kernels
 * that ran at the attach are over (docs/results/live-door.md).  A kernel that waits for a later copy or kernel would
 * stand for ever because of the look.
 */
#ifndef WSDBG_CMD_FED_WORK_H
#define WSDBG_CMD_FED_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/snapshot.h"

/* True while some process has work on the GPU that has been unfinished for age_ns, and no thread of it is known to have
 * waited for the GPU for at least half of that time: it may be about to give the GPU more. */
bool wsdbg_work_may_be_fed(const struct wsdbg_snapshot *snapshot, uint64_t age_ns, uint64_t now_ns);

#endif
