/* joined_order.c - see joined_order.h.
 *
 * Reads: instructions in any order, and their graph.  Writes: the same instructions in another order.
 *
 * Joined code has a branch at each call and return, and a compiler that does not optimise puts one between any two
 * statements.  Without these, what one statement computes for the next one is in one block.
 */
#include "sass/joined_order.h"

#include <stdlib.h>
#include <string.h>

struct order {
    const struct wsdbg_graph *graph;
    struct joined_layout *layout;
    bool *is_put;     /* by block */
    bool *is_dropped; /* by instruction: a branch that is left out */
    uint32_t *blocks; /* in their new order */
    uint32_t count;
};

static uint32_t ways_to(const struct wsdbg_graph *graph, uint32_t block)
{
    return graph->predecessors.first[block + 1] - graph->predecessors.first[block];
}

static bool falls_through(const struct wsdbg_block *block)
{
    return block->successor_count && block->successor[0] != WSDBG_GRAPH_NONE;
}

/* The block that a block's last branch always leads to, if nothing else leads there; NONE. */
static uint32_t only_next(const struct order *order, uint32_t number)
{
    const struct wsdbg_block *block = &order->graph->blocks[number];
    const struct wsdbg_instruction *last = &order->graph->instructions[block->first + block->count - 1];
    if (last->operation != WSDBG_OP_BRA || block->successor_count != 2 || block->successor[0] != WSDBG_GRAPH_NONE ||
        block->successor[1] == WSDBG_GRAPH_NONE || !wsdbg_flow_is_unguarded(last) ||
        wsdbg_flow_asks_more_than_guard(last))
        return WSDBG_GRAPH_NONE;
    const uint32_t next = block->successor[1];
    const bool is_free = next && !order->is_put[next] && ways_to(order->graph, next) == 1 &&
                         order->graph->procedure_at[next] == WSDBG_GRAPH_NONE;
    return is_free ? next : WSDBG_GRAPH_NONE;
}

/* Puts a block, and all that must or may stand behind it. */
static void put_from(struct order *order, uint32_t number)
{
    while (number != WSDBG_GRAPH_NONE && !order->is_put[number]) {
        const struct wsdbg_block *block = &order->graph->blocks[number];
        order->is_put[number] = true;
        order->blocks[order->count++] = number;
        const bool is_next = falls_through(block);
        const uint32_t next = is_next ? number + 1 : only_next(order, number);
        if (!is_next && next != WSDBG_GRAPH_NONE)
            order->is_dropped[block->first + block->count - 1] = true;
        number = next < order->graph->block_count ? next : WSDBG_GRAPH_NONE;
    }
}

/* A block that another falls into, or that is the target of one branch alone, waits for its turn behind that one. */
static bool waits_for_another(const struct order *order, uint32_t number)
{
    const struct wsdbg_lists *before = &order->graph->predecessors;
    if (number && !order->is_put[number - 1] && falls_through(&order->graph->blocks[number - 1]))
        return true;
    if (ways_to(order->graph, number) != 1)
        return false;
    const uint32_t from = before->numbers[before->first[number]];
    return from != number && !order->is_put[from] && only_next(order, from) == number;
}

static void put_all(struct order *order)
{
    for (uint32_t block = 0; block < order->graph->block_count; block++)
        if (!waits_for_another(order, block))
            put_from(order, block);
    for (uint32_t block = 0; block < order->graph->block_count; block++)
        put_from(order, block); /* those of rings that nothing leads to */
}

/* Where each instruction goes; returns how many there are then. */
static uint32_t number_anew(const struct order *order)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < order->count; i++) {
        const struct wsdbg_block *block = &order->graph->blocks[order->blocks[i]];
        for (uint32_t k = block->first; k < block->first + block->count; k++) {
            order->layout->places[k] = count;
            order->layout->is_kept[k] = !order->is_dropped[k];
            count += !order->is_dropped[k];
        }
    }
    return count;
}

static void move_targets(const struct order *order, const struct wsdbg_instruction *from, uint32_t number,
                         struct wsdbg_instruction *to)
{
    const int64_t target = number + from->target_offset_bytes / WSDBG_INSTRUCTION_BYTES;
    const uint32_t *places = order->layout->places;
    *to = *from;
    if (from->has_target && !from->is_absolute && target >= 0 && target < order->graph->instruction_count)
        to->target_offset_bytes = ((int64_t)places[target] - (int64_t)places[number]) * WSDBG_INSTRUCTION_BYTES;
}

static void apply(const struct order *order)
{
    struct joined_layout *layout = order->layout;
    layout->count = number_anew(order);
    for (uint32_t i = 0; i < order->graph->instruction_count; i++)
        if (!order->is_dropped[i])
            move_targets(order, &order->graph->instructions[i], i, &layout->instructions[layout->places[i]]);
    for (size_t i = 0; i < layout->way_count; i++) {
        layout->ways[i].from = layout->places[layout->ways[i].from];
        layout->ways[i].to = layout->places[layout->ways[i].to];
    }
}

struct wsdbg_error *joined_lay_out(struct joined_layout *layout)
{
    struct wsdbg_graph *graph;
    struct wsdbg_error *error =
        wsdbg_graph_create_with_ways(layout->instructions, layout->count, layout->ways, layout->way_count, &graph);
    if (error)
        return error;
    struct order order = {.graph = graph,
                          .layout = layout,
                          .is_put = calloc((size_t)graph->block_count + 1, sizeof *order.is_put),
                          .is_dropped = calloc((size_t)graph->instruction_count + 1, sizeof *order.is_dropped),
                          .blocks = calloc((size_t)graph->block_count + 1, sizeof *order.blocks)};
    if (order.is_put && order.is_dropped && order.blocks) {
        put_all(&order);
        apply(&order);
    } else {
        error = &wsdbg_error_no_memory;
    }
    free(order.is_put);
    free(order.is_dropped);
    free(order.blocks);
    wsdbg_graph_destroy(graph);
    return error;
}
