/* walk_lead.c - see walk_lead.h.
 *
 * Reads: the plan, where each lane was seen.  Writes: which lanes stay in the group; what the plan keeps of a place.
 */
#include "sass/walk_lead.h"

#include <stdlib.h>

#include "sass/walk_beside.h"

/* So often a walk may be led: it does not know when its lanes came to where they were seen, and goes on behind that. */
enum { LEADS_MOST = 128 };
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
static void mark_ways(struct walking *walking, bool *leads)
{
    const struct wsdbg_walk_plan *plan = walking->group.plan;
    const uint32_t count = plan->graph->block_count;
    bool grows = true;
    for (unsigned pass = 0; grows; pass++) {
        grows = false;
        walking->out->work += count;
        for (uint32_t b = count; b-- > 0;)
            if (!leads[b] && (pass == PASSES_MOST || leads_on(plan, leads, b)))
                leads[b] = grows = true;
    }
}

/* By block: whether some way from its begin on leads to the instruction.  NULL: no memory. */
static const bool *leads_to(struct walking *walking, uint32_t instruction)
{
    struct wsdbg_walk_plan *plan = walking->group.plan;
    const uint32_t count = plan->graph->block_count;
    struct wsdbg_walk_place_kept *kept = row_of(plan, instruction);
    if (kept->leads && kept->instruction == instruction)
        return kept->leads;
    if (!kept->leads && !(kept->leads = calloc((size_t)count + 1, sizeof *kept->leads)))
        return NULL;
    kept->instruction = instruction;
    for (uint32_t b = 0; b < count; b++)
        kept->leads[b] = leads_itself(plan, b, instruction);
    mark_ways(walking, kept->leads);
    return kept->leads;
}

/* The one block behind `block` from which a lane can have come to where it was seen; NONE. */
static uint32_t side_of(struct walking *walking, uint32_t block, const struct walk_lane *lane)
{
    const struct wsdbg_block *row = &walking_graph(walking)->blocks[block];
    const bool *leads = lane->world->seen_at ? leads_to(walking, lane->world->seen_at - 1) : NULL;
    uint32_t side = WSDBG_GRAPH_NONE;
    if (lane->world->seen_at && !leads)
        walking->group.error = &wsdbg_error_no_memory;
    for (uint32_t i = 0; leads && i < row->successor_count; i++) {
        if (row->successor[i] == WSDBG_GRAPH_NONE || row->successor[i] == side || !leads[row->successor[i]])
            continue;
        if (side != WSDBG_GRAPH_NONE)
            return WSDBG_GRAPH_NONE;
        side = row->successor[i];
    }
    return side;
}

uint32_t walk_lead(struct walking *walking, uint32_t block)
{
    struct walk_group *group = &walking->group;
    const struct walk_lane leader = walk_group_leader(group);
    struct walk_lane lane;
    if (!group->plan->may_lead || walking->depth || walking->sides || walking->leads == LEADS_MOST)
        return WSDBG_GRAPH_NONE;
    const uint32_t side = side_of(walking, block, &leader);
    for (uint32_t at = 0; side != WSDBG_GRAPH_NONE && walk_group_next_followed(group, &at, &lane);) {
        const uint32_t own = side_of(walking, block, &lane);
        if (own != side)
            walk_beside_leave(group, lane.lane, block, own, walking->depth);
    }
    walking->leads += side != WSDBG_GRAPH_NONE;
    walking->out->is_led |= side != WSDBG_GRAPH_NONE;
    return side;
}
