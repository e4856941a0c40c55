/* wait_tree.c - see wait_tree.h.  Walks the links of the folded graph depth first. */
#include "viewer/wait_tree.h"

#include <stdlib.h>

#define DEPTH_MAX 60
#define LINES_MAX 4096

enum visit { NOT_YET, ON_BRANCH, DONE };

struct builder {
    const struct viewer_context *context;
    const struct wsdbg_snapshot *s;
    struct viewer_wait_tree *tree;
    const struct wsdbg_stored_graph *graph;
    unsigned char *executions; /* by node: enum visit */
};

void viewer_wait_tree_deinit(struct viewer_wait_tree *tree)
{
    wsdbg_graph_deinit(&tree->graph);
    free(tree->lines);
    *tree = (struct viewer_wait_tree){0};
}

static bool add_line(struct viewer_wait_tree *tree, const struct viewer_wait_line *line)
{
    if (tree->count == LINES_MAX)
        return true;
    if (tree->count == tree->capacity) {
        const size_t capacity = tree->capacity ? tree->capacity * 2 : 64;
        struct viewer_wait_line *grown = realloc(tree->lines, capacity * sizeof *grown);
        if (!grown)
            return false;
        tree->lines = grown;
        tree->capacity = capacity;
    }
    tree->lines[tree->count++] = *line;
    return true;
}

/* A line below `above`, with the rail of `above` where more of its siblings follow. */
static struct viewer_wait_line line_below(const struct viewer_wait_line *above, enum viewer_wait_kind kind)
{
    return (struct viewer_wait_line){.kind = kind,
                                     .node = above->node,
                                     .barrier = WSDBG_NONE,
                                     .depth = above->depth + 1,
                                     .rails = above->rails | (above->last ? 0 : 1ull << above->depth)};
}

static bool is_wait(const struct wsdbg_graph_link *link, uint32_t waiter, uint32_t barrier)
{
    return link->waiter == waiter && link->barrier == barrier;
}

static bool add_node(struct builder *b, struct viewer_wait_line line);

/* Who could end the wait that the line `wait` is about. */
static bool add_wakers(struct builder *b, const struct viewer_wait_line *wait)
{
    size_t left = 0;
    for (size_t i = 0; i < b->graph->link_count; i++)
        left += is_wait(&b->graph->links[i], wait->node, wait->barrier);
    for (size_t i = 0; i < b->graph->link_count; i++) {
        const struct wsdbg_graph_link *link = &b->graph->links[i];
        if (!is_wait(link, wait->node, wait->barrier))
            continue;
        struct viewer_wait_line line =
            line_below(wait, link->waker == WSDBG_NONE ? VIEWER_WAIT_NOBODY : VIEWER_WAIT_NODE);
        line.node = link->waker;
        line.last = --left == 0;
        line.in_cycle = link->in_cycle;
        line.other_cta = link->other_cta;
        line.why = link->why;
        if (line.kind == VIEWER_WAIT_NOBODY ? !add_line(b->tree, &line) : !add_node(b, line))
            return false;
    }
    return true;
}

/* Whether link number `i` is the first of its waiter and barrier. */
static bool begins_wait(const struct wsdbg_stored_graph *graph, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_wait(&graph->links[k], graph->links[i].waiter, graph->links[i].barrier))
            return false;
    return true;
}

/* What a node waits on: a line for each barrier, with its wakers if there is a verdict. */
static bool add_waits(struct builder *b, const struct viewer_wait_line *above)
{
    size_t left = 0;
    for (size_t i = 0; i < b->graph->link_count; i++)
        left += b->graph->links[i].waiter == above->node && begins_wait(b->graph, i);
    const bool one = left == 1;
    for (size_t i = 0; i < b->graph->link_count; i++) {
        if (b->graph->links[i].waiter != above->node || !begins_wait(b->graph, i))
            continue;
        struct viewer_wait_line line = line_below(above, VIEWER_WAIT_BARRIER);
        line.barrier = b->graph->links[i].barrier;
        line.one_barrier = one;
        line.last = --left == 0;
        for (size_t k = i; k < b->graph->link_count; k++)
            line.in_cycle =
                line.in_cycle || (is_wait(&b->graph->links[k], line.node, line.barrier) && b->graph->links[k].in_cycle);
        if (!add_line(b->tree, &line) || (b->context->picture->diagnosis && !add_wakers(b, &line)))
            return false;
    }
    return true;
}

/* A node, and below it what it waits on if it does not stand open already. */
static bool add_node(struct builder *b, struct viewer_wait_line line)
{
    const unsigned char visit = b->executions[line.node];
    if (visit != NOT_YET)
        line.kind = visit == ON_BRANCH ? VIEWER_WAIT_BACK : VIEWER_WAIT_ABOVE;
    if (!add_line(b->tree, &line))
        return false;
    if (visit != NOT_YET || !wsdbg_warp_state_waits(b->graph->warps[line.node].state) || line.depth + 2 > DEPTH_MAX)
        return true;
    b->executions[line.node] = ON_BRANCH;
    const bool fine = add_waits(b, &line);
    b->executions[line.node] = DONE;
    return fine;
}

/* Whether some warp of the node passes the filter. */
static bool passes(const struct builder *b, uint32_t node)
{
    for (uint32_t w = 0; w < b->s->warp_count; w++)
        if (b->graph->node_of_warp[w] == node && viewer_filter_warp(b->context->filter, b->s, w))
            return true;
    return false;
}

static bool awaited(const struct wsdbg_stored_graph *graph, uint32_t node)
{
    for (size_t i = 0; i < graph->link_count; i++)
        if (graph->links[i].waker == node && graph->links[i].waiter != node)
            return true;
    return false;
}

static bool add_root(struct builder *b, uint32_t node)
{
    struct viewer_wait_line root = {.kind = VIEWER_WAIT_NODE, .node = node, .barrier = WSDBG_NONE, .last = true};
    if (b->executions[node] != NOT_YET || !wsdbg_warp_state_waits(b->graph->warps[node].state) || !passes(b, node))
        return true;
    for (size_t i = 0; i < b->graph->link_count; i++)
        root.in_cycle = root.in_cycle || (b->graph->links[i].waiter == node && b->graph->links[i].in_cycle);
    return add_node(b, root);
}

/* Those that nobody waits for come first, so that a chain is read from its far end; then what is left: cycles. */
static bool add_roots(struct builder *b)
{
    for (uint32_t node = 0; node < b->graph->warp_count; node++)
        if (!awaited(b->graph, node) && !add_root(b, node))
            return false;
    for (uint32_t node = 0; node < b->graph->warp_count; node++)
        if (!add_root(b, node))
            return false;
    return true;
}

struct wsdbg_error *viewer_wait_tree_read(const struct viewer_context *context, struct viewer_wait_tree *tree)
{
    struct builder b = {.context = context, .s = context->picture->snapshot, .tree = tree, .graph = &tree->graph};
    viewer_wait_tree_deinit(tree);
    if (!b.s)
        return NULL;
    struct wsdbg_error *error = wsdbg_graph_make(b.s, context->picture->diagnosis, &tree->graph);
    if (error)
        return error;
    b.executions = calloc(tree->graph.warp_count + 1, 1);
    if (!b.executions || !add_roots(&b))
        error = &wsdbg_error_no_memory;
    free(b.executions);
    if (error)
        viewer_wait_tree_deinit(tree);
    return error;
}
