/* graph_plan.c - in which order and lane the nodes of a ready graph are queued; graphs inside it are taken apart.
 *
 * Reads: the graph.  Writes: the steps of the ready graph.
 */
#include <stdlib.h>

#include "libcuda/graph_exec.h"

/* False: no memory. */
static bool add_step(struct graph_exec *exec, struct graph_node *node, size_t before_most, struct graph_step **out)
{
    struct graph_step *steps = realloc(exec->steps, (exec->step_count + 1) * sizeof *steps);
    if (!steps)
        return false;
    exec->steps = steps;
    *out = &steps[exec->step_count++];
    **out = (struct graph_step){.node = node, .before = calloc(before_most + 1, sizeof(size_t))};
    return (*out)->before != NULL;
}

static bool add_graph(struct graph_exec *exec, struct graph *graph, size_t begin);

/* The node's step, or those of the graph in it; node->number is then its last step + 1. */
static bool add_node(struct graph_exec *exec, struct graph_node *node, size_t begin)
{
    struct graph_step *step;
    if (!add_step(exec, node->child ? NULL : node, node->before.count + 1, &step))
        return false;
    for (size_t i = 0; i < node->before.count; i++)
        step->before[step->before_count++] = node->before.rows[i]->number - 1;
    if (!step->before_count)
        step->before[step->before_count++] = begin;
    if (node->child && !add_graph(exec, node->child, exec->step_count - 1))
        return false;
    node->number = exec->step_count;
    return true;
}

static bool is_ready(const struct graph_node *node)
{
    for (size_t i = 0; i < node->before.count; i++)
        if (!node->before.rows[i]->number)
            return false;
    return node->number == 0;
}

/* All nodes behind the step `begin`, then a step that comes behind all of them. */
static bool add_graph(struct graph_exec *exec, struct graph *graph, size_t begin)
{
    struct graph_step *end;
    size_t added = 0, before = SIZE_MAX;
    for (struct graph_node *node = graph->first; node; node = node->next)
        node->number = 0;
    while (added != before) {
        before = added;
        for (struct graph_node *node = graph->first; node; node = node->next)
            if (is_ready(node)) {
                if (!add_node(exec, node, begin))
                    return false;
                added++;
            }
    }
    if (!add_step(exec, NULL, graph->count + 1, &end))
        return false;
    for (struct graph_node *node = graph->first; node; node = node->next)
        end->before[end->before_count++] = node->number - 1;
    if (!end->before_count)
        end->before[end->before_count++] = begin;
    return true;
}

/* A step goes on in the lane of one that it comes behind where that is the lane's last, else in a new lane; the end in
 * the first lane. */
static bool choose_lanes(struct graph_exec *exec)
{
    size_t *last = calloc(exec->step_count + 1, sizeof *last);
    if (!last)
        return false;
    exec->lane_count = 1;
    for (size_t i = 1; i < exec->step_count; i++) {
        struct graph_step *step = &exec->steps[i];
        step->lane = i + 1 == exec->step_count ? 0 : SIZE_MAX;
        for (size_t k = 0; k < step->before_count && step->lane == SIZE_MAX; k++)
            if (last[exec->steps[step->before[k]].lane] == step->before[k])
                step->lane = exec->steps[step->before[k]].lane;
        if (step->lane == SIZE_MAX)
            step->lane = exec->lane_count++;
        last[step->lane] = i;
        for (size_t k = 0; k < step->before_count; k++)
            exec->steps[step->before[k]].is_marked |= exec->steps[step->before[k]].lane != step->lane;
    }
    free(last);
    return true;
}

bool graph_exec_plan(struct graph_exec *exec)
{
    struct graph_step *begin;
    return add_step(exec, NULL, 0, &begin) && add_graph(exec, exec->graph, 0) && choose_lanes(exec);
}

void graph_exec_free_plan(struct graph_exec *exec)
{
    for (size_t i = 0; i < exec->step_count; i++)
        free(exec->steps[i].before);
    free(exec->steps);
    exec->steps = NULL;
    exec->step_count = exec->lane_count = 0;
}

static struct graph_node *find(const struct graph *graph, const struct graph_node *origin)
{
    for (struct graph_node *node = graph->first; node; node = node->next) {
        struct graph_node *inner = node->child ? find(node->child, origin) : NULL;
        if (node->origin == origin || inner)
            return inner ? inner : node;
    }
    return NULL;
}

struct graph_node *graph_exec_node(const struct graph_exec *exec, const struct graph_node *origin)
{
    return origin ? find(exec->graph, origin) : NULL;
}
