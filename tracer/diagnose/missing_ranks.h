/* missing_ranks.h - ranks that do not come to a collective of NCCL, or come with another one. */
#ifndef WSDBG_DIAGNOSE_MISSING_RANKS_H
#define WSDBG_DIAGNOSE_MISSING_RANKS_H

#include "diagnose/finding.h"

/* Adds RANK_MISSING, RANK_MISMATCH and RANK_GONE to what the rules have found.  Where a rank may still come, what the
 * rules say of the kernels that wait for it becomes only possible. */
struct wsdbg_error *wsdbg_find_missing_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis);

/* Once the threads of the processes were read: where the missing rank is, which makes one that moves a RANK_SKEW. */
void wsdbg_place_missing_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis);

#endif
