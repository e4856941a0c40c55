/* gone_ranks.h - ranks whose process has ended while kernels of others wait. */
#ifndef WSDBG_DIAGNOSE_GONE_RANKS_H
#define WSDBG_DIAGNOSE_GONE_RANKS_H

#include "diagnose/finding.h"

/* Adds RANK_GONE to what the rules have found, once for each such rank. */
struct wsdbg_error *wsdbg_find_gone_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis);

#endif
