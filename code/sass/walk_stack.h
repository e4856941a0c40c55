/* walk_stack.h - the words that a kernel keeps in local memory for a while.  Private to the walks.
 *
 * A compiler that runs out of registers stores some of them in the thread's local memory and loads them again later.  A
 * loop counter may be among them.  An array whose index is not constant lies there, too.  Such a word is as good as a
 * register that nothing else names: a walk follows it as one.
 */
#ifndef WSDBG_SASS_WALK_STACK_H
#define WSDBG_SASS_WALK_STACK_H

#include "sass/flow.h"

/* Copies the instructions of the graph.  In the copy, loads and stores of words of the stack frame name general
 * registers from number 256 on instead, one for each word: both have one source and one destination then, of as many
 * registers as they move.  Some loads compute their place from the stack pointer.  These keep their address.
 * Their further sources are all words of the frame, and the stack pointer.  None of this is done where the frame may be
 * used in another way: by an address that goes anywhere else, or where the frame is not the same everywhere.
 *
 * In code that comes from PTX, local memory begins at address 0, and all its loads and stores keep their address.  The
 * further sources of a load are all words that are followed, and 0.  Those words are the last source of a store, and
 * its destination.  The caller frees *out. */
struct wsdbg_error *walk_stack_follow(const struct wsdbg_graph *graph, struct wsdbg_instruction **out);
/* Whether the instruction of such a copy moves words of the frame. */
bool walk_stack_moves(const struct wsdbg_instruction *instruction);
/* Whether it loads words at a place that is computed.  The difference between its address and its last source is the
 * place in bytes of the first word among the registers that stand for all words. */
bool walk_stack_picks(const struct wsdbg_instruction *instruction);
/* Whether it stores words at a place that is computed, the same way; the difference is to address 0. */
bool walk_stack_puts(const struct wsdbg_instruction *instruction);

#endif
