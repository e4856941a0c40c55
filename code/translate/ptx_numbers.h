/* ptx_numbers.h - the types of PTX as the words of machine code have them: how wide a number is, and whether it has a
 * sign.  Private to this room.
 *
 * Registers of machine code have 32 bits.  An instruction on numbers of 64 bits is marked is_long (sass/thread_long.h).
 * What does not read that mark follows the low halves alone: addresses in shared memory and what barriers count fit
 * there.  A register of 16 bits holds a number below 2^16.
 */
#ifndef WSDBG_TRANSLATE_PTX_NUMBERS_H
#define WSDBG_TRANSLATE_PTX_NUMBERS_H

#include "translate/ptx_operands.h"

/* Tables of LOP3 and PLOP3: of the first source, or of the first two. */
enum {
    WSDBG_PTX_TABLE_A = 0xf0,
    WSDBG_PTX_TABLE_NOT_A = 0x0f,
    WSDBG_PTX_TABLE_AND = 0xc0,
    WSDBG_PTX_TABLE_OR = 0xfc,
    WSDBG_PTX_TABLE_XOR = 0x3c
};

static inline bool wsdbg_ptx_is_signed(uint8_t type)
{
    return type >= WSDBG_PTX_S8 && type <= WSDBG_PTX_S64;
}

static inline bool wsdbg_ptx_is_whole_number(uint8_t type)
{
    return type >= WSDBG_PTX_B8 && type <= WSDBG_PTX_S64 && type != WSDBG_PTX_B128;
}

static inline bool wsdbg_ptx_is_word(uint8_t type)
{
    return type == WSDBG_PTX_B32 || type == WSDBG_PTX_U32 || type == WSDBG_PTX_S32;
}

static inline bool wsdbg_ptx_is_long(uint8_t type)
{
    return type == WSDBG_PTX_B64 || type == WSDBG_PTX_U64 || type == WSDBG_PTX_S64;
}

/* Whether the low half of a result of this type follows from the low halves of the sources, as in a sum. */
static inline bool wsdbg_ptx_keeps_low(uint8_t type)
{
    return wsdbg_ptx_is_word(type) || wsdbg_ptx_is_long(type);
}

static inline bool wsdbg_ptx_is_half(uint8_t type)
{
    return type == WSDBG_PTX_B16 || type == WSDBG_PTX_U16;
}

/* Marks the instruction as one of 64 bits, if all its sources are known.  from_words: each source is a word. */
void wsdbg_ptx_be_long(const struct wsdbg_ptx_translation *t, bool from_words);
/* Cuts immediates to the bits that registers of the instruction's type hold. */
void wsdbg_ptx_narrow_immediates(const struct wsdbg_ptx_translation *t);

#endif
