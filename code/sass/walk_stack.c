/* walk_stack.c - see walk_stack.h.  The stack pointer is R1: the kernel's first instructions set it, once.
 *
 * Reads: a graph.  Writes: a copy of its instructions.
 */
#include "sass/walk_stack.h"

#include <stdlib.h>
#include <string.h>

#include "sass/definitions.h"

enum { STACK_POINTER = 1, FIRST_NUMBER = 256, WORD_BYTES = 4, FRAME_BYTES = WSDBG_MORE_REGISTERS * WORD_BYTES };
/* No walk needs to know where local memory lies; with some place for it, addresses in it are numbers. */
enum { POINTER_AT_START = 1 << 20, SPAN_MOST = 128 };

struct frame {
    const struct wsdbg_graph *graph;
    uint32_t words;  /* that some load or store names */
    bool is_indexed; /* some load has an address that is computed from the stack pointer */
    uint64_t *seen;  /* blocks, a bit each */
    uint32_t *open;  /* blocks */
    uint32_t open_count;
};

static bool is_of_frame(const struct wsdbg_instruction *instruction)
{
    return (instruction->operation == WSDBG_OP_LDL || instruction->operation == WSDBG_OP_STL) &&
           (instruction->words[0] || instruction->words[1]);
}

static bool moves_words(const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *at = &instruction->sources[0];
    const bool is_load = instruction->operation == WSDBG_OP_LDL;
    return instruction->is_whole && instruction->source_count == (is_load ? 1 : 2) &&
           instruction->destination_count == is_load && at->kind == WSDBG_OPERAND_MEMORY && at->uniform == WSDBG_URZ &&
           instruction->width_bytes && instruction->width_bytes % WORD_BYTES == 0;
}

static bool is_named_by_pointer(const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *at = &instruction->sources[0];
    return at->number == STACK_POINTER && at->value >= 0 && at->value % WORD_BYTES == 0 &&
           at->value + instruction->width_bytes <= FRAME_BYTES;
}

/* A load of words at a place that a register other than the stack pointer tells. */
static bool is_index_load(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_LDL && moves_words(instruction) &&
           instruction->sources[0].number != STACK_POINTER;
}

static bool writes_pointer(const struct wsdbg_instruction *instruction)
{
    static const struct wsdbg_operand pointer = {.kind = WSDBG_OPERAND_REGISTER, .number = STACK_POINTER};
    return wsdbg_writes(instruction, wsdbg_register_of(&pointer, 0));
}

static bool is_source(const struct wsdbg_operand *source, uint32_t number)
{
    const bool may_be_register = source->kind == WSDBG_OPERAND_REGISTER || source->kind == WSDBG_OPERAND_MEMORY;
    return may_be_register && source->number <= number &&
           source->number + (source->registers ? source->registers : 1u) > number;
}

static bool reads(const struct wsdbg_instruction *instruction, uint32_t number)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (is_source(&instruction->sources[i], number))
            return true;
    return false;
}

static void open_block(struct frame *frame, uint32_t block)
{
    if (block == WSDBG_GRAPH_NONE || frame->seen[block / 64] >> block % 64 & 1)
        return;
    frame->seen[block / 64] |= (uint64_t)1 << block % 64;
    frame->open[frame->open_count++] = block;
}

/* Whether all that reads the register from an instruction of a block on, up to where it is written again, are loads at
 * the place that it tells.  Opens the blocks behind. */
static bool is_index_from(struct frame *frame, uint32_t number, uint32_t first, uint32_t block)
{
    const struct wsdbg_operand index = {.kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)number};
    const struct wsdbg_block *b = &frame->graph->blocks[block];
    for (uint32_t i = first; i < b->first + b->count; i++) {
        const struct wsdbg_instruction *instruction = &frame->graph->instructions[i];
        if (!instruction->is_whole || (reads(instruction, number) && !is_index_load(instruction)))
            return false; /* of one that is not whole, some sources are not known */
        if (wsdbg_writes(instruction, wsdbg_register_of(&index, 0)) && wsdbg_flow_is_unguarded(instruction))
            return true;
    }
    if (b->calls || b->returns || b->is_indirect)
        return false;
    for (uint32_t i = 0; i < b->successor_count; i++)
        open_block(frame, b->successor[i]);
    return true;
}

