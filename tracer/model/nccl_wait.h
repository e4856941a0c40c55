/* nccl_wait.h - calls of NCCL that have not returned: a rank waits in them on the host, and no kernel shows it.
 *
 * Ranks connect with one another when they make a communicator, and before the first send or receive of a pair.  Such a
 * call returns when the other ranks make theirs. */
#ifndef WSDBG_MODEL_NCCL_WAIT_H
#define WSDBG_MODEL_NCCL_WAIT_H

#include "model/snapshot.h"

/* Whether the call is inside NCCL, and has launched nothing so far. */
bool wsdbg_collective_waits_on_host(const struct wsdbg_snapshot *snapshot, uint32_t collective);
/* Whether the call that makes the communicator, or the group around it, has not returned. */
bool wsdbg_communicator_is_being_made(const struct wsdbg_snapshot *snapshot, uint32_t communicator);
/* When the oldest of all these calls began; 0 = there is none. */
uint64_t wsdbg_nccl_waits_since_ns(const struct wsdbg_snapshot *snapshot);

#endif
