/* missing_mates.h - warps that never reach an arrival on an mbarrier, although most of their warpgroup arrive on it. */
#ifndef WSDBG_DIAGNOSE_MISSING_MATES_H
#define WSDBG_DIAGNOSE_MISSING_MATES_H

#include "diagnose/missing_arrivals.h"

/* `arrivers` are all warps that can arrive; they make fewer arrivals than the barrier counts.  True, with a finding, if
 * their whole warpgroups would make the count, and fewer warps are missing from these than arrive. */
bool wsdbg_missing_mates_judge(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                               const struct wsdbg_warp_set *arrivers);

#endif
