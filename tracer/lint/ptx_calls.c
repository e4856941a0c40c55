/* ptx_calls.c - see ptx_calls.h.  Reads the program; writes nothing. */
#include "lint/ptx_calls.h"

#include <string.h>

bool wsdbg_lint_is_opaque_call(const struct wsdbg_ptx_instruction *in)
{
    return in->operation == WSDBG_PTX_OP_call && in->target == WSDBG_PTX_NONE;
}

const char *wsdbg_lint_callee_name(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_instruction *in)
{
    const struct wsdbg_ptx_operand *callee = &in->operands[0];
    return callee->kind == WSDBG_PTX_OPERAND_IMMEDIATE && (uint64_t)callee->value < program->function_count
               ? program->functions[callee->value].name
               : NULL;
}

bool wsdbg_lint_calls_any_code(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_instruction *in)
{
    static const char *const of_the_runtime[] = {"vprintf", "__assertfail", "malloc", "free"};
    const char *name = wsdbg_lint_is_opaque_call(in) ? wsdbg_lint_callee_name(program, in) : "";
    if (!name)
        return true;
    for (size_t i = 0; i < sizeof of_the_runtime / sizeof of_the_runtime[0]; i++)
        if (strcmp(name, of_the_runtime[i]) == 0)
            return false;
    return *name != '\0';
}