/* Whether the instruction computes an address from the stack pointer that only loads use. */
static bool makes_index(struct frame *frame, uint32_t number)
{
    const struct wsdbg_graph *graph = frame->graph;
    const struct wsdbg_instruction *instruction = &graph->instructions[number];
    const struct wsdbg_operand *to = &instruction->destinations[0];
    if (instruction->destination_count != 1 || to->kind != WSDBG_OPERAND_REGISTER || to->number == WSDBG_RZ ||
        to->registers > 1 || instruction->is_wide || instruction->width_bytes)
        return false;
    memset(frame->seen, 0, (graph->block_count / 64 + 1) * sizeof *frame->seen);
    frame->open_count = 0;
    bool is_index = is_index_from(frame, to->number, number + 1, graph->block_of[number]);
    while (is_index && frame->open_count) {
        const uint32_t block = frame->open[--frame->open_count];
        is_index = is_index_from(frame, to->number, graph->blocks[block].first, block);
    }
    return is_index;
}

/* Whether each access to the frame names its word by the stack pointer, or is a load at a place computed from it; and
 * whether the pointer keeps its value behind the first block.  Any other use of the pointer could put the address of a
 * word anywhere. */
static bool can_be_followed(struct frame *frame)
{
    const struct wsdbg_graph *graph = frame->graph;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        if (writes_pointer(instruction) && graph->block_of[i] != graph->block_of[0])
            return false;
        if (is_index_load(instruction)) {
            frame->is_indexed = true;
        } else if (is_of_frame(instruction)) {
            if (!moves_words(instruction) || !is_named_by_pointer(instruction))
                return false;
            const uint32_t end = (uint32_t)(instruction->sources[0].value + instruction->width_bytes) / WORD_BYTES;
            frame->words = end > frame->words ? end : frame->words;
        } else if (!writes_pointer(instruction) && reads(instruction, STACK_POINTER) && !makes_index(frame, i)) {
            return false;
        }
    }
    return true;
}

static void name_register(struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *at = &instruction->sources[0];
    const struct wsdbg_operand word = {.kind = WSDBG_OPERAND_REGISTER,
                                       .number = (uint16_t)(FIRST_NUMBER + at->value / WORD_BYTES),
                                       .registers = (uint8_t)(instruction->width_bytes / WORD_BYTES)};
    if (instruction->operation == WSDBG_OP_LDL) {
        instruction->sources[0] = word;
        return;
    }
    instruction->sources[0] = instruction->sources[1];
    instruction->source_count = 1;
    instruction->destinations[0] = word;
    instruction->destination_count = 1;
}

/* The load may read any word of the frame.  It also reads the stack pointer. */
static void name_all(struct wsdbg_instruction *load, const struct frame *frame)
{
    for (uint32_t word = 0; word < frame->words; word += SPAN_MOST) {
        const uint32_t left = frame->words - word;
        load->sources[load->source_count++] =
            (struct wsdbg_operand){.kind = WSDBG_OPERAND_REGISTER,
                                   .number = (uint16_t)(FIRST_NUMBER + word),
                                   .registers = (uint8_t)(left < SPAN_MOST ? left : SPAN_MOST)};
    }
    load->sources[load->source_count++] =
        (struct wsdbg_operand){.kind = WSDBG_OPERAND_REGISTER, .number = STACK_POINTER, .registers = 1};
}

static void place_pointer(struct wsdbg_instruction *instruction)
{
    if (!writes_pointer(instruction) || reads(instruction, STACK_POINTER))
        return;
    instruction->operation = WSDBG_OP_MOV;
    instruction->sources[0] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_IMMEDIATE, .value = POINTER_AT_START};
    instruction->source_count = 1;
    instruction->width_bytes = 0;
}

static void name_words(struct wsdbg_instruction *copy, const struct frame *frame)
{
    for (uint32_t i = 0; i < frame->graph->instruction_count; i++)
        if (is_index_load(&copy[i]))
            name_all(&copy[i], frame);
        else if (is_of_frame(&copy[i]))
            name_register(&copy[i]);
        else if (frame->is_indexed)
            place_pointer(&copy[i]);
}

/* ---- code that comes from PTX ---- */

