/* collective.h - communicators of NCCL and the calls on them: their names, and which grid runs for a call. */
#ifndef WSDBG_MODEL_COLLECTIVE_H
#define WSDBG_MODEL_COLLECTIVE_H

#include "model/snapshot.h"

#define WSDBG_COLLECTIVE_BYTES 160

/* "all_reduce", "send"; "float32"; "sum"; "lives", "finalized".  JSON and SQL use these names, so they are stable. NULL
 * for a number of a later NCCL, or for a reduction that the program made. */
const char *wsdbg_collective_operation_name(unsigned operation);
const char *wsdbg_collective_datatype_name(unsigned datatype);
const char *wsdbg_collective_reduction_name(unsigned reduction);
const char *wsdbg_communicator_state_name(unsigned end);

/* Size of an element; 0 = not known. */
unsigned wsdbg_collective_datatype_bytes(unsigned datatype);
/* A call that only two ranks make: send or receive. */
bool wsdbg_collective_is_pair(const struct wsdbg_collective_row *call);
/* "all_reduce #2 (1024 float32, sum)", "send #1 (64 float32, to rank 1)"; ranks are those of the communicator. */
void wsdbg_collective_text(const struct wsdbg_collective_row *call, char out[WSDBG_COLLECTIVE_BYTES]);
/* "all_reduce #2". */
void wsdbg_collective_short_text(const struct wsdbg_collective_row *call, char out[WSDBG_COLLECTIVE_BYTES]);
/* "communicator 8f2a01c3 (8 ranks)". */
void wsdbg_communicator_text(const struct wsdbg_communicator_row *row, char out[WSDBG_COLLECTIVE_BYTES]);

/* Whether the grid may be the call's kernel: function and process are the same, the grid's launch is not known, and the
 * call is not known to be done. */
bool wsdbg_collective_may_be_grid(const struct wsdbg_snapshot *snapshot, uint32_t collective, uint32_t grid);
/* The grid that runs for this call: the grid of its launch.  If the launch is not known, only the oldest call of a
 * stream has a grid.  WSDBG_NONE = not known. */
uint32_t wsdbg_collective_grid(const struct wsdbg_snapshot *snapshot, uint32_t collective);
/* Whether the grid runs for some call of the snapshot. */
bool wsdbg_collective_has_grid(const struct wsdbg_snapshot *snapshot, uint32_t grid);
/* Whether the process waits in a collective for a rank that has ended without making the call.  That wait ends only if
 * the program aborts the communicator. */
bool wsdbg_collective_peer_is_gone(const struct wsdbg_snapshot *snapshot, uint32_t process_id);
/* Whether the snapshot has calls of NCCL. */
bool wsdbg_snapshot_has_collectives(const struct wsdbg_snapshot *snapshot);

#endif
