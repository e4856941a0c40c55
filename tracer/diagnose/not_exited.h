/* not_exited.h - what else can be wrong where only warps that have exited could end a wait. */
#ifndef WSDBG_DIAGNOSE_NOT_EXITED_H
#define WSDBG_DIAGNOSE_NOT_EXITED_H

#include "diagnose/missing_arrivals.h"

/* Whether all walks of the CTA, each from the kernel's start to its end, make all arrivals of the rounds of the warp.
 * Then none is left out: some came too early, or the waits are out of step. */
bool wsdbg_walks_make_all(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);

/* Each adds a finding and returns true if it explains the wait. */
/* ARRIVE_SHORT: the stage takes more arrivals than the barrier's other stages, and has got as many as these take. */
bool wsdbg_not_exited_count(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);
/* PARITY_DRIFT: walks show that those who exited made all arrivals that the waits of the whole kernel need. */
bool wsdbg_not_exited_drift(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);

#endif
