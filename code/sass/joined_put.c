/* joined_put.c - the graph of joined code: see joined_code.h.
 *
 * Reads: lines.  Writes: a graph, and where each of its instructions comes from.
 */
#include <stdlib.h>

#include "sass/joined_code.h"
#include "sass/joined_order.h"

/* A register to or from one that stands for a word of the stack frame. */
static struct wsdbg_instruction move_of(const struct joined_line *line, unsigned word)
{
    enum { OPCODE_OF_MOVE = 0x202, ALL_LANES = 0xf00 };
    const struct wsdbg_instruction *old = &line->instruction;
    const bool is_store = !old->destination_count;
    const struct wsdbg_operand *other = is_store ? &old->sources[1] : &old->destinations[0];
    const struct wsdbg_operand of_frame = {
        .kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)(line->word + word), .registers = 1};
    struct wsdbg_operand plain = *other;
    plain.number = other->number == WSDBG_RZ ? WSDBG_RZ : (uint16_t)(other->number + word);
    plain.registers = 1;
    return (struct wsdbg_instruction){.words = {OPCODE_OF_MOVE, ALL_LANES},
                                      .operation = WSDBG_OP_MOV,
                                      .guard = old->guard,
                                      .guard_is_negated = old->guard_is_negated,
                                      .guard_is_uniform = old->guard_is_uniform,
                                      .destinations = {is_store ? of_frame : plain},
                                      .sources = {is_store ? plain : of_frame},
                                      .destination_count = 1,
                                      .source_count = 1,
                                      .is_whole = true};
}

static uint32_t size_of(const struct joined_line *line)
{
    return line->is_left_out ? 0 : line->words ? line->words : 1;
}

uint32_t *joined_number_lines(const struct joined_code *code)
{
    uint32_t *places = calloc((size_t)code->count + 1, sizeof *places), count = 0;
    for (uint32_t i = 0; places && i < code->count; i++) {
        places[i] = count;
        count += size_of(&code->lines[i]);
    }
    if (places)
        places[code->count] = count;
    return places;
}

static void put_lines(const struct joined_code *code, const uint32_t *places, struct wsdbg_instruction *out,
                      struct wsdbg_joined_origin *origins)
{
    for (uint32_t i = 0; i < code->count; i++) {
        const struct joined_line *line = &code->lines[i];
        for (uint32_t word = 0; word < size_of(line); word++) {
            struct wsdbg_instruction *instruction = &out[places[i] + word];
            *instruction = line->words ? move_of(line, word) : line->instruction;
            origins[places[i] + word] = line->origin;
            const int64_t target = i + instruction->target_offset_bytes / WSDBG_INSTRUCTION_BYTES;
            if (instruction->has_target && !instruction->is_absolute && target >= 0 && target < code->count)
                instruction->target_offset_bytes =
                    ((int64_t)places[target] - (int64_t)(places[i] + word)) * WSDBG_INSTRUCTION_BYTES;
        }
    }
}

/* Lays out the code anew and makes the graph of it.  Takes the instructions. */
static struct wsdbg_error *lay_out(struct joined_layout *layout, struct wsdbg_joined *out)
{
    const uint32_t count = layout->count;
    struct wsdbg_joined_origin *before = out->origins;
    layout->places = calloc((size_t)count + 1, sizeof *layout->places);
    layout->is_kept = calloc((size_t)count + 1, sizeof *layout->is_kept);
    out->origins = calloc((size_t)count + 1, sizeof *out->origins);
    struct wsdbg_error *error =
        layout->places && layout->is_kept && out->origins ? joined_lay_out(layout) : &wsdbg_error_no_memory;
    for (uint32_t i = 0; !error && i < count; i++)
        if (layout->is_kept[i])
            out->origins[layout->places[i]] = before[i];
    free(before);
    if (error) {
        free(layout->instructions);
        return error;
    }
    return wsdbg_flow_create_owning(layout->instructions, layout->count, layout->ways, layout->way_count, &out->graph);
}

struct wsdbg_error *joined_put_graph(const struct joined_code *code, uint32_t *places, struct wsdbg_joined *out)
{
    const uint32_t count = places[code->count];
    struct joined_layout layout = {.instructions = calloc((size_t)count + 1, sizeof *layout.instructions),
                                   .count = count,
                                   .ways = calloc(code->way_count + 1, sizeof *layout.ways)};
    out->origins = calloc((size_t)count + 1, sizeof *out->origins);
    struct wsdbg_error *error = layout.instructions && layout.ways && out->origins ? NULL : &wsdbg_error_no_memory;
    if (error) {
        free(layout.instructions);
        free(layout.ways);
        return error;
    }
    put_lines(code, places, layout.instructions, out->origins);
    for (size_t i = 0; i < code->way_count; i++)
        if (!code->lines[code->ways[i].from].is_left_out)
            layout.ways[layout.way_count++] =
                (struct wsdbg_way){places[code->ways[i].from], places[code->ways[i].to], code->ways[i].value};
    error = lay_out(&layout, out);
    for (uint32_t i = 0; !error && i < code->count; i++)
        places[i] = places[i] < count ? layout.places[places[i]] : WSDBG_GRAPH_NONE;
    free(layout.places);
    free(layout.is_kept);
    free(layout.ways);
    return error;
}
