/* graph.c - see graph.h: blocks begin at labels and behind branches; edges both ways.
 *
 * Reads: instructions and tables of labels.  Writes: the graph.
 */
#include "ptx/graph.h"

#include <stdlib.h>

struct wsdbg_ptx_ways wsdbg_ptx_ways(const struct wsdbg_ptx_instruction *instruction, const uint32_t *branch_tables)
{
    const bool is_guarded = instruction->guard != WSDBG_PTX_NONE;
    switch (instruction->operation) {
    case WSDBG_PTX_OP_bra:
        return (struct wsdbg_ptx_ways){&instruction->target, 1, .goes_on = is_guarded};
    case WSDBG_PTX_OP_brx: {
        const uint32_t *table = &branch_tables[instruction->target];
        return (struct wsdbg_ptx_ways){table + 1, table[0], .goes_on = is_guarded};
    }
    case WSDBG_PTX_OP_ret:
    case WSDBG_PTX_OP_exit:
    case WSDBG_PTX_OP_trap:
        return (struct wsdbg_ptx_ways){.leaves = true, .goes_on = is_guarded};
    default:
        return (struct wsdbg_ptx_ways){.goes_on = true};
    }
}

uint32_t wsdbg_ptx_own_end(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *kernel)
{
    uint32_t end = kernel->end;
    for (uint32_t i = kernel->first; i < end; i++) {
        const struct wsdbg_ptx_instruction *instruction = &program->instructions[i];
        if (instruction->operation == WSDBG_PTX_OP_call && instruction->target < end)
            end = instruction->target;
    }
    return end;
}

/* ---- a graph that is made ---- */

struct making {
    const struct wsdbg_ptx_instruction *instructions;
    const uint32_t *branch_tables;
    struct wsdbg_ptx_graph graph;
    uint32_t *edge_from, *edge_to;
    size_t edge_room;
    uint32_t edges_most;
    bool has_too_many;
};

static struct wsdbg_ptx_ways ways_of(const struct making *making, uint32_t instruction)
{
    return wsdbg_ptx_ways(&making->instructions[instruction], making->branch_tables);
}

static bool find_blocks(struct making *making)
{
    struct wsdbg_ptx_graph *graph = &making->graph;
    const uint32_t begin = graph->begin, length = graph->end - begin;
    size_t edges = 0;
    graph->block_of = calloc(length + 1u, sizeof *graph->block_of);
    graph->first = calloc(length + 1u, sizeof *graph->first);
    if (!graph->block_of || !graph->first)
        return false;
    for (uint32_t i = 0; i < length; i++) { /* 1 marks an instruction that begins a block */
        const struct wsdbg_ptx_ways ways = ways_of(making, begin + i);
        edges += ways.target_count;
        making->has_too_many = edges >= making->edges_most;
        if (making->has_too_many)
            return false;
        for (uint32_t k = 0; k < ways.target_count; k++)
            graph->block_of[ways.targets[k] - begin] = 1;
        if (ways.target_count || ways.leaves)
            graph->block_of[i + 1] = 1;
    }
    for (uint32_t i = 0; i < length; i++) {
        if (i == 0 || graph->block_of[i])
            graph->first[graph->count++] = begin + i;
        graph->block_of[i] = graph->count - 1;
    }
    graph->first[graph->count] = graph->end;
    return true;
}

static bool make_room(struct making *making)
{
    const size_t room = making->edge_room ? 2 * making->edge_room : 64;
    uint32_t *from = reallocarray(making->edge_from, room, sizeof *from);
    if (from)
        making->edge_from = from;
    uint32_t *to = from ? reallocarray(making->edge_to, room, sizeof *to) : NULL;
    if (!to)
        return false;
    making->edge_to = to;
    making->edge_room = room;
    return true;
}

static bool add_edge(struct making *making, uint32_t from, uint32_t to)
{
    struct wsdbg_ptx_graph *graph = &making->graph;
    making->has_too_many = graph->edge_count == making->edges_most;
    if (making->has_too_many || (graph->edge_count == making->edge_room && !make_room(making)))
        return false;
    making->edge_from[graph->edge_count] = from;
    making->edge_to[graph->edge_count++] = to;
    return true;
}

static bool find_edges(struct making *making)
{
    const struct wsdbg_ptx_graph *graph = &making->graph;
    for (uint32_t block = 0; block < graph->count; block++) {
        const struct wsdbg_ptx_ways ways = ways_of(making, graph->first[block + 1] - 1);
        for (uint32_t i = 0; i < ways.target_count; i++)
            if (!add_edge(making, block, graph->block_of[ways.targets[i] - graph->begin]))
                return false;
        if (ways.leaves && !add_edge(making, block, graph->count))
            return false;
        if (ways.goes_on && !add_edge(making, block, block + 1))
            return false;
    }
    return true;
}

static struct wsdbg_error *make(struct making *making)
{
    struct wsdbg_ptx_graph *graph = &making->graph;
    if (!find_blocks(making) || !find_edges(making))
        return making->has_too_many ? wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "branches to more than %u places",
                                                         (unsigned)making->edges_most)
                                    : &wsdbg_error_no_memory;
    const uint32_t nodes = graph->count + 1;
    struct wsdbg_error *error =
        wsdbg_lists_create(making->edge_to, making->edge_from, graph->edge_count, nodes, &graph->before);
    return error ? error
                 : wsdbg_lists_create(making->edge_from, making->edge_to, graph->edge_count, nodes, &graph->after);
}

struct wsdbg_error *wsdbg_ptx_graph_create(const struct wsdbg_ptx_instruction *instructions,
                                           const uint32_t *branch_tables, uint32_t begin, uint32_t end,
                                           uint32_t edges_most, struct wsdbg_ptx_graph *out)
{
    struct making making = {instructions, branch_tables, .graph = {.begin = begin, .end = end},
                            .edges_most = edges_most};
    struct wsdbg_error *error = make(&making);
    free(making.edge_from);
    free(making.edge_to);
    if (error)
        wsdbg_ptx_graph_destroy(&making.graph);
    else
        *out = making.graph;
    return error;
}

void wsdbg_ptx_graph_destroy(struct wsdbg_ptx_graph *graph)
{
    free(graph->block_of);
    free(graph->first);
    wsdbg_lists_destroy(&graph->before);
    wsdbg_lists_destroy(&graph->after);
    *graph = (struct wsdbg_ptx_graph){0};
}
