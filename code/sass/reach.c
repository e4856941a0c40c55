/* reach.c - which instructions a path from another one leads to.  Reads a graph; writes what it is given. */
#include "sass/places.h"

#include <stdlib.h>
#include <string.h>

struct reach {
    struct wsdbg_places places;
    wsdbg_instruction_set avoid;
    uint64_t *out;
    bool *stops;     /* by block: holds an instruction behind which no path goes on */
    bool *visited;   /* by place */
    uint32_t *stack; /* of places */
    uint32_t depth;
    bool is_indirect;
};

static size_t set_words(const struct wsdbg_graph *graph)
{
    return ((size_t)graph->instruction_count + 63) / 64;
}

/* The instruction of [first, end) behind which no path goes on that avoids the set; `end` = none. */
static uint32_t stop_in(const struct wsdbg_graph *graph, uint32_t first, uint32_t end, wsdbg_instruction_set avoid)
{
    uint32_t stop = wsdbg_flow_next(avoid, first, end);
    while (stop < end && !wsdbg_flow_is_unguarded(&graph->instructions[stop]))
        stop = wsdbg_flow_next(avoid, stop + 1, end);
    return stop;
}

static void add_range(uint64_t *set, uint32_t first, uint32_t end)
{
    while (first < end) {
        const uint32_t left = 64 - first % 64, count = left < end - first ? left : end - first;
        set[first / 64] |= (count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1) << first % 64;
        first += count;
    }
}

static struct wsdbg_error *prepare(const struct wsdbg_graph *graph, struct reach *reach)
{
    reach->stops = calloc((size_t)graph->block_count + 1, sizeof *reach->stops);
    if (!reach->stops)
        return &wsdbg_error_no_memory;
    for (uint32_t block = 0; block < graph->block_count; block++) {
        const uint32_t first = graph->blocks[block].first, end = first + graph->blocks[block].count;
        reach->stops[block] = stop_in(graph, first, end, reach->avoid) != end;
    }
    struct wsdbg_error *error = wsdbg_places_create(graph, reach->stops, &reach->places);
    if (error)
        return error;
    reach->visited = calloc(wsdbg_places_count(&reach->places), sizeof *reach->visited);
    reach->stack = calloc(wsdbg_places_count(&reach->places), sizeof *reach->stack);
    return reach->visited && reach->stack ? NULL : &wsdbg_error_no_memory;
}

static void leave(struct reach *reach, uint32_t place)
{
    const uint32_t ways = wsdbg_place_ways(&reach->places, place);
    for (uint32_t way = 0; way < ways; way++) {
        const uint32_t next = wsdbg_place_after(&reach->places, place, way);
        if (next == WSDBG_GRAPH_NONE || reach->visited[next])
            continue;
        reach->visited[next] = true;
        reach->stack[reach->depth++] = next;
    }
}

/* From instruction `first` of the place's block to its end, and on. */
static void run_along(struct reach *reach, uint32_t place, uint32_t first)
{
    const struct wsdbg_graph *graph = reach->places.graph;
    const struct wsdbg_block *block = &graph->blocks[wsdbg_block_of_place(&reach->places, place)];
    const uint32_t end = block->first + block->count;
    const uint32_t stop = stop_in(graph, first, end, reach->avoid);
    add_range(reach->out, first, stop == end ? end : stop + 1);
    if (stop != end)
        return;
    reach->is_indirect |= block->is_indirect;
    leave(reach, place);
}

bool wsdbg_graph_reach_set(const struct wsdbg_graph *graph, uint32_t from, wsdbg_instruction_set avoid, uint64_t *out)
{
    struct reach reach = {.avoid = avoid, .out = out};
    memset(out, 0, set_words(graph) * sizeof *out);
    if (from >= graph->instruction_count)
        return true; /* code that runs on behind its end */
    if (prepare(graph, &reach)) {
        reach.is_indirect = true; /* out of memory: there may be more */
    } else {
        run_along(&reach, wsdbg_place_of_block(graph->block_of[from], WSDBG_FLOOR_UPPER), from);
        while (reach.depth) {
            const uint32_t place = reach.stack[--reach.depth], block = wsdbg_block_of_place(&reach.places, place);
            if (block == WSDBG_GRAPH_NONE)
                leave(&reach, place);
            else
                run_along(&reach, place, graph->blocks[block].first);
        }
    }
    free(reach.stops);
    free(reach.visited);
    free(reach.stack);
    wsdbg_places_destroy(&reach.places);
    return reach.is_indirect;
}

enum wsdbg_reaches wsdbg_graph_reaches(const struct wsdbg_graph *graph, uint32_t from, uint32_t to,
                                       wsdbg_instruction_set avoid)
{
    uint64_t *reached = calloc(set_words(graph) + 1, sizeof *reached);
    if (!reached)
        return WSDBG_REACHES_MAYBE;
    const bool is_indirect = wsdbg_graph_reach_set(graph, from, avoid, reached);
    const bool comes_there = wsdbg_flow_contains(reached, to);
    free(reached);
    if (comes_there)
        return WSDBG_REACHES_YES;
    return is_indirect ? WSDBG_REACHES_MAYBE : WSDBG_REACHES_NO;
}
