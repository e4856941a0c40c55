/* missing_ranks.h - finds ranks that do not make a collective of NCCL, or make another one, while others wait in it. */
#ifndef WSDBG_DIAGNOSE_MISSING_RANKS_H
#define WSDBG_DIAGNOSE_MISSING_RANKS_H

#include "diagnose/finding.h"

/* Adds RANK_MISSING, RANK_MISMATCH and RANK_GONE to the findings of the rules.  If a rank may still come, GLOBAL_SPIN,
 * HOST_WAIT and UNKNOWN of the kernels that wait for it become only possible. */
struct wsdbg_error *wsdbg_find_missing_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis);

/* Adds to each RANK_MISSING where the main thread of that rank is; call it once host stacks were read.  A possible
 * RANK_MISSING whose main thread moves becomes RANK_SKEW. */
void wsdbg_place_missing_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis);

#endif
