/* call_frame.h - where a function that was called keeps the address at which its caller goes on.
 *
 * Reads: a function's graph.  Machine code that is made for calls has the address in a pair of registers, which its RET
 * names, and puts it into its stack frame before it calls a function itself.  R1 is the stack pointer.
 */
#ifndef WSDBG_SASS_CALL_FRAME_H
#define WSDBG_SASS_CALL_FRAME_H

#include "sass/graph.h"

struct wsdbg_call_frame {
    bool is_in_registers;
    uint32_t number; /* the first of the two registers that have it or, while it is in the frame, had it */
    int32_t low_bytes, high_bytes; /* else: where its words are, from the present stack pointer */
    uint32_t frame_bytes;          /* the caller's stack pointer is the present one and so much */
};

/* At an instruction that is about to execute.  False: the function does not show it plainly. */
bool wsdbg_call_frame_at(const struct wsdbg_graph *graph, uint32_t instruction, struct wsdbg_call_frame *out);

#endif
