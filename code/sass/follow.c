/* follow.c - see follow.h.  Reads a graph and registers; writes its own memory.
 *
 * Blocks are run again until the registers at their beginnings stay the same; every round only forgets some.
 */
#include "sass/follow.h"

#include <stdlib.h>

enum { RUNS_MOST = 2048 }; /* of blocks: more, and it is given up */

/* Where a run of a block leads: bits by successor. */
struct leaving {
    uint32_t ways; /* bit s: successor s */
    bool stops;    /* at an instruction behind which no way leads */
    bool ends;     /* the thread may exit or return there */
    bool forgets;  /* what was called may have written anything */
    bool is_lost;
};

struct follow_block {
    struct wsdbg_thread_state *state; /* at its beginning; NULL = no way leads there */
    bool is_queued;
};

struct wsdbg_follow {
    struct wsdbg_follow_start start;
    struct follow_block *blocks;
    uint32_t *queue; /* of blocks */
    uint32_t depth, runs;
    bool is_whole;
};

/* Runs instructions up to `end`; false where the thread stops before. */
static bool run(const struct wsdbg_follow *follow, uint32_t first, uint32_t end, struct wsdbg_thread_state *state)
{
    for (uint32_t i = first; i < end; i++) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(follow->start.graph, i);
        if (wsdbg_flow_contains(follow->start.stops, i) && wsdbg_thread_executes(state, instruction) == WSDBG_TRUTH_YES)
            return false;
        wsdbg_thread_step(instruction, &follow->start.world, state);
    }
    return true;
}

/* Of a block's end, `state` being that before its last instruction. */
static struct leaving leave(const struct wsdbg_graph *graph, const struct wsdbg_block *block,
                            const struct wsdbg_thread_state *state)
{
    const struct wsdbg_instruction *last = wsdbg_graph_instruction(graph, block->first + block->count - 1);
    const bool asks_more = wsdbg_flow_asks_more_than_guard(last);
    const enum wsdbg_truth executes = wsdbg_thread_executes(state, last);
    const uint32_t all = (1u << block->successor_count) - 1, next = 1;
    const bool branches = last->operation == WSDBG_OP_BRA || block->is_indirect;
    struct leaving leaving = {.ways = all};
    if (executes == WSDBG_TRUTH_NO)
        return (struct leaving){.ways = next};
    leaving.ends = block->exits || block->returns;
    leaving.is_lost = block->is_indirect;
    leaving.forgets = block->calls;
    if (executes == WSDBG_TRUTH_YES && !asks_more && (block->exits || block->returns))
        leaving.ways = 0;
    else if (executes == WSDBG_TRUTH_YES && !asks_more && branches)
        leaving.ways = all & ~next;
    return leaving;
}

/* From instruction `first` of a block to its end. */
static struct leaving run_block(const struct wsdbg_follow *follow, uint32_t number, uint32_t first,
                                struct wsdbg_thread_state *state)
{
    const struct wsdbg_graph *graph = follow->start.graph;
    const struct wsdbg_block *block = wsdbg_graph_block(graph, number);
    const uint32_t last = block->first + block->count - 1;
    if (block->successor_count >= 32)
        return (struct leaving){.is_lost = true};
    if (!run(follow, first, last, state))
        return (struct leaving){.stops = true};
    const struct leaving leaving = leave(graph, block, state);
    if (!run(follow, last, last + 1, state))
        return (struct leaving){.stops = true};
    return leaving;
}

static struct wsdbg_error *enter(struct wsdbg_follow *follow, uint32_t number, const struct wsdbg_thread_state *state)
{
    struct follow_block *block = &follow->blocks[number];
    const bool is_new = !block->state;
    if (is_new) {
        block->state = malloc(sizeof *block->state);
        if (!block->state)
            return &wsdbg_error_no_memory;
        *block->state = *state;
    }
    if ((is_new || wsdbg_thread_meet(block->state, state)) && !block->is_queued) {
        block->is_queued = true;
        follow->queue[follow->depth++] = number;
    }
    return NULL;
}

static struct wsdbg_error *run_on(struct wsdbg_follow *follow, uint32_t number, uint32_t first,
                                  struct wsdbg_thread_state *state)
{
    const struct wsdbg_block *block = wsdbg_graph_block(follow->start.graph, number);
    const struct leaving leaving = run_block(follow, number, first, state);
    struct wsdbg_error *error = NULL;
    follow->is_whole &= !leaving.is_lost;
    if (leaving.forgets)
        *state = (struct wsdbg_thread_state){0};
    for (uint32_t s = 0; !error && s < block->successor_count; s++)
        if (leaving.ways >> s & 1 && block->successor[s] != WSDBG_GRAPH_NONE)
            error = enter(follow, block->successor[s], state);
    return error;
}

