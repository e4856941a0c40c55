/* deadlock.h - time limits, and the proof that nothing can go on; see deadlock.c. */
#ifndef WSDBG_HOPPER_DEADLOCK_H
#define WSDBG_HOPPER_DEADLOCK_H

#include "hopper/device.h"

/* Every split whose time limit has passed executes its instruction again. */
void hopper_expire_limits(struct wsdbg_gpu *gpu);
/* No warp is ready and no engine works: whether no time limit changes that either. */
bool hopper_is_stuck(struct wsdbg_gpu *gpu);
/* Some split spins on memory that the host could write. */
bool hopper_host_may_help(const struct wsdbg_gpu *gpu);

#endif
