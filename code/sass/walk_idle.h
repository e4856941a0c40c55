/* walk_idle.h - branches on which nothing depends that a walk is about.  Private to the walks.
 *
 * A loop may only compute data: no way through it has an access, and no register that it writes decides anything behind
 * it.  A walk goes on behind such a loop without its rounds.
 */
#ifndef WSDBG_SASS_WALK_IDLE_H
#define WSDBG_SASS_WALK_IDLE_H

#include "sass/walk_plan.h"

/* Fills plan->idle_to for branches of loops: the block behind the loop, where nothing depends on it.  at_begin: by
 * block, the registers that are needed from there on.  What a load brings that is executed there may be what ends the
 * loop: it is not idle then, as it may wait.  *found: there is one more than before. */
struct wsdbg_error *walk_idle_find(struct wsdbg_walk_plan *plan, const uint64_t (*at_begin)[WSDBG_WALK_REGISTER_WORDS],
                                   bool *found);
/* Adds what the loops that are left out read and write to the traffic behind their branches.  Asked when plan->traffic
 * is known. */
struct wsdbg_error *walk_idle_add_traffic(struct wsdbg_walk_plan *plan);
/* The block at which a walk goes on behind this one, whatever its branch asks; WSDBG_GRAPH_NONE: it is not idle. */
uint32_t walk_idle_to(const struct wsdbg_walk_plan *plan, uint32_t block);

#endif
