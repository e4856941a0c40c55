/* outstanding.h - who took something and has not given it back: what a record shows of a warp that stands in
 * the middle of its work, and owes an arrival that another one waits for.
 */
#ifndef WSDBG_DIAGNOSE_OUTSTANDING_H
#define WSDBG_DIAGNOSE_OUTSTANDING_H

#include "diagnose/case.h"

/* Those of `standing` that could end the wait of `waiter`, if each of them owes it: with histories, if each came
 * through a wait as it does before every arrival of its on that mbarrier, and has not arrived since (where nobody ever
 * arrived on it, and no name says who is to: not anywhere); from the machine's state, if it can still reach the
 * arrival.  Empty where one of them does not. */
struct wsdbg_warp_set wsdbg_outstanding_warps(const struct wsdbg_case *c, uint32_t waiter,
                                              const struct wsdbg_warp_set *standing);

/* Whether all of `absent` are stuck and wait, over one another or not, for warps with outstanding arrivals of
 * `standing`: then nobody of them can reach where those stand.  *warps with outstanding arrivals are all that owe
 * something. */
bool wsdbg_all_wait_for(const struct wsdbg_case *c, const struct wsdbg_warp_set *absent,
                        const struct wsdbg_warp_set *standing, struct wsdbg_warp_set *outstanding);

#endif
