/* walk_warp.h - what the lanes of a warp tell each other: shuffles and votes, and uniform registers that only some of
 * them write.  Private to the walks.
 *
 * Lanes that leave a group are walked again from the kernel's start, in a group of their own.  These groups need what
 * each lane got while all 32 lanes walked together: the plan keeps it.
 */
#ifndef WSDBG_SASS_WALK_WARP_H
#define WSDBG_SASS_WALK_WARP_H

#include "sass/walk_group.h"

/* Executes a shuffle, a vote or a lent copy (see walk_plan.h) for all lanes of the group.  False: it is none, or not
 * all lanes of the warp are known to have taken part. */
bool walk_warp_exchange(struct walk_group *group, uint32_t instruction);

#endif
