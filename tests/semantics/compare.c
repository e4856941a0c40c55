/* compare.c - see compare.h. */
#include "semantics/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SHOWN = 4 };

static uint64_t expected_at(const struct semantics_answer *answer, uint32_t index)
{
    uint64_t value = 0;
    memcpy(&value, answer->results + (size_t)index * answer->bytes, answer->bytes);
    return value;
}

struct float_format {
    unsigned bits, fraction_bits;
};

static bool is_nan(struct float_format format, uint64_t value)
{
    const uint64_t magnitude = value & (UINT64_MAX >> (65 - format.bits));
    const uint64_t infinity = (UINT64_MAX >> (65 - format.bits)) >> format.fraction_bits << format.fraction_bits;
    return magnitude > infinity;
}

/* Numbers in the order of their values, one apart when they are neighbours. */
static int64_t in_order(struct float_format format, uint64_t value)
{
    const uint64_t sign = 1ull << (format.bits - 1);
    return value & sign ? -(int64_t)(value & (sign - 1)) : (int64_t)(value & (sign - 1));
}

static bool is_near(struct float_format format, uint64_t a, uint64_t b, double ulps)
{
    if (a == b)
        return true;
    if (is_nan(format, a) || is_nan(format, b))
        return false;
    return fabs((double)in_order(format, a) - (double)in_order(format, b)) <= ulps;
}

static float as_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static double as_half(uint64_t bits)
{
    const unsigned exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    const double size = exponent == 0x1f ? (fraction ? NAN : INFINITY)
                        : exponent       ? ldexp(fraction | 0x400, (int)exponent - 25)
                                         : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

/* Part 0 or 1 of a result: an f32, or half of a pair of f16. */
static double part_of(const struct semantics_case *of, uint64_t bits, unsigned part)
{
    return of->compare == SEMANTICS_F16_RELATIVE ? as_half(bits >> 16 * part & 0xffff) : (double)as_float(bits);
}

/* What a tolerance is relative to; 0 where it is not. */
static double largest(const struct semantics_case *of, const struct semantics_answer *answer)
{
    double most = 0;
    if (of->compare != SEMANTICS_F32_RELATIVE && of->compare != SEMANTICS_F16_RELATIVE)
        return 0;
    for (uint32_t i = 0; i < 2 * answer->count; i++) {
        const double magnitude = fabs(part_of(of, expected_at(answer, i / 2), i % 2));
        if (isfinite(magnitude) && magnitude > most)
            most = magnitude;
    }
    return most;
}

/* Both halves of a pair. */
static bool is_near_twice(struct float_format format, uint64_t a, uint64_t b, const struct semantics_case *of)
{
    for (unsigned shift = 0; shift < of->bytes * 8u; shift += 16)
        if (!is_near(format, a >> shift & 0xffff, b >> shift & 0xffff, of->tolerance))
            return false;
    return true;
}

static bool result_agrees(const struct semantics_case *of, uint64_t expected, uint64_t got, double most)
{
    static const struct float_format f16 = {16, 10}, bf16 = {16, 7}, f32 = {32, 23}, f64 = {64, 52};
    if (expected == got)
        return true;
    switch ((enum semantics_compare)of->compare) {
    case SEMANTICS_F32_ULPS:
        return is_near(f32, expected, got, of->tolerance);
    case SEMANTICS_F64_ULPS:
        return is_near(f64, expected, got, of->tolerance);
    case SEMANTICS_F16_RELATIVE:
    case SEMANTICS_F32_RELATIVE:
        for (unsigned part = 0; part < 2; part++)
            if (!(fabs(part_of(of, expected, part) - part_of(of, got, part)) <= of->tolerance * most))
                return false;
        return true;
    case SEMANTICS_F32_NEAR:
        return is_near(f32, expected, got, 4) ||
               fabs((double)as_float(expected) - (double)as_float(got)) <= of->tolerance;
    case SEMANTICS_F16_ULPS:
        return is_near_twice(f16, expected, got, of);
    case SEMANTICS_BF16_ULPS:
        return is_near_twice(bf16, expected, got, of);
    case SEMANTICS_BITS:
        break;
    }
    return false;
}

bool semantics_agrees(const struct semantics_case *of, const struct semantics_outcome *outcome,
                      const unsigned char *output, const struct semantics_answer *answer,
                      struct semantics_difference *difference)
{
    *difference = (struct semantics_difference){0};
    difference->is_outcome = outcome->state != answer->state || outcome->error != answer->error;
    if (difference->is_outcome || outcome->state != SEMANTICS_RAN)
        return !difference->is_outcome;
    const double most = largest(of, answer);
    for (uint32_t i = 0; i < of->count; i++)
        if (!result_agrees(of, expected_at(answer, i), semantics_result(of, output, i), most) &&
            difference->differing++ == 0)
            difference->first = i;
    return difference->differing == 0;
}

static void print_outcome(FILE *to, const char *whose, unsigned state, int error)
{
    if (state == SEMANTICS_FAILED)
        fprintf(to, "  %s: CUDA error %d", whose, error);
    else
        fprintf(to, "  %s: %s", whose, state == SEMANTICS_RAN ? "results" : "no answer");
}

void semantics_print_difference(FILE *to, const struct semantics_case *of, const struct semantics_outcome *outcome,
                                const unsigned char *output, const struct semantics_answer *answer,
                                const struct semantics_difference *difference)
{
    const double most = largest(of, answer);
    fprintf(to, "%s: ", of->name);
    if (difference->is_outcome) {
        print_outcome(to, "expected", answer->state, answer->error);
        print_outcome(to, "got", outcome->state, outcome->error);
        fprintf(to, "\n");
        return;
    }
    fprintf(to, "%u of %u results differ\n", difference->differing, of->count);
    for (uint32_t i = difference->first, shown = 0; i < of->count && shown < SHOWN; i++) {
        const uint64_t expected = expected_at(answer, i), got = semantics_result(of, output, i);
        if (result_agrees(of, expected, got, most))
            continue;
        fprintf(to, "  thread %u:", i);
        for (uint32_t k = 0; k < of->operand_count; k++)
            fprintf(to, " %c=%" PRIx64, (int)('a' + k), of->operands[k][i]);
        fprintf(to, "  expected %0*" PRIx64 "  got %0*" PRIx64 "\n", of->bytes * 2, expected, of->bytes * 2, got);
        shown++;
    }
}
