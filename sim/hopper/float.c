/* float.c - the formats of floating-point types: bits to a double and back, under every rounding mode.
 *
 * Reads and writes nothing else.  A format is its number of fraction bits and exponent bits; e4m3 has no infinity.
 */
#include "hopper/float.h"

#include <math.h>
#include <string.h>

struct format {
    unsigned fraction_bits, exponent_bits;
    uint64_t not_a_number;
    double most; /* the largest finite value */
    bool has_infinity;
    bool may_flush; /* .ftz is about it */
};

static const struct format *format_of(enum wsdbg_ptx_type type)
{
    static const struct format f16 = {10, 5, 0x7fff, 65504, true, true}, bf16 = {7, 8, 0x7fff, 0x1.fep127, true, false},
                               tf32 = {10, 8, 0x7fffffff, 0x1.ffcp127, true, false},
                               f32 = {23, 8, 0x7fffffff, 0x1.fffffep127, true, true},
                               e4m3 = {3, 4, 0x7f, 448, false, false}, e5m2 = {2, 5, 0x7f, 57344, true, false};
    switch (type) {
    case WSDBG_PTX_F16:
    case WSDBG_PTX_F16X2:
        return &f16;
    case WSDBG_PTX_BF16:
    case WSDBG_PTX_BF16X2:
        return &bf16;
    case WSDBG_PTX_TF32:
        return &tf32;
    case WSDBG_PTX_E4M3:
    case WSDBG_PTX_E4M3X2:
        return &e4m3;
    case WSDBG_PTX_E5M2:
    case WSDBG_PTX_E5M2X2:
        return &e5m2;
    default:
        return &f32;
    }
}

