/* barrier_ties.h - which barrier of the record is which of those that a look saw. */
#ifndef WSDBG_EVIDENCE_BARRIER_TIES_H
#define WSDBG_EVIDENCE_BARRIER_TIES_H

#include "model/snapshot.h"

/* Gives the barriers of a grid that looks added the ids, names and counts that the record has of them, and adds those
 * that only the record has.  `was` is the grid's number in the record. */
struct wsdbg_error *wsdbg_tie_barriers(struct wsdbg_snapshot *snapshot, uint32_t grid,
                                       const struct wsdbg_snapshot *record, uint32_t was);

#endif
