/* lanes.c - see lanes.h.  One lane: a condition that must have held picks a lane by its number, or by ELECT.
 * Reads a graph and a trace; writes memory of its own. */
#include "sass/lanes.h"

#include "sass/compute.h"

#include <stdlib.h>

enum { CONDITIONS_MOST = 8 }; /* how deep conditions made of conditions are followed */
enum { DOMINATORS_MOST = 64 };
enum { LANE_BITS = 5, COPIES_MOST = 16 };

enum known { UNKNOWN, ONE, NOT_ONE };

struct wsdbg_lanes_finder {
    const struct wsdbg_graph *graph;
    struct wsdbg_trace *trace;
    uint8_t *of_block; /* enum known: by the conditions under which it is entered */
};

struct wsdbg_error *wsdbg_lanes_create(const struct wsdbg_graph *graph, struct wsdbg_trace *trace,
                                       struct wsdbg_lanes_finder **out)
{
    struct wsdbg_lanes_finder *finder = calloc(1, sizeof *finder);
    if (!finder)
        return &wsdbg_error_no_memory;
    *finder = (struct wsdbg_lanes_finder){graph, trace, calloc((size_t)graph->block_count + 1, 1)};
    if (!finder->of_block) {
        free(finder);
        return &wsdbg_error_no_memory;
    }
    *out = finder;
    return NULL;
}

void wsdbg_lanes_destroy(struct wsdbg_lanes_finder *finder)
{
    if (finder)
        free(finder->of_block);
    free(finder);
}

static bool picks_one(struct wsdbg_lanes_finder *finder, uint32_t end, unsigned predicate, bool holds, unsigned depth);

/* Whether one bit of a source can only have one value where that bit of the result is 0. */
static bool bit_is_decided(const struct wsdbg_instruction *logic, const struct wsdbg_values sources[3], unsigned source,
                           unsigned bit)
{
    unsigned values = 0; /* 1: may be 0, 2: may be 1 */
    for (unsigned row = 0; row < 8; row++) {
        bool is_possible = !(logic->table >> row & 1);
        for (unsigned i = 0; i < 3; i++) {
            uint32_t number;
            if (wsdbg_values_is_one(&sources[i], &number))
                is_possible &= (row >> (2 - i) & 1) == (number >> bit & 1);
        }
        if (is_possible)
            values |= 1u << (row >> (2 - source) & 1);
    }
    return values == 1 || values == 2;
}

/* LOP3: whether its result being 0 leaves a source that differs from lane to lane one value. */
static bool zero_picks_one(struct wsdbg_lanes_finder *finder, uint32_t number)
{
    const struct wsdbg_instruction *logic = &finder->graph->instructions[number];
    struct wsdbg_values sources[3];
    if (logic->operation != WSDBG_OP_LOP3 || !wsdbg_compute_follows(logic))
        return false;
    for (unsigned i = 0; i < 3; i++)
        sources[i] = wsdbg_trace_operand(finder->trace, number, &logic->sources[i], 0);
    for (unsigned i = 0; i < 3; i++) {
        bool is_decided = wsdbg_values_tells_lanes(&sources[i]);
        for (unsigned bit = 0; bit < LANE_BITS; bit++)
            is_decided = is_decided && bit_is_decided(logic, sources, i, bit);
        if (is_decided)
            return true;
    }
    return false;
}

/* Whether `value` in a source says that this is one lane: it is one of two constants, selected by a predicate.  So a
 * function returns whether it elected the lane.  The value may be copied before it is compared. */
