/* missing_ranks.h - ranks that did not enter a collective of NCCL, or entered a different one. */
#ifndef WSDBG_DIAGNOSE_MISSING_RANKS_H
#define WSDBG_DIAGNOSE_MISSING_RANKS_H

#include "diagnose/finding.h"

/* Adds RANK_MISSING, RANK_MISMATCH and RANK_GONE to the findings.  If a rank may still come, the findings about the
 * kernels that wait for it become only possible. */
struct wsdbg_error *wsdbg_find_missing_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis);

/* Call it after the host threads were read.  Adds to RANK_MISSING where the missing rank is.  If that rank's main
 * thread runs, the cause becomes RANK_SKEW. */
void wsdbg_place_missing_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis);

#endif
