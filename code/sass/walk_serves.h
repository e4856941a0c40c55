/* walk_serves.h - loops in which a warp does something for one lane after the other.  Private to the walks. */
#ifndef WSDBG_SASS_WALK_SERVES_H
#define WSDBG_SASS_WALK_SERVES_H

#include "sass/flow.h"

/* Whether an instruction is in a loop of one block in which each round elects one of the lanes that are left, and that
 * lane then leaves the loop.  Each lane that comes there is elected once, and what the others of its rounds do is not
 * its own. */
bool walk_serves_each(const struct wsdbg_graph *graph, uint32_t instruction);

#endif
