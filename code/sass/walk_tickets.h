/* walk_tickets.h - what an addition to a counter of global memory may have returned.  Private to the walks.
 *
 * Schedulers take the number of their next tile from such a counter.  Nobody keeps which CTA got which number.  So a
 * walk that would be lost supposes that the CTAs took turns and that the counter began at 0.  That is a guess.
 */
#ifndef WSDBG_SASS_WALK_TICKETS_H
#define WSDBG_SASS_WALK_TICKETS_H

#include "sass/walk_group.h"

/* Whether some walk may take a number from a counter. */
bool walk_tickets_may_be_taken(const struct wsdbg_walk_plan *plan);
/* Before lanes walk: they have taken nothing yet. */
void walk_tickets_begin(struct wsdbg_walk_plan *plan);
/* *value: what the lane got if the CTAs took turns.  False: the walks suppose nothing; or this is no addition of 32
 * bits, or how often the lane has executed it before is not known, or it is one counter too many. */
bool walk_ticket(const struct walk_lane *lane, const struct wsdbg_instruction *atomic, uint32_t *value);

#endif
