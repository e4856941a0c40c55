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

/* Whether each lane that comes to the instruction executes it: it is an access without a guard, and none that a warp
 * issues once for all lanes. */
static bool is_of_each_lane(const struct wsdbg_instruction *instruction, const struct wsdbg_access_operands *operands)
{
    return operands->kind && operands->kind != WSDBG_ACCESS_COPY && operands->kind != WSDBG_ACCESS_STORE &&
           instruction->guard == WSDBG_PT && !instruction->guard_is_negated;
}

static bool serves_each(const struct wsdbg_graph *graph, const struct wsdbg_access_operands *operands, uint32_t number)
{
    enum { ELECTS_MOST = 16 }; /* of a block */
    const struct wsdbg_block *block = &graph->blocks[number];
    const uint32_t end = block->first + block->count;
    const uint8_t guard = guard_of_loop(graph, number);
    uint32_t elects = 0;
    bool serves = false;
    for (uint32_t i = block->first; guard != WSDBG_PT && i < end; i++) {
        if (is_of_each_lane(&graph->instructions[i], &operands[i]))
            return false;
        serves |= graph->instructions[i].operation == WSDBG_OP_ELECT && elects++ < ELECTS_MOST &&
                  has_guard(&graph->instructions[i], guard) && takes_from_elected(graph, i, end, guard);
    }
    return serves;
}

void walk_serves_find(const struct wsdbg_graph *graph, const struct wsdbg_access_operands *operands, bool *serves)
{
    for (uint32_t b = 0; b < graph->block_count; b++)
        serves[b] = graph->blocks[b].count && serves_each(graph, operands, b);
}
