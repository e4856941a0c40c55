/* places.c - see places.h.  Reads a graph; writes memory of its own. */
#include "sass/places.h"

#include <stdlib.h>

enum { WAY_ON, WAY_BRANCH, WAY_CALL, WAY_RETURN, WAYS_OF_BLOCK }; /* then a table's further targets */
enum { SUCCESSORS_PLAIN = 2 };

struct marking {
    const struct wsdbg_graph *graph;
    const bool *stops;
    bool *marked;
    uint32_t *stack;
    uint32_t depth;
};

static bool may_skip_its_call(const struct wsdbg_graph *graph, uint32_t block)
{
    const struct wsdbg_block *calling = &graph->blocks[block];
    return calling->callee == WSDBG_GRAPH_NONE ||
           !wsdbg_flow_is_unguarded(&graph->instructions[calling->first + calling->count - 1]);
}

static void mark(struct marking *marking, uint32_t block)
{
    if (marking->marked[block] || (marking->stops && marking->stops[block]))
        return;
    marking->marked[block] = true;
    marking->stack[marking->depth++] = block;
}

static void mark_before(struct marking *marking, uint32_t to, bool into_calls)
{
    const struct wsdbg_graph *graph = marking->graph;
    for (uint32_t i = graph->predecessors.first[to]; i < graph->predecessors.first[to + 1]; i++) {
        const uint32_t from = graph->predecessors.numbers[i], callee = graph->blocks[from].callee;
        if (into_calls || may_skip_its_call(graph, from) || marking->marked[graph->block_of[callee]])
            mark(marking, from);
    }
}

/* Those that call the marked `entry` of a procedure and go on at a marked block. */
static void mark_callers(struct marking *marking, uint32_t entry, bool into_calls)
{
    const struct wsdbg_graph *graph = marking->graph;
    const uint32_t procedure = graph->procedure_at[entry];
    if (procedure == WSDBG_GRAPH_NONE)
        return;
    for (uint32_t i = graph->callers.first[procedure]; i < graph->callers.first[procedure + 1]; i++) {
        const uint32_t from = graph->callers.numbers[i], next = graph->blocks[from].successor[0];
        if (into_calls || (next != WSDBG_GRAPH_NONE && marking->marked[next]))
            mark(marking, from);
    }
}

struct wsdbg_error *wsdbg_flow_mark_backwards(const struct wsdbg_graph *graph, const bool *stops, bool into_calls,
                                              bool *marked)
{
    struct marking marking = {.graph = graph, .stops = stops, .marked = marked};
    marking.stack = calloc((size_t)graph->block_count + 1, sizeof *marking.stack);
    if (!marking.stack)
        return &wsdbg_error_no_memory;
    for (uint32_t block = 0; block < graph->block_count; block++)
        if (marked[block])
            marking.stack[marking.depth++] = block;
    while (marking.depth) {
        const uint32_t to = marking.stack[--marking.depth];
        mark_before(&marking, to, into_calls);
        mark_callers(&marking, to, into_calls);
    }
    free(marking.stack);
    return NULL;
}

struct wsdbg_error *wsdbg_places_create(const struct wsdbg_graph *graph, const bool *stops, struct wsdbg_places *out)
{
    bool *returns = calloc((size_t)graph->block_count + 1, sizeof *returns);
    if (!returns)
        return &wsdbg_error_no_memory;
    for (uint32_t block = 0; block < graph->block_count; block++)
        returns[block] = graph->blocks[block].returns && !(stops && stops[block]);
    /* Without calls nobody asks. */
    struct wsdbg_error *error =
        graph->procedure_count > 1 ? wsdbg_flow_mark_backwards(graph, stops, false, returns) : NULL;
    if (error) {
        free(returns);
        return error;
    }
    *out = (struct wsdbg_places){graph, returns};
    return NULL;
}

