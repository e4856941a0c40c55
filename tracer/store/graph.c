/* graph.c - see graph.h.  Picks the warps and barriers that have a part in a wait, folds each kind, then folds
 * the edges between them to links. */
#include "store/graph.h"

#include <stdlib.h>

#include "store/database.h"
#include "store/fold.h"

/* Nodes a reader can take in. */
enum { WARP_NODES = 16, BARRIER_NODES = 16 };

struct builder {
    const struct wsdbg_snapshot *s;
    const struct wsdbg_diagnosis *d;
    struct wsdbg_stored_graph *graph;
    uint32_t *warp_node, *barrier_node; /* by index in the snapshot; WSDBG_NONE = no part in a wait */
};

static void mark(uint32_t *nodes, size_t count, uint32_t index)
{
    if (index < count)
        nodes[index] = 0;
}

static bool allocate(struct builder *b)
{
    b->warp_node = malloc((b->s->warp_count + 1) * sizeof *b->warp_node);
    b->barrier_node = malloc((b->s->barrier_count + 1) * sizeof *b->barrier_node);
    if (!b->warp_node || !b->barrier_node)
        return false;
    for (size_t i = 0; i < b->s->warp_count; i++)
        b->warp_node[i] = WSDBG_NONE;
    for (size_t i = 0; i < b->s->barrier_count; i++)
        b->barrier_node[i] = WSDBG_NONE;
    return true;
}

static void mark_parts(struct builder *b)
{
    for (uint32_t i = 0; i < b->s->warp_count; i++) {
        if (!wsdbg_warp_state_waits(b->s->warps[i].state))
            continue;
        mark(b->warp_node, b->s->warp_count, i);
        mark(b->barrier_node, b->s->barrier_count, b->s->warps[i].barrier);
    }
    for (size_t i = 0; b->d && i < b->d->edge_count; i++) {
        mark(b->warp_node, b->s->warp_count, b->d->edges[i].waiter);
        mark(b->warp_node, b->s->warp_count, b->d->edges[i].waker);
        mark(b->barrier_node, b->s->barrier_count, b->d->edges[i].barrier);
    }
}

/* The marked rows folded; `nodes` becomes the group of each. */
struct folding {
    uint32_t *nodes;
    size_t count, limit;
    const uint32_t *levels;
    void (*row)(const struct wsdbg_snapshot *snapshot, size_t index, struct wsdbg_fold_row *row);
};

static void number_members(const struct folding *f, const struct wsdbg_fold_group *groups, size_t group_count,
                           const struct wsdbg_fold_row *rows, size_t row_count, uint32_t ignored)
{
    size_t length;
    for (size_t g = 0; g < group_count; g++)
        for (size_t i = 0; (i = wsdbg_fold_next(&groups[g], rows, row_count, ignored, i, &length)) < row_count;
             i += length)
            for (size_t k = i; k < i + length; k++)
                f->nodes[rows[k].source] = (uint32_t)g;
}

static struct wsdbg_error *fold_marked(const struct wsdbg_snapshot *s, const struct folding *f,
                                       struct wsdbg_fold_group **groups, size_t *group_count)
{
    struct wsdbg_fold_row *rows = calloc(f->count + 1, sizeof *rows);
    size_t row_count = 0;
    uint32_t ignored;
    if (!rows)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < f->count; i++)
        if (f->nodes[i] != WSDBG_NONE)
            f->row(s, i, &rows[row_count++]);
    struct wsdbg_error *error = wsdbg_fold_fit(rows, row_count, f->levels, f->limit, groups, group_count, &ignored);
    if (!error)
        number_members(f, *groups, *group_count, rows, row_count, ignored);
    free(rows);
    return error;
}

static struct wsdbg_error *fold_warps(struct builder *b)
{
    /* Where a warp stands in its source does not change what it waits for. */
    const uint32_t *level = wsdbg_fold_warp_levels;
    const uint32_t levels[WSDBG_FOLD_LEVELS] = {level[2], level[2], level[3], level[4], level[4]};
    const struct folding f = {b->warp_node, b->s->warp_count, WARP_NODES, levels, wsdbg_fold_warp};
    struct wsdbg_fold_group *groups;
    size_t count;
    struct wsdbg_error *error = fold_marked(b->s, &f, &groups, &count);
    if (error)
        return error;
    b->graph->warps = calloc(count + 1, sizeof *b->graph->warps);
    b->graph->warp_sources = calloc(count + 1, sizeof *b->graph->warp_sources);
    b->graph->warp_count = b->graph->warps && b->graph->warp_sources ? count : 0;
    for (size_t i = 0; i < b->graph->warp_count; i++) {
        wsdbg_fold_warps_row(b->s, &groups[i], &b->graph->warps[i]);
        b->graph->warp_sources[i] = groups[i].source;
    }
    free(groups);
    return b->graph->warps && b->graph->warp_sources ? NULL : &wsdbg_error_no_memory;
}

