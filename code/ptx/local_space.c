/* local_space.c - loads and stores through generic addresses that can only lie in local memory become local ones.
 *
 * A register holds such an address where each instruction that writes it makes it of one: it copies it, or adds an
 * index.  Nothing is changed if such an address also goes where it is not followed, to memory for example: then any
 * generic access may be one of local memory.  Reads and writes the kernel's instructions.
 */
#include <stdlib.h>

#include "ptx/linking.h"

struct spaces {
    struct ptx_linking *link;
    const struct wsdbg_ptx_function *kernel;
    bool *is_local; /* by register */
};

static struct wsdbg_ptx_instruction *at(const struct spaces *spaces, uint32_t index)
{
    return PTX_ITEM(spaces->link->instructions, struct wsdbg_ptx_instruction, index);
}

/* Whether the operand is an address of local memory. */
static bool is_local(const struct spaces *spaces, const struct wsdbg_ptx_operand *operand)
{
    const bool is_address = operand->kind == WSDBG_PTX_OPERAND_ADDRESS;
    if (is_address && operand->number == WSDBG_PTX_NONE)
        return operand->space == WSDBG_PTX_LOCAL;
    return (is_address || operand->kind == WSDBG_PTX_OPERAND_REGISTER) && spaces->is_local[operand->number];
}

/* Whether what the instruction writes is an address of local memory. */
static bool makes_local(const struct spaces *spaces, const struct wsdbg_ptx_instruction *instruction)
{
    const struct wsdbg_ptx_operand *a = &instruction->operands[1], *b = &instruction->operands[2];
    switch (instruction->operation) {
    case WSDBG_PTX_OP_mov:
        return is_local(spaces, a);
    case WSDBG_PTX_OP_cvta:
        return instruction->space == WSDBG_PTX_LOCAL && is_local(spaces, a);
    case WSDBG_PTX_OP_add:
        return is_local(spaces, a) != is_local(spaces, b);
    case WSDBG_PTX_OP_sub:
        return is_local(spaces, a) && !is_local(spaces, b);
    default:
        return false;
    }
}

static bool clear(const struct spaces *spaces, const struct wsdbg_ptx_operand *operand)
{
    if (operand->kind != WSDBG_PTX_OPERAND_REGISTER || !spaces->is_local[operand->number])
        return false;
    spaces->is_local[operand->number] = false;
    return true;
}

/* Registers that an instruction writes otherwise are none; true where there is another one. */
static bool clear_written(const struct spaces *spaces, const struct wsdbg_ptx_instruction *instruction)
{
    bool changes = false;
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        const struct wsdbg_ptx_operand *operand = &instruction->operands[k];
        const bool is_vector = operand->kind == WSDBG_PTX_OPERAND_VECTOR;
        for (uint32_t i = 0; is_vector && operand->is_written && i < operand->count; i++)
            changes |= clear(spaces, ptx_element(spaces->link, operand, i));
        if (!is_vector && operand->is_written && (k > 0 || !makes_local(spaces, instruction)))
            changes |= clear(spaces, operand);
    }
    return changes;
}

/* At first each register of 64 bits that is written may be one. */
static void mark_written(const struct spaces *spaces, const struct wsdbg_ptx_instruction *instruction)
{
    const struct wsdbg_ptx_operand *to = &instruction->operands[0];
    if (!instruction->operand_count || to->kind != WSDBG_PTX_OPERAND_REGISTER || !to->is_written)
        return;
    const uint8_t type = spaces->kernel->register_types[to->number];
    spaces->is_local[to->number] = type == WSDBG_PTX_B64 || type == WSDBG_PTX_U64 || type == WSDBG_PTX_S64;
}

static void find_local(const struct spaces *spaces)
{
    for (uint32_t i = spaces->kernel->first; i < spaces->kernel->end; i++)
        mark_written(spaces, at(spaces, i));
    for (bool changes = true; changes;) {
        changes = false;
        for (uint32_t i = spaces->kernel->first; i < spaces->kernel->end; i++)
            changes |= clear_written(spaces, at(spaces, i));
    }
}

/* Whether the instruction reads an address of local memory in a way that is not followed. */
static bool gives_away(const struct spaces *spaces, const struct wsdbg_ptx_instruction *instruction)
{
    const bool is_plain = instruction->operation == WSDBG_PTX_OP_setp || instruction->operation == WSDBG_PTX_OP_call ||
                          makes_local(spaces, instruction);
    for (unsigned k = 0; k < instruction->operand_count && !is_plain; k++) {
        const struct wsdbg_ptx_operand *operand = &instruction->operands[k];
        for (uint32_t i = 0; i < ptx_element_count(operand); i++)
            if (is_local(spaces, ptx_element(spaces->link, operand, i)))
                return true;
        if (!operand->is_written && is_local(spaces, operand) &&
            !(ptx_is_load_or_store(instruction) && operand == ptx_place_operand(instruction)))
            return true;
    }
    return false;
}

static void rewrite(const struct spaces *spaces, struct wsdbg_ptx_instruction *instruction)
{
    if (ptx_is_load_or_store(instruction) && instruction->space == WSDBG_PTX_GENERIC &&
        is_local(spaces, ptx_place_operand(instruction)))
        instruction->space = WSDBG_PTX_LOCAL;
    if (instruction->operation == WSDBG_PTX_OP_cvta && makes_local(spaces, instruction)) {
        instruction->operation = WSDBG_PTX_OP_mov;
        instruction->type = instruction->source_type = WSDBG_PTX_B64;
        instruction->space = WSDBG_PTX_GENERIC;
        instruction->flags = 0;
    }
}

struct wsdbg_error *ptx_find_local_space(struct ptx_linking *link, const struct wsdbg_ptx_function *kernel)
{
    const struct spaces spaces = {link, kernel, calloc(kernel->register_count + 1u, sizeof *spaces.is_local)};
    bool leaves = false;
    if (!spaces.is_local)
        return &wsdbg_error_no_memory;
    find_local(&spaces);
    for (uint32_t i = kernel->first; i < kernel->end && !leaves; i++)
        leaves = gives_away(&spaces, at(&spaces, i));
    for (uint32_t i = kernel->first; i < kernel->end && !leaves; i++)
        rewrite(&spaces, at(&spaces, i));
    free(spaces.is_local);
    return NULL;
}
