/* skeleton.c - see skeleton.h.  Reads a graph; writes a shorter copy of its instructions. */
#include "sass/skeleton.h"

#include <stdlib.h>

#include "sass/places.h"

struct skeleton {
    const struct wsdbg_graph *graph;
    bool *kept;                             /* by block */
    uint32_t *place;                        /* by instruction of the graph: its number, or that of what stands for it */
    uint32_t *numbers;                      /* back again */
    struct wsdbg_instruction *instructions; /* of the skeleton */
    uint32_t count;
    struct wsdbg_way *ways; /* of the skeleton's branches through registers */
    size_t way_count;
    bool *exits; /* by block: a path from it comes to an exit */
};

static struct wsdbg_error *allocate(struct skeleton *skeleton)
{
    const size_t count = (size_t)skeleton->graph->instruction_count + 1;
    skeleton->kept = calloc((size_t)skeleton->graph->block_count + 1, sizeof *skeleton->kept);
    skeleton->place = calloc(count, sizeof *skeleton->place);
    skeleton->numbers = calloc(count, sizeof *skeleton->numbers);
    skeleton->instructions = calloc(count, sizeof *skeleton->instructions);
    skeleton->exits = calloc((size_t)skeleton->graph->block_count + 1, sizeof *skeleton->exits);
    return skeleton->kept && skeleton->place && skeleton->numbers && skeleton->instructions && skeleton->exits
               ? NULL
               : &wsdbg_error_no_memory;
}

static void deinit(struct skeleton *skeleton)
{
    free(skeleton->kept);
    free(skeleton->place);
    free(skeleton->numbers);
    free(skeleton->instructions);
    free(skeleton->ways);
    free(skeleton->exits);
}

static struct wsdbg_error *choose(struct skeleton *skeleton, wsdbg_instruction_set set)
{
    const struct wsdbg_graph *graph = skeleton->graph;
    for (uint32_t block = 0; block < graph->block_count; block++)
        skeleton->kept[block] = graph->blocks[block].is_indirect;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        if (wsdbg_flow_contains(set, i))
            skeleton->kept[graph->block_of[i]] = true;
    }
    return wsdbg_flow_mark_backwards(graph, NULL, true, skeleton->kept);
}

/* Which blocks lead to an exit other than by a trap. */
static struct wsdbg_error *find_exits(struct skeleton *skeleton)
{
    const struct wsdbg_graph *graph = skeleton->graph;
    bool *traps = calloc((size_t)graph->block_count + 1, sizeof *traps);
    if (!traps)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        if (instruction->operation == WSDBG_OP_BPT && wsdbg_flow_is_unguarded(instruction))
            traps[graph->block_of[i]] = true;
        else if (instruction->operation == WSDBG_OP_EXIT && !wsdbg_flow_never_executes(instruction))
            skeleton->exits[graph->block_of[i]] = true;
    }
    for (uint32_t block = 0; block < graph->block_count; block++)
        skeleton->exits[block] = (skeleton->exits[block] && !traps[block]) || graph->blocks[block].is_indirect;
    struct wsdbg_error *error = wsdbg_flow_mark_backwards(graph, traps, true, skeleton->exits);
    free(traps);
    return error;
}

/* One instruction in place of a block that is left out.  Blocks behind one another share it where they say the same. */
static void put_end(struct skeleton *skeleton, uint32_t block)
{
    const uint8_t operation = skeleton->exits[block] ? WSDBG_OP_EXIT : WSDBG_OP_BRA;
    const uint32_t last = skeleton->count - 1;
    const bool may_share = skeleton->count > 0 && !skeleton->kept[skeleton->graph->block_of[skeleton->numbers[last]]];
    if (may_share && skeleton->instructions[last].operation == operation)
        return;
    skeleton->instructions[skeleton->count] =
        (struct wsdbg_instruction){.operation = operation,
                                   .guard = WSDBG_PT,
                                   .is_whole = true,
                                   .has_target = operation == WSDBG_OP_BRA}; /* to itself */
    skeleton->numbers[skeleton->count++] = skeleton->graph->blocks[block].first;
}

static void copy(struct skeleton *skeleton)
{
    const struct wsdbg_graph *graph = skeleton->graph;
    for (uint32_t block = 0; block < graph->block_count; block++) {
        const uint32_t first = graph->blocks[block].first, end = first + graph->blocks[block].count;
        if (!skeleton->kept[block])
            put_end(skeleton, block);
        for (uint32_t i = first; i < end; i++) {
            skeleton->place[i] = skeleton->kept[block] ? skeleton->count : skeleton->count - 1;
            if (!skeleton->kept[block])
                continue;
            skeleton->instructions[skeleton->count] = graph->instructions[i];
            skeleton->numbers[skeleton->count++] = i;
        }
    }
}

/* Branches lead to where their targets are now. */
static void turn_branches(struct skeleton *skeleton)
{
    for (uint32_t at = 0; at < skeleton->count; at++) {
        struct wsdbg_instruction *instruction = &skeleton->instructions[at];
        if (!instruction->has_target || instruction->is_absolute)
            continue;
        const int64_t target = skeleton->numbers[at] + instruction->target_offset_bytes / WSDBG_INSTRUCTION_BYTES;
        if (target >= 0 && target < skeleton->graph->instruction_count)
            instruction->target_offset_bytes =
                ((int64_t)skeleton->place[target] - (int64_t)at) * WSDBG_INSTRUCTION_BYTES;
    }
}

/* The ways of branches that are kept. */
static struct wsdbg_error *turn_ways(struct skeleton *skeleton)
{
    const struct wsdbg_graph *graph = skeleton->graph;
    skeleton->ways = calloc((size_t)graph->way_count + 1, sizeof *skeleton->ways);
    if (!skeleton->ways)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < graph->way_count; i++) {
        const struct wsdbg_way *way = &graph->ways[i];
        if (skeleton->kept[graph->block_of[way->from]])
            skeleton->ways[skeleton->way_count++] =
                (struct wsdbg_way){skeleton->place[way->from], skeleton->place[way->to], way->value};
    }
    return NULL;
}

struct wsdbg_error *wsdbg_graph_create_leading_to(const struct wsdbg_graph *graph, wsdbg_instruction_set set,
                                                  struct wsdbg_graph **out, uint32_t **numbers)
{
    struct skeleton skeleton = {.graph = graph};
    struct wsdbg_error *error = allocate(&skeleton);
    if (!error)
        error = choose(&skeleton, set);
    if (!error)
        error = find_exits(&skeleton);
    if (!error) {
        copy(&skeleton);
        turn_branches(&skeleton);
        error = turn_ways(&skeleton);
    }
    if (!error) {
        error = wsdbg_flow_create(skeleton.instructions, skeleton.count, skeleton.ways, skeleton.way_count, out);
    }
    if (!error) {
        *numbers = skeleton.numbers;
        skeleton.numbers = NULL;
    }
    deinit(&skeleton);
    return error;
}
