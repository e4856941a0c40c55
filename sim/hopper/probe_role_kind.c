/* probe_role_kind.c - what a warp does in a kernel whose author does not say: from the code that it can still come to.
 *
 * Reads: the program.  Writes: the module's memo of answers.
 */
#include "hopper/probe.h"

#include <stdlib.h>

enum { UNASKED = 0, ANSWERED = 1 }; /* a memo is ANSWERED + enum wsdbg_role_kind */

struct reach {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    uint32_t *stack;
    bool *seen;
    size_t depth;
    bool loads, computes, stores;
};

static void visit(struct reach *reach, uint32_t instruction)
{
    if (instruction < reach->function->first || instruction >= reach->function->end ||
        reach->seen[instruction - reach->function->first])
        return;
    reach->seen[instruction - reach->function->first] = true;
    reach->stack[reach->depth++] = instruction;
}

static void note(struct reach *reach, const struct wsdbg_ptx_instruction *instruction)
{
    const bool is_copy =
        instruction->operation == WSDBG_PTX_OP_bulk_copy || instruction->operation == WSDBG_PTX_OP_tensor_copy;
    reach->loads |= is_copy && instruction->space != WSDBG_PTX_GLOBAL;
    reach->stores |= (is_copy && instruction->space == WSDBG_PTX_GLOBAL) ||
                     instruction->operation == WSDBG_PTX_OP_bulk_reduce ||
                     instruction->operation == WSDBG_PTX_OP_tensor_reduce;
    reach->computes |= instruction->operation == WSDBG_PTX_OP_wgmma_mma_async;
}

static void follow(struct reach *reach, uint32_t number)
{
    const struct wsdbg_ptx_instruction *const instruction = &reach->program->instructions[number];
    const bool is_always = instruction->guard == WSDBG_PTX_NONE;
    switch (instruction->operation) {
    case WSDBG_PTX_OP_ret:
    case WSDBG_PTX_OP_exit:
    case WSDBG_PTX_OP_trap:
        if (!is_always)
            visit(reach, number + 1);
        return;
    case WSDBG_PTX_OP_brx: {
        const uint32_t *const table = &reach->program->branch_tables[instruction->target];
        for (uint32_t i = 0; i < table[0]; i++)
            visit(reach, table[1 + i]);
        if (!is_always)
            visit(reach, number + 1);
        return;
    }
    case WSDBG_PTX_OP_bra:
    case WSDBG_PTX_OP_call:
        if (instruction->target != WSDBG_PTX_NONE)
            visit(reach, instruction->target);
        if (!is_always || instruction->operation == WSDBG_PTX_OP_call)
            visit(reach, number + 1);
        return;
    default:
        visit(reach, number + 1);
    }
}

static enum wsdbg_role_kind ask(const struct hopper_grid *grid, uint32_t instruction)
{
    const struct wsdbg_ptx_function *const function = grid->launch.function;
    const size_t count = function->end - function->first;
    struct reach reach = {.program = grid->code->program, .function = function};
    reach.stack = malloc((count + 1) * sizeof *reach.stack);
    reach.seen = calloc(count + 1, sizeof *reach.seen);
    if (reach.stack && reach.seen)
        visit(&reach, instruction);
    while (reach.depth) {
        const uint32_t number = reach.stack[--reach.depth];
        note(&reach, &reach.program->instructions[number]);
        follow(&reach, number);
    }
    free(reach.stack);
    free(reach.seen);
    if (reach.loads && reach.computes)
        return WSDBG_ROLE_KIND_NONE;
    return reach.loads      ? WSDBG_ROLE_KIND_LOADS
           : reach.computes ? WSDBG_ROLE_KIND_COMPUTES
           : reach.stores   ? WSDBG_ROLE_KIND_STORES
                            : WSDBG_ROLE_KIND_NONE;
}

enum wsdbg_role_kind hopper_probe_role_kind(const struct hopper_grid *grid, uint32_t instruction)
{
    struct hopper_probes *const probes = grid->launch.module->probes;
    if (!probes->role_kinds)
        probes->role_kinds = calloc(grid->code->program->instruction_count + 1, sizeof *probes->role_kinds);
    if (!probes->role_kinds)
        return WSDBG_ROLE_KIND_NONE;
    uint8_t *const memo = &probes->role_kinds[instruction];
    if (*memo == UNASKED)
        *memo = (uint8_t)(ANSWERED + ask(grid, instruction));
    return (enum wsdbg_role_kind)(*memo - ANSWERED);
}