static bool selection_picks_one(struct wsdbg_lanes_finder *finder, uint32_t number, const struct wsdbg_operand *source,
                                uint32_t value, unsigned depth)
{
    const struct wsdbg_operand *from = source;
    uint32_t written = number;
    for (unsigned copies = 0; copies < COPIES_MOST; copies++) {
        if (!wsdbg_trace_written(finder->trace, written, wsdbg_register_of(from, 0), &written))
            return false;
        const struct wsdbg_instruction *writer = &finder->graph->instructions[written];
        if (writer->operation == WSDBG_OP_MOV && writer->is_whole && writer->source_count == 1) {
            from = &writer->sources[0];
            continue;
        }
        if (writer->operation != WSDBG_OP_SEL || writer->source_count != 3 || !writer->is_whole)
            return false;
        const struct wsdbg_operand *a = &writer->sources[0], *b = &writer->sources[1], *by = &writer->sources[2];
        const bool are_constant = a->kind == WSDBG_OPERAND_IMMEDIATE && b->kind == WSDBG_OPERAND_IMMEDIATE;
        const bool is_first = value == (uint32_t)a->value;
        return are_constant && (uint32_t)a->value != (uint32_t)b->value && wsdbg_is_predicate(by) &&
               (is_first || value == (uint32_t)b->value) &&
               picks_one(finder, written, wsdbg_register_of(by, 0), is_first != by->is_negated, depth + 1);
    }
    return false;
}

/* A comparison that leaves one value of something that differs from lane to lane, or only 0 of what is made of it. */
static bool comparison_picks_one(struct wsdbg_lanes_finder *finder, uint32_t number, bool holds, unsigned depth)
{
    const struct wsdbg_instruction *compare = &finder->graph->instructions[number];
    struct wsdbg_values sides[2];
    for (unsigned i = 0; i < 2; i++)
        sides[i] = wsdbg_trace_operand(finder->trace, number, &compare->sources[i], 0);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t value, written;
        const struct wsdbg_values left = wsdbg_values_filtered(
            &sides[i], wsdbg_compute_relations(compare, holds, i == 1), compare->is_signed, &sides[1 - i]);
        if (!wsdbg_values_is_one(&left, &value))
            continue;
        if (wsdbg_values_tells_lanes(&sides[i]) ||
            selection_picks_one(finder, number, &compare->sources[i], value, depth) ||
            (value == 0 &&
             wsdbg_trace_written(finder->trace, number, wsdbg_register_of(&compare->sources[i], 0), &written) &&
             zero_picks_one(finder, written)))
            return true;
    }
    return false;
}

/* LOP3 with a predicate: whether its result is other than 0. */
static bool logic_picks_one(struct wsdbg_lanes_finder *finder, uint32_t number, bool holds)
{
    return !holds && zero_picks_one(finder, number);
}

/* A predicate source that the outcome decides, and picks one lane. */
static bool source_picks_one(struct wsdbg_lanes_finder *finder, uint32_t number, unsigned source, bool holds,
                             unsigned depth)
{
    const struct wsdbg_operand *operand = &finder->graph->instructions[number].sources[source];
    const unsigned predicate = wsdbg_register_of(operand, 0);
    return predicate >= WSDBG_REGISTER_PREDICATE &&
           picks_one(finder, number, predicate, holds != operand->is_negated, depth + 1);
}

static bool table_picks_one(struct wsdbg_lanes_finder *finder, uint32_t number, bool holds, unsigned depth)
{
    const struct wsdbg_instruction *logic = &finder->graph->instructions[number];
    for (unsigned source = 0; source < 3 && source < logic->source_count; source++) {
        bool value;
        if (wsdbg_compute_table_decides(logic, source, holds, &value) &&
            source_picks_one(finder, number, source, value, depth))
            return true;
    }
    return false;
}

/* Whether the instruction's first predicate being `holds` picks one lane. */
static bool outcome_picks_one(struct wsdbg_lanes_finder *finder, uint32_t number, unsigned predicate, bool holds,
                              unsigned depth)
{
    const struct wsdbg_instruction *instruction = &finder->graph->instructions[number];
    if (!instruction->destination_count || wsdbg_register_of(&instruction->destinations[0], 0) != predicate)
        return false;
    switch (instruction->operation) {
    case WSDBG_OP_ELECT:
        return holds;
    case WSDBG_OP_ISETP:
        if (wsdbg_compute_decides(instruction, predicate, holds) && comparison_picks_one(finder, number, holds, depth))
            return true;
        return wsdbg_compute_third_decides(instruction, holds) && source_picks_one(finder, number, 2, holds, depth);
    case WSDBG_OP_LOP3:
        return logic_picks_one(finder, number, holds);
    case WSDBG_OP_PLOP3:
        return table_picks_one(finder, number, holds, depth);
    default:
        return false;
    }
}

