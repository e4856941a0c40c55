/* walk_kept.c - see walk_kept.h.
 *
 * Reads: a graph.  Writes: a set of registers.
 *
 * Each register has an origin: the register whose first value it has.  Copies pass origins on, all else ends them.
 * Where ways join, a register has the origin that it has on all of them.
 */
#include "sass/walk_kept.h"

#include <stdlib.h>
#include <string.h>

#include "sass/walk_stack.h"

enum { ORIGIN_NONE = UINT16_MAX, ORIGIN_OPEN = UINT16_MAX - 1 }; /* OPEN: no way led there so far */
enum { BLOCKS_MOST = 512, PASSES_MOST = 16 };

struct kept {
    const struct wsdbg_graph *graph;
    uint32_t from, to;
    const bool *visited;
    uint16_t (*at_begin)[WSDBG_REGISTER_COUNT]; /* by block that lies between, in their order; the last one: of `to` */
    uint32_t *row;                              /* by block: its number among them */
    uint32_t rows;
    const uint64_t *written; /* registers that some block writes; all others keep their values */
};

static bool has(const uint64_t *set, unsigned reg)
{
    return set[reg / 64] >> reg % 64 & 1;
}

static bool meet(uint16_t *to, const uint16_t *origins)
{
    bool changes = false;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++) {
        const uint16_t both = to[reg] == ORIGIN_OPEN ? origins[reg] : to[reg] == origins[reg] ? to[reg] : ORIGIN_NONE;
        changes |= both != to[reg];
        to[reg] = both;
    }
    return changes;
}

/* ---- an instruction ---- */

/* Whether it copies registers to as many others. */
static bool is_copy(const struct wsdbg_instruction *in)
{
    const struct wsdbg_operand *from = &in->sources[0];
    const bool moves = walk_stack_moves(in) || (in->operation == WSDBG_OP_MOV && in->is_whole);
    return moves && wsdbg_is_machine_code(in) && wsdbg_flow_is_unguarded(in) && in->source_count == 1 &&
           in->destination_count == 1 && from->kind == WSDBG_OPERAND_REGISTER && !from->is_negated &&
           !from->is_inverted && from->number != WSDBG_RZ && in->destinations[0].registers == from->registers;
}

static void copy(const struct wsdbg_instruction *in, uint16_t *origins)
{
    uint16_t sources[UINT8_MAX];
    const unsigned parts = in->sources[0].registers ? in->sources[0].registers : 1;
    for (unsigned part = 0; part < parts; part++) {
        const unsigned reg = wsdbg_register_of(&in->sources[0], part);
        sources[part] = reg < WSDBG_REGISTER_COUNT ? origins[reg] : ORIGIN_NONE;
    }
    for (unsigned part = 0; part < parts; part++) {
        const unsigned reg = wsdbg_register_of(&in->destinations[0], part);
        if (reg < WSDBG_REGISTER_COUNT)
            origins[reg] = sources[part];
    }
}

static void step(const struct kept *kept, const struct wsdbg_instruction *in, uint16_t *origins)
{
    if (is_copy(in)) {
        copy(in, origins);
        return;
    }
    if (!in->destination_count && in->operation != WSDBG_OP_OTHER)
        return;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (has(kept->written, reg) && wsdbg_writes(in, reg))
            origins[reg] = ORIGIN_NONE;
}

/* ---- ways ---- */

/* What is behind a block goes on to those behind it.  True: some of them has other origins than before. */
static bool pass_on(struct kept *kept, uint32_t number, const uint16_t *origins)
{
    const struct wsdbg_block *block = &kept->graph->blocks[number];
    bool changes = false;
    for (uint32_t i = 0; i < block->successor_count; i++) {
        const uint32_t next = block->successor[i];
        if (next != WSDBG_GRAPH_NONE && (next == kept->to || kept->visited[next]))
            changes |= meet(kept->at_begin[next == kept->to ? kept->rows : kept->row[next]], origins);
    }
    return changes;
}

static bool pass_block(struct kept *kept, uint32_t number)
{
    const struct wsdbg_block *block = &kept->graph->blocks[number];
    uint16_t origins[WSDBG_REGISTER_COUNT];
    memcpy(origins, kept->at_begin[kept->row[number]], sizeof origins);
    if (origins[0] == ORIGIN_OPEN)
        return false;
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        step(kept, &kept->graph->instructions[i], origins);
    return pass_on(kept, number, origins);
}

/* False: it takes too long. */
static bool pass_all(struct kept *kept)
{
    uint16_t origins[WSDBG_REGISTER_COUNT];
    bool changes = true;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        origins[reg] = (uint16_t)reg;
    pass_on(kept, kept->from, origins);
    for (unsigned pass = 0; changes && pass < PASSES_MOST; pass++) {
        changes = false;
        for (uint32_t block = 0; block < kept->graph->block_count; block++)
            changes |= kept->visited[block] && pass_block(kept, block);
    }
    return !changes;
}

/* Numbers the blocks; false where there are too many, or functions are called that are not joined with the kernel. */
static bool number_blocks(struct kept *kept)
{
    for (uint32_t block = 0; block < kept->graph->block_count; block++) {
        if (kept->visited[block] && (kept->graph->blocks[block].calls || kept->graph->blocks[block].returns))
            return false;
        if (kept->visited[block])
            kept->row[block] = kept->rows++;
    }
    return kept->rows <= BLOCKS_MOST;
}

struct wsdbg_error *walk_kept_find(const struct wsdbg_graph *graph, uint32_t from, uint32_t to, const bool *visited,
                                   uint64_t lost[WSDBG_WALK_REGISTER_WORDS])
{
    uint64_t written[WSDBG_WALK_REGISTER_WORDS];
    struct kept kept = {.graph = graph, .from = from, .to = to, .visited = visited, .written = written};
    kept.row = calloc((size_t)graph->block_count + 1, sizeof *kept.row);
    if (!kept.row)
        return &wsdbg_error_no_memory;
    memcpy(written, lost, sizeof written);
    const bool is_short = !graph->blocks[from].calls && number_blocks(&kept);
    kept.at_begin = is_short ? malloc(((size_t)kept.rows + 1) * sizeof *kept.at_begin) : NULL;
    for (uint32_t row = 0; kept.at_begin && row <= kept.rows; row++)
        for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
            kept.at_begin[row][reg] = ORIGIN_OPEN;
    const bool has_memory = !is_short || kept.at_begin;
    if (kept.at_begin && pass_all(&kept))
        for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
            if (kept.at_begin[kept.rows][reg] == reg)
                lost[reg / 64] &= ~((uint64_t)1 << reg % 64);
    free(kept.at_begin);
    free(kept.row);
    return has_memory ? NULL : &wsdbg_error_no_memory;
}
