/* thread_step.h - what one instruction makes of one thread's registers, as far as these are known.
 *
 * Reads: an instruction, constants, special registers, and global memory if the caller knows it.  Writes: the thread's
 * registers.  A register whose new value it cannot calculate is unknown afterwards; values of other lanes, for example.
 */
#ifndef WSDBG_SASS_THREAD_STEP_H
#define WSDBG_SASS_THREAD_STEP_H

#include "sass/thread_operand.h"

/* The registers after the instruction; one whose guard is not known may have executed or not. */
void wsdbg_thread_step(const struct wsdbg_instruction *instruction, const struct wsdbg_thread_world *world,
                       struct wsdbg_thread_state *state);

#endif
