/* walk_serves.c - see walk_serves.h.
 *
 * A bulk copy of each lane takes its operands from uniform registers, which a warp has once.  So its lanes take turns:
 * a predicate says which of them are left, ELECT under that predicate picks one of these, whose registers are copied to
 * the uniform ones, and takes the predicate from it; the branch back is taken while any is left.
 *
 * Reads: the graph.
 */
#include "sass/walk_serves.h"

/* The guard of the branch from the block's end to its begin; PT = there is no such branch, or it has none. */
static uint8_t guard_of_loop(const struct wsdbg_graph *graph, uint32_t number)
{
    const struct wsdbg_block *block = &graph->blocks[number];
    const struct wsdbg_instruction *last = &graph->instructions[block->first + block->count - 1];
    return last->operation == WSDBG_OP_BRA && block->successor_count == 2 && block->successor[1] == number &&
                   !last->guard_is_negated && !last->guard_is_uniform
               ? last->guard
               : WSDBG_PT;
}

static bool has_guard(const struct wsdbg_instruction *instruction, uint8_t predicate)
{
    return instruction->guard == predicate && !instruction->guard_is_negated && !instruction->guard_is_uniform;
}

static bool sets(const struct wsdbg_instruction *instruction, uint8_t predicate)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        if (instruction->destinations[i].kind == WSDBG_OPERAND_PREDICATE &&
            instruction->destinations[i].number == predicate)
            return true;
    return false;
}

/* Whether the lane that an ELECT picks sets the predicate behind it. */
static bool takes_from_elected(const struct wsdbg_graph *graph, uint32_t elect, uint32_t end, uint8_t predicate)
{
    const struct wsdbg_instruction *instruction = &graph->instructions[elect];
    for (uint32_t i = elect + 1; i < end; i++)
        for (unsigned k = 0; k < instruction->destination_count; k++)
            if (instruction->destinations[k].kind == WSDBG_OPERAND_PREDICATE &&
                has_guard(&graph->instructions[i], (uint8_t)instruction->destinations[k].number) &&
                sets(&graph->instructions[i], predicate))
                return true;
    return false;
}

bool walk_serves_each(const struct wsdbg_graph *graph, uint32_t instruction)
{
    const struct wsdbg_block *block = &graph->blocks[graph->block_of[instruction]];
    const uint32_t end = block->first + block->count;
    const uint8_t guard = guard_of_loop(graph, graph->block_of[instruction]);
    for (uint32_t i = block->first; guard != WSDBG_PT && i < end; i++)
        if (graph->instructions[i].operation == WSDBG_OP_ELECT && has_guard(&graph->instructions[i], guard) &&
            takes_from_elected(graph, i, end, guard))
            return true;
    return false;
}
