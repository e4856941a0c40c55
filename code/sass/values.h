/* values.h - sets of 32-bit values, and what instructions make of them.
 *
 * A set is what a register may hold at one place, over all threads and all times that come there: every operation gives
 * at least all values that can come out, perhaps more.  Addresses of shared memory carry the rank of a CTA in their
 * highest byte; that rank is kept apart from the numbers.
 */
#ifndef WSDBG_SASS_VALUES_H
#define WSDBG_SASS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

enum { WSDBG_VALUES_FEW = 32 };

enum wsdbg_values_kind {
    WSDBG_VALUES_NONE,     /* nothing comes here (yet) */
    WSDBG_VALUES_LISTED,   /* number[0 .. count - 1], ascending */
    WSDBG_VALUES_STEPS,    /* number[0] + k * number[1], modulo 2^32, k < count; count 0 = any k */
    WSDBG_VALUES_OWN_RANK, /* the rank of the thread's CTA in its cluster, nothing else */
    WSDBG_VALUES_ANY
};

/* What is added in bits 31 to 24. */
enum wsdbg_values_rank { WSDBG_RANK_NONE, WSDBG_RANK_OWN, WSDBG_RANK_OTHER };

/* What the value is a function of, beside being in the set: (the form >> shift) & mask. */
enum wsdbg_values_form { WSDBG_FORM_OTHER, WSDBG_FORM_THREAD_X, WSDBG_FORM_LANE };

struct wsdbg_values {
    uint8_t kind, rank, form, shift;
    uint32_t mask; /* 0 without a form */
    uint32_t count;
    uint32_t number[WSDBG_VALUES_FEW];
};

struct wsdbg_values wsdbg_values_none(void);
struct wsdbg_values wsdbg_values_any(void);
struct wsdbg_values wsdbg_values_one(uint32_t number);
struct wsdbg_values wsdbg_values_own_rank(void);
/* base + k * stride, k < count (0 = any k). */
struct wsdbg_values wsdbg_values_steps(uint32_t base, uint32_t stride, uint32_t count);

bool wsdbg_values_equal(const struct wsdbg_values *a, const struct wsdbg_values *b);
/* True where no two lanes of a warp have the same value, if threads are counted in x only. */
bool wsdbg_values_tells_lanes(const struct wsdbg_values *values);
/* The set as that of a thread's index or of its lane. */
struct wsdbg_values wsdbg_values_with_form(const struct wsdbg_values *values, enum wsdbg_values_form form);
/* True where it is exactly one number without a rank. */
bool wsdbg_values_is_one(const struct wsdbg_values *values, uint32_t *number);
/* The set as base, stride and count (0 = any k); false where nothing is known. */
bool wsdbg_values_range(const struct wsdbg_values *values, uint32_t *base, uint32_t *stride, uint32_t *count);

struct wsdbg_values wsdbg_values_union(const struct wsdbg_values *a, const struct wsdbg_values *b);
/* Puts `more` into the set; false where that was all in it already. */
bool wsdbg_values_add(struct wsdbg_values *to, const struct wsdbg_values *more);
/* A set above both that no long chain of further unions leaves: for what grows in a loop. */
struct wsdbg_values wsdbg_values_widened(const struct wsdbg_values *values);

struct wsdbg_values wsdbg_values_negated(const struct wsdbg_values *values);
struct wsdbg_values wsdbg_values_sum(const struct wsdbg_values *a, const struct wsdbg_values *b);
/* The low 32 bits. */
struct wsdbg_values wsdbg_values_product(const struct wsdbg_values *a, const struct wsdbg_values *b);
/* The high 32 bits of the unsigned product. */
struct wsdbg_values wsdbg_values_high_product(const struct wsdbg_values *a, const struct wsdbg_values *b);
struct wsdbg_values wsdbg_values_left(const struct wsdbg_values *values, unsigned shift);
struct wsdbg_values wsdbg_values_right(const struct wsdbg_values *values, unsigned shift, bool is_signed);
/* Bit by bit what the truth table says: its bit 4a + 2b + c is the result of bits a, b, c. */
struct wsdbg_values wsdbg_values_logic(const struct wsdbg_values *a, const struct wsdbg_values *b,
                                       const struct wsdbg_values *c, uint8_t table);
/* PRMT: byte i of the result is that of {c, a} which nibble i of the selector names. */
struct wsdbg_values wsdbg_values_permuted(const struct wsdbg_values *a, uint32_t selector,
                                          const struct wsdbg_values *c);

enum wsdbg_values_relation { WSDBG_VALUES_LESS = 1, WSDBG_VALUES_EQUAL = 2, WSDBG_VALUES_GREATER = 4 };
/* Those of the set that stand in one of `relations` (bits) to some value of `other`. */
struct wsdbg_values wsdbg_values_filtered(const struct wsdbg_values *values, unsigned relations, bool is_signed,
                                          const struct wsdbg_values *other);

#endif