static struct wsdbg_error *fold_barriers(struct builder *b)
{
    const struct folding f = {b->barrier_node, b->s->barrier_count, BARRIER_NODES, wsdbg_fold_barrier_levels,
                              wsdbg_fold_barrier};
    struct wsdbg_fold_group *groups;
    size_t count;
    struct wsdbg_error *error = fold_marked(b->s, &f, &groups, &count);
    if (error)
        return error;
    b->graph->barriers = calloc(count + 1, sizeof *b->graph->barriers);
    b->graph->barrier_sources = calloc(count + 1, sizeof *b->graph->barrier_sources);
    b->graph->barrier_count = b->graph->barriers && b->graph->barrier_sources ? count : 0;
    for (size_t i = 0; i < b->graph->barrier_count; i++) {
        wsdbg_fold_barriers_row(b->s, &groups[i], &b->graph->barriers[i]);
        b->graph->barrier_sources[i] = groups[i].source;
    }
    free(groups);
    return b->graph->barriers && b->graph->barrier_sources ? NULL : &wsdbg_error_no_memory;
}

static struct wsdbg_graph_link *find_link(struct wsdbg_stored_graph *graph, const struct wsdbg_graph_link *link)
{
    for (size_t i = 0; i < graph->link_count; i++) {
        struct wsdbg_graph_link *known = &graph->links[i];
        if (known->waiter == link->waiter && known->barrier == link->barrier && known->waker == link->waker)
            return known;
    }
    return NULL;
}

static bool add_link(struct wsdbg_stored_graph *graph, const struct wsdbg_graph_link *link)
{
    struct wsdbg_graph_link *known = find_link(graph, link);
    if (known) {
        known->in_cycle = known->in_cycle || link->in_cycle;
        known->other_cta = known->other_cta && link->other_cta;
        return true;
    }
    if (!wsdbg_array_push(&graph->links, &graph->link_count, sizeof *graph->links))
        return false;
    graph->links[graph->link_count - 1] = *link;
    return true;
}

static uint32_t node_of(const uint32_t *nodes, size_t count, uint32_t index)
{
    return index < count ? nodes[index] : WSDBG_NONE;
}

static bool add_edge(struct builder *b, const struct wsdbg_edge *edge)
{
    const struct wsdbg_snapshot *s = b->s;
    if (edge->waiter >= s->warp_count)
        return true;
    const bool known = edge->waker < s->warp_count;
    const struct wsdbg_graph_link link = {
        .waiter = b->warp_node[edge->waiter],
        .barrier = node_of(b->barrier_node, s->barrier_count, edge->barrier),
        .waker = node_of(b->warp_node, s->warp_count, edge->waker),
        .in_cycle = edge->in_cycle,
        .other_cta = known && s->warps[edge->waker].cta != s->warps[edge->waiter].cta,
        .why = known ? edge->why : NULL,
    };
    return add_link(b->graph, &link);
}

/* Waits that no edge speaks of. */
static bool add_open_wait(struct builder *b, uint32_t warp)
{
    const struct wsdbg_graph_link open = {.waiter = b->warp_node[warp],
                                          .barrier =
                                              node_of(b->barrier_node, b->s->barrier_count, b->s->warps[warp].barrier),
                                          .waker = WSDBG_NONE};
    for (size_t i = 0; i < b->graph->link_count; i++)
        if (b->graph->links[i].waiter == open.waiter && b->graph->links[i].barrier == open.barrier)
            return true;
    return add_link(b->graph, &open);
}

static struct wsdbg_error *read_links(struct builder *b)
{
    bool whole = true;
    for (size_t i = 0; whole && b->d && i < b->d->edge_count; i++)
        whole = add_edge(b, &b->d->edges[i]);
    for (uint32_t i = 0; whole && i < b->s->warp_count; i++)
        if (wsdbg_warp_state_waits(b->s->warps[i].state))
            whole = add_open_wait(b, i);
    return whole ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_graph_make(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                     struct wsdbg_stored_graph *out)
{
    struct wsdbg_stored_graph graph = {0};
    struct builder b = {.s = snapshot, .d = diagnosis, .graph = &graph};
    struct wsdbg_error *error = allocate(&b) ? NULL : &wsdbg_error_no_memory;
    if (!error) {
        mark_parts(&b);
        error = fold_warps(&b);
    }
    if (!error)
        error = fold_barriers(&b);
    if (!error)
        error = read_links(&b);
    graph.node_of_warp = b.warp_node;
    free(b.barrier_node);
    if (error)
        wsdbg_graph_deinit(&graph);
    else
        *out = graph;
    return error;
}

void wsdbg_graph_deinit(struct wsdbg_stored_graph *graph)
{
    free(graph->warps);
    free(graph->warp_sources);
    free(graph->barriers);
    free(graph->barrier_sources);
    free(graph->node_of_warp);
    free(graph->links);
    *graph = (struct wsdbg_stored_graph){0};
}
