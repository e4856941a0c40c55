/* slice.h - the part of a function's control flow that leads to some of its instructions: of a kernel that takes its
 * roles and then works, only the roles.
 *
 * An analysis that follows values or decides branches takes time in proportion to the code.  On the slice it takes
 * little, and its answers for the instructions that are kept are the same: an instruction that could matter to one of
 * them leads to it, so it is kept, too.
 */
#ifndef WSDBG_SASS_SLICE_H
#define WSDBG_SASS_SLICE_H

#include "sass/graph.h"

/* The graph of the blocks from which some path reaches an instruction of `set`, or a place that is not known.  Each
 * stretch of other blocks in between becomes one instruction: an EXIT, or, where no path from it reaches an exit other
 * than a trap's, a branch to itself.  numbers[i] of *numbers is the number in `graph` of instruction i.  The caller
 * destroys *out and frees *numbers. */
struct wsdbg_error *wsdbg_graph_create_leading_to(const struct wsdbg_graph *graph, wsdbg_instruction_set set,
                                                  struct wsdbg_graph **out, uint32_t **numbers);

#endif