void wsdbg_places_destroy(struct wsdbg_places *places)
{
    free(places->returns);
    *places = (struct wsdbg_places){0};
}

/* ---- places by number: the blocks, twice; "returned from p"; "returned" ---- */

static uint32_t first_returned(const struct wsdbg_places *places)
{
    return places->graph->block_count * WSDBG_FLOORS;
}

static uint32_t returned_from(const struct wsdbg_places *places, uint32_t procedure)
{
    const uint32_t count = places->graph->procedure_count;
    return first_returned(places) + (procedure < count ? procedure : count);
}

uint32_t wsdbg_places_count(const struct wsdbg_places *places)
{
    return first_returned(places) + places->graph->procedure_count + 1;
}

uint32_t wsdbg_place_of_block(uint32_t block, enum wsdbg_floor floor)
{
    return block == WSDBG_GRAPH_NONE ? WSDBG_GRAPH_NONE : block * WSDBG_FLOORS + (uint32_t)floor;
}

uint32_t wsdbg_block_of_place(const struct wsdbg_places *places, uint32_t place)
{
    return place < first_returned(places) ? place / WSDBG_FLOORS : WSDBG_GRAPH_NONE;
}

uint32_t wsdbg_place_ways(const struct wsdbg_places *places, uint32_t place)
{
    const struct wsdbg_graph *graph = places->graph;
    if (place < first_returned(places))
        return WAYS_OF_BLOCK + graph->blocks[place / WSDBG_FLOORS].successor_count - SUCCESSORS_PLAIN;
    const uint32_t procedure = place - first_returned(places);
    return procedure < graph->procedure_count ? graph->callers.first[procedure + 1] - graph->callers.first[procedure]
                                              : graph->procedure_count;
}

static uint32_t after_block(const struct wsdbg_places *places, uint32_t number, enum wsdbg_floor floor, uint32_t way)
{
    const struct wsdbg_graph *graph = places->graph;
    const struct wsdbg_block *block = &graph->blocks[number];
    const uint32_t entry = block->callee == WSDBG_GRAPH_NONE ? WSDBG_GRAPH_NONE : graph->block_of[block->callee];
    switch (way) {
    case WAY_ON:
        return may_skip_its_call(graph, number) || places->returns[entry]
                   ? wsdbg_place_of_block(block->successor[0], floor)
                   : WSDBG_GRAPH_NONE;
    case WAY_BRANCH:
        return wsdbg_place_of_block(block->successor[1], floor);
    case WAY_CALL:
        return wsdbg_place_of_block(entry, WSDBG_FLOOR_LOWER);
    case WAY_RETURN:
        return block->returns && floor == WSDBG_FLOOR_UPPER ? returned_from(places, graph->procedure_of[number])
                                                            : WSDBG_GRAPH_NONE;
    default:
        return wsdbg_place_of_block(block->successor[way - WAYS_OF_BLOCK + SUCCESSORS_PLAIN], floor);
    }
}

uint32_t wsdbg_place_after(const struct wsdbg_places *places, uint32_t place, uint32_t way)
{
    const struct wsdbg_graph *graph = places->graph;
    if (place < first_returned(places))
        return after_block(places, place / WSDBG_FLOORS, (enum wsdbg_floor)(place % WSDBG_FLOORS), way);
    const uint32_t procedure = place - first_returned(places);
    if (procedure == graph->procedure_count)
        return returned_from(places, way);
    const uint32_t caller = graph->callers.numbers[graph->callers.first[procedure] + way];
    return wsdbg_place_of_block(graph->blocks[caller].successor[0], WSDBG_FLOOR_UPPER);
}

bool wsdbg_place_way_passes_call(const struct wsdbg_places *places, uint32_t place, uint32_t way)
{
    const uint32_t block = wsdbg_block_of_place(places, place);
    return way == WAY_ON && block != WSDBG_GRAPH_NONE && places->graph->blocks[block].callee != WSDBG_GRAPH_NONE;
}
