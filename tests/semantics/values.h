/* values.h - the numbers that instructions are tested with, of each type and operand: limits, zeros, subnormal numbers,
 * infinities, NaN with payloads, halfway cases, shift counts beyond the width, and any bits.
 *
 * The first SEMANTICS_CORE² tuples pair each of the most telling values of a with each of b; c and d vary with both.
 */
#ifndef TESTS_SEMANTICS_VALUES_H
#define TESTS_SEMANTICS_VALUES_H

#include <stdint.h>

#include "ptx/program.h"

enum { SEMANTICS_CORE = 12, SEMANTICS_TUPLES = 256, SEMANTICS_POSITIONS = 5 };

enum semantics_class {                                          /* of values, besides the types */
                       SEMANTICS_COUNTS = WSDBG_PTX_TYPE_COUNT, /* of bits to shift, to take ... and any number */
                       SEMANTICS_ANGLES,
                       SEMANTICS_CLASS_COUNT
};

struct semantics_values {
    uint64_t of[SEMANTICS_CLASS_COUNT][SEMANTICS_POSITIONS][SEMANTICS_TUPLES];
};
struct semantics_values *semantics_values_create(void);
void semantics_values_destroy(struct semantics_values *values);

#endif
