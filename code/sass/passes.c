/* passes.c - how often a path from one instruction to another must, and how often it may, execute some of a set.
 *
 * The least is the length of the shortest path.  For the most, each strongly connected component (Tarjan's algorithm)
 * becomes one place, and the longest path over these counts.  A cycle with an instruction of the set may repeat it
 * without end.
 *
 * Reads a graph; writes memory of its own.
 */
#include "sass/places.h"

#include <stdlib.h>

enum { COUNT_MOST = 255 };
#define UNREACHED (-1)

struct range {
    int least, most;
};

struct passes {
    const struct wsdbg_graph *graph;
    wsdbg_instruction_set set;
    struct wsdbg_places places;
    uint32_t to_block;
    uint8_t *least, *most; /* by block: how often it executes one of the set */
    bool *touches;         /* by block: leads to one, calls included */
    bool is_indirect;
};

/* By place, in the order in which Tarjan's walk needs them. */
struct components {
    uint32_t *index, *low; /* 0 = not reached */
    uint32_t *way;         /* to try next */
    uint32_t *open, open_count;
    uint32_t *trail, depth;
    bool *is_open;
    int16_t *most; /* of a path to to_block's start; UNREACHED */
    uint32_t next_index;
};

static int capped(int count)
{
    return count < COUNT_MOST ? count : COUNT_MOST;
}

static struct range count_in(const struct passes *passes, uint32_t first, uint32_t end)
{
    struct range range = {0, 0};
    for (uint32_t i = first; i < end; i++) {
        if (!wsdbg_flow_contains(passes->set, i) || wsdbg_flow_never_executes(&passes->graph->instructions[i]))
            continue;
        range.least += wsdbg_flow_is_unguarded(&passes->graph->instructions[i]);
        range.most++;
    }
    return (struct range){capped(range.least), capped(range.most)};
}

static struct wsdbg_error *prepare(struct passes *passes)
{
    const struct wsdbg_graph *graph = passes->graph;
    const size_t count = (size_t)graph->block_count + 1;
    passes->least = calloc(count, sizeof *passes->least);
    passes->most = calloc(count, sizeof *passes->most);
    passes->touches = calloc(count, sizeof *passes->touches);
    if (!passes->least || !passes->most || !passes->touches)
        return &wsdbg_error_no_memory;
    for (uint32_t block = 0; block < graph->block_count; block++) {
        const uint32_t first = graph->blocks[block].first;
        const struct range range = count_in(passes, first, first + graph->blocks[block].count);
        passes->least[block] = (uint8_t)range.least;
        passes->most[block] = (uint8_t)range.most;
        passes->touches[block] = range.most > 0;
    }
    struct wsdbg_error *error =
        graph->procedure_count > 1 ? wsdbg_flow_mark_backwards(graph, NULL, true, passes->touches) : NULL;
    return error ? error : wsdbg_places_create(graph, NULL, &passes->places);
}

static struct range of_place(const struct passes *passes, uint32_t place)
{
    const uint32_t block = wsdbg_block_of_place(&passes->places, place);
    return block == WSDBG_GRAPH_NONE ? (struct range){0, 0} : (struct range){passes->least[block], passes->most[block]};
}

/* Of what a call that is passed as a whole executes: nothing of the set, or nobody counts how often. */
static struct range of_way(const struct passes *passes, uint32_t place, uint32_t way)
{
    if (!wsdbg_place_way_passes_call(&passes->places, place, way))
        return (struct range){0, 0};
    const struct wsdbg_graph *graph = passes->graph;
    const uint32_t callee = graph->blocks[wsdbg_block_of_place(&passes->places, place)].callee;
    return passes->touches[graph->block_of[callee]] ? (struct range){0, COUNT_MOST} : (struct range){0, 0};
}

static bool is_target(const struct passes *passes, uint32_t place)
{
    return wsdbg_block_of_place(&passes->places, place) == passes->to_block;
}

/* ---- the least ---- */

/* Places by the least count known so far, each in one queue. */
struct queues {
    uint32_t head[COUNT_MOST + 1];
    uint32_t *next, *previous; /* by place + 1, 0 = none */
    int16_t *count;            /* by place, UNREACHED */
};

static void unlink_place(struct queues *queues, uint32_t entry, int count)
{
    if (queues->previous[entry])
        queues->next[queues->previous[entry]] = queues->next[entry];
    else
        queues->head[count] = queues->next[entry];
    if (queues->next[entry])
        queues->previous[queues->next[entry]] = queues->previous[entry];
}

