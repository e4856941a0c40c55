/* walk_ways.h - which blocks lead to an instruction.  Private to the walks. */
#ifndef WSDBG_SASS_WALK_WAYS_H
#define WSDBG_SASS_WALK_WAYS_H

#include "sass/walk_plan.h"

/* By block: whether some way from its begin on leads to the instruction.  Ways behind a return are not followed.  The
 * plan keeps the answer, and counts in `searched` how many blocks were looked at.  NULL: no memory. */
const bool *walk_ways_to(struct wsdbg_walk_plan *plan, uint32_t instruction);

#endif
