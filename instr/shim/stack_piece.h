/* stack_piece.h - how much of the calling thread's stack may be read without a fault, and a copy of it. */
#ifndef WSDBG_SHIM_STACK_PIECE_H
#define WSDBG_SHIM_STACK_PIECE_H

#include <stdint.h>

/* Of the words from the stack pointer `sp` on, how many are surely mapped, `most` at most.  *is_own: the stack is the
 * thread's own; false: a fiber's, or that of a signal handler. */
uint32_t stack_words_above(uint64_t sp, uint32_t most, int *is_own);
/* Copies them.  No sanitizer looks: frames have parts that the program must not read. */
void stack_copy(uint64_t *to, uint64_t sp, uint32_t words);

#endif