/* The exponent of the smallest normal number. */
static int least_exponent(const struct format *format)
{
    return 2 - (1 << (format->exponent_bits - 1));
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- bits to value ---- */

static double value_of_f32(uint32_t bits, bool flush)
{
    float value;
    if (flush && (bits & 0x7f800000) == 0)
        bits &= 0x80000000;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double hopper_float_value(uint64_t bits, enum wsdbg_ptx_type type, uint32_t flags)
{
    const bool flush = flags & WSDBG_PTX_FTZ;
    if (type == WSDBG_PTX_F64)
        return double_of(bits);
    if (type == WSDBG_PTX_F32)
        return value_of_f32((uint32_t)bits, flush);
    if (type == WSDBG_PTX_TF32) /* the low 13 bits of the f32 are not looked at */
        return value_of_f32((uint32_t)bits & ~0x1fffu, false);
    const struct format *format = format_of(type);
    const uint64_t all = (1ull << (format->fraction_bits + format->exponent_bits)) - 1;
    const bool is_negative = bits >> (format->fraction_bits + format->exponent_bits) & 1;
    const uint64_t fraction = bits & ((1ull << format->fraction_bits) - 1), highest = (1u << format->exponent_bits) - 1;
    const uint64_t exponent = (bits & all) >> format->fraction_bits;
    double value;
    if (exponent == highest && format->has_infinity)
        value = fraction ? NAN : INFINITY;
    else if (!format->has_infinity && (bits & all) == all)
        value = NAN;
    else if (exponent == 0)
        value = flush && format->may_flush
                    ? 0
                    : ldexp((double)fraction, least_exponent(format) - (int)format->fraction_bits);
    else
        value = ldexp((double)(fraction | 1ull << format->fraction_bits),
                      (int)exponent - 1 + least_exponent(format) - (int)format->fraction_bits);
    return is_negative ? -value : value;
}

double hopper_float_source(const struct hopper_step *step, unsigned number, enum wsdbg_ptx_type type, unsigned lane)
{
    return hopper_float_value(hopper_source(step, number, lane), type, step->instruction->flags);
}

/* ---- value to bits ---- */

double hopper_quiet(double not_a_number)
{
    return double_of(bits_of(not_a_number) | 1ull << 51);
}

double hopper_add_to_odd(double x, double y)
{
    const double sum = x + y, y_part = sum - x, error = (x - (sum - y_part)) + (y - y_part);
    uint64_t bits = bits_of(sum);
    if (!isfinite(sum) || error == 0 || bits & 1)
        return sum;
    bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    return double_of(bits);
}

double hopper_round_whole(double value, enum wsdbg_ptx_rounding rounding)
{
    switch (rounding) {
    case WSDBG_PTX_RZ:
    case WSDBG_PTX_RZI:
        return trunc(value);
    case WSDBG_PTX_RM:
    case WSDBG_PTX_RMI:
        return floor(value);
    case WSDBG_PTX_RP:
    case WSDBG_PTX_RPI:
        return ceil(value);
    case WSDBG_PTX_RNA:
        return round(value);
    default:
        return rint(value);
    }
}

/* What a value too large for the format becomes. */
static double overflow(double value, const struct format *format, enum wsdbg_ptx_rounding rounding)
{
    const bool to_most =
        rounding == WSDBG_PTX_RZ || (rounding == WSDBG_PTX_RM && value > 0) || (rounding == WSDBG_PTX_RP && value < 0);
    return copysign(to_most ? format->most : INFINITY, value);
}

/* The value, finite and not 0, as the format has it. */
static double round_to(double value, const struct format *format, enum wsdbg_ptx_rounding rounding)
{
    int exponent = ilogb(value);
    if (exponent < least_exponent(format))
        exponent = least_exponent(format);
    const int unit = exponent - (int)format->fraction_bits;
    const double rounded = ldexp(hopper_round_whole(ldexp(value, -unit), rounding), unit);
    return fabs(rounded) > format->most ? overflow(value, format, rounding) : copysign(rounded, value);
}

static uint64_t encode(double value, const struct format *format)
{
    const uint64_t sign = signbit(value) ? 1ull << (format->fraction_bits + format->exponent_bits) : 0;
    if (isinf(value))
        return sign | (uint64_t)((1u << format->exponent_bits) - 1) << format->fraction_bits;
    if (value == 0)
        return sign;
    const int exponent = ilogb(value), least = least_exponent(format);
    const int unit = (exponent < least ? least : exponent) - (int)format->fraction_bits;
    const uint64_t whole = (uint64_t)ldexp(fabs(value), -unit); /* with the leading 1 of a normal number */
    return sign | (exponent < least ? whole : whole + ((uint64_t)(exponent - least) << format->fraction_bits));
}

static double saturate(double value, const struct format *format, uint32_t flags)
{
    if (flags & WSDBG_PTX_RELU && value <= 0)
        value = 0; /* also of -0 */
    if (flags & WSDBG_PTX_SATFINITE && fabs(value) > format->most)
        value = copysign(format->most, value);
    if (flags & WSDBG_PTX_SAT)
        value = value <= 0 ? 0 : value > 1 ? 1 : value;
    return value;
}

static uint64_t f64_bits(double value, uint32_t flags)
{
    if (isnan(value))
        return flags & WSDBG_PTX_SAT ? 0 : bits_of(value);
    if (flags & WSDBG_PTX_SAT)
        value = value <= 0 ? 0 : value > 1 ? 1 : value;
    return bits_of(value);
}

uint64_t hopper_float_bits(double value, enum wsdbg_ptx_type type, enum wsdbg_ptx_rounding rounding, uint32_t flags)
{
    if (type == WSDBG_PTX_F64)
        return f64_bits(value, flags);
    const struct format *format = format_of(type);
    if (isnan(value))
        return flags & WSDBG_PTX_SAT ? 0 : format->not_a_number;
    if (type == WSDBG_PTX_TF32 && rounding == WSDBG_PTX_ROUND_DEFAULT)
        rounding = WSDBG_PTX_RNA;
    if (isfinite(value) && value != 0)
        value = round_to(value, format, rounding);
    if (!format->has_infinity && isinf(value))
        flags |= WSDBG_PTX_SATFINITE;
    value = saturate(value, format, flags);
    if (flags & WSDBG_PTX_FTZ && format->may_flush && fabs(value) < ldexp(1, least_exponent(format)))
        value = copysign(0, value);
    if (type == WSDBG_PTX_TF32)
        format = format_of(WSDBG_PTX_F32);
    return encode(value, format);
}