/* Its local memory begins at address 0.  The last registers of all stand for the first words of it. */
enum { LOCAL_WORDS = 64, LOCAL_FIRST = FIRST_NUMBER + WSDBG_MORE_REGISTERS - LOCAL_WORDS };
static const struct wsdbg_operand local_words = {
    .kind = WSDBG_OPERAND_REGISTER, .number = LOCAL_FIRST, .registers = LOCAL_WORDS};

static bool is_of_local(const struct wsdbg_instruction *instruction)
{
    return (instruction->operation == WSDBG_OP_LDL || instruction->operation == WSDBG_OP_STL) &&
           !is_of_frame(instruction);
}

static bool is_below_local(const struct wsdbg_operand *operands, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if ((operands[i].kind == WSDBG_OPERAND_REGISTER || operands[i].kind == WSDBG_OPERAND_MEMORY) &&
            operands[i].number + (operands[i].registers ? operands[i].registers : 1u) > LOCAL_FIRST)
            return false;
    return true;
}

/* Whether each store to local memory has an address and stores whole words, and no register is one of those that are to
 * stand for it. */
static bool can_local_be_followed(const struct wsdbg_graph *graph)
{
    bool any = false;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *in = &graph->instructions[i];
        const bool is_store = is_of_local(in) && in->operation == WSDBG_OP_STL;
        if (!is_below_local(in->sources, in->source_count) ||
            !is_below_local(in->destinations, in->destination_count) ||
            (is_store && (in->source_count < 2 || in->source_count == WSDBG_SOURCES_MAX || in->destination_count ||
                          in->sources[0].kind != WSDBG_OPERAND_MEMORY || !in->width_bytes ||
                          in->width_bytes % ((in->source_count - 1u) * WORD_BYTES))))
            return false;
        any |= is_store;
    }
    return any;
}

static bool loads_words(const struct wsdbg_instruction *load)
{
    return load->operation == WSDBG_OP_LDL && load->source_count == 1 && load->destination_count &&
           load->sources[0].kind == WSDBG_OPERAND_MEMORY && load->width_bytes &&
           load->width_bytes % (load->destination_count * WORD_BYTES) == 0;
}

/* A store leaves most words as they were, and so reads them, too. */
static void name_local(struct wsdbg_instruction *copy)
{
    if (!is_of_local(copy) || (copy->operation == WSDBG_OP_LDL && !loads_words(copy)))
        return;
    copy->sources[copy->source_count++] = local_words;
    if (copy->operation == WSDBG_OP_STL)
        copy->destinations[copy->destination_count++] = local_words;
    else
        copy->sources[copy->source_count++] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_IMMEDIATE};
}

struct wsdbg_error *walk_stack_follow(const struct wsdbg_graph *graph, struct wsdbg_instruction **out)
{
    struct frame frame = {.graph = graph,
                          .seen = calloc((size_t)graph->block_count / 64 + 1, sizeof *frame.seen),
                          .open = calloc((size_t)graph->block_count + 1, sizeof *frame.open)};
    struct wsdbg_instruction *copy = calloc((size_t)graph->instruction_count + 1, sizeof *copy);
    const bool can_follow_local = can_local_be_followed(graph);
    *out = copy;
    if (copy && frame.seen && frame.open) {
        memcpy(copy, graph->instructions, graph->instruction_count * sizeof *copy);
        if (can_be_followed(&frame))
            name_words(copy, &frame);
        for (uint32_t i = 0; i < graph->instruction_count && can_follow_local; i++)
            name_local(&copy[i]);
    }
    const bool has_memory = copy && frame.seen && frame.open;
    free(frame.seen);
    free(frame.open);
    if (has_memory)
        return NULL;
    free(copy);
    *out = NULL;
    return &wsdbg_error_no_memory;
}

bool walk_stack_moves(const struct wsdbg_instruction *instruction)
{
    return is_of_frame(instruction) && instruction->sources[0].kind == WSDBG_OPERAND_REGISTER &&
           instruction->destination_count == 1;
}

bool walk_stack_picks(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_LDL && instruction->sources[0].kind == WSDBG_OPERAND_MEMORY &&
           instruction->source_count > 1;
}

bool walk_stack_puts(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_STL && instruction->sources[0].kind == WSDBG_OPERAND_MEMORY &&
           instruction->destination_count == 1;
}
