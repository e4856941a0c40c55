/* graph_calls.c - calls that make graphs, connect their nodes and ask about both.
 *
 * Reads and writes: graphs that the program has handles of.
 */
#include <stdio.h>

#include "libcuda/graph.h"

/* Takes the lock. */
static CUresult enter(const void *handle, enum handle_kind kind)
{
    const CUresult result = driver_enter_handle(handle, kind);
    return result == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_INVALID_VALUE : result;
}

ENTRY(cuGraphCreate, CUgraph *out, unsigned flags)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags)
        return CUDA_ERROR_INVALID_VALUE;
    driver_lock();
    *out = graph_create();
    return driver_leave(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

ENTRY(cuGraphDestroy, CUgraph graph)
{
    CUresult result = enter(graph, HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    if (graph->is_hidden || graph->parent)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    graph_destroy(graph);
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuGraphClone, CUgraph *out, CUgraph graph)
{
    CUresult result = enter(graph, HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *out = graph_clone(graph);
    return driver_leave(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

ENTRY(cuGraphNodeFindInClone, CUgraphNode *out, CUgraphNode node, CUgraph clone)
{
    CUresult result = enter(clone, HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    for (struct graph_node *row = clone->first; row && out; row = row->next)
        if (row->origin == node && node) {
            *out = row;
            return driver_leave(CUDA_SUCCESS);
        }
    return driver_leave(CUDA_ERROR_INVALID_VALUE);
}

ENTRY(cuGraphNodeGetType, CUgraphNode node, int *type)
{
    CUresult result = enter(node, HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS)
        return result;
    if (type)
        *type = node->type;
    return driver_leave(type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

ENTRY(cuGraphDestroyNode, CUgraphNode node)
{
    CUresult result = enter(node, HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS)
        return result;
    if (node->graph->is_hidden)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    graph_remove(node);
    return driver_leave(CUDA_SUCCESS);
}

/* ---- lists ---- */

/* Of `count` rows there is room; what is beyond it is not written, and rows beyond the last are NULL. */
static CUresult give_count(size_t there, CUgraphNode *out, size_t *count)
{
    for (size_t i = there; out && i < *count; i++)
        out[i] = NULL;
    if (!out || *count > there)
        *count = there;
    return driver_leave(CUDA_SUCCESS);
}

static CUresult list_nodes(CUgraph graph, CUgraphNode *out, size_t *count, bool roots_only)
{
    size_t there = 0;
    CUresult result = enter(graph, HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    for (struct graph_node *node = graph->first; node; node = node->next) {
        if (roots_only && node->before.count)
            continue;
        if (out && there < *count)
            out[there] = node;
        there++;
    }
    return give_count(there, out, count);
}

ENTRY(cuGraphGetNodes, CUgraph graph, CUgraphNode *out, size_t *count)
{
    return list_nodes(graph, out, count, false);
}

ENTRY(cuGraphGetRootNodes, CUgraph graph, CUgraphNode *out, size_t *count)
{
    return list_nodes(graph, out, count, true);
}

/* Edges that end in `to` (NULL = any) and begin in `from` (NULL = any). */
static CUresult list_edges(CUgraph graph, const struct graph_node *from, const struct graph_node *to,
                           CUgraphNode *froms, CUgraphNode *tos, struct cu_edge *edges, size_t *count)
{
    size_t there = 0;
    for (struct graph_node *node = graph->first; node && count; node = node->next)
        for (size_t i = 0; i < node->before.count && (!to || to == node); i++) {
            if (from && node->before.rows[i] != from)
                continue;
            if (froms && there < *count)
                froms[there] = node->before.rows[i];
            if (tos && there < *count)
                tos[there] = node;
            if (edges && there < *count)
                edges[there] = (struct cu_edge){0};
            there++;
        }
    return count ? give_count(there, froms ? froms : tos, count) : driver_leave(CUDA_ERROR_INVALID_VALUE);
}

ENTRY(cuGraphGetEdges_v2, CUgraph graph, CUgraphNode *from, CUgraphNode *to, struct cu_edge *edges, size_t *count)
{
    CUresult result = enter(graph, HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    if (!from != !to)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    return list_edges(graph, NULL, NULL, from, to, edges, count);
}

ENTRY(cuGraphGetEdges, CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

ENTRY(cuGraphNodeGetDependencies_v2, CUgraphNode node, CUgraphNode *out, struct cu_edge *edges, size_t *count)
{
    CUresult result = enter(node, HANDLE_GRAPH_NODE);
    return result == CUDA_SUCCESS ? list_edges(node->graph, NULL, node, out, NULL, edges, count) : result;
}

ENTRY(cuGraphNodeGetDependencies, CUgraphNode node, CUgraphNode *out, size_t *count)
{
    return cuGraphNodeGetDependencies_v2(node, out, NULL, count);
}

ENTRY(cuGraphNodeGetDependentNodes_v2, CUgraphNode node, CUgraphNode *out, struct cu_edge *edges, size_t *count)
{
    CUresult result = enter(node, HANDLE_GRAPH_NODE);
    return result == CUDA_SUCCESS ? list_edges(node->graph, node, NULL, NULL, out, edges, count) : result;
}

ENTRY(cuGraphNodeGetDependentNodes, CUgraphNode node, CUgraphNode *out, size_t *count)
{
    return cuGraphNodeGetDependentNodes_v2(node, out, NULL, count);
}

/* Adds or removes; all edges are checked before any is changed. */
static CUresult change_edges(CUgraph graph, CUgraphNode const *from, CUgraphNode const *to, size_t count, bool adds)
{
    CUresult result = enter(graph, HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    bool good = !count || (from && to && !graph->is_hidden);
    for (size_t i = 0; i < count && good; i++)
        good = handle_is(&driver.handles, from[i], HANDLE_GRAPH_NODE) && from[i]->graph == graph &&
               handle_is(&driver.handles, to[i], HANDLE_GRAPH_NODE) && to[i]->graph == graph && from[i] != to[i] &&
               node_list_has(&to[i]->before, from[i]) != adds;
    for (size_t i = 0; i < count && good; i++)
        if (!adds)
            node_list_remove(&to[i]->before, from[i]);
        else if (!node_list_add(&to[i]->before, from[i]))
            return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    return driver_leave(good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

ENTRY(cuGraphAddDependencies, CUgraph graph, CUgraphNode const *from, CUgraphNode const *to, size_t count)
{
    return change_edges(graph, from, to, count, true);
}

/* Data of edges says when a kernel that may begin early begins; it begins late here, which is one of the ways. */
ENTRY(cuGraphAddDependencies_v2, CUgraph graph, CUgraphNode const *from, CUgraphNode const *to,
      const struct cu_edge *edges, size_t count)
{
    (void)edges;
    return change_edges(graph, from, to, count, true);
}

ENTRY(cuGraphRemoveDependencies, CUgraph graph, CUgraphNode const *from, CUgraphNode const *to, size_t count)
{
    return change_edges(graph, from, to, count, false);
}

ENTRY(cuGraphRemoveDependencies_v2, CUgraph graph, CUgraphNode const *from, CUgraphNode const *to,
      const struct cu_edge *edges, size_t count)
{
    (void)edges;
    return change_edges(graph, from, to, count, false);
}

/* ---- a picture ---- */

static const char *label(const struct graph_node *node)
{
    static const char *const names[] = {"KERNEL", "MEMCPY", "MEMSET",     "HOST",
                                        "GRAPH",  "EMPTY",  "EVENT_WAIT", "EVENT_RECORD"};
    if (node->type == CU_GRAPH_KERNEL && node->operation)
        return node->operation->launch.function->code->name;
    return node->type <= CU_GRAPH_EVENT_RECORD ? names[node->type] : "MEM_OP";
}

ENTRY(cuGraphDebugDotPrint, CUgraph graph, const char *path, unsigned flags)
{
    (void)flags;
    CUresult result = enter(graph, HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return driver_leave(path ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_INVALID_VALUE);
    fprintf(out, "digraph graph_1 {\n");
    size_t number = 0;
    for (struct graph_node *node = graph->first; node; node = node->next) {
        node->number = number++;
        fprintf(out, "    node_%zu [label=\"%zu %s\"];\n", node->number, node->number, label(node));
    }
    for (const struct graph_node *node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->before.count; i++)
            fprintf(out, "    node_%zu -> node_%zu;\n", node->before.rows[i]->number, node->number);
    fprintf(out, "}\n");
    const bool good = !ferror(out);
    return driver_leave(fclose(out) == 0 && good ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM);
}
