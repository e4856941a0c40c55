/* sums.h - a number as a sum: a constant, and other numbers that each are multiplied by a factor.  All is modulo 2^32.
 */
#ifndef WSDBG_SASS_SUMS_H
#define WSDBG_SASS_SUMS_H

#include <stdbool.h>
#include <stdint.h>

enum { WSDBG_SUM_TERMS_MOST = 12 };

struct wsdbg_sum_term {
    uint64_t of; /* what is multiplied, a key of whoever makes the sum */
    uint32_t factor;
};

struct wsdbg_sum {
    bool is_lost; /* it has too many terms, or nobody knows them: equal to no other */
    uint32_t constant, count;
    struct wsdbg_sum_term terms[WSDBG_SUM_TERMS_MOST]; /* ascending; no factor is 0 */
};

struct wsdbg_sum wsdbg_sum_lost(void);
struct wsdbg_sum wsdbg_sum_constant(uint32_t constant);
struct wsdbg_sum wsdbg_sum_of(uint64_t of, uint32_t factor);
/* a + b * factor */
struct wsdbg_sum wsdbg_sum_plus(const struct wsdbg_sum *a, const struct wsdbg_sum *b, uint32_t factor);
bool wsdbg_sums_equal(const struct wsdbg_sum *a, const struct wsdbg_sum *b);
uint32_t wsdbg_sum_factor(const struct wsdbg_sum *sum, uint64_t of); /* 0 where it is no term */

#endif
