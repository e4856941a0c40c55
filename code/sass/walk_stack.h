/* walk_stack.h - the registers that a kernel of machine code keeps in its stack frame for a while.  Private to the
 * walks.
 *
 * A compiler that runs out of registers stores some of them in the thread's local memory and loads them again later.  A
 * loop counter may be among them.  Such a word is as good as a register that nothing else names: a walk follows it as
 * one.
 */
#ifndef WSDBG_SASS_WALK_STACK_H
#define WSDBG_SASS_WALK_STACK_H

#include "sass/flow.h"

/* Copies the instructions of the graph.  In the copy, loads and stores of words of the stack frame name general
 * registers from number 256 on instead, one for each word: both have one source and one destination then, of as many
 * registers as they move.  Some loads compute their place from the stack pointer.  These keep their address.
 * Their further sources are all words of the frame, and the stack pointer.  None of this is done where the frame may be
 * used in another way: by an address that goes anywhere else, or where the frame is not the same everywhere.  The
 * caller frees *out. */
struct wsdbg_error *walk_stack_follow(const struct wsdbg_graph *graph, struct wsdbg_instruction **out);
/* Whether the instruction of such a copy moves words of the frame. */
bool walk_stack_moves(const struct wsdbg_instruction *instruction);
/* Whether it loads words of the frame at a place that is computed.  The difference between its address and the stack
 * pointer, its last source, is the place of the first word: the number of that word's register, from 256 on, times 4
 * bytes. */
bool walk_stack_picks(const struct wsdbg_instruction *instruction);

#endif
