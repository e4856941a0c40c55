/* graph.c - see graph.h.  Reads and writes: graphs, their nodes, the table of handles. */
#include "libcuda/graph.h"

#include <stdlib.h>
#include <string.h>

bool node_list_has(const struct node_list *list, const struct graph_node *node)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i] == node)
            return true;
    return false;
}

bool node_list_add(struct node_list *list, struct graph_node *node)
{
    if (node_list_has(list, node))
        return true;
    struct graph_node **rows = realloc(list->rows, (list->count + 1) * sizeof *rows);
    if (!rows)
        return false;
    list->rows = rows;
    rows[list->count++] = node;
    return true;
}

void node_list_remove(struct node_list *list, const struct graph_node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i] != node)
            list->rows[kept++] = list->rows[i];
    list->count = kept;
}

void node_list_clear(struct node_list *list)
{
    free(list->rows);
    *list = (struct node_list){0};
}

bool node_list_set(struct node_list *list, const struct node_list *from)
{
    struct node_list copy = {0};
    for (size_t i = 0; i < from->count; i++)
        if (!node_list_add(&copy, from->rows[i])) {
            node_list_clear(&copy);
            return false;
        }
    node_list_clear(list);
    *list = copy;
    return true;
}

struct graph *graph_create(void)
{
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph && !handle_add(&driver.handles, graph, HANDLE_GRAPH)) {
        free(graph);
        return NULL;
    }
    return graph;
}

static void free_node(struct graph_node *node)
{
    handle_remove(&driver.handles, node);
    operation_destroy(node->operation);
    graph_destroy(node->child);
    node_list_clear(&node->before);
    free(node->parameters);
    free(node);
}

void graph_destroy(struct graph *graph)
{
    if (!graph)
        return;
    while (graph->first) {
        struct graph_node *node = graph->first;
        graph->first = node->next;
        free_node(node);
    }
    handle_remove(&driver.handles, graph);
    free(graph);
}

struct graph_node *graph_add(struct graph *graph, int type, struct operation *operation, const struct node_list *before)
{
    struct graph_node *node = calloc(1, sizeof *node);
    if (!node || (before && !node_list_set(&node->before, before)) ||
        !handle_add(&driver.handles, node, HANDLE_GRAPH_NODE)) {
        if (node)
            node_list_clear(&node->before);
        free(node);
        operation_destroy(operation);
        return NULL;
    }
    node->graph = graph;
    node->type = type;
    node->operation = operation;
    if (graph->last)
        graph->last->next = node;
    else
        graph->first = node;
    graph->last = node;
    graph->count++;
    return node;
}

void graph_remove(struct graph_node *node)
{
    struct graph *graph = node->graph;
    struct graph_node *before = NULL;
    for (struct graph_node *other = graph->first; other; other = other->next) {
        node_list_remove(&other->before, node);
        if (other->next == node)
            before = other;
    }
    if (before)
        before->next = node->next;
    else
        graph->first = node->next;
    if (graph->last == node)
        graph->last = before;
    graph->count--;
    free_node(node);
}

static void forget_kernel(struct graph_node *node, const struct module *module)
{
    if (node->type != CU_GRAPH_KERNEL || !node->operation || node->operation->launch.function->module != module)
        return;
    operation_destroy(node->operation);
    node->operation = NULL;
    free(node->parameters);
    node->parameters = NULL;
}

void graph_forget_module(const struct module *module)
{
    const struct handle_table *table = &driver.handles;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->rows[i].kind == HANDLE_GRAPH_NODE)
            forget_kernel((struct graph_node *)(uintptr_t)table->rows[i].pointer, module);
}

bool graph_has_lost_kernel(const struct graph *graph)
{
    for (const struct graph_node *node = graph->first; node; node = node->next)
        if (!node->is_disabled && ((node->type == CU_GRAPH_KERNEL && !node->operation) ||
                                   (node->child && graph_has_lost_kernel(node->child))))
            return true;
    return false;
}

static void number_nodes(const struct graph *graph)
{
    size_t number = 0;
    for (struct graph_node *node = graph->first; node; node = node->next)
        node->number = number++;
}

static bool clone_node(const struct graph_node *node, struct graph *to)
{
    struct operation *operation = node->operation ? operation_copy(node->operation) : NULL;
    if (node->operation && !operation)
        return false;
    struct graph_node *copy = graph_add(to, node->type, operation, NULL);
    if (!copy)
        return false;
    copy->origin = (struct graph_node *)(uintptr_t)node;
    copy->event = node->event;
    copy->is_disabled = node->is_disabled;
    copy->child = node->child ? graph_clone(node->child) : NULL;
    if (copy->child)
        copy->child->parent = copy;
    return !node->child || copy->child;
}

/* The edges, by the nodes' numbers. */
static bool clone_edges(const struct graph *graph, struct graph *to)
{
    struct graph_node **nodes = calloc(to->count + 1, sizeof *nodes);
    bool good = nodes != NULL;
    size_t number = 0;
    number_nodes(graph);
    for (struct graph_node *copy = to->first; copy && good; copy = copy->next)
        nodes[number++] = copy;
    number = 0;
    for (const struct graph_node *node = graph->first; node && good; node = node->next, number++)
        for (size_t i = 0; i < node->before.count && good; i++)
            good = node_list_add(&nodes[number]->before, nodes[node->before.rows[i]->number]);
    free(nodes);
    return good;
}

struct graph *graph_clone(const struct graph *graph)
{
    struct graph *to = graph_create();
    bool good = to != NULL;
    for (const struct graph_node *node = graph->first; node && good; node = node->next)
        good = clone_node(node, to);
    if (good && clone_edges(graph, to))
        return to;
    graph_destroy(to);
    return NULL;
}

/* Nodes are taken whose edges come from nodes that were taken, until no more can be. */
bool graph_has_order(struct graph *graph)
{
    size_t taken = 0, before = SIZE_MAX;
    bool good = true;
    for (struct graph_node *node = graph->first; node; node = node->next)
        node->number = 0;
    while (taken != before) {
        before = taken;
        for (struct graph_node *node = graph->first; node; node = node->next) {
            bool is_ready = node->number == 0;
            for (size_t i = 0; i < node->before.count && is_ready; i++)
                is_ready = node->before.rows[i]->number != 0;
            node->number += is_ready;
            taken += is_ready;
        }
    }
    for (struct graph_node *node = graph->first; node && good; node = node->next)
        good = !node->child || graph_has_order(node->child);
    return good && taken == graph->count;
}
