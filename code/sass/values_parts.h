/* values_parts.h - what values.c and values_bits.c both need to make sets. */
#ifndef WSDBG_SASS_VALUES_PARTS_H
#define WSDBG_SASS_VALUES_PARTS_H

#include <stddef.h>

#include "sass/values.h"

enum { WSDBG_VALUES_PAIRS = 256 }; /* more pairs of numbers are taken for a range */

/* True where the numbers are listed and no rank is added. */
bool wsdbg_values_is_listed(const struct wsdbg_values *values);
/* True where both are listed and few enough to take each number with each. */
bool wsdbg_values_are_few_pairs(const struct wsdbg_values *a, const struct wsdbg_values *b);
/* The set of `count` numbers in any order, which are sorted in place. */
struct wsdbg_values wsdbg_values_of_numbers(uint32_t *numbers, size_t count);
/* Steps of `count` as a wide number: those that may wrap around become any. */
struct wsdbg_values wsdbg_values_long_steps(uint32_t base, uint32_t stride, uint64_t count);
/* Gives a result the form that it has as a part of a value: (that >> shift) & mask. */
struct wsdbg_values wsdbg_values_as_part_of(const struct wsdbg_values *whole, unsigned shift, uint32_t mask,
                                            struct wsdbg_values result);
/* How many bits are 0 below the lowest that is 1; 32 for 0. */
unsigned wsdbg_values_trailing_zeros(uint32_t number);

#endif
