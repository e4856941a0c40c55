/* failed_test.c - which way a block goes on whose test of an mbarrier fails.  See failed_test.h.
 *
 * Reads: instructions of a graph.
 *
 * Executes the rest of the block for a thread of which only the test's result is known.  A compiler may put this result
 * into a register and compare it before it branches.
 */
#include "machine/failed_test.h"

#include <stdlib.h>
#include <string.h>

#include "sass/thread_step.h"

static bool no_constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    (void)context, (void)bank, (void)offset_bytes, (void)value;
    return false;
}

static bool no_special(void *context, uint32_t number, uint32_t *value)
{
    (void)context, (void)number, (void)value;
    return false;
}

static bool is_predicate(const struct wsdbg_operand *operand)
{
    return operand->kind == WSDBG_OPERAND_PREDICATE || operand->kind == WSDBG_OPERAND_UNIFORM_PREDICATE;
}

/* The last test of the block, whether or not it is executed; UINT32_MAX = there is none. */
static uint32_t last_test(const struct wsdbg_graph *graph, const struct wsdbg_block *block)
{
    for (uint32_t i = block->first + block->count; i-- > block->first;)
        if (wsdbg_graph_instruction(graph, i)->operation == WSDBG_OP_SYNCS_PHASECHK)
            return i;
    return UINT32_MAX;
}

/* Whether the block ends in a branch that its own condition alone decides. */
static bool has_one_condition(const struct wsdbg_instruction *branch)
{
    if (branch->operation != WSDBG_OP_BRA || branch->guard == WSDBG_PT || branch->guard_is_uniform)
        return false;
    for (unsigned i = 0; i < branch->source_count; i++)
        if (is_predicate(&branch->sources[i]))
            return false;
    return true;
}

static void fail(const struct wsdbg_instruction *test, struct wsdbg_thread_state *state)
{
    for (unsigned i = 0; i < test->destination_count; i++)
        if (is_predicate(&test->destinations[i])) {
            const unsigned number = wsdbg_register_of(&test->destinations[i], 0);
            if (number < WSDBG_REGISTER_COUNT) {
                state->known[number] = true;
                state->value[number] = 0;
            }
        }
}

static enum wsdbg_way_of_failure way_of(const struct wsdbg_graph *graph, uint32_t number,
                                        struct wsdbg_thread_state *state)
{
    const struct wsdbg_thread_world nothing = {.constant = no_constant, .special = no_special};
    const struct wsdbg_block *block = wsdbg_graph_block(graph, number);
    const uint32_t last = block->first + block->count - 1, test = last_test(graph, block);
    const struct wsdbg_instruction *branch = wsdbg_graph_instruction(graph, last);
    if (test == UINT32_MAX || !has_one_condition(branch) || wsdbg_graph_instruction(graph, test)->guard != WSDBG_PT)
        return WSDBG_FAILS_ANY_WAY;
    memset(state, 0, sizeof *state);
    fail(wsdbg_graph_instruction(graph, test), state);
    for (uint32_t i = test + 1; i < last; i++)
        wsdbg_thread_step(wsdbg_graph_instruction(graph, i), &nothing, state);
    switch (wsdbg_thread_executes(state, branch)) {
    case WSDBG_TRUTH_YES:
        return WSDBG_FAILS_BY_BRANCH;
    case WSDBG_TRUTH_NO:
        return WSDBG_FAILS_AHEAD;
    default:
        return WSDBG_FAILS_ANY_WAY;
    }
}

uint8_t *wsdbg_ways_of_failure(const struct wsdbg_graph *graph, const uint64_t *blocks)
{
    const uint32_t count = wsdbg_graph_block_count(graph);
    struct wsdbg_thread_state *state = malloc(sizeof *state);
    uint8_t *ways = malloc(count + 1);
    for (uint32_t b = 0; state && ways && b < count; b++)
        ways[b] = (uint8_t)(blocks[b / 64] >> b % 64 & 1 ? way_of(graph, b, state) : WSDBG_FAILS_ANY_WAY);
    if (!state) {
        free(ways);
        ways = NULL;
    }
    free(state);
    return ways;
}
