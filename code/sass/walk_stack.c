/* walk_stack.c - see walk_stack.h.  The stack pointer is R1: the kernel's first instructions set it, once.
 *
 * Reads: a graph.  Writes: a copy of its instructions.
 */
#include "sass/walk_stack.h"

#include <stdlib.h>
#include <string.h>

#include "sass/definitions.h"
#include "sass/walk_local.h"

enum { STACK_POINTER = 1, FIRST_NUMBER = 256, WORD_BYTES = 4, FRAME_BYTES = WSDBG_MORE_REGISTERS * WORD_BYTES };
enum { SPAN_MOST = 128, INDEXED_BYTES_MOST = 256 };

struct frame {
    const struct wsdbg_graph *graph;
    uint32_t words;    /* that are followed */
    bool uses_pointer; /* some load or store takes its place from the stack pointer's value */
    uint64_t *seen;    /* blocks, a bit each */
    uint32_t *open;    /* blocks */
    uint32_t open_count;
    uint64_t *computes;  /* instructions, a bit each: they compute addresses from the stack pointer */
    uint32_t *computing; /* ... of these, the ones whose results were not followed yet */
    uint32_t computing_count;
};

bool walk_stack_is_generic(const struct wsdbg_instruction *access)
{
    return access->local_words && (access->operation == WSDBG_OP_LD || access->operation == WSDBG_OP_ST);
}

static bool is_store(const struct wsdbg_instruction *access)
{
    return access->operation == WSDBG_OP_STL || access->operation == WSDBG_OP_ST;
}

static bool is_of_frame(const struct wsdbg_instruction *instruction)
{
    return (instruction->operation == WSDBG_OP_LDL || instruction->operation == WSDBG_OP_STL ||
            walk_stack_is_generic(instruction)) &&
           wsdbg_is_machine_code(instruction);
}

static bool moves_bytes(const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *at = &instruction->sources[0];
    const bool is_load = !is_store(instruction);
    return instruction->is_whole && instruction->source_count == (is_load ? 1 : 2) &&
           instruction->destination_count == is_load && at->kind == WSDBG_OPERAND_MEMORY && at->uniform == WSDBG_URZ &&
           instruction->width_bytes;
}

static bool moves_words(const struct wsdbg_instruction *instruction)
{
    return instruction->width_bytes % WORD_BYTES == 0;
}

