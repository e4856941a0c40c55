/* branch_target.h - the target of a branch through a register, if the code reads it from a table of constants at a
 * known index. */
#ifndef WSDBG_SASS_BRANCH_TARGET_H
#define WSDBG_SASS_BRANCH_TARGET_H

#include "sass/flow.h"
#include "sass/trace.h"

/* Whether the branch goes where a register says, and the register alone. */
bool wsdbg_branch_asks_register(const struct wsdbg_instruction *branch);
/* The one instruction of the branch's ways to which it leads for the threads of the trace; false where they part or
 * nobody knows. */
bool wsdbg_branch_leads(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t branch, uint32_t *to);

#endif
