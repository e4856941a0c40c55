/* missing_mates.h - warps that never reach an arrival on an mbarrier, although most of their warpgroup arrive on it. */
#ifndef WSDBG_DIAGNOSE_MISSING_MATES_H
#define WSDBG_DIAGNOSE_MISSING_MATES_H

#include "diagnose/missing_arrivals.h"

/* `arrivers` are all warps that can arrive; they make fewer arrivals than the barrier counts.  True, with a finding, if
 * their whole warpgroups would make the count, and fewer warps are missing from these than arrive. */
bool wsdbg_missing_mates_judge(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                               const struct wsdbg_warp_set *arrivers);

/* Whether the missing arrivals may be those of one warp that has not come to them yet: of the warps of a warpgroup that
 * can arrive, it alone waits on another stage of the barrier on which the others wait.  What keeps it is its wait. */
bool wsdbg_missing_mates_have_one_behind(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);

#endif
