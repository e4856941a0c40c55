/* dominators.c - see dominators.h: Lengauer and Tarjan's algorithm with path compression; all walks are loops.
 *
 * Reads the edges; writes numbers and, by number, the dominators.
 */
#include "flow/dominators.h"

#include <stdlib.h>

#define NONE UINT32_MAX

struct search {
    const struct wsdbg_rooted_graph *graph;
    struct wsdbg_dominators found;
    uint32_t *memory; /* of the arrays below */
    uint32_t *parent, *semi, *ancestor, *label, *bucket, *next_in_bucket, *stack, *next_edge;
    uint32_t *is_root; /* by node */
};

static bool allocate(struct search *search)
{
    const size_t count = (size_t)search->graph->node_count + 1;
    uint32_t **const arrays[] = {&search->parent, &search->semi,      &search->ancestor,
                                 &search->label,  &search->bucket,    &search->next_in_bucket,
                                 &search->stack,  &search->next_edge, &search->is_root};
    const size_t array_count = sizeof arrays / sizeof *arrays;
    search->memory = calloc(count * array_count, sizeof *search->memory);
    search->found.node = calloc(count * 3, sizeof *search->found.node);
    if (!search->memory || !search->found.node)
        return false;
    for (size_t i = 0; i < array_count; i++)
        *arrays[i] = search->memory + i * count;
    search->found.number = search->found.node + count;
    search->found.above = search->found.node + 2 * count;
    return true;
}

/* ---- numbers ---- */

static uint32_t visit(struct search *search, uint32_t node, uint32_t parent)
{
    const uint32_t number = search->found.count++;
    search->found.node[number] = node;
    search->found.number[node] = number;
    search->parent[number] = parent;
    search->next_edge[number] = search->graph->after->first[node];
    return number;
}

/* Numbers what `root` leads to and has none yet, depth first. */
static void walk(struct search *search, uint32_t root)
{
    const struct wsdbg_lists *after = search->graph->after;
    search->is_root[root] = true;
    if (search->found.number[root])
        return;
    for (uint32_t at = visit(search, root, 0); at;) {
        if (search->next_edge[at] == after->first[search->found.node[at] + 1]) {
            at = search->parent[at];
            continue;
        }
        const uint32_t next = after->numbers[search->next_edge[at]++];
        if (next != WSDBG_LISTS_NONE && !search->found.number[next])
            at = visit(search, next, at);
    }
}

static void number_nodes(struct search *search)
{
    const struct wsdbg_rooted_graph *graph = search->graph;
    search->found.count = 1;
    for (uint32_t i = 0; i < graph->root_count; i++)
        walk(search, graph->roots[i]);
    for (uint32_t node = graph->node_count; graph->takes_rest && node-- > 0;)
        if (!search->found.number[node])
            walk(search, node);
}

/* ---- dominators ---- */

/* The number with the least semidominator on the way from `at` up the forest built so far; shortens that way. */
static uint32_t evaluate(struct search *search, uint32_t at)
{
    uint32_t depth = 0;
    if (search->ancestor[at] == NONE)
        return search->label[at];
    for (uint32_t up = at; search->ancestor[search->ancestor[up]] != NONE; up = search->ancestor[up])
        search->stack[depth++] = up;
    while (depth) {
        const uint32_t number = search->stack[--depth], up = search->ancestor[number];
        if (search->semi[search->label[up]] < search->semi[search->label[number]])
            search->label[number] = search->label[up];
        search->ancestor[number] = search->ancestor[up];
    }
    return search->label[at];
}

static uint32_t semidominator(struct search *search, uint32_t number)
{
    const struct wsdbg_lists *before = search->graph->before;
    const uint32_t node = search->found.node[number];
    uint32_t least = search->is_root[node] ? 0 : number;
    for (uint32_t i = before->first[node]; i < before->first[node + 1]; i++) {
        const uint32_t from = search->found.number[before->numbers[i]];
        const uint32_t semi = from ? search->semi[evaluate(search, from)] : least;
        least = semi < least ? semi : least;
    }
    return least;
}

static void find_above(struct search *search)
{
    uint32_t *const above = search->found.above;
    const uint32_t count = search->found.count;
    for (uint32_t i = 0; i < count; i++) {
        search->semi[i] = search->label[i] = i;
        search->ancestor[i] = NONE;
    }
    for (uint32_t i = count; i-- > 1;) {
        const uint32_t parent = search->parent[i];
        search->semi[i] = semidominator(search, i);
        search->next_in_bucket[i] = search->bucket[search->semi[i]];
        search->bucket[search->semi[i]] = i;
        search->ancestor[i] = parent;
        for (uint32_t waiting = search->bucket[parent]; waiting; waiting = search->next_in_bucket[waiting]) {
            const uint32_t least = evaluate(search, waiting);
            above[waiting] = search->semi[least] < search->semi[waiting] ? least : parent;
        }
        search->bucket[parent] = 0;
    }
    for (uint32_t i = 1; i < count; i++)
        if (above[i] != search->semi[i])
            above[i] = above[above[i]];
}

struct wsdbg_error *wsdbg_dominators_find(const struct wsdbg_rooted_graph *graph, struct wsdbg_dominators *out)
{
    struct search search = {.graph = graph};
    const bool has_room = allocate(&search);
    if (has_room) {
        number_nodes(&search);
        find_above(&search);
        *out = search.found;
    } else {
        free(search.found.node);
    }
    free(search.memory);
    return has_room ? NULL : &wsdbg_error_no_memory;
}

void wsdbg_dominators_destroy(struct wsdbg_dominators *dominators)
{
    free(dominators->node);
    *dominators = (struct wsdbg_dominators){0};
}
