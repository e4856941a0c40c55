/* recorded_case.h - a case of which both are known: the machine's state, and what its warps recorded before.
 *
 * Histories tell counts and order, the state tells words and where every warp stands now.  So the rules over histories
 * judge the record as it is right about now: who has left, or stands elsewhere than the record ends, is as the state
 * says; who the state shows to be stuck is stuck.  Then the findings of both are put together.
 */
#ifndef WSDBG_DIAGNOSE_RECORDED_CASE_H
#define WSDBG_DIAGNOSE_RECORDED_CASE_H

#include "diagnose/case.h"

/* The record of a snapshot, put right; for one diagnosis. */
struct wsdbg_recorded;

/* *out is NULL where the snapshot has no record.  The snapshot must live longer. */
struct wsdbg_error *wsdbg_recorded_create(const struct wsdbg_snapshot *snapshot, struct wsdbg_recorded **out);
void wsdbg_recorded_destroy(struct wsdbg_recorded *recorded); /* NULL is fine */

/* Gathers the record of a case of the machine's state, whose graph is known, and who of it is stuck: *out has no warps
 * where nothing was recorded.  The caller judges it as any case, then deinits it and frees *ctas. */
struct wsdbg_error *wsdbg_recorded_case(const struct wsdbg_recorded *recorded, const struct wsdbg_case *c,
                                        uint32_t **ctas, struct wsdbg_case *out);
/* Puts the findings about the record beside those about the state and leaves what holds of both: a proven cause before
 * a likely one, any cause before a mere standstill.  Two proven causes that differ prove neither. */
void wsdbg_recorded_join(const struct wsdbg_recorded *recorded, struct wsdbg_case *c, struct wsdbg_case *record);

#endif
