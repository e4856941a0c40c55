/* left_out.h - arrivals that a record shows were left out, although no later one of the same warp says so. */
#ifndef WSDBG_DIAGNOSE_LEFT_OUT_H
#define WSDBG_DIAGNOSE_LEFT_OUT_H

#include "diagnose/round.h"

/* The warp stands at a cluster or named barrier, to which it came straight from its last arrival on the mbarrier;
 * every warp of its role that arrived in the round came there from the same iteration without such a stop. */
bool wsdbg_turned_off(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                      uint32_t warp);

/* Nobody has ever arrived on the mbarrier, by whole records, although all who may be meant to wait for this waiter or
 * one beside it, and have done that iteration's other arrivals.  *meant are those.  */
bool wsdbg_never_served(const struct wsdbg_case *c, const struct wsdbg_wait *wait, struct wsdbg_warp_set *meant);

#endif
