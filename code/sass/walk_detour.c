/* walk_detour.c - how a walk passes a branch with an unknown condition: where its sides meet, what they write, and
 * whether anything is left to do behind it.
 *
 * Reads: the plan.  Writes: what the plan keeps of its blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/dominators.h"
#include "sass/walk_kept.h"
#include "sass/walk_plan.h"

/* ---- whether anything is left to do ---- */

/* An instruction that destroys a barrier at the end counts as nothing: the barrier is not used any more. */
static bool acts(const struct wsdbg_walk_plan *plan, uint32_t instruction)
{
    const uint8_t kind = plan->operands[instruction].kind;
    return (wsdbg_walk_is_step(plan, instruction) && kind != WSDBG_ACCESS_EXIT && kind != WSDBG_ACCESS_INVALIDATE) ||
           wsdbg_walk_is_of_matrices(plan, instruction);
}

static bool stores(const struct wsdbg_walk_plan *plan, uint32_t instruction)
{
    return wsdbg_walk_follows_store(plan, &plan->graph->instructions[instruction]);
}

typedef bool instruction_test(const struct wsdbg_walk_plan *plan, uint32_t instruction);

/* Whether control may go from the block to code that is not known. */
static bool leads_anywhere(const struct wsdbg_block *block)
{
    return block->returns || block->is_indirect || (block->calls && block->callee == WSDBG_GRAPH_NONE);
}

static bool has_itself(const struct wsdbg_walk_plan *plan, instruction_test *test, uint32_t number)
{
    const struct wsdbg_block *block = &plan->graph->blocks[number];
    bool any = leads_anywhere(block);
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        any |= test(plan, i);
    return any;
}

static bool has_behind(const struct wsdbg_walk_plan *plan, const bool *has, uint32_t number)
{
    const struct wsdbg_block *block = &plan->graph->blocks[number];
    bool any = block->calls && block->callee != WSDBG_GRAPH_NONE && has[plan->graph->block_of[block->callee]];
    for (uint32_t i = 0; i < block->successor_count; i++)
        any |= block->successor[i] != WSDBG_GRAPH_NONE && has[block->successor[i]];
    return any;
}

/* Whether some way from the end of a block on may lead to an instruction that passes the test.  `has` keeps the answers
 * of all blocks. */
static struct wsdbg_error *find_behind(const struct wsdbg_walk_plan *plan, bool **has, instruction_test *test,
                                       uint32_t block, bool *out)
{
    const uint32_t count = plan->graph->block_count;
    bool grows = !*has;
    if (!*has && !(*has = calloc((size_t)count + 1, sizeof **has)))
        return &wsdbg_error_no_memory;
    for (uint32_t b = 0; grows && b < count; b++)
        (*has)[b] = has_itself(plan, test, b);
    while (grows) {
        grows = false;
        for (uint32_t b = count; b-- > 0;)
            if (!(*has)[b] && has_behind(plan, *has, b))
                (*has)[b] = grows = true;
    }
    *out = leads_anywhere(&plan->graph->blocks[block]) || has_behind(plan, *has, block);
    return NULL;
}

struct wsdbg_error *wsdbg_walk_acts_behind(struct wsdbg_walk_plan *plan, uint32_t block, bool *out)
{
    return find_behind(plan, &plan->acts, acts, block, out);
}

struct wsdbg_error *wsdbg_walk_stores_behind(struct wsdbg_walk_plan *plan, uint32_t block, bool *out)
{
    return find_behind(plan, &plan->stores, stores, block, out);
}

/* ---- where the sides of a branch meet ---- */

/* Post-dominators are the dominators of the graph with its edges reversed. */
struct wsdbg_error *wsdbg_walk_find_after(struct wsdbg_walk_plan *plan)
{
    const struct wsdbg_graph *graph = plan->graph;
    struct wsdbg_lists after = {0};
    uint32_t count = 0, roots = 0;
    for (uint32_t block = 0; block < graph->block_count; block++)
        count += graph->blocks[block].successor_count;
    uint32_t *memory = calloc(2 * (size_t)count + graph->block_count + 1, sizeof *memory);
    plan->after = calloc(1, sizeof *plan->after);
    if (!memory || !plan->after) {
        free(memory);
        return &wsdbg_error_no_memory;
    }
    uint32_t *keys = memory, *numbers = memory + count, *root = memory + 2 * (size_t)count, at = 0;
    for (uint32_t b = 0; b < graph->block_count; b++) {
        bool goes_on = false;
        for (uint32_t s = 0; s < graph->blocks[b].successor_count; s++, at++) {
            keys[at] = graph->blocks[b].successor[s] == WSDBG_GRAPH_NONE ? WSDBG_LISTS_NONE : b;
            numbers[at] = graph->blocks[b].successor[s];
            goes_on |= keys[at] != WSDBG_LISTS_NONE;
        }
        if (!goes_on || graph->blocks[b].exits)
            root[roots++] = b;
    }
    struct wsdbg_error *error = wsdbg_lists_create(keys, numbers, count, graph->block_count, &after);
    const struct wsdbg_rooted_graph turned = {.node_count = graph->block_count,
                                              .after = &graph->predecessors,
                                              .before = &after,
                                              .roots = root,
                                              .root_count = roots,
                                              .takes_rest = true};
    if (!error)
        error = wsdbg_dominators_find(&turned, plan->after);
    wsdbg_lists_destroy(&after);
    free(memory);
    return error;
}

/* A function that lies beside the kernel is read like the rest: division and square roots have such calls. */
static bool calls_known(const struct wsdbg_block *block)
{
    return block->calls && block->callee != WSDBG_GRAPH_NONE;
}

