/* operand.h - operands that are not simply a register or a constant; see operand.c. */
#ifndef WSDBG_HOPPER_OPERAND_H
#define WSDBG_HOPPER_OPERAND_H

#include "hopper/code.h"

/* Special registers and variables' addresses of the instruction, into the step's scratch. */
void hopper_fill_scratch(struct hopper_step *step);
/* Where the variable lies that an ADDRESS operand names, plus the operand's value. */
uint64_t hopper_variable_address(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand);
/* What is added to an ADDRESS operand's register, or the address itself when it has none. */
static inline uint64_t hopper_displacement(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    return operand->space == WSDBG_PTX_GENERIC ? (uint64_t)operand->value : hopper_variable_address(step, operand);
}
uint64_t hopper_special(const struct hopper_step *step, enum wsdbg_ptx_special special, unsigned lane);

#endif
