/* walk_serves.h - loops in which a warp does something for one lane after the other.  Private to the walks. */
#ifndef WSDBG_SASS_WALK_SERVES_H
#define WSDBG_SASS_WALK_SERVES_H

#include "sass/access.h"
#include "sass/flow.h"

/* Notes for each block whether it is a loop in which each round elects one of the lanes that are left, and that lane
 * then leaves the loop.  Each lane that comes there is elected once, and what the others of its rounds do is not its
 * own.  operands: of each instruction; serves: of each block. */
void walk_serves_find(const struct wsdbg_graph *graph, const struct wsdbg_access_operands *operands, bool *serves);

#endif
