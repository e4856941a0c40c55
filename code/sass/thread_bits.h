/* thread_bits.h - POPC (number of 1 bits), FLO (highest 1 bit) and BREV (bits in reverse) of a word; fields of bits.
 * Part of thread_step.h; translators of PTX use the modes.
 */
#ifndef WSDBG_SASS_THREAD_BITS_H
#define WSDBG_SASS_THREAD_BITS_H

#include "sass/decode.h"

/* FLO's mode where it comes from PTX: bfind, bfind.shiftamt, clz. */
enum { WSDBG_FLO_PLACE, WSDBG_FLO_SHIFT, WSDBG_FLO_ZEROS };

/* *out: the instruction's result for this word.  False: it is another instruction, or FLO of a signed number. */
bool wsdbg_thread_bits(const struct wsdbg_instruction *instruction, uint32_t word, uint32_t *out);

/* The bits of a field of `length` bits from bit `first` on, as far as they lie in a word.  Only the low 8 bits of both
 * numbers count, as in PTX. */
uint32_t wsdbg_thread_field(uint32_t first, uint32_t length);

#endif
