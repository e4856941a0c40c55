/* remainder.h - x mod d as a compiler writes it: multiplied by a reciprocal, shifted, multiplied back and subtracted.
 */
#ifndef WSDBG_SASS_REMAINDER_H
#define WSDBG_SASS_REMAINDER_H

#include "sass/definitions.h"

/* True where the instruction's result is source 2 modulo *divisor, source 2 being any unsigned number of 32 bits. */
bool wsdbg_remainder_at(const struct wsdbg_definitions *definitions, uint32_t instruction, uint32_t *divisor);

#endif