static void offer(struct queues *queues, uint32_t place, int count)
{
    const uint32_t entry = place + 1;
    if (queues->count[place] != UNREACHED) {
        if (queues->count[place] <= count)
            return;
        unlink_place(queues, entry, queues->count[place]);
    }
    queues->count[place] = (int16_t)count;
    queues->previous[entry] = 0;
    queues->next[entry] = queues->head[count];
    if (queues->head[count])
        queues->previous[queues->head[count]] = entry;
    queues->head[count] = entry;
}

static void offer_ways(struct passes *passes, struct queues *queues, uint32_t place, int count)
{
    const uint32_t ways = wsdbg_place_ways(&passes->places, place);
    const uint32_t block = wsdbg_block_of_place(&passes->places, place);
    if (block != WSDBG_GRAPH_NONE && passes->graph->blocks[block].is_indirect)
        passes->is_indirect = true;
    for (uint32_t way = 0; way < ways; way++) {
        const uint32_t next = wsdbg_place_after(&passes->places, place, way);
        if (next != WSDBG_GRAPH_NONE)
            offer(queues, next, capped(count + of_way(passes, place, way).least));
    }
}

static int take_shortest(struct passes *passes, struct queues *queues, uint32_t start, int at_start)
{
    int shortest = UNREACHED;
    offer_ways(passes, queues, start, at_start);
    for (int count = 0; count <= COUNT_MOST; count++)
        while (queues->head[count]) {
            const uint32_t place = queues->head[count] - 1;
            unlink_place(queues, place + 1, count);
            if (shortest == UNREACHED && is_target(passes, place))
                shortest = count;
            offer_ways(passes, queues, place, capped(count + of_place(passes, place).least));
        }
    return shortest;
}

static struct wsdbg_error *find_least(struct passes *passes, uint32_t start, int at_start, int *out)
{
    const size_t count = wsdbg_places_count(&passes->places);
    struct queues queues = {.next = calloc(count + 1, sizeof *queues.next),
                            .previous = calloc(count + 1, sizeof *queues.previous),
                            .count = calloc(count, sizeof *queues.count)};
    const bool has_memory = queues.next && queues.previous && queues.count;
    if (has_memory) {
        for (size_t place = 0; place < count; place++)
            queues.count[place] = UNREACHED;
        *out = take_shortest(passes, &queues, start, at_start);
    }
    free(queues.next);
    free(queues.previous);
    free(queues.count);
    return has_memory ? NULL : &wsdbg_error_no_memory;
}

/* ---- the most ---- */

static void come_to(struct components *components, uint32_t place)
{
    components->index[place] = components->low[place] = ++components->next_index;
    components->open[components->open_count++] = place;
    components->is_open[place] = true;
    components->trail[components->depth++] = place;
}

/* The most over the ways of one place that leave its component; UNREACHED.  *repeats: it counts, and a way stays in. */
static int most_outside(const struct passes *passes, const struct components *components, uint32_t place, bool *repeats)
{
    int most = is_target(passes, place) ? 0 : UNREACHED;
    const int here = of_place(passes, place).most;
    const uint32_t ways = wsdbg_place_ways(&passes->places, place);
    for (uint32_t way = 0; way < ways; way++) {
        const uint32_t next = wsdbg_place_after(&passes->places, place, way);
        if (next == WSDBG_GRAPH_NONE)
            continue;
        const int counted = here + of_way(passes, place, way).most;
        if (components->is_open[next] && components->low[next] == components->low[place])
            *repeats |= counted > 0;
        else if (components->most[next] != UNREACHED && capped(counted + components->most[next]) > most)
            most = capped(counted + components->most[next]);
    }
    return most;
}

/* Takes the component that `root` is the first of off the open places. */
static void close_component(const struct passes *passes, struct components *components, uint32_t root)
{
    uint32_t first = components->open_count;
    while (components->open[first - 1] != root)
        components->low[components->open[--first]] = components->index[root];
    first--;
    int most = UNREACHED;
    bool repeats = false;
    for (uint32_t i = first; i < components->open_count; i++) {
        const int of_one = most_outside(passes, components, components->open[i], &repeats);
        most = of_one > most ? of_one : most;
    }
    if (repeats && most != UNREACHED)
        most = COUNT_MOST;
    for (uint32_t i = first; i < components->open_count; i++) {
        components->most[components->open[i]] = (int16_t)most;
        components->is_open[components->open[i]] = false;
    }
    components->open_count = first;
}

