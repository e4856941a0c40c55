/* graph.c - see graph.h: blocks begin at labels and behind branches; edges both ways.
 *
 * Reads: a function's instructions.  Writes: the graph.
 */
#include "ptx/graph.h"

#include <stdlib.h>
#include <string.h>

static const struct wsdbg_ptx_instruction *instruction_at(const struct ptx_graph *graph, uint32_t index)
{
    return PTX_ITEM(graph->parser->instructions, struct wsdbg_ptx_instruction, index);
}

static bool is_table_branch(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_brx;
}

static bool ends_path(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_ret || instruction->operation == WSDBG_PTX_OP_exit ||
           instruction->operation == WSDBG_PTX_OP_trap;
}

static bool ends_block(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_bra || is_table_branch(instruction) || ends_path(instruction);
}

/* The labels a branch may go to. */
static const uint32_t *targets_of(const struct ptx_graph *graph, const struct wsdbg_ptx_instruction *instruction,
                                  uint32_t *count)
{
    if (!is_table_branch(instruction)) {
        *count = instruction->operation == WSDBG_PTX_OP_bra;
        return &instruction->target;
    }
    const uint32_t *table = PTX_ITEM(graph->parser->branch_tables, uint32_t, instruction->target);
    *count = table[0];
    return table + 1;
}

static bool find_blocks(struct ptx_graph *graph)
{
    const uint32_t begin = graph->function->first, length = graph->function->end - begin;
    size_t edges = 0;
    graph->block_of = calloc(length + 1u, sizeof *graph->block_of);
    graph->first = calloc(length + 1u, sizeof *graph->first);
    if (!graph->block_of || !graph->first)
        return false;
    for (uint32_t i = 0; i < length; i++) { /* 1 marks an instruction that begins a block */
        const struct wsdbg_ptx_instruction *instruction = instruction_at(graph, begin + i);
        uint32_t count;
        const uint32_t *targets = targets_of(graph, instruction, &count);
        if ((edges += count) >= PTX_EDGES_MAX) {
            graph->edge_count = PTX_EDGES_MAX;
            return false;
        }
        for (uint32_t target = 0; target < count; target++)
            graph->block_of[targets[target] - begin] = 1;
        if (ends_block(instruction))
            graph->block_of[i + 1] = 1;
    }
    for (uint32_t i = 0; i < length; i++) {
        if (i == 0 || graph->block_of[i])
            graph->first[graph->count++] = begin + i;
        graph->block_of[i] = graph->count - 1;
    }
    graph->first[graph->count] = graph->function->end;
    return true;
}

static bool add_edge(struct ptx_graph *graph, uint32_t from, uint32_t to)
{
    if (graph->edge_count == PTX_EDGES_MAX)
        return false;
    if (graph->edge_count == graph->edge_room) {
        const size_t room = graph->edge_room ? 2 * graph->edge_room : 64;
        uint32_t *larger_from = reallocarray(graph->edge_from, room, sizeof *larger_from);
        if (larger_from)
            graph->edge_from = larger_from;
        uint32_t *larger_to = larger_from ? reallocarray(graph->edge_to, room, sizeof *larger_to) : NULL;
        if (!larger_to)
            return false;
        graph->edge_to = larger_to;
        graph->edge_room = room;
    }
    graph->edge_from[graph->edge_count] = from;
    graph->edge_to[graph->edge_count++] = to;
    return true;
}

static bool find_edges(struct ptx_graph *graph)
{
    const uint32_t exit = graph->count, begin = graph->function->first;
    for (uint32_t block = 0; block < graph->count; block++) {
        const struct wsdbg_ptx_instruction *last = instruction_at(graph, graph->first[block + 1] - 1);
        uint32_t count;
        const uint32_t *targets = targets_of(graph, last, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!add_edge(graph, block, graph->block_of[targets[i] - begin]))
                return false;
        if (ends_path(last) && !add_edge(graph, block, exit))
            return false;
        if ((!ends_block(last) || last->guard != WSDBG_PTX_NONE) && !add_edge(graph, block, block + 1))
            return false;
    }
    return true;
}

/* The edges by one of their ends: others[first[b] ... first[b + 1]) are the other ends of block b's. */
static bool make_list(const struct ptx_graph *graph, const uint32_t *ends, const uint32_t *other_ends,
                      struct ptx_list *list)
{
    list->first = calloc(graph->count + 3u, sizeof *list->first);
    list->others = calloc(graph->edge_count + 1, sizeof *list->others);
    if (!list->first || !list->others)
        return false;
    uint32_t *begins = list->first + 1; /* while it is filled: where the next one of a block goes */
    for (size_t i = 0; i < graph->edge_count; i++)
        begins[ends[i] + 1]++;
    for (uint32_t block = 0; block <= graph->count; block++)
        begins[block + 1] += begins[block];
    for (size_t i = 0; i < graph->edge_count; i++)
        list->others[begins[ends[i]]++] = other_ends[i];
    return true;
}

static bool make(struct ptx_graph *graph)
{
    return find_blocks(graph) && find_edges(graph) &&
           make_list(graph, graph->edge_to, graph->edge_from, &graph->before) &&
           make_list(graph, graph->edge_from, graph->edge_to, &graph->after);
}

void ptx_graph_free(struct ptx_graph *graph)
{
    free(graph->block_of);
    free(graph->first);
    free(graph->edge_from);
    free(graph->edge_to);
    free(graph->before.first);
    free(graph->before.others);
    free(graph->after.first);
    free(graph->after.others);
}

struct wsdbg_error *ptx_graph_make(const struct ptx_parser *parser, const struct wsdbg_ptx_function *function,
                                   struct ptx_graph *graph)
{
    *graph = (struct ptx_graph){.parser = parser, .function = function};
    if (make(graph))
        return NULL;
    const bool is_large = graph->edge_count == PTX_EDGES_MAX;
    ptx_graph_free(graph);
    return is_large ? ptx_error(parser, instruction_at(graph, function->first)->text_line,
                                "%s branches to more than %d places", function->name, PTX_EDGES_MAX)
                    : &wsdbg_error_no_memory;
}
