/* walk_beside.h - the lanes of a warp that are followed beside a group.  Private to walk.c and walk_group.c.
 *
 * The lanes of a group may ask by shuffles and votes what other lanes of their warp have.  So those are followed too,
 * as long as they go the group's way.  A lane that goes another way comes back where the ways meet.  What that way
 * writes is then not known of it.
 */
#ifndef WSDBG_SASS_WALK_BESIDE_H
#define WSDBG_SASS_WALK_BESIDE_H

#include "sass/walk_group.h"

/* A lane of the group, or one beside it, leaves the kernel. */
void walk_beside_exit(struct walk_group *group, uint32_t lane);
/* A lane of the group, or one beside it, turns elsewhere behind a block: to block `to`; WSDBG_GRAPH_NONE = not known.
 * `depth`: of calls. */
void walk_beside_leave(struct walk_group *group, uint32_t lane, uint32_t block, uint32_t to, unsigned depth);
/* Forgets what a lane's own way, which is not known, may have written. */
void walk_beside_forget(struct walk_group *group, uint32_t lane, const struct wsdbg_walk_detour *detour);
/* The group begins a block: the lanes that were to come back there are followed again. */
void walk_beside_come_back(struct walk_group *group, uint32_t block, unsigned depth);

#endif