static bool is_named_by_pointer(const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *at = &instruction->sources[0];
    const unsigned unit = moves_words(instruction) ? WORD_BYTES : instruction->width_bytes;
    return at->number == STACK_POINTER && at->value >= 0 && at->value % unit == 0 &&
           at->value + instruction->width_bytes <= FRAME_BYTES;
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

/* Whether fields A and B name its two sources, floating-point numbers of one register each.  FADD is none: its second
 * source may be in field C. */
static bool is_of_two_singles(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_FMUL || instruction->operation == WSDBG_OP_FSEL ||
           instruction->operation == WSDBG_OP_FSETP || instruction->operation == WSDBG_OP_FMNMX;
}

/* Not all sources of the instruction may be decoded.  Then any of the fields A, B and C of its encoding may name a
 * register.  A number takes two registers at most, a tile of a warp's matrix eight. */
static bool may_read(const struct wsdbg_instruction *instruction, uint32_t number)
{
    enum { PAIR = 2, TILE = 8, A_SHIFT = 24, B_SHIFT = 32, FIELDS = 3 };
    const enum wsdbg_operation_class class = wsdbg_operation_class(instruction->operation);
    const bool is_single = is_of_two_singles(instruction);
    const uint32_t span = class == WSDBG_CLASS_MATRIX ? TILE : is_single ? 1 : PAIR;
    const uint8_t fields[] = {(uint8_t)(instruction->words[0] >> A_SHIFT), (uint8_t)(instruction->words[0] >> B_SHIFT),
                              (uint8_t)instruction->words[1]};
    if (instruction->is_whole)
        return reads(instruction, number);
    if (class == WSDBG_CLASS_NONE || class == WSDBG_CLASS_WGMMA)
        return true;
    for (unsigned i = 0; i < (is_single ? FIELDS - 1u : FIELDS); i++)
        if (number >= fields[i] && number - fields[i] < span)
            return true;
    return false;
}

/* Whether the register tells the place of a load or store of the frame, and is not what is stored. */
static bool is_place(const struct wsdbg_instruction *instruction, uint32_t number)
{
    return is_of_frame(instruction) && moves_bytes(instruction) && instruction->sources[0].number == number &&
           (instruction->operation == WSDBG_OP_LDL || !is_source(&instruction->sources[1], number));
}

static void open_block(struct frame *frame, uint32_t block)
{
    if (block == WSDBG_GRAPH_NONE || frame->seen[block / 64] >> block % 64 & 1)
        return;
    frame->seen[block / 64] |= (uint64_t)1 << block % 64;
    frame->open[frame->open_count++] = block;
}

/* Notes an instruction that computes a number from the stack pointer, or from such a number.  False: it is none, or
 * gives more than one register. */
static bool note_computation(struct frame *frame, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &frame->graph->instructions[number];
    const struct wsdbg_operand *to = &instruction->destinations[0];
    const enum wsdbg_operation_class class = wsdbg_operation_class(instruction->operation);
    if (!instruction->is_whole || (class != WSDBG_CLASS_INTEGER && class != WSDBG_CLASS_MOVE) ||
        instruction->destination_count != 1 || to->kind != WSDBG_OPERAND_REGISTER || to->number == WSDBG_RZ ||
        to->registers > 1 || instruction->is_wide || instruction->width_bytes)
        return false;
    if (!(frame->computes[number / 64] >> number % 64 & 1))
        frame->computing[frame->computing_count++] = number;
    frame->computes[number / 64] |= (uint64_t)1 << number % 64;
    return true;
}

/* Whether all that reads the register from an instruction of a block on, up to where it is written again, are loads and
 * stores at the place that it tells, and further computations of places.  Opens the blocks behind. */
static bool is_index_from(struct frame *frame, uint32_t number, uint32_t first, uint32_t block)
{
    const struct wsdbg_operand index = {.kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)number};
    const struct wsdbg_block *b = &frame->graph->blocks[block];
    for (uint32_t i = first; i < b->first + b->count; i++) {
        const struct wsdbg_instruction *instruction = &frame->graph->instructions[i];
        if (may_read(instruction, number) && !is_place(instruction, number) && !note_computation(frame, i))
            return false;
        if (wsdbg_writes(instruction, wsdbg_register_of(&index, 0)) && wsdbg_flow_is_unguarded(instruction))
            return true;
    }
    if (b->calls || b->returns || b->is_indirect)
        return false;
    for (uint32_t i = 0; i < b->successor_count; i++)
        open_block(frame, b->successor[i]);
    return true;
}

/* Whether only loads and stores of the frame, and computations of their places, use what the instruction computes. */
static bool makes_index(struct frame *frame, uint32_t number)
{
    const struct wsdbg_graph *graph = frame->graph;
    const struct wsdbg_operand *to = &graph->instructions[number].destinations[0];
    memset(frame->seen, 0, (graph->block_count / 64 + 1) * sizeof *frame->seen);
    frame->open_count = 0;
    bool is_index = is_index_from(frame, to->number, number + 1, graph->block_of[number]);
    while (is_index && frame->open_count) {
        const uint32_t block = frame->open[--frame->open_count];
        is_index = is_index_from(frame, to->number, graph->blocks[block].first, block);
    }
    return is_index;
}

/* Notes the words that a load or store may concern; false: not all of them can be followed.  A store to a fixed address
 * may hit any word, because nobody knows where the frame begins. */
static bool note_access(struct frame *frame, const struct wsdbg_instruction *access)
{
    const struct wsdbg_operand *at = &access->sources[0];
    const bool stores = is_store(access);
    const uint32_t span_end = access->local_first + access->local_words;
    frame->words = span_end > frame->words ? span_end : frame->words;
    if (walk_stack_is_generic(access)) {
        frame->uses_pointer = true;
        return moves_bytes(access);
    }
    if (!moves_bytes(access) || (stores && is_source(&access->sources[1], STACK_POINTER)))
        return false;
    if (at->number != STACK_POINTER) {
        frame->uses_pointer = true;
        return !stores || at->number != WSDBG_RZ;
    }
    if (!is_named_by_pointer(access))
        return false;
    const uint32_t end = ((uint32_t)at->value + access->width_bytes + WORD_BYTES - 1) / WORD_BYTES;
    frame->words = end > frame->words ? end : frame->words;
    frame->uses_pointer |= !moves_words(access);
    return true;
}

