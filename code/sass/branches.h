/* branches.h - branches through a register, as a switch becomes one: where they may lead by the compiler's notes, and
 * where those lead that read their target from a table of constants by a value that is known.
 *
 * A branch without a note stays one that may go anywhere.
 */
#ifndef WSDBG_SASS_BRANCHES_H
#define WSDBG_SASS_BRANCHES_H

#include "sass/flow.h"

struct wsdbg_trace;

/* The ways of all branches that the compiler noted whole, in any order; the caller frees *out, also where there are
 * none.  A note with a target outside of the function is left out. */
struct wsdbg_error *wsdbg_branches_noted(const struct wsdbg_cubin_function *function, struct wsdbg_way **out,
                                         size_t *count);

/* The one instruction of the branch's ways to which it leads for the threads of the trace; false where they part or
 * nobody knows. */
bool wsdbg_branch_leads(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t branch, uint32_t *to);

#endif
