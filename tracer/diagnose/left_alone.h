/* left_alone.h - a warp, or some lanes of it, that left the kernel while the rest of its warpgroup stays.
 *
 * Where the warp at its place in another warpgroup arrives on a barrier, its own arrivals there are what is missing.
 */
#ifndef WSDBG_DIAGNOSE_LEFT_ALONE_H
#define WSDBG_DIAGNOSE_LEFT_ALONE_H

#include "diagnose/case.h"
#include "diagnose/missing_arrivals.h"

/* The first warp that is not in the set of those that arrive on the barrier, as it has left the kernel; WSDBG_NONE.
 * Either it alone of its warpgroup has left, none of that is in the set, and all in the set are at the warp's place of
 * other warpgroups, some in its CTA.  Or less than half of its lanes have left, as many as there are arrivals missing,
 * and all others of its warpgroup are in the set.  barrier: a row of the snapshot, or WSDBG_NONE. */
uint32_t wsdbg_one_that_left(const struct wsdbg_case *c, const struct wsdbg_warp_set *set, uint32_t barrier);
/* Adds WAKER_EXITED: such a warp, where there is one, would arrive like those that do.  Likely if the missing arrivals
 * are as many as each of these makes. */
void wsdbg_say_one_left(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                        const struct wsdbg_warp_set *arrivers);

#endif
