/* branches.h - indirect branches, such as a switch compiles to: their possible targets, from the compiler's notes.
 *
 * A branch without a note stays one that may go anywhere.
 */
#ifndef WSDBG_SASS_BRANCHES_H
#define WSDBG_SASS_BRANCHES_H

#include "sass/flow.h"

/* The ways of all branches that the compiler noted whole, in any order; the caller frees *out, also where there are
 * none.  A note with a target outside of the function is left out. */
struct wsdbg_error *wsdbg_branches_noted(const struct wsdbg_cubin_function *function, struct wsdbg_way **out,
                                         size_t *count);

#endif
