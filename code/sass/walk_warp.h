/* walk_warp.h - what the lanes of a warp tell each other while all 32 of them walk together: shuffles and votes, and
 * uniform registers that only some of them write.  Private to the walks.
 *
 * The plan keeps what each lane got.  Lanes that leave the group later are walked again from the kernel's start, in a
 * group of their own.  Until the place where they left they get the same values.
 */
#ifndef WSDBG_SASS_WALK_WARP_H
#define WSDBG_SASS_WALK_WARP_H

#include "sass/walk_group.h"

/* Executes a shuffle, a vote or a lent copy (see walk_plan.h) for all lanes of the group.  False: it is none, or not
 * all lanes of the warp are known to have taken part. */
bool walk_warp_exchange(struct walk_group *group, uint32_t instruction);

#endif
