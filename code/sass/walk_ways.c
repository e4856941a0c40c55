/* walk_ways.c - see walk_ways.h.  Reads: the graph.  Writes: what the plan keeps of an instruction. */
#include "sass/walk_ways.h"

#include <stdlib.h>

enum { PASSES_MOST = 16 }; /* over the blocks of a kernel */

static bool leads_itself(const struct wsdbg_walk_plan *plan, uint32_t number, uint32_t instruction)
{
    const struct wsdbg_block *block = &plan->graph->blocks[number];
    return block->is_indirect || (block->calls && block->callee == WSDBG_GRAPH_NONE) ||
           (instruction >= block->first && instruction - block->first < block->count);
}

/* What is called returns, so control goes on behind the call, too. */
static bool leads_on(const struct wsdbg_walk_plan *plan, const bool *leads, uint32_t number)
{
    const struct wsdbg_block *block = &plan->graph->blocks[number];
    bool any = block->calls && block->callee != WSDBG_GRAPH_NONE && leads[plan->graph->block_of[block->callee]];
    for (uint32_t i = 0; i < block->successor_count && !any; i++)
        any = block->successor[i] != WSDBG_GRAPH_NONE && leads[block->successor[i]];
    return any;
}

/* The row that is kept for the instruction, or one that is free, or was asked for long ago. */
static struct wsdbg_walk_place_kept *row_of(struct wsdbg_walk_plan *plan, uint32_t instruction)
{
    for (unsigned i = 0; i < WSDBG_WALK_PLACES_KEPT; i++)
        if (!plan->places[i].leads || plan->places[i].instruction == instruction)
            return &plan->places[i];
    return &plan->places[plan->places_replaced++ % WSDBG_WALK_PLACES_KEPT];
}

/* Marks the blocks that lead to a marked one.  Where control goes back and forth so often that this takes too long,
 * each block may lead there. */
static void mark_ways(struct wsdbg_walk_plan *plan, bool *leads)
{
    const uint32_t count = plan->graph->block_count;
    bool grows = true;
    for (unsigned pass = 0; grows; pass++) {
        grows = false;
        plan->searched += count;
        for (uint32_t b = count; b-- > 0;)
            if (!leads[b] && (pass == PASSES_MOST || leads_on(plan, leads, b)))
                leads[b] = grows = true;
    }
}

const bool *walk_ways_to(struct wsdbg_walk_plan *plan, uint32_t instruction)
{
    const uint32_t count = plan->graph->block_count;
    struct wsdbg_walk_place_kept *kept = row_of(plan, instruction);
    if (kept->leads && kept->instruction == instruction)
        return kept->leads;
    if (!kept->leads && !(kept->leads = calloc((size_t)count + 1, sizeof *kept->leads)))
        return NULL;
    kept->instruction = instruction;
    for (uint32_t b = 0; b < count; b++)
        kept->leads[b] = leads_itself(plan, b, instruction);
    mark_ways(plan, kept->leads);
    return kept->leads;
}
