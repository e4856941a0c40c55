/* number.h - the short floating-point formats as float and back: f16, bf16, e4m3, e5m2, tf32; sums of integers.
 *
 * Private to hopper/.  To a short format: rounded to the nearest, ties to even; too large becomes infinity.  Exact the
 * other way.
 */
#ifndef WSDBG_HOPPER_NUMBER_H
#define WSDBG_HOPPER_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float hopper_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t hopper_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float hopper_bf16_to_float(uint16_t bits)
{
    return hopper_float_of_bits((uint32_t)bits << 16);
}

/* NaN becomes 0x7fff, as on hardware. */
static inline uint16_t hopper_float_to_bf16(float value)
{
    const uint32_t bits = hopper_bits_of_float(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* tf32 is a float whose low 13 bits are not looked at. */
static inline float hopper_tf32_to_float(uint32_t bits)
{
    return hopper_float_of_bits(bits & 0xffffe000);
}

static inline float hopper_f16_to_float(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest >= 0x7c00) /* infinity, NaN */
        return hopper_float_of_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    /* Multiplying by 2^112 moves the exponent's bias, of subnormal numbers too. */
    const float value = hopper_float_of_bits(rest << 13) * 0x1p112f;
    return hopper_float_of_bits(sign | hopper_bits_of_float(value));
}

static inline uint16_t hopper_float_to_f16(float value)
{
    const uint32_t bits = hopper_bits_of_float(value), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000)
        return 0x7fff;
    if (rest >= 0x477ff000) /* 65520 and more */
        return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000) { /* below 2^-14: adding 0.5 leaves the subnormal's bits at the low end, rounded */
        const float shifted = hopper_float_of_bits(rest) + 0.5f;
        return (uint16_t)(sign | (hopper_bits_of_float(shifted) - 0x3f000000));
    }
    return (uint16_t)(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
}

/* e4m3 has no infinity; 0x7f is NaN. */
static inline float hopper_e4m3_to_float(uint8_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x80) << 24, rest = bits & 0x7f;
    if (rest == 0x7f)
        return hopper_float_of_bits(sign | 0x7fc00000);
    const float value = hopper_float_of_bits(rest << 20) * 0x1p120f;
    return hopper_float_of_bits(sign | hopper_bits_of_float(value));
}

/* e5m2 is the upper half of an f16. */
static inline float hopper_e5m2_to_float(uint8_t bits)
{
    return hopper_f16_to_float((uint16_t)(bits << 8));
}

/* An integer accumulator's 32 bits: the sum clamped, or its low bits. */
static inline uint32_t hopper_whole_sum(int64_t sum, bool is_clamped)
{
    if (is_clamped && sum > INT32_MAX)
        return INT32_MAX;
    return is_clamped && sum < INT32_MIN ? (uint32_t)INT32_MIN : (uint32_t)sum;
}

#endif
