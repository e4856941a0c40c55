/* walk_idle.c - see walk_idle.h.
 *
 * Reads: the plan, with what it executes so far.  Writes: plan->idle_to, plan->traffic.behind.
 */
#include "sass/walk_idle.h"

#include <stdlib.h>
#include <string.h>

#include "flow/dominators.h"
#include "sass/walk_kept.h"

/* How many blocks are visited in all.  Regions may lie within one another; where there is too much, the rest is not
 * left out. */
enum { VISITS_MOST = 1 << 22 };

/* The blocks between a branch and the place where its ways meet. */
struct region {
    const struct wsdbg_walk_plan *plan;
    uint32_t branch, meets; /* blocks */
    bool *visited;
    uint32_t *stack, depth;
    uint32_t visits; /* so far, of all regions */
    bool loops;      /* some way leads back to the branch */
    uint64_t written[WSDBG_WALK_REGISTER_WORDS];
    uint8_t traffic; /* what they read and write, where plan->traffic is known */
};

uint32_t walk_idle_to(const struct wsdbg_walk_plan *plan, uint32_t block)
{
    return plan->idle_to ? plan->idle_to[block] : WSDBG_GRAPH_NONE;
}

/* Special registers that keep their values: the lane, indices of threads and CTAs, windows of memory, masks. */
static bool is_constant(uint64_t special)
{
    enum { LANE = 0, TID = 0x20, GREATER_EQUAL_MASK = 0x3c, CTA_RANK = 0x88 };
    return special == LANE || (special >= TID && special <= GREATER_EQUAL_MASK) || special == CTA_RANK;
}

/* Whether a loop may wait for what the instruction brings: a word of memory, or the time. */
static bool may_wait(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (instruction->sources[i].kind == WSDBG_OPERAND_SPECIAL &&
            !is_constant((uint64_t)instruction->sources[i].value))
            return true;
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_LOAD &&
           wsdbg_operation_space(instruction->operation) != WSDBG_SPACE_LOCAL &&
           instruction->operation != WSDBG_OP_LDC && instruction->operation != WSDBG_OP_ULDC;
}

/* Whether a walk must not leave out the instruction. */
static bool counts(const struct wsdbg_walk_plan *plan, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &plan->graph->instructions[number];
    return wsdbg_walk_is_step(plan, number) || wsdbg_walk_is_of_matrices(plan, number) ||
           wsdbg_walk_is_exchange(plan->graph, number) || wsdbg_walk_is_lent(instruction) ||
           wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_ATOMIC ||
           instruction->operation == WSDBG_OP_OTHER ||
           (plan->follows_stores && wsdbg_walk_follows_store(plan, instruction)) ||
           (plan->executes[number] && may_wait(instruction));
}

/* False: a walk must not leave out the block. */
static bool add_block(struct region *region, uint32_t number)
{
    const struct wsdbg_block *block = &region->plan->graph->blocks[number];
    if (block->is_indirect || block->calls || block->returns || block->exits)
        return false;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct wsdbg_instruction *instruction = &region->plan->graph->instructions[i];
        if (counts(region->plan, i))
            return false;
        region->traffic |= region->plan->traffic.own ? region->plan->traffic.own[i] : 0;
        for (unsigned d = 0; region->plan->executes[i] && d < instruction->destination_count; d++)
            for (unsigned part = 0; part == 0 || part < instruction->destinations[d].registers; part++)
                wsdbg_walk_put(region->written, wsdbg_register_of(&instruction->destinations[d], part));
    }
    return true;
}

static void push_ways(struct region *region, uint32_t number)
{
    const struct wsdbg_block *block = &region->plan->graph->blocks[number];
    for (uint32_t s = 0; s < block->successor_count; s++) {
        const uint32_t next = block->successor[s];
        if (next == WSDBG_GRAPH_NONE || next == region->meets)
            continue;
        region->loops |= next == region->branch;
        if (!region->visited[next])
            region->stack[region->depth++] = next;
        region->visited[next] = true;
    }
}

static bool have_common(const uint64_t *a, const uint64_t *b)
{
    for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
        if (a[word] & b[word])
            return true;
    return false;
}

