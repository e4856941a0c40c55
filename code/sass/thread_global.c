/* thread_global.c - see thread_global.h.
 *
 * Reads: the registers that the address is made of, global memory as the caller knows it.
 */
#include "sass/thread_global.h"

enum { WORD_BYTES = sizeof(uint32_t), WORD_BITS = 32, PTX_LONG_BYTES = 8 };

static bool is_of_words(const struct wsdbg_instruction *instruction)
{
    return instruction->words[0] || instruction->words[1];
}

/* In PTX one register has all 64 bits of an address. */
static bool address_of(const struct wsdbg_instruction *load, const struct wsdbg_thread_state *state, uint64_t *address)
{
    const struct wsdbg_operand *operand = &load->sources[0];
    const struct wsdbg_operand base = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const unsigned reg = wsdbg_register_of(&base, 0);
    if (is_of_words(load))
        return wsdbg_thread_address(state, operand, address);
    if (operand->kind != WSDBG_OPERAND_MEMORY || reg >= WSDBG_REGISTER_COUNT || !state->known[reg] ||
        !state->high_known[reg])
        return false;
    *address = ((uint64_t)state->high[reg] << WORD_BITS | state->value[reg]) + (uint64_t)operand->value;
    return true;
}

bool wsdbg_thread_global_is_long(const struct wsdbg_instruction *load)
{
    return !is_of_words(load) &&
           (load->destination_count == 1 || load->width_bytes / PTX_LONG_BYTES == load->destination_count);
}

/* A register of PTX may have more bits than the number that is loaded into it. */
static void widen(const struct wsdbg_instruction *load, uint32_t words[WSDBG_GLOBAL_WORDS])
{
    if (load->width_bytes <= WORD_BYTES && !is_of_words(load))
        words[1] = load->is_signed && (int32_t)words[0] < 0 ? UINT32_MAX : 0;
}

static bool part_of_word(const struct wsdbg_instruction *load, const struct wsdbg_thread_world *world, uint64_t address,
                         uint32_t *value)
{
    const unsigned at = address % WORD_BYTES;
    uint32_t word;
    return load->width_bytes < WORD_BYTES && at + load->width_bytes <= WORD_BYTES && load->destination_count == 1 &&
           world->global(world->context, address - at, load->operation == WSDBG_OP_LD, &word) &&
           wsdbg_thread_part(load, word, at, value);
}

bool wsdbg_thread_global(const struct wsdbg_instruction *load, const struct wsdbg_thread_world *world,
                         const struct wsdbg_thread_state *state, uint32_t words[WSDBG_GLOBAL_WORDS])
{
    const unsigned count = load->width_bytes / WORD_BYTES;
    uint64_t address;
    if (!world->global || !load->width_bytes || count > WSDBG_GLOBAL_WORDS || !address_of(load, state, &address))
        return false;
    bool known = address % WORD_BYTES == 0;
    if (!count)
        known = part_of_word(load, world, address, &words[0]);
    for (unsigned i = 0; known && i < count; i++)
        known = world->global(world->context, address + i * WORD_BYTES, load->operation == WSDBG_OP_LD, &words[i]);
    widen(load, words);
    return known;
}
