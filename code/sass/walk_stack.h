/* walk_stack.h - the words that a kernel keeps in local memory for a while.  Private to the walks.
 *
 * A compiler that runs out of registers stores some of them in the thread's local memory and loads them again later.  A
 * loop counter may be among them.  An array whose index is not constant lies there, too.  Such a word is as good as a
 * register that nothing else names: a walk follows it as one.
 */
#ifndef WSDBG_SASS_WALK_STACK_H
#define WSDBG_SASS_WALK_STACK_H

#include "sass/flow.h"

/* No walk needs to know where local memory lies; with some place for it, addresses in it are numbers. */
enum { WALK_STACK_POINTER_AT_START = 1 << 20 };
/* In joined code (joined.h): the high word of generic addresses of local memory, and the low one is the local address.
 * No memory has such an address. */
#define WALK_STACK_WINDOW_HIGH INT64_C(0xfff00000)

/* Copies the instructions of the graph.  In the copy, loads and stores of whole words of the stack frame, at a constant
 * place, name general registers from number 256 on instead, one for each word: both have one source and one destination
 * then, of as many registers as they move.  Other loads and stores keep their address: those of less than a word, and
 * those at a place that is computed from the stack pointer.  None of this is done where the frame may be used in
 * another way: by an address that goes anywhere else, or where the frame is not the same everywhere.  In code that
 * comes from PTX all loads and stores keep their address (walk_local.h).
 *
 * One that keeps its address has the words that it may concern as further operands (walk_stack_words_of).  The caller
 * frees *out. */
struct wsdbg_error *walk_stack_follow(const struct wsdbg_graph *graph, struct wsdbg_instruction **out);
/* Whether the instruction of such a copy moves words at a constant place. */
bool walk_stack_moves(const struct wsdbg_instruction *instruction);
/* Whether it is a load that keeps its address. */
bool walk_stack_picks(const struct wsdbg_instruction *instruction);
/* Whether it is such a store.  What it stores are the sources behind its address: one in machine code, in code that
 * comes from PTX all but the last. */
bool walk_stack_puts(const struct wsdbg_instruction *instruction);

/* Whether an access with an address is by a generic one, which need not be of local memory
 * (wsdbg_instruction.local_words).
 */
bool walk_stack_is_generic(const struct wsdbg_instruction *access);

/* The words that a load or store with an address may concern: `count` registers in a row. */
struct walk_stack_words {
    uint32_t first, count;               /* numbers of general registers */
    uint32_t origin;                     /* the register that stands for the word at `pointer` */
    const struct wsdbg_operand *pointer; /* NULL = address 0 */
};
struct walk_stack_words walk_stack_words_of(const struct wsdbg_instruction *access);

#endif