/* Finds the blocks between, and what they write.  False: a walk must not leave them out. */
static bool find_blocks(struct region *region)
{
    memset(region->visited, 0, region->plan->graph->block_count * sizeof *region->visited);
    memset(region->written, 0, sizeof region->written);
    region->loops = false;
    region->traffic = 0;
    region->depth = 0;
    push_ways(region, region->branch);
    while (region->depth) {
        const uint32_t number = region->stack[--region->depth];
        if (region->visits++ >= VISITS_MOST || !add_block(region, number))
            return false;
        push_ways(region, number);
    }
    return region->loops;
}

/* *out: whether the branch is one of a loop, and a walk may go on where its ways meet.  needed: registers, there. */
static struct wsdbg_error *ask_region(struct region *region, const uint64_t *needed, bool *out)
{
    struct wsdbg_error *error = NULL;
    *out = find_blocks(region);
    if (*out && have_common(region->written, needed)) {
        error = walk_kept_find(region->plan->graph, region->branch, region->meets, region->visited, region->written);
        *out = !error && !have_common(region->written, needed);
    }
    return error;
}

static struct wsdbg_error *begin(struct wsdbg_walk_plan *plan)
{
    struct wsdbg_error *error = plan->after ? NULL : wsdbg_walk_find_after(plan);
    if (error || plan->idle_to)
        return error;
    plan->idle_to = malloc(((size_t)plan->graph->block_count + 1) * sizeof *plan->idle_to);
    for (uint32_t block = 0; plan->idle_to && block < plan->graph->block_count; block++)
        plan->idle_to[block] = WSDBG_GRAPH_NONE;
    return plan->idle_to ? NULL : &wsdbg_error_no_memory;
}

/* Whether the branch is one of a loop and has a place where its ways meet. */
static bool may_be_idle(const struct wsdbg_walk_plan *plan, uint32_t number, uint32_t *meets)
{
    const struct wsdbg_block *block = &plan->graph->blocks[number];
    const uint32_t after = plan->after->number[number], above = after ? plan->after->above[after] : 0;
    if (block->loop == WSDBG_GRAPH_NONE || block->successor_count != 2 || block->exits || block->is_indirect ||
        !above || walk_idle_to(plan, number) != WSDBG_GRAPH_NONE)
        return false;
    *meets = plan->after->node[above];
    return true;
}

struct wsdbg_error *walk_idle_find(struct wsdbg_walk_plan *plan, const uint64_t (*at_begin)[WSDBG_WALK_REGISTER_WORDS],
                                   bool *found)
{
    const uint32_t blocks = plan->graph->block_count;
    struct region region = {.plan = plan,
                            .visited = calloc((size_t)blocks + 1, sizeof *region.visited),
                            .stack = calloc((size_t)blocks + 1, sizeof *region.stack)};
    struct wsdbg_error *error = region.visited && region.stack ? begin(plan) : &wsdbg_error_no_memory;
    *found = false;
    for (uint32_t block = 0; !error && block < blocks; block++) {
        region.branch = block;
        bool is_idle = may_be_idle(plan, block, &region.meets);
        if (is_idle)
            error = ask_region(&region, at_begin[region.meets], &is_idle);
        if (is_idle)
            plan->idle_to[block] = region.meets;
        *found |= is_idle;
    }
    free(region.visited);
    free(region.stack);
    return error;
}

struct wsdbg_error *walk_idle_add_traffic(struct wsdbg_walk_plan *plan)
{
    const uint32_t blocks = plan->graph->block_count;
    struct region region = {.plan = plan,
                            .visited = calloc((size_t)blocks + 1, sizeof *region.visited),
                            .stack = calloc((size_t)blocks + 1, sizeof *region.stack)};
    struct wsdbg_error *error = region.visited && region.stack ? NULL : &wsdbg_error_no_memory;
    for (uint32_t block = 0; !error && block < blocks; block++) {
        region.branch = block;
        region.meets = walk_idle_to(plan, block);
        if (region.meets != WSDBG_GRAPH_NONE)
            plan->traffic.behind[block] |= find_blocks(&region) ? region.traffic : WSDBG_TRAFFIC_ALL;
    }
    free(region.visited);
    free(region.stack);
    return error;
}