/* ---- traps ---- */

enum ending { ENDS_OTHERWISE, GOES_ON, TRAPS };

/* How a block ends that does nothing which another thread could see or wait for. */
static enum ending ending_of(const struct wsdbg_walk_plan *plan, const struct wsdbg_block *block)
{
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct wsdbg_instruction *instruction = &plan->graph->instructions[i];
        if (wsdbg_flow_is_trap(instruction) && wsdbg_flow_is_unguarded(instruction))
            return TRAPS;
        if (acts(plan, i) || stores(plan, i))
            return ENDS_OTHERWISE;
    }
    return block->exits || block->returns || block->is_indirect || !block->successor_count ? ENDS_OTHERWISE : GOES_ON;
}

/* A call is taken to return: the function reports the error before the kernel traps. */
static bool fails_within(const struct wsdbg_walk_plan *plan, uint32_t number, unsigned blocks)
{
    const struct wsdbg_block *block = &plan->graph->blocks[number];
    const enum ending ending = ending_of(plan, block);
    bool fails = ending == GOES_ON && blocks > 0;
    for (uint32_t i = 0; fails && i < block->successor_count; i++)
        fails = block->successor[i] != WSDBG_GRAPH_NONE && fails_within(plan, block->successor[i], blocks - 1);
    return fails || ending == TRAPS;
}

bool wsdbg_walk_fails(const struct wsdbg_walk_plan *plan, uint32_t block)
{
    enum { BLOCKS_MOST = 6 };
    return fails_within(plan, block, BLOCKS_MOST);
}

/* ---- detours ---- */

/* Notes what the block writes, and whether a walk may pass it without executing it.  is_called: it is of a function
 * that is called on the way, so that its return leads back there. */
static void add_block(const struct wsdbg_walk_plan *plan, uint32_t number, bool is_called,
                      struct wsdbg_walk_detour *detour)
{
    const struct wsdbg_graph *graph = plan->graph;
    const struct wsdbg_block *block = &graph->blocks[number];
    const bool goes_elsewhere =
        block->is_indirect || (block->calls && !calls_known(block)) || (block->returns && !is_called);
    detour->can_be_passed &= !goes_elsewhere && !block->exits;
    if (goes_elsewhere)
        memset(detour->written, 0xff, sizeof detour->written);
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        detour->can_be_passed &= !wsdbg_walk_is_step(plan, i) || instruction->operation == WSDBG_OP_WARPSYNC;
        detour->stores |= wsdbg_walk_follows_store(plan, instruction);
        detour->exchanges |= wsdbg_walk_is_exchange(graph, i);
        detour->has_atomics |= wsdbg_walk_is_atomic(instruction);
        detour->traffic |= plan->traffic.own[i];
        for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
            if (wsdbg_writes(instruction, reg))
                wsdbg_walk_put(detour->written, reg);
    }
}

struct between {
    uint32_t *stack;
    bool *visited, *is_called;
    uint32_t depth;
};

static void push_block(struct between *between, uint32_t block, uint32_t end, bool is_called)
{
    if (block == WSDBG_GRAPH_NONE || block == end || between->visited[block])
        return;
    between->visited[block] = true;
    between->is_called[block] = is_called;
    between->stack[between->depth++] = block;
}

/* What may be executed behind the block, up to the block `end`. */
static void push(struct between *between, const struct wsdbg_graph *graph, uint32_t number, uint32_t end)
{
    const struct wsdbg_block *block = &graph->blocks[number];
    for (uint32_t s = 0; s < block->successor_count; s++)
        push_block(between, block->successor[s], end, between->is_called[number]);
    if (calls_known(block))
        push_block(between, graph->block_of[block->callee], end, true);
}

static struct wsdbg_error *find_detour(struct wsdbg_walk_plan *plan, uint32_t block, struct wsdbg_walk_detour *detour)
{
    const struct wsdbg_graph *graph = plan->graph;
    const uint32_t number = plan->after->number[block], meets = number ? plan->after->above[number] : 0;
    struct between between = {.stack = calloc((size_t)graph->block_count + 1, sizeof *between.stack),
                              .visited = calloc((size_t)graph->block_count + 1, sizeof *between.visited),
                              .is_called = calloc((size_t)graph->block_count + 1, sizeof *between.is_called)};
    struct wsdbg_error *error = between.stack && between.visited && between.is_called ? NULL : &wsdbg_error_no_memory;
    if (!error && meets && !graph->blocks[block].exits && !graph->blocks[block].is_indirect) {
        detour->meets = plan->after->node[meets];
        detour->is_met = detour->can_be_passed = true;
        push(&between, graph, block, detour->meets);
        while (between.depth) {
            const uint32_t next = between.stack[--between.depth];
            add_block(plan, next, between.is_called[next], detour);
            push(&between, graph, next, detour->meets);
        }
        detour->loops = between.visited[block];
        memcpy(detour->lost, detour->written, sizeof detour->lost);
        if (detour->can_be_passed)
            error = walk_kept_find(graph, block, detour->meets, between.visited, detour->lost);
    }
    free(between.stack);
    free(between.visited);
    free(between.is_called);
    return error;
}

struct wsdbg_error *wsdbg_walk_detour_of(struct wsdbg_walk_plan *plan, uint32_t block,
                                         const struct wsdbg_walk_detour **out)
{
    struct wsdbg_walk_detour *detour = &plan->detours[block];
    struct wsdbg_error *error = plan->after || detour->is_known ? NULL : wsdbg_walk_find_after(plan);
    if (!error && !detour->is_known)
        error = find_detour(plan, block, detour);
    detour->is_known = !error;
    *out = detour;
    return error;
}