/* Whether each access to the frame names its place by the stack pointer, or by an address computed from it; and whether
 * the pointer keeps its value behind the first block.  Any other use of the pointer could put the address of a word
 * anywhere. */
static bool can_be_followed(struct frame *frame)
{
    const struct wsdbg_graph *graph = frame->graph;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        if (writes_pointer(instruction) && graph->block_of[i] != graph->block_of[0])
            return false;
        if (is_of_frame(instruction)
                ? !note_access(frame, instruction)
                : !writes_pointer(instruction) && reads(instruction, STACK_POINTER) && !note_computation(frame, i))
            return false;
    }
    while (frame->computing_count)
        if (!makes_index(frame, frame->computing[--frame->computing_count]))
            return false;
    return true;
}

/* How much the first block takes from the stack.  An array there may have words that no instruction names. */
static uint32_t taken_bytes(const struct wsdbg_graph *graph)
{
    const struct wsdbg_block *first = &graph->blocks[graph->block_of[0]];
    int64_t bytes = 0;
    for (uint32_t i = first->first; i < first->first + first->count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        for (unsigned k = 0; k < instruction->source_count; k++)
            if (writes_pointer(instruction) && reads(instruction, STACK_POINTER) &&
                instruction->sources[k].kind == WSDBG_OPERAND_IMMEDIATE)
                bytes -= (int32_t)instruction->sources[k].value;
    }
    return bytes < 0 ? 0 : bytes < INDEXED_BYTES_MOST ? (uint32_t)bytes : INDEXED_BYTES_MOST;
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

/* The words that an access may concern become sources, and destinations of a store, which leaves bytes of them as they
 * were.  The last source is the stack pointer. */
static void name_words(struct wsdbg_instruction *access, uint32_t first, uint32_t end)
{
    for (; first < end; first += SPAN_MOST) {
        const uint32_t left = end - first;
        const struct wsdbg_operand words = {.kind = WSDBG_OPERAND_REGISTER,
                                            .number = (uint16_t)(FIRST_NUMBER + first),
                                            .registers = (uint8_t)(left < SPAN_MOST ? left : SPAN_MOST)};
        access->sources[access->source_count++] = words;
        if (is_store(access))
            access->destinations[access->destination_count++] = words;
    }
    access->sources[access->source_count++] =
        (struct wsdbg_operand){.kind = WSDBG_OPERAND_REGISTER, .number = STACK_POINTER, .registers = 1};
}

/* Whether what a store stores was computed as a floating-point number, in the same block. */
static bool stores_float(const struct frame *frame, uint32_t number)
{
    const struct wsdbg_graph *graph = frame->graph;
    const struct wsdbg_operand *data = &graph->instructions[number].sources[1];
    const uint32_t first = graph->blocks[graph->block_of[number]].first;
    unsigned reg = wsdbg_register_of(data, 0);
    for (uint32_t i = number; i-- > first && reg != WSDBG_REGISTER_NONE;) {
        const struct wsdbg_instruction *writer = &graph->instructions[i];
        if (!wsdbg_writes(writer, reg))
            continue;
        const enum wsdbg_operation_class class = wsdbg_operation_class(writer->operation);
        if (writer->operation != WSDBG_OP_MOV || writer->source_count != 1 || !wsdbg_flow_is_unguarded(writer))
            return class == WSDBG_CLASS_FLOAT || class == WSDBG_CLASS_MATRIX;
        reg = wsdbg_register_of(&writer->sources[0], 0);
    }
    return false;
}

/* Floating-point values that joined code stores decide no branch.  To follow them would be most of the work. */
static void forget_float(struct wsdbg_instruction *store, const struct frame *frame, uint32_t number)
{
    if (store->local_words && is_store(store) && stores_float(frame, number))
        store->sources[1] =
            (struct wsdbg_operand){.kind = WSDBG_OPERAND_NONE, .registers = store->sources[1].registers};
}

static void name_access(struct wsdbg_instruction *access, const struct frame *frame)
{
    const struct wsdbg_operand *at = &access->sources[0];
    const uint32_t word = (uint32_t)at->value / WORD_BYTES;
    if (access->local_words)
        name_words(access, access->local_first, access->local_first + access->local_words);
    else if (at->number != STACK_POINTER)
        name_words(access, 0, frame->words);
    else if (moves_words(access))
        name_register(access);
    else
        name_words(access, word, word + 1);
}

static void place_pointer(struct wsdbg_instruction *instruction)
{
    if (!writes_pointer(instruction) || reads(instruction, STACK_POINTER))
        return;
    instruction->operation = WSDBG_OP_MOV;
    instruction->sources[0] =
        (struct wsdbg_operand){.kind = WSDBG_OPERAND_IMMEDIATE, .value = WALK_STACK_POINTER_AT_START};
    instruction->source_count = 1;
    instruction->width_bytes = 0;
}

static void name_frame(struct wsdbg_instruction *copy, struct frame *frame)
{
    const uint32_t taken = taken_bytes(frame->graph) / WORD_BYTES;
    if (frame->uses_pointer && taken > frame->words)
        frame->words = taken;
    for (uint32_t i = 0; i < frame->graph->instruction_count; i++)
        if (is_of_frame(&copy[i])) {
            forget_float(&copy[i], frame, i);
            name_access(&copy[i], frame);
        } else if (frame->uses_pointer)
            place_pointer(&copy[i]);
}

struct wsdbg_error *walk_stack_follow(const struct wsdbg_graph *graph, struct wsdbg_instruction **out)
{
    struct frame frame = {.graph = graph,
                          .seen = calloc((size_t)graph->block_count / 64 + 1, sizeof *frame.seen),
                          .open = calloc((size_t)graph->block_count + 1, sizeof *frame.open),
                          .computes = calloc((size_t)graph->instruction_count / 64 + 1, sizeof *frame.computes),
                          .computing = calloc((size_t)graph->instruction_count + 1, sizeof *frame.computing)};
    struct wsdbg_instruction *copy = calloc((size_t)graph->instruction_count + 1, sizeof *copy);
    *out = copy;
    const bool has_memory = copy && frame.seen && frame.open && frame.computes && frame.computing;
    if (has_memory) {
        memcpy(copy, graph->instructions, graph->instruction_count * sizeof *copy);
        if (can_be_followed(&frame))
            name_frame(copy, &frame);
        walk_local_name(graph, copy);
    }
    free(frame.seen);
    free(frame.open);
    free(frame.computes);
    free(frame.computing);
    if (has_memory)
        return NULL;
    free(copy);
    *out = NULL;
    return &wsdbg_error_no_memory;
}

bool walk_stack_moves(const struct wsdbg_instruction *instruction)
{
    return is_of_frame(instruction) && !walk_stack_is_generic(instruction) &&
           instruction->sources[0].kind == WSDBG_OPERAND_REGISTER && instruction->destination_count == 1;
}

bool walk_stack_picks(const struct wsdbg_instruction *instruction)
{
    return (instruction->operation == WSDBG_OP_LDL ||
            (instruction->operation == WSDBG_OP_LD && walk_stack_is_generic(instruction))) &&
           instruction->sources[0].kind == WSDBG_OPERAND_MEMORY && instruction->source_count > 1;
}

bool walk_stack_puts(const struct wsdbg_instruction *instruction)
{
    return (instruction->operation == WSDBG_OP_STL || walk_stack_is_generic(instruction)) && is_store(instruction) &&
           instruction->sources[0].kind == WSDBG_OPERAND_MEMORY && instruction->destination_count;
}

struct walk_stack_words walk_stack_words_of(const struct wsdbg_instruction *access)
{
    const bool stores = is_store(access), has_pointer = wsdbg_is_machine_code(access);
    const struct wsdbg_operand *spans = stores ? access->destinations : &access->sources[1];
    const unsigned count = stores ? access->destination_count : access->source_count - 1u - has_pointer;
    struct walk_stack_words words = {.origin = has_pointer ? FIRST_NUMBER : WALK_LOCAL_FIRST,
                                     .first = count ? spans[0].number : 0,
                                     .pointer = has_pointer ? &access->sources[access->source_count - 1] : NULL};
    for (unsigned i = 0; i < count; i++)
        words.count += spans[i].registers;
    return words;
}
