/* thread_bits.c - see thread_bits.h.  Pure functions. */
#include "sass/thread_bits.h"

enum { WORD_BITS = 32, SHIFT_BIT = 74 - 64 };

static uint32_t in_reverse(uint32_t word)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < WORD_BITS; i++)
        out |= (word >> i & 1) << (WORD_BITS - 1 - i);
    return out;
}

/* The place of the highest 1 bit, or how far it lies below bit 31.  A word without 1 bits gives all ones; clz gives 32.
 */
static uint32_t highest(const struct wsdbg_instruction *instruction, uint32_t word)
{
    const bool is_of_words = wsdbg_is_machine_code(instruction);
    const bool is_shift = is_of_words ? instruction->words[1] >> SHIFT_BIT & 1 : instruction->mode != WSDBG_FLO_PLACE;
    if (!word)
        return !is_of_words && instruction->mode == WSDBG_FLO_ZEROS ? WORD_BITS : UINT32_MAX;
    return (uint32_t)(is_shift ? __builtin_clz(word) : WORD_BITS - 1 - __builtin_clz(word));
}

bool wsdbg_thread_bits(const struct wsdbg_instruction *instruction, uint32_t word, uint32_t *out)
{
    switch (instruction->operation) {
    case WSDBG_OP_POPC:
    case WSDBG_OP_UPOPC:
        *out = (uint32_t)__builtin_popcount(word);
        return true;
    case WSDBG_OP_FLO:
    case WSDBG_OP_UFLO:
        *out = highest(instruction, word);
        return !instruction->is_signed;
    case WSDBG_OP_BREV:
        *out = in_reverse(word);
        return true;
    default:
        return false;
    }
}

uint32_t wsdbg_thread_field(uint32_t first, uint32_t length)
{
    const uint32_t from = first & 0xff, bits = length & 0xff;
    const uint32_t ones = bits < WORD_BITS ? (UINT32_C(1) << bits) - 1 : UINT32_MAX;
    return from < WORD_BITS ? ones << from : 0;
}
