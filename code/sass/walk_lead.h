/* walk_lead.h - which side of a branch leads to the place where lanes were seen.  Private to the walks.
 *
 * Where the condition of a branch is not known, and only one side leads to the instruction at which a lane stands now,
 * the lane took that side, as often as it came there.  Behind its present place that is a guess.
 */
#ifndef WSDBG_SASS_WALK_LEAD_H
#define WSDBG_SASS_WALK_LEAD_H

#include "sass/walking.h"

/* The block at which the walk goes on behind a branch, or a guarded exit, whose condition is not known.  Lanes that
 * were seen elsewhere leave the group.  NONE: where the leader was seen does not tell. */
uint32_t walk_lead(struct walking *walking, uint32_t block);

#endif
