/* walk_local.c - see walk_local.h.
 *
 * Reads: a graph.  Writes: a copy of its instructions.
 */
#include "sass/walk_local.h"

enum { ELEMENT_BYTES_MOST = 8 };

static const struct wsdbg_operand words = {
    .kind = WSDBG_OPERAND_REGISTER, .number = WALK_LOCAL_FIRST, .registers = WALK_LOCAL_WORDS};

static bool is_load(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_LDL && !wsdbg_is_machine_code(instruction);
}

static bool is_store(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_STL && !wsdbg_is_machine_code(instruction);
}

/* Whether as many elements are as many bytes: a byte or two, a word, or a pair of words each. */
static bool has_elements(const struct wsdbg_instruction *instruction, unsigned count)
{
    const unsigned bytes = count ? instruction->width_bytes / count : 0;
    return bytes && bytes * count == instruction->width_bytes && bytes <= ELEMENT_BYTES_MOST && !(bytes & (bytes - 1));
}

static bool has_place(const struct wsdbg_instruction *instruction)
{
    return instruction->source_count && instruction->sources[0].kind == WSDBG_OPERAND_MEMORY;
}

static bool is_store_followed(const struct wsdbg_instruction *store)
{
    return has_place(store) && store->source_count < WSDBG_SOURCES_MAX && !store->destination_count &&
           has_elements(store, store->source_count - 1u);
}

static bool is_load_followed(const struct wsdbg_instruction *load)
{
    return has_place(load) && load->source_count == 1 && has_elements(load, load->destination_count);
}

static bool are_below_words(const struct wsdbg_operand *operands, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if ((operands[i].kind == WSDBG_OPERAND_REGISTER || operands[i].kind == WSDBG_OPERAND_MEMORY) &&
            operands[i].number + (operands[i].registers ? operands[i].registers : 1u) > WALK_LOCAL_FIRST)
            return false;
    return true;
}

static bool can_be_followed(const struct wsdbg_graph *graph)
{
    bool any = false;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        if (!are_below_words(instruction->sources, instruction->source_count) ||
            !are_below_words(instruction->destinations, instruction->destination_count) ||
            (is_store(instruction) && !is_store_followed(instruction)))
            return false;
        any |= is_store(instruction);
    }
    return any;
}

void walk_local_name(const struct wsdbg_graph *graph, struct wsdbg_instruction *copy)
{
    if (!can_be_followed(graph))
        return;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const bool stores = is_store(&copy[i]);
        if (!stores && !(is_load(&copy[i]) && is_load_followed(&copy[i])))
            continue;
        copy[i].sources[copy[i].source_count++] = words;
        if (stores)
            copy[i].destinations[copy[i].destination_count++] = words;
    }
}
