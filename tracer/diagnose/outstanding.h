/* outstanding.h - who took something and has not given it back: what a record shows of a warp that stands in
 * the middle of its work, and owes an arrival that another one waits for.
 */
#ifndef WSDBG_DIAGNOSE_OUTSTANDING_H
#define WSDBG_DIAGNOSE_OUTSTANDING_H

#include "diagnose/case.h"

/* Warps of `standing` that could end the wait of `waiter`.  Empty if one of them does not owe the arrival.  With
 * histories a warp owes it if it came through a wait after its last arrival on that mbarrier, as it did before that
 * arrival.  If nobody ever arrived on the mbarrier and no name says who should, a warp owes it if it came through a
 * wait and has arrived nowhere since.  From the machine's state a warp owes it if it can still reach the arrival. */
struct wsdbg_warp_set wsdbg_outstanding_warps(const struct wsdbg_case *c, uint32_t waiter,
                                              const struct wsdbg_warp_set *standing);

/* Whether all of `absent` are stuck and wait, directly or for one another, for arrivals that warps of `standing` owe.
 * Then none of them can reach the place where those stand.  *outstanding is all warps that owe an arrival. */
bool wsdbg_all_wait_for(const struct wsdbg_case *c, const struct wsdbg_warp_set *absent,
                        const struct wsdbg_warp_set *standing, struct wsdbg_warp_set *outstanding);

#endif