/* Whether the predicate being `holds` before instruction `end` says that this is one lane: by what alone wrote it. */
static bool picks_one(struct wsdbg_lanes_finder *finder, uint32_t end, unsigned predicate, bool holds, unsigned depth)
{
    uint32_t written;
    return depth <= CONDITIONS_MOST && wsdbg_trace_written(finder->trace, end, predicate, &written) &&
           outcome_picks_one(finder, written, predicate, holds, depth);
}

/* Whether reaching a block from its only predecessor picks one lane. */
static bool edge_picks_one(struct wsdbg_lanes_finder *finder, uint32_t from, uint32_t to)
{
    const struct wsdbg_block *block = &finder->graph->blocks[from];
    const uint32_t last = block->first + block->count - 1;
    const struct wsdbg_instruction *branch = &finder->graph->instructions[last];
    const bool is_taken = block->successor[1] == to;
    if (block->successor[0] == block->successor[1] || wsdbg_flow_asks_more_than_guard(branch) ||
        (branch->operation != WSDBG_OP_BRA && !block->exits))
        return false;
    return picks_one(finder, last, wsdbg_register_of_guard(branch), is_taken != branch->guard_is_negated, 0);
}

/* The block that alone leads to this one, by a branch that picks one lane; WSDBG_GRAPH_NONE: no such. */
static uint32_t picking_block(struct wsdbg_lanes_finder *finder, uint32_t block)
{
    const struct wsdbg_graph *graph = finder->graph;
    const uint32_t *ways = &graph->predecessors.first[block];
    if (ways[1] - ways[0] != 1 || graph->procedure_at[block] != WSDBG_GRAPH_NONE ||
        !edge_picks_one(finder, graph->predecessors.numbers[ways[0]], block))
        return WSDBG_GRAPH_NONE;
    return graph->predecessors.numbers[ways[0]];
}

/* By the conditions of the block's dominators: each that has one way in came through its condition. */
static enum known known_of(struct wsdbg_lanes_finder *finder, uint32_t block)
{
    const struct wsdbg_graph *graph = finder->graph;
    for (unsigned step = 0; step < DOMINATORS_MOST; step++) {
        const uint32_t above = graph->dominator[block];
        if (picking_block(finder, block) != WSDBG_GRAPH_NONE)
            return ONE;
        if (above == block || above == WSDBG_GRAPH_NONE)
            return NOT_ONE;
        if (finder->of_block[above])
            return finder->of_block[above];
        block = above;
    }
    return NOT_ONE;
}

static bool guard_picks_one(struct wsdbg_lanes_finder *finder, uint32_t instruction)
{
    const struct wsdbg_instruction *guarded = &finder->graph->instructions[instruction];
    return picks_one(finder, instruction, wsdbg_register_of_guard(guarded), !guarded->guard_is_negated, 0);
}

uint32_t wsdbg_lanes_picked_at(struct wsdbg_lanes_finder *finder, uint32_t instruction)
{
    if (guard_picks_one(finder, instruction))
        return instruction;
    const uint32_t from = picking_block(finder, finder->graph->block_of[instruction]);
    if (from == WSDBG_GRAPH_NONE)
        return WSDBG_GRAPH_NONE;
    return finder->graph->blocks[from].first + finder->graph->blocks[from].count - 1;
}

enum wsdbg_lanes wsdbg_lanes_at(struct wsdbg_lanes_finder *finder, uint32_t instruction)
{
    const uint32_t block = finder->graph->block_of[instruction];
    if (!finder->of_block[block])
        finder->of_block[block] = (uint8_t)known_of(finder, block);
    const bool is_one = finder->of_block[block] == ONE || guard_picks_one(finder, instruction);
    return is_one ? WSDBG_LANES_ONE : WSDBG_LANES_UNKNOWN;
}
