/* nccl_wait.h - calls of NCCL in which a rank waits, and no kernel shows it.
 *
 * Ranks connect with one another when they make a communicator, and before the first send or receive of a pair.  Such a
 * call returns when the other ranks make theirs. */
#ifndef WSDBG_MODEL_NCCL_WAIT_H
#define WSDBG_MODEL_NCCL_WAIT_H

#include "model/snapshot.h"

/* Whether the call is inside NCCL, and has launched nothing so far. */
bool wsdbg_collective_waits_on_host(const struct wsdbg_snapshot *snapshot, uint32_t collective);
/* A thread that has waited for the GPU ever since its process made the call, while the snapshot does not show whether
 * the call's kernel, which is not known to be done, runs: no look saw the process.  NULL = there is none. */
const struct wsdbg_host_thread *wsdbg_collective_waits_unseen(const struct wsdbg_snapshot *snapshot,
                                                              uint32_t collective);
/* Since when the first of all those threads has waited; 0 = there is none. */
uint64_t wsdbg_nccl_unseen_since_ns(const struct wsdbg_snapshot *snapshot);
/* Whether the call that makes the communicator, or the group around it, has not returned. */
bool wsdbg_communicator_is_being_made(const struct wsdbg_snapshot *snapshot, uint32_t communicator);
/* When the oldest of all calls on the host, or of those that make a communicator, began; 0 = there is none. */
uint64_t wsdbg_nccl_waits_since_ns(const struct wsdbg_snapshot *snapshot);

#endif
