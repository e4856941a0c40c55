/* reference.h - inputs, the float64 reference and the hash of a result. */
#ifndef GEMM_REFERENCE_H
#define GEMM_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "geometry.h"

/* Fills `out` with near-normal random numbers (mean 0, deviation 1); the same seed gives the same numbers. */
void reference_fill(bf16 *out, size_t count, uint64_t seed);

struct reference_result {
    int rows_checked;
    size_t wrong;       /* elements outside the tolerance */
    int row, column;    /* of the worst */
    double got, wanted; /* at the worst */
    double worst;       /* its error in units of the tolerance */
};

/* Compares up to `rows` rows of C, the first and last among them, with A * B^T in float64.  The tolerance is one
 * bf16 step of the exact value plus 2^-16 of the sum of the absolute products, for the fp32 accumulation. */
struct reference_result reference_check(const struct gemm_problem *problem, const bf16 *a, const bf16 *b, const bf16 *c,
                                        int rows, uint64_t seed);

struct reference_difference {
    size_t other_bits; /* elements that are not bit for bit the same */
    size_t beyond;     /* elements further apart than the tolerance */
};

/* Compares two results of one problem, computed with fp32 accumulation in different orders.  The tolerance is two bf16
 * steps of the larger value plus k * 2^-22 for the accumulation.  NaN is beyond any tolerance. */
struct reference_difference reference_compare(const bf16 *c, const bf16 *other, size_t count, int k);

/* A 64-bit hash of `count` elements: the same bits give the same hash. */
uint64_t reference_hash(const bf16 *c, size_t count);

#endif
