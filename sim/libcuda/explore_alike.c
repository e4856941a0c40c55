/* explore_alike.c - whether a kernel comes to the same end under every schedule: then one run says all.
 *
 * Reads: the kernel's instructions.  A kernel is alike when no warp can wait for another one, and no branch and no
 * address depends on what another warp may write, on time or on where a CTA runs.  Values are followed from register to
 * register without regard to their order, so what is not understood counts as dependent.
 */
#include <stdlib.h>

#include "libcuda/explore.h"

struct study {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    bool *depends;      /* a register: on the schedule */
    bool memory, local; /* what is loaded from there depends on it */
    bool carry;         /* so does the carry flag */
    bool changed;
};

/* Operations that neither wait for other warps nor change what these do. */
static bool is_understood(const struct wsdbg_ptx_instruction *instruction)
{
    switch (instruction->operation) {
    case WSDBG_PTX_OP_call:
        return instruction->operands[0].kind != WSDBG_PTX_OPERAND_REGISTER;
    case WSDBG_PTX_OP_ld:
    case WSDBG_PTX_OP_ldu:
    case WSDBG_PTX_OP_st:
        return !(instruction->flags & (WSDBG_PTX_VOLATILE | WSDBG_PTX_RELAXED | WSDBG_PTX_ACQUIRE | WSDBG_PTX_RELEASE));
    case WSDBG_PTX_OP_nanosleep:
        return false;
    default:
        return instruction->operation < WSDBG_PTX_OP_bar_sync || instruction->operation == WSDBG_PTX_OP_bar_warp_sync;
    }
}

static bool is_of_the_schedule(uint32_t special)
{
    return special == WSDBG_PTX_SMID || (special >= WSDBG_PTX_CLOCK && special <= WSDBG_PTX_GLOBALTIMER_HI);
}

static const struct wsdbg_ptx_operand *elements_of(const struct study *study, const struct wsdbg_ptx_operand *operand,
                                                   uint32_t *count)
{
    *count = 1;
    if (operand->kind != WSDBG_PTX_OPERAND_VECTOR && operand->kind != WSDBG_PTX_OPERAND_TENSOR)
        return operand;
    *count = operand->count + (operand->kind == WSDBG_PTX_OPERAND_TENSOR);
    return &study->program->vectors[operand->number];
}

static bool is_dependent(const struct study *study, const struct wsdbg_ptx_operand *element)
{
    if (element->kind == WSDBG_PTX_OPERAND_SPECIAL)
        return is_of_the_schedule(element->number);
    const bool has_register = element->kind == WSDBG_PTX_OPERAND_REGISTER ||
                              (element->kind == WSDBG_PTX_OPERAND_ADDRESS && element->number != WSDBG_PTX_NONE);
    return has_register && study->depends[element->number];
}

static bool guard_depends(const struct study *study, const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->guard != WSDBG_PTX_NONE && study->depends[instruction->guard];
}

/* What it reads: registers, addresses, special registers; of loads also what lies there. */
static bool reads_dependent(const struct study *study, const struct wsdbg_ptx_instruction *instruction)
{
    const bool loads = instruction->operation == WSDBG_PTX_OP_ld || instruction->operation == WSDBG_PTX_OP_ldu;
    if (guard_depends(study, instruction) || instruction->operation == WSDBG_PTX_OP_activemask)
        return true;
    if (study->carry && (instruction->operation == WSDBG_PTX_OP_addc || instruction->operation == WSDBG_PTX_OP_subc ||
                         instruction->operation == WSDBG_PTX_OP_madc))
        return true;
    if (loads && instruction->space == WSDBG_PTX_LOCAL && study->local)
        return true;
    if (loads && instruction->space != WSDBG_PTX_LOCAL && instruction->space != WSDBG_PTX_PARAM &&
        instruction->space != WSDBG_PTX_CONST && !(instruction->flags & WSDBG_PTX_NON_COHERENT) &&
        (study->memory || study->local))
        return true;
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        uint32_t count;
        const struct wsdbg_ptx_operand *rows = elements_of(study, &instruction->operands[i], &count);
        for (uint32_t j = 0; j < count; j++)
            if (!rows[j].is_written && is_dependent(study, &rows[j]))
                return true;
    }
    return false;
}

static void make_dependent(struct study *study, const struct wsdbg_ptx_instruction *instruction)
{
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        uint32_t count;
        const struct wsdbg_ptx_operand *rows = elements_of(study, &instruction->operands[i], &count);
        for (uint32_t j = 0; j < count; j++)
            if (rows[j].kind == WSDBG_PTX_OPERAND_REGISTER && !study->depends[rows[j].number] &&
                (rows[j].is_written || instruction->operands[i].is_written))
                study->depends[rows[j].number] = study->changed = true;
    }
    if (instruction->flags & WSDBG_PTX_CARRY_OUT && !study->carry)
        study->carry = study->changed = true;
    if (instruction->operation == WSDBG_PTX_OP_st && !study->local &&
        (instruction->space == WSDBG_PTX_LOCAL || instruction->space == WSDBG_PTX_PARAM ||
         instruction->space == WSDBG_PTX_GENERIC))
        study->local = study->changed = true;
}

/* Where a warp goes, or which memory it touches, hangs on a value that depends on the schedule. */
static bool goes_by_it(const struct study *study, const struct wsdbg_ptx_instruction *instruction)
{
    switch (instruction->operation) {
    case WSDBG_PTX_OP_bra:
    case WSDBG_PTX_OP_brx:
    case WSDBG_PTX_OP_call:
    case WSDBG_PTX_OP_ret:
    case WSDBG_PTX_OP_exit:
    case WSDBG_PTX_OP_trap:
    case WSDBG_PTX_OP_brkpt:
        return reads_dependent(study, instruction);
    default:
        if (guard_depends(study, instruction))
            return true;
        for (uint32_t i = 0; i < instruction->operand_count; i++)
            if (instruction->operands[i].kind == WSDBG_PTX_OPERAND_ADDRESS &&
                is_dependent(study, &instruction->operands[i]))
                return true;
        return false;
    }
}

static void follow_values(struct study *study)
{
    const struct wsdbg_ptx_instruction *instructions = study->program->instructions;
    do {
        study->changed = false;
        for (uint32_t at = study->function->first; at < study->function->end; at++)
            if (reads_dependent(study, &instructions[at]))
                make_dependent(study, &instructions[at]);
    } while (study->changed);
}

bool explore_all_alike(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function)
{
    struct study study = {.program = program, .function = function};
    for (uint32_t at = function->first; at < function->end; at++) {
        const struct wsdbg_ptx_instruction *instruction = &program->instructions[at];
        if (!is_understood(instruction))
            return false;
        study.memory |= instruction->operation == WSDBG_PTX_OP_st && instruction->space != WSDBG_PTX_LOCAL &&
                        instruction->space != WSDBG_PTX_PARAM;
    }
    study.depends = calloc((size_t)function->register_count + 1, sizeof *study.depends);
    if (!study.depends)
        return false;
    follow_values(&study);
    bool alike = true;
    for (uint32_t at = function->first; alike && at < function->end; at++)
        alike = !goes_by_it(&study, &program->instructions[at]);
    free(study.depends);
    return alike;
}
