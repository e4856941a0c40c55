/* fold.h - puts the findings of many CTAs together: equal ones become one with a count. */
#ifndef WSDBG_DIAGNOSE_FOLD_H
#define WSDBG_DIAGNOSE_FOLD_H

#include "diagnose/case.h"

/* Drops what a better finding of the same case explains. */
void wsdbg_case_settle(struct wsdbg_case *c);

/* Moves the case's findings into `out`, folding those that say the same of another CTA. */
struct wsdbg_error *wsdbg_fold(struct wsdbg_case *c, struct wsdbg_diagnosis *out);

/* Some CTAs of the grid would hang even if all polls ended.  Then it is no more than possible that others hang for what
 * they poll. */
void wsdbg_doubt_polls(struct wsdbg_diagnosis *out, uint32_t grid);

/* Best first, and the hang flag. */
void wsdbg_rank_findings(struct wsdbg_diagnosis *out, const struct wsdbg_snapshot *snapshot);

#endif