static void walk_from(const struct passes *passes, struct components *components, uint32_t start)
{
    come_to(components, start);
    while (components->depth) {
        const uint32_t place = components->trail[components->depth - 1];
        if (components->way[place] < wsdbg_place_ways(&passes->places, place)) {
            const uint32_t next = wsdbg_place_after(&passes->places, place, components->way[place]++);
            if (next == WSDBG_GRAPH_NONE)
                continue;
            if (!components->index[next])
                come_to(components, next);
            else if (components->is_open[next] && components->index[next] < components->low[place])
                components->low[place] = components->index[next];
            continue;
        }
        components->depth--;
        if (components->low[place] == components->index[place])
            close_component(passes, components, place);
        if (components->depth) {
            const uint32_t before = components->trail[components->depth - 1];
            if (components->low[place] < components->low[before])
                components->low[before] = components->low[place];
        }
    }
}

static int longest_from(const struct passes *passes, struct components *components, uint32_t start, int at_start)
{
    int longest = UNREACHED;
    const uint32_t ways = wsdbg_place_ways(&passes->places, start);
    for (uint32_t way = 0; way < ways; way++) {
        const uint32_t next = wsdbg_place_after(&passes->places, start, way);
        if (next == WSDBG_GRAPH_NONE)
            continue;
        if (!components->index[next])
            walk_from(passes, components, next);
        const int rest = components->most[next];
        if (rest != UNREACHED && capped(at_start + of_way(passes, start, way).most + rest) > longest)
            longest = capped(at_start + of_way(passes, start, way).most + rest);
    }
    return longest;
}

static struct wsdbg_error *find_most(struct passes *passes, uint32_t start, int at_start, int *out)
{
    const size_t count = wsdbg_places_count(&passes->places);
    uint32_t *numbers = calloc(count, 5 * sizeof *numbers);
    struct components components = {.is_open = calloc(count, sizeof *components.is_open),
                                    .most = calloc(count, sizeof *components.most)};
    const bool has_memory = numbers && components.is_open && components.most;
    if (has_memory) {
        components.index = numbers;
        components.low = numbers + count;
        components.way = numbers + 2 * count;
        components.open = numbers + 3 * count;
        components.trail = numbers + 4 * count;
        *out = longest_from(passes, &components, start, at_start);
    }
    free(numbers);
    free(components.is_open);
    free(components.most);
    return has_memory ? NULL : &wsdbg_error_no_memory;
}

/* ---- both ---- */

/* UNREACHED in both where no path leads there. */
static struct wsdbg_error *find_range(struct passes *passes, uint32_t from, uint32_t to, struct range *out)
{
    const struct wsdbg_graph *graph = passes->graph;
    const struct wsdbg_block *block = &graph->blocks[graph->block_of[from]];
    const uint32_t start = wsdbg_place_of_block(graph->block_of[from], WSDBG_FLOOR_UPPER);
    const struct range at_start = count_in(passes, from, block->first + block->count);
    const struct range at_end = count_in(passes, graph->blocks[passes->to_block].first, to);
    struct range range;
    struct wsdbg_error *error = find_least(passes, start, at_start.least, &range.least);
    if (!error)
        error = find_most(passes, start, at_start.most, &range.most);
    if (error)
        return error;
    if (range.least != UNREACHED) {
        range.least = capped(range.least + at_end.least);
        range.most = capped(range.most + at_end.most);
    }
    if (graph->block_of[from] == passes->to_block && to >= from) {
        const struct range straight = count_in(passes, from, to);
        range.least = range.least == UNREACHED || straight.least < range.least ? straight.least : range.least;
        range.most = straight.most > range.most ? straight.most : range.most;
    }
    *out = range;
    return NULL;
}

bool wsdbg_graph_passes(const struct wsdbg_graph *graph, uint32_t from, uint32_t to, wsdbg_instruction_set set,
                        uint8_t *at_least, uint8_t *at_most)
{
    struct passes passes = {.graph = graph, .set = set, .to_block = graph->block_of[to]};
    struct range range = {UNREACHED, UNREACHED};
    struct wsdbg_error *error = prepare(&passes);
    if (!error)
        error = find_range(&passes, from, to, &range);
    free(passes.least);
    free(passes.most);
    free(passes.touches);
    wsdbg_places_destroy(&passes.places);
    if (error) {
        wsdbg_error_destroy(error);
        return false;
    }
    if (passes.is_indirect)
        range = (struct range){0, COUNT_MOST};
    if (range.least == UNREACHED)
        return false;
    *at_least = (uint8_t)range.least;
    *at_most = (uint8_t)range.most;
    return true;
}
