/* passed_way.c - see passed_way.h.  Reads a graph and where its instructions lie.  Writes nothing. */
#include "machine/passed_way.h"

#include "machine/loop.h"
#include "sass/flow.h"

static uint64_t address_of(const struct wsdbg_code_place *place, uint32_t instruction)
{
    return wsdbg_code_address(&(struct wsdbg_code_place){place->function, instruction});
}

static bool are_of_one_copy(const struct wsdbg_code_place *place, uint32_t a, uint32_t b)
{
    const struct wsdbg_joined *joined = place->function->joined;
    return !joined || joined->origins[a].copy == joined->origins[b].copy;
}

/* Whether lanes that came another way may join at the instruction those that execute it. */
static bool joins_lanes(const struct wsdbg_graph *graph, uint32_t instruction)
{
    const enum wsdbg_operation operation = wsdbg_graph_instruction(graph, instruction)->operation;
    return operation == WSDBG_OP_BSYNC || operation == WSDBG_OP_WARPSYNC;
}

static bool is_only_way(const struct wsdbg_graph *graph, uint32_t block)
{
    return graph->predecessors.first[block + 1] - graph->predecessors.first[block] == 1;
}

/* The instruction that comes behind the last one of a block; GRAPH_NONE = that is not known, or other ways lead there,
 * too. */
static uint32_t behind_block(const struct wsdbg_graph *graph, const struct wsdbg_block *block)
{
    uint32_t next = WSDBG_GRAPH_NONE;
    if (block->calls || block->returns || block->is_indirect || block->exits)
        return WSDBG_GRAPH_NONE;
    for (uint32_t i = 0; i < block->successor_count; i++) {
        if (block->successor[i] != WSDBG_GRAPH_NONE && next != WSDBG_GRAPH_NONE)
            return WSDBG_GRAPH_NONE;
        next = block->successor[i] == WSDBG_GRAPH_NONE ? next : block->successor[i];
    }
    return next == WSDBG_GRAPH_NONE || !is_only_way(graph, next) ? WSDBG_GRAPH_NONE
                                                                 : wsdbg_graph_block(graph, next)->first;
}

/* Whether the counter lies behind an instruction and not behind `next`, which comes after it: what is between them in
 * the function's own code does nothing. */
static bool is_between(const struct wsdbg_code_place *place, uint32_t instruction, uint32_t next, uint64_t pc)
{
    const uint64_t first = address_of(place, instruction), end = address_of(place, next);
    return pc == end || (are_of_one_copy(place, instruction, next) && first < pc && pc < end);
}

bool passed_way_find(const struct wsdbg_code_place *place, uint64_t pc, struct passed_way *out)
{
    const struct wsdbg_graph *graph = place->function->graph;
    uint32_t at = place->instruction;
    out->count = 0;
    if (pc == address_of(place, at))
        return true;
    while (out->count < PASSED_MOST) {
        const struct wsdbg_block *block = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, at));
        const bool is_last = at + 1 == block->first + block->count;
        const uint32_t next = is_last ? behind_block(graph, block) : at + 1;
        out->instructions[out->count++] = at;
        if (next == WSDBG_GRAPH_NONE || joins_lanes(graph, at))
            return false;
        if (is_between(place, at, next, pc) || (!is_last && pc == address_of(place, at) + WSDBG_INSTRUCTION_BYTES))
            return true;
        at = next;
    }
    return false;
}

bool passed_way_keeps(const struct wsdbg_code_place *place, const struct passed_way *way,
                      const struct wsdbg_operand *operand)
{
    for (uint32_t i = 0; i < way->count; i++)
        if (wsdbg_writes_operand(wsdbg_graph_instruction(place->function->graph, way->instructions[i]), operand))
            return false;
    return true;
}
