/* walk_stack.c - see walk_stack.h.  The stack pointer is R1: the kernel's first instructions set it, once.
 *
 * Reads: a graph.  Writes: a copy of its instructions.
 */
#include "sass/walk_stack.h"

#include <stdlib.h>
#include <string.h>

#include "sass/definitions.h"

enum { STACK_POINTER = 1, FIRST_NUMBER = 256, WORD_BYTES = 4, FRAME_BYTES = WSDBG_MORE_REGISTERS * WORD_BYTES };

static bool is_of_frame(const struct wsdbg_instruction *instruction)
{
    return (instruction->operation == WSDBG_OP_LDL || instruction->operation == WSDBG_OP_STL) &&
           (instruction->words[0] || instruction->words[1]);
}

static bool is_whole_words(const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *at = &instruction->sources[0];
    const unsigned bytes = instruction->width_bytes;
    const bool is_load = instruction->operation == WSDBG_OP_LDL;
    return instruction->is_whole && instruction->source_count == (is_load ? 1 : 2) &&
           instruction->destination_count == is_load && at->kind == WSDBG_OPERAND_MEMORY &&
           at->number == STACK_POINTER && at->uniform == WSDBG_URZ && bytes && bytes % WORD_BYTES == 0 &&
           at->value >= 0 && at->value % WORD_BYTES == 0 && at->value + bytes <= FRAME_BYTES;
}

static bool writes_pointer(const struct wsdbg_instruction *instruction)
{
    static const struct wsdbg_operand pointer = {.kind = WSDBG_OPERAND_REGISTER, .number = STACK_POINTER};
    return wsdbg_writes(instruction, wsdbg_register_of(&pointer, 0));
}

/* Something else than a load or store of the frame, or a change of the pointer, reads the stack pointer: then the
 * address of a word may be anywhere. */
static bool takes_address(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count && !writes_pointer(instruction); i++) {
        const struct wsdbg_operand *source = &instruction->sources[i];
        const bool may_be_register = source->kind == WSDBG_OPERAND_REGISTER || source->kind == WSDBG_OPERAND_MEMORY;
        if (may_be_register && source->number <= STACK_POINTER && source->number + source->registers > STACK_POINTER)
            return true;
    }
    return false;
}

/* Whether all words of the frame are named by the pointer, which keeps its value behind the first block. */
static bool can_be_followed(const struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        if (is_of_frame(instruction) ? !is_whole_words(instruction) : takes_address(instruction))
            return false;
        if (writes_pointer(instruction) && graph->block_of[i] != graph->block_of[0])
            return false;
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

struct wsdbg_error *walk_stack_follow(const struct wsdbg_graph *graph, struct wsdbg_instruction **out)
{
    struct wsdbg_instruction *copy = calloc((size_t)graph->instruction_count + 1, sizeof *copy);
    *out = copy;
    if (!copy)
        return &wsdbg_error_no_memory;
    memcpy(copy, graph->instructions, graph->instruction_count * sizeof *copy);
    if (!can_be_followed(graph))
        return NULL;
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        if (is_of_frame(&copy[i]))
            name_register(&copy[i]);
    return NULL;
}

bool walk_stack_moves(const struct wsdbg_instruction *instruction)
{
    return is_of_frame(instruction) && instruction->sources[0].kind == WSDBG_OPERAND_REGISTER &&
           instruction->destination_count == 1;
}
