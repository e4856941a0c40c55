/* slice.c - see slice.h.  Reads a graph; writes a shorter copy of its instructions. */
#include "sass/slice.h"

#include <stdlib.h>

#include "sass/places.h"

struct slice {
    const struct wsdbg_graph *graph;
    bool *kept;                             /* by block */
    uint32_t *place;                        /* by instruction of the graph: its number, or that of what stands for it */
    uint32_t *numbers;                      /* back again */
    struct wsdbg_instruction *instructions; /* of the slice */
    uint32_t count;
    struct wsdbg_way *ways; /* of the slice's branches through registers */
    size_t way_count;
    bool *exits; /* by block: a path from it reaches an exit */
};

static struct wsdbg_error *allocate(struct slice *slice)
{
    const size_t count = (size_t)slice->graph->instruction_count + 1;
    slice->kept = calloc((size_t)slice->graph->block_count + 1, sizeof *slice->kept);
    slice->place = calloc(count, sizeof *slice->place);
    slice->numbers = calloc(count, sizeof *slice->numbers);
    slice->instructions = calloc(count, sizeof *slice->instructions);
    slice->exits = calloc((size_t)slice->graph->block_count + 1, sizeof *slice->exits);
    return slice->kept && slice->place && slice->numbers && slice->instructions && slice->exits
               ? NULL
               : &wsdbg_error_no_memory;
}

static void deinit(struct slice *slice)
{
    free(slice->kept);
    free(slice->place);
    free(slice->numbers);
    free(slice->instructions);
    free(slice->ways);
    free(slice->exits);
}

static struct wsdbg_error *choose(struct slice *slice, wsdbg_instruction_set set)
{
    const struct wsdbg_graph *graph = slice->graph;
    for (uint32_t block = 0; block < graph->block_count; block++)
        slice->kept[block] = graph->blocks[block].is_indirect;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        if (wsdbg_flow_contains(set, i))
            slice->kept[graph->block_of[i]] = true;
    }
    return wsdbg_flow_mark_backwards(graph, NULL, true, slice->kept);
}

/* Which blocks lead to an exit other than by a trap. */
static struct wsdbg_error *find_exits(struct slice *slice)
{
    const struct wsdbg_graph *graph = slice->graph;
    bool *traps = calloc((size_t)graph->block_count + 1, sizeof *traps);
    if (!traps)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        if (wsdbg_flow_is_trap(instruction) && wsdbg_flow_is_unguarded(instruction))
            traps[graph->block_of[i]] = true;
        else if (instruction->operation == WSDBG_OP_EXIT && !wsdbg_flow_never_executes(instruction))
            slice->exits[graph->block_of[i]] = true;
    }
    for (uint32_t block = 0; block < graph->block_count; block++)
        slice->exits[block] = (slice->exits[block] && !traps[block]) || graph->blocks[block].is_indirect;
    struct wsdbg_error *error = wsdbg_flow_mark_backwards(graph, traps, true, slice->exits);
    free(traps);
    return error;
}

/* One instruction in place of a block that is left out.  Blocks behind one another share it where they say the same. */
static void put_end(struct slice *slice, uint32_t block)
{
    const uint8_t operation = slice->exits[block] ? WSDBG_OP_EXIT : WSDBG_OP_BRA;
    const uint32_t last = slice->count - 1;
    const bool may_share = slice->count > 0 && !slice->kept[slice->graph->block_of[slice->numbers[last]]];
    if (may_share && slice->instructions[last].operation == operation)
        return;
    slice->instructions[slice->count] =
        (struct wsdbg_instruction){.operation = operation,
                                   .guard = WSDBG_PT,
                                   .is_whole = true,
                                   .has_target = operation == WSDBG_OP_BRA}; /* to itself */
    slice->numbers[slice->count++] = slice->graph->blocks[block].first;
}

static void copy(struct slice *slice)
{
    const struct wsdbg_graph *graph = slice->graph;
    for (uint32_t block = 0; block < graph->block_count; block++) {
        const uint32_t first = graph->blocks[block].first, end = first + graph->blocks[block].count;
        if (!slice->kept[block])
            put_end(slice, block);
        for (uint32_t i = first; i < end; i++) {
            slice->place[i] = slice->kept[block] ? slice->count : slice->count - 1;
            if (!slice->kept[block])
                continue;
            slice->instructions[slice->count] = graph->instructions[i];
            slice->numbers[slice->count++] = i;
        }
    }
}

/* Branches lead to where their targets are now. */
static void turn_branches(struct slice *slice)
{
    for (uint32_t at = 0; at < slice->count; at++) {
        struct wsdbg_instruction *instruction = &slice->instructions[at];
        if (!instruction->has_target || instruction->is_absolute)
            continue;
        const int64_t target = slice->numbers[at] + instruction->target_offset_bytes / WSDBG_INSTRUCTION_BYTES;
        if (target >= 0 && target < slice->graph->instruction_count)
            instruction->target_offset_bytes = ((int64_t)slice->place[target] - (int64_t)at) * WSDBG_INSTRUCTION_BYTES;
    }
}

/* The ways of branches that are kept. */
static struct wsdbg_error *turn_ways(struct slice *slice)
{
    const struct wsdbg_graph *graph = slice->graph;
    slice->ways = calloc((size_t)graph->way_count + 1, sizeof *slice->ways);
    if (!slice->ways)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < graph->way_count; i++) {
        const struct wsdbg_way *way = &graph->ways[i];
        if (slice->kept[graph->block_of[way->from]])
            slice->ways[slice->way_count++] =
                (struct wsdbg_way){slice->place[way->from], slice->place[way->to], way->value};
    }
    return NULL;
}

struct wsdbg_error *wsdbg_graph_create_leading_to(const struct wsdbg_graph *graph, wsdbg_instruction_set set,
                                                  struct wsdbg_graph **out, uint32_t **numbers)
{
    struct slice slice = {.graph = graph};
    struct wsdbg_error *error = allocate(&slice);
    if (!error)
        error = choose(&slice, set);
    if (!error)
        error = find_exits(&slice);
    if (!error) {
        copy(&slice);
        turn_branches(&slice);
        error = turn_ways(&slice);
    }
    if (!error) {
        error = wsdbg_graph_create_with_ways(slice.instructions, slice.count, slice.ways, slice.way_count, out);
    }
    if (!error) {
        *numbers = slice.numbers;
        slice.numbers = NULL;
    }
    deinit(&slice);
    return error;
}
