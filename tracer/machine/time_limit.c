/* time_limit.c - see time_limit.h.
 *
 * It follows the lane round the loop from its present registers, with the clock and all loads unknown.  If each branch
 * out of the loop that depends on the clock is then known to stay in, the clock cannot end the loop.
 */
#include "machine/time_limit.h"

#include <stdlib.h>

#include "sass/follow.h"

static const struct wsdbg_instruction *at(const struct wsdbg_loop *loop, uint32_t number)
{
    return wsdbg_graph_instruction(loop->graph, number);
}

/* SR_CLOCKLO to SR_GLOBALTIMERHI. */
static bool reads_clock(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (instruction->sources[i].kind == WSDBG_OPERAND_SPECIAL && instruction->sources[i].value >= 0x50 &&
            instruction->sources[i].value <= 0x53)
            return true;
    return false;
}

bool wsdbg_loop_has_time_limit(const struct wsdbg_loop *loop)
{
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1))
        if (reads_clock(at(loop, i)) && wsdbg_loop_ends_by(loop, i))
            return true;
    return false;
}

/* The first instructions of all blocks outside the loop: there the lane is not followed further. */
static uint64_t *places_outside(const struct wsdbg_loop *loop)
{
    uint64_t *set = calloc(wsdbg_graph_instruction_count(loop->graph) / 64 + 1, sizeof *set);
    for (uint32_t b = 0; set && b < wsdbg_graph_block_count(loop->graph); b++) {
        const uint32_t first = wsdbg_graph_block(loop->graph, b)->first;
        if (!wsdbg_loop_has_block(loop, b))
            set[first / 64] |= (uint64_t)1 << first % 64;
    }
    return set;
}

static enum wsdbg_truth both(enum wsdbg_truth a, enum wsdbg_truth b)
{
    if (a == WSDBG_TRUTH_NO || b == WSDBG_TRUTH_NO)
        return WSDBG_TRUTH_NO;
    return a == WSDBG_TRUTH_YES && b == WSDBG_TRUTH_YES ? WSDBG_TRUTH_YES : WSDBG_TRUTH_UNKNOWN;
}

/* An unknown predicate that does not depend on the clock counts as true, because only the clock matters here. */
static enum wsdbg_truth holds(const struct wsdbg_loop *loop, uint32_t clock, uint32_t branch,
                              const struct wsdbg_operand *predicate, enum wsdbg_truth truth)
{
    return truth == WSDBG_TRUTH_UNKNOWN && !wsdbg_loop_depends(loop, clock, branch, predicate) ? WSDBG_TRUTH_YES
                                                                                               : truth;
}

/* `@P0 BRA P1, …` is taken if both predicates are true. */
static enum wsdbg_truth is_taken(const struct wsdbg_loop *loop, uint32_t clock, uint32_t branch,
                                 const struct wsdbg_thread_state *state)
{
    const struct wsdbg_instruction *row = at(loop, branch);
    const struct wsdbg_operand guard = {.kind = row->guard_is_uniform ? WSDBG_OPERAND_UNIFORM_PREDICATE
                                                                      : WSDBG_OPERAND_PREDICATE,
                                        .number = row->guard,
                                        .registers = 1};
    enum wsdbg_truth taken = holds(loop, clock, branch, &guard, wsdbg_thread_executes(state, row));
    for (unsigned i = 0; i < row->source_count; i++)
        if (row->sources[i].kind == WSDBG_OPERAND_PREDICATE)
            taken = both(taken,
                         holds(loop, clock, branch, &row->sources[i], wsdbg_thread_predicate(state, &row->sources[i])));
    return taken;
}

static bool may_leave(const struct wsdbg_loop *loop, uint32_t clock, uint32_t branch,
                      const struct wsdbg_thread_state *state)
{
    const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, wsdbg_graph_block_of(loop->graph, branch));
    const enum wsdbg_truth taken = is_taken(loop, clock, branch, state);
    bool goes_out = block->exits, falls_out = false;
    for (uint32_t s = 0; s < block->successor_count; s++) {
        const uint32_t next = block->successor[s];
        if (next >= wsdbg_graph_block_count(loop->graph) || wsdbg_loop_has_block(loop, next))
            continue;
        if (wsdbg_graph_block(loop->graph, next)->first == branch + 1)
            falls_out = true;
        else
            goes_out = true;
    }
    return (goes_out && taken != WSDBG_TRUTH_NO) || (falls_out && taken != WSDBG_TRUTH_YES);
}

static bool may_end_by(const struct wsdbg_loop *loop, const struct wsdbg_follow *follow, uint32_t clock)
{
    struct wsdbg_thread_state state;
    for (uint32_t branch = wsdbg_loop_next_end(loop, clock, 0); branch != WSDBG_NO_INSTRUCTION;
         branch = wsdbg_loop_next_end(loop, clock, wsdbg_graph_block_of(loop->graph, branch) + 1))
        if (wsdbg_follow_at(follow, branch, &state) && may_leave(loop, clock, branch, &state))
            return true;
    return false;
}

struct wsdbg_error *wsdbg_time_limit_may_count(const struct wsdbg_loop *loop, uint32_t instruction,
                                               const struct wsdbg_thread_state *state,
                                               const struct wsdbg_thread_world *world, bool *may_count)
{
    uint64_t *outside = places_outside(loop);
    struct wsdbg_follow *follow = NULL;
    *may_count = true;
    if (!outside)
        return &wsdbg_error_no_memory;
    const struct wsdbg_follow_start start = {
        .graph = loop->graph, .instruction = instruction, .state = state, .world = *world, .stops = outside};
    struct wsdbg_error *error = wsdbg_follow_create(&start, &follow);
    if (!error && wsdbg_follow_is_whole(follow)) {
        *may_count = false;
        for (uint32_t i = wsdbg_loop_next(loop, 0); !*may_count && i != WSDBG_NO_INSTRUCTION;
             i = wsdbg_loop_next(loop, i + 1))
            *may_count = reads_clock(at(loop, i)) && may_end_by(loop, follow, i);
    }
    wsdbg_follow_destroy(follow);
    free(outside);
    return error;
}
