/* walk_turns.c - where the lanes of a walk go on behind a block: whether they take its branch, and where a branch
 * through a register leads.  See walking.h.
 *
 * Reads: the lanes' registers.  Writes: which lanes leave the group.
 */
#include "sass/walking.h"

#include "sass/branch_target.h"
#include "sass/walk_beside.h"

enum { SPLIT_BIT = 32, SPLIT_BITS = 3, SPLIT_CONVERGED = 3 };

static enum wsdbg_truth both(enum wsdbg_truth a, enum wsdbg_truth b)
{
    if (a == WSDBG_TRUTH_NO || b == WSDBG_TRUTH_NO)
        return WSDBG_TRUTH_NO;
    return a == WSDBG_TRUTH_YES && b == WSDBG_TRUTH_YES ? WSDBG_TRUTH_YES : WSDBG_TRUTH_UNKNOWN;
}

/* BRA.DIV and BRA.CONV ask whether the warp has diverged: it is taken to be together. */
static enum wsdbg_truth is_taken(const struct walk_lane *lane, const struct wsdbg_instruction *last)
{
    const enum wsdbg_truth guard = wsdbg_thread_executes(lane->state, last);
    const unsigned split = last->words[0] >> SPLIT_BIT & SPLIT_BITS;
    if (!wsdbg_flow_asks_more_than_guard(last) || !last->source_count)
        return guard;
    if (wsdbg_is_predicate(&last->sources[0]))
        return both(guard, wsdbg_thread_predicate(lane->state, &last->sources[0]));
    if (last->sources[0].kind == WSDBG_OPERAND_UNIFORM && last->operation == WSDBG_OP_BRA)
        return both(guard, split == SPLIT_CONVERGED ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO);
    return WSDBG_TRUTH_UNKNOWN;
}

static uint32_t through_register(const struct walk_lane *lane, uint32_t branch)
{
    const struct wsdbg_graph *graph = lane->group->plan->graph;
    const struct wsdbg_instruction *last = &graph->instructions[branch];
    const struct wsdbg_way *ways;
    uint32_t value;
    if (!wsdbg_branch_asks_register(last) || !walk_value(lane, &last->sources[0], 0, &value))
        return WSDBG_GRAPH_NONE;
    const uint32_t count = wsdbg_flow_ways(graph, branch, &ways);
    for (uint32_t i = 0; i < count; i++)
        if (ways[i].value == value)
            return graph->block_of[ways[i].to];
    return WSDBG_GRAPH_NONE;
}

struct walk_turn walk_turn_of(const struct walk_lane *lane, uint32_t branch)
{
    const struct wsdbg_instruction *last = &lane->group->plan->graph->instructions[branch];
    struct walk_turn turn = {is_taken(lane, last), WSDBG_GRAPH_NONE};
    if (turn.taken == WSDBG_TRUTH_YES && last->operation == WSDBG_OP_BRX)
        turn.to = through_register(lane, branch);
    return turn;
}

/* The block behind `block` that a turn leads to; WSDBG_GRAPH_NONE = not known, or none. */
static uint32_t block_behind(const struct wsdbg_block *block, const struct walk_turn *turn)
{
    const uint32_t side = turn->taken == WSDBG_TRUTH_YES;
    if (turn->to != WSDBG_GRAPH_NONE || turn->taken == WSDBG_TRUTH_UNKNOWN || side >= block->successor_count)
        return turn->to;
    return block->successor[side];
}

/* Where code without divergence meets: BRA.DIV of all lanes. */
static bool is_meeting(const struct walk_lane *lane, const struct wsdbg_instruction *last)
{
    const unsigned split = last->words[0] >> SPLIT_BIT & SPLIT_BITS;
    uint32_t lanes = 0;
    return last->operation == WSDBG_OP_BRA && wsdbg_flow_asks_more_than_guard(last) && last->source_count &&
           last->sources[0].kind == WSDBG_OPERAND_UNIFORM && split != SPLIT_CONVERGED &&
           wsdbg_thread_executes(lane->state, last) == WSDBG_TRUTH_YES &&
           walk_value(lane, &last->sources[0], 0, &lanes) && lanes == UINT32_MAX;
}

struct walk_turn walk_turn_together(struct walking *walking, uint32_t number)
{
    const struct wsdbg_block *block = &walking_graph(walking)->blocks[number];
    const uint32_t branch = block->first + block->count - 1;
    const bool parts = walk_group_parts(&walking->group, branch);
    const struct walk_lane leader = walk_group_leader(&walking->group);
    const struct walk_turn turn = walk_turn_of(&leader, branch);
    struct walk_lane lane;
    if (is_meeting(&leader, &walking_graph(walking)->instructions[branch]))
        walk_group_meet(&walking->group);
    for (uint32_t at = 0; parts && walk_group_next_followed(&walking->group, &at, &lane);) {
        const struct walk_turn other = walk_turn_of(&lane, branch);
        if (other.taken == turn.taken && other.to == turn.to)
            continue;
        if (block->exits && other.taken == WSDBG_TRUTH_YES)
            walk_beside_exit(&walking->group, lane.lane);
        else
            walk_beside_leave(&walking->group, lane.lane, number, block_behind(block, &other), walking->depth);
    }
    return turn;
}
