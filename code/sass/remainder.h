/* remainder.h - x mod d and x / d as a compiler writes it: multiplied by a reciprocal, shifted, multiplied back and
 * subtracted; by a power of two masked and subtracted.
 */
#ifndef WSDBG_SASS_REMAINDER_H
#define WSDBG_SASS_REMAINDER_H

#include "sass/definitions.h"

/* True where the instruction's result is source 2 modulo *divisor, source 2 being any unsigned number of 32 bits. */
bool wsdbg_remainder_at(const struct wsdbg_definitions *definitions, uint32_t instruction, uint32_t *divisor);

/* True where the result is source 0 modulo *divisor, a power of two, for each source 0 from 0 to *below - 1: of what a
 * compiler writes for signed numbers. */
bool wsdbg_signed_remainder_at(const struct wsdbg_definitions *definitions, uint32_t instruction, uint32_t *divisor,
                               uint32_t *below);

/* Source `source` of instruction `at`, an unsigned number of 32 bits, divided by `divisor` and rounded down. */
struct wsdbg_quotient {
    uint32_t at;
    unsigned source;
    uint32_t divisor;
};
/* True where an instruction writes such a quotient to the register. */
bool wsdbg_quotient_at(const struct wsdbg_definitions *definitions, uint32_t instruction, unsigned reg,
                       struct wsdbg_quotient *quotient);

#endif