static struct wsdbg_error *follow_ways(struct wsdbg_follow *follow)
{
    const uint32_t at = follow->start.instruction;
    struct wsdbg_thread_state state = *follow->start.state;
    struct wsdbg_error *error = run_on(follow, wsdbg_graph_block_of(follow->start.graph, at), at, &state);
    while (!error && follow->depth && follow->runs++ < RUNS_MOST) {
        const uint32_t number = follow->queue[--follow->depth];
        follow->blocks[number].is_queued = false;
        state = *follow->blocks[number].state;
        error = run_on(follow, number, wsdbg_graph_block(follow->start.graph, number)->first, &state);
    }
    follow->is_whole &= follow->depth == 0;
    return error;
}

struct wsdbg_error *wsdbg_follow_create(const struct wsdbg_follow_start *start, struct wsdbg_follow **out)
{
    const uint32_t blocks = wsdbg_graph_block_count(start->graph);
    struct wsdbg_follow *follow = calloc(1, sizeof *follow);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    *out = NULL;
    if (follow) {
        *follow = (struct wsdbg_follow){.start = *start, .is_whole = true};
        follow->blocks = calloc((size_t)blocks + 1, sizeof *follow->blocks);
        follow->queue = calloc((size_t)blocks + 1, sizeof *follow->queue);
        if (follow->blocks && follow->queue)
            error = follow_ways(follow);
    }
    if (error)
        wsdbg_follow_destroy(follow);
    else
        *out = follow;
    return error;
}

void wsdbg_follow_destroy(struct wsdbg_follow *follow)
{
    if (!follow)
        return;
    for (uint32_t i = 0; follow->blocks && i < wsdbg_graph_block_count(follow->start.graph); i++)
        free(follow->blocks[i].state);
    free(follow->blocks);
    free(follow->queue);
    free(follow);
}

bool wsdbg_follow_is_whole(const struct wsdbg_follow *follow)
{
    return follow->is_whole;
}

static bool is_behind_start(const struct wsdbg_follow *follow, uint32_t block, uint32_t instruction)
{
    return block == wsdbg_graph_block_of(follow->start.graph, follow->start.instruction) &&
           instruction >= follow->start.instruction;
}

bool wsdbg_follow_at(const struct wsdbg_follow *follow, uint32_t instruction, struct wsdbg_thread_state *state)
{
    const uint32_t number = wsdbg_graph_block_of(follow->start.graph, instruction);
    const uint32_t first = wsdbg_graph_block(follow->start.graph, number)->first;
    struct wsdbg_thread_state again;
    bool comes = false;
    if (is_behind_start(follow, number, instruction)) {
        *state = *follow->start.state;
        comes = run(follow, follow->start.instruction, instruction, state);
    }
    if (!follow->blocks[number].state)
        return comes;
    again = *follow->blocks[number].state;
    if (!run(follow, first, instruction, &again))
        return comes;
    if (comes)
        wsdbg_thread_meet(state, &again);
    else
        *state = again;
    return true;
}

/* ---- what every way executes ---- */

struct search {
    const struct wsdbg_follow *follow;
    uint32_t wanted; /* instruction */
    bool *visited;
    uint32_t *stack;
    uint32_t depth;
};

/* Goes on from a place up to the instruction; false where a way ends before. */
static bool pass(struct search *search, uint32_t number, uint32_t first, struct wsdbg_thread_state *state)
{
    const struct wsdbg_block *block = wsdbg_graph_block(search->follow->start.graph, number);
    if (search->wanted >= first && search->wanted - block->first < block->count)
        return run(search->follow, first, search->wanted, state);
    const struct leaving leaving = run_block(search->follow, number, first, state);
    if (leaving.stops || leaving.ends || leaving.forgets || leaving.is_lost)
        return false;
    for (uint32_t s = 0; s < block->successor_count; s++) {
        const uint32_t next = block->successor[s];
        if (!(leaving.ways >> s & 1) || next == WSDBG_GRAPH_NONE || search->visited[next])
            continue;
        search->visited[next] = true;
        search->stack[search->depth++] = next;
    }
    return true;
}

static bool all_ways_pass(struct search *search)
{
    const struct wsdbg_follow_start *start = &search->follow->start;
    struct wsdbg_thread_state state = *start->state;
    bool passes = pass(search, wsdbg_graph_block_of(start->graph, start->instruction), start->instruction, &state);
    while (passes && search->depth) {
        const uint32_t number = search->stack[--search->depth];
        state = *search->follow->blocks[number].state;
        passes = pass(search, number, wsdbg_graph_block(start->graph, number)->first, &state);
    }
    return passes;
}

bool wsdbg_follow_must_execute(const struct wsdbg_follow *follow, uint32_t instruction)
{
    const uint32_t blocks = wsdbg_graph_block_count(follow->start.graph);
    struct wsdbg_thread_state state;
    struct search search = {.follow = follow, .wanted = instruction};
    if (!follow->is_whole || !wsdbg_follow_at(follow, instruction, &state) ||
        wsdbg_thread_executes(&state, wsdbg_graph_instruction(follow->start.graph, instruction)) != WSDBG_TRUTH_YES)
        return false;
    search.visited = calloc((size_t)blocks + 1, sizeof *search.visited);
    search.stack = calloc((size_t)blocks + 1, sizeof *search.stack);
    const bool passes = search.visited && search.stack && all_ways_pass(&search);
    free(search.visited);
    free(search.stack);
    return passes;
}
