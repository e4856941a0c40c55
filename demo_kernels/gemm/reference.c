/* reference.c - see reference.h.  Reads and writes host memory only. */
#include "reference.h"

#include <math.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Round to nearest, ties to even; finite values only. */
static bf16 bf16_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float float_from_bf16(bf16 value)
{
    const uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

void reference_fill(bf16 *out, size_t count, uint64_t seed)
{
    const float deviation = 65536.0f * 0.57735027f; /* of the sum of four 16-bit uniforms */
    for (size_t i = 0; i < count; i++) {
        const uint64_t r = next_random(&seed);
        const int sum = (int)(r & 0xffff) + (int)(r >> 16 & 0xffff) + (int)(r >> 32 & 0xffff) + (int)(r >> 48);
        out[i] = bf16_from_float((float)(sum - 2 * 65535) / deviation);
    }
}

static void check_element(const struct gemm_problem *problem, const bf16 *a_row, const bf16 *b_row, bf16 c, int row,
                          int column, struct reference_result *result)
{
    double sum = 0, magnitude = 0;
    for (int k = 0; k < problem->k; k++) {
        const double product = (double)float_from_bf16(a_row[k]) * float_from_bf16(b_row[k]);
        sum += product;
        magnitude += fabs(product);
    }
    const double tolerance = fabs(sum) / 256 + magnitude / 65536;
    const double got = float_from_bf16(c);
    const double error = fabs(got - sum) / tolerance;
    if (!(error <= 1)) /* a NaN is wrong too */
        result->wrong++;
    if (!(error <= result->worst)) {
        result->worst = error;
        result->row = row;
        result->column = column;
        result->got = got;
        result->wanted = sum;
    }
}

struct reference_result reference_check(const struct gemm_problem *problem, const bf16 *a, const bf16 *b, const bf16 *c,
                                        int rows, uint64_t seed)
{
    struct reference_result result = {0};
    if (rows > problem->m)
        rows = problem->m;
    for (int i = 0; i < rows; i++) {
        /* All of a small matrix; of a large one the first, the last and random ones. */
        int row = i;
        if (rows < problem->m && i > 0)
            row = i == 1 ? problem->m - 1 : (int)(next_random(&seed) % (uint64_t)problem->m);
        const size_t row_a = (size_t)row * (size_t)problem->k, row_c = (size_t)row * (size_t)problem->n;
        for (int column = 0; column < problem->n; column++)
            check_element(problem, a + row_a, b + (size_t)column * (size_t)problem->k, c[row_c + (size_t)column], row,
                          column, &result);
        result.rows_checked++;
    }
    return result;
}

struct reference_difference reference_compare(const bf16 *c, const bf16 *other, size_t count, int k)
{
    struct reference_difference difference = {0};
    const float accumulation = (float)k * 0x1p-22f;
    for (size_t i = 0; i < count; i++) {
        if (c[i] == other[i] && (c[i] & 0x7fff) <= 0x7f80) /* the same number, and one */
            continue;
        const float x = float_from_bf16(c[i]), y = float_from_bf16(other[i]);
        const float tolerance = 0x1p-6f * fmaxf(fabsf(x), fabsf(y)) + accumulation;
        difference.other_bits += c[i] != other[i];
        difference.beyond += !(fabsf(x - y) <= tolerance);
    }
    return difference;
}

uint64_t reference_hash(const bf16 *c, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over elements instead of bytes */
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ c[i]) * 0x100000001b3u;
    return hash;
}
