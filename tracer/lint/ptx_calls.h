/* ptx_calls.h - calls in PTX of code that the PTX does not hold: what is compiled elsewhere, or called through a
 * pointer.
 */
#ifndef WSDBG_LINT_PTX_CALLS_H
#define WSDBG_LINT_PTX_CALLS_H

#include "ptx/parse.h"

/* Whether the instruction is one; the runtime's own functions (printf and the like) are ones, too. */
bool wsdbg_lint_is_opaque_call(const struct wsdbg_ptx_instruction *in);
/* Likewise, and the runtime's own functions are none: what it calls may be any code. */
bool wsdbg_lint_calls_any_code(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_instruction *in);
/* The name of the function that an opaque call calls; NULL = through a pointer. */
const char *wsdbg_lint_callee_name(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_instruction *in);

#endif
