/* missing_mates.h - warps of a warpgroup that arrives on an mbarrier, which themselves never reach an arrival on it.
 */
#ifndef WSDBG_DIAGNOSE_MISSING_MATES_H
#define WSDBG_DIAGNOSE_MISSING_MATES_H

#include "diagnose/missing_arrivals.h"

/* `arrivers` are all who can arrive, and make less than the barrier counts.  True, with a finding, where the count is
 * that of their whole groups of four warps, and the lesser part of these never arrives. */
bool wsdbg_missing_mates_judge(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                               const struct wsdbg_warp_set *arrivers);

#endif
