/* probe_role_kind.c - what a warp does in a kernel whose author does not say: from the code that it can still reach.
 *
 * Reads: the program.  Writes: the module's memo of answers.
 */
#include "hopper/probe.h"

#include <stdlib.h>

#include "ptx/graph.h"
#include "roles/role_kinds.h"

enum { UNASKED = 0, ANSWERED = 1 }; /* a memo is ANSWERED + enum wsdbg_role_kind */

struct reach {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    uint32_t *stack;
    bool *seen;
    size_t depth;
    struct wsdbg_role_operations operations;
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
    reach->operations.loads |= is_copy && instruction->space != WSDBG_PTX_GLOBAL;
    reach->operations.stores |= (is_copy && instruction->space == WSDBG_PTX_GLOBAL) ||
                                instruction->operation == WSDBG_PTX_OP_bulk_reduce ||
                                instruction->operation == WSDBG_PTX_OP_tensor_reduce;
    reach->operations.computes |= instruction->operation == WSDBG_PTX_OP_wgmma_mma_async;
}

static void follow(struct reach *reach, uint32_t number)
{
    const struct wsdbg_ptx_instruction *const instruction = &reach->program->instructions[number];
    const struct wsdbg_ptx_ways ways = wsdbg_ptx_ways(instruction, reach->program->branch_tables);
    for (uint32_t i = 0; i < ways.target_count; i++)
        visit(reach, ways.targets[i]);
    if (instruction->operation == WSDBG_PTX_OP_call && instruction->target != WSDBG_PTX_NONE)
        visit(reach, instruction->target);
    if (ways.goes_on)
        visit(reach, number + 1);
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
    const enum wsdbg_role_kind role_kind = wsdbg_role_kind_of(reach.operations);
    return role_kind == WSDBG_ROLE_KIND_UNCLEAR ? WSDBG_ROLE_KIND_NONE : role_kind; /* a slot has no word for it */
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
