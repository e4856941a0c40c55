/* rank_calls.h - the call of another rank that meets a call of NCCL, and whether the two are alike. */
#ifndef WSDBG_DIAGNOSE_RANK_CALLS_H
#define WSDBG_DIAGNOSE_RANK_CALLS_H

#include "model/snapshot.h"

/* Whether the numbers of a communicator's calls can be compared with those of other ranks: a flag for each
 * communicator. The caller frees it; NULL = no memory. */
bool *wsdbg_rank_calls_find_comparable(const struct wsdbg_snapshot *snapshot);
/* Whether the two are places of different ranks in one communicator. */
bool wsdbg_rank_is_other(const struct wsdbg_communicator *a, const struct wsdbg_communicator *b);

enum wsdbg_made { WSDBG_MADE_NOT_KNOWN, WSDBG_MADE_NOT, WSDBG_MADE };
struct wsdbg_rank_met {
    uint32_t call; /* index in collectives; WSDBG_NONE = it was not made, or is not in the snapshot */
    enum wsdbg_made made;
};
/* The call of the member (index in communicators) that meets this call of the rank own_rank. */
struct wsdbg_rank_met wsdbg_rank_meets(const struct wsdbg_snapshot *snapshot, const struct wsdbg_collective_row *call,
                                       uint32_t own_rank, uint32_t member);

/* Whether two calls that meet have different operations, roots or sizes. */
bool wsdbg_rank_calls_differ(const struct wsdbg_collective_row *a, const struct wsdbg_collective_row *b);
/* Whether two collectives that meet have different reductions of NCCL.  Reductions that the program made are not
 * compared, because each process gives them its own number. */
bool wsdbg_rank_calls_reduce_otherwise(const struct wsdbg_collective_row *a, const struct wsdbg_collective_row *b);

#endif
