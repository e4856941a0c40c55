/* execute_convert.c - cvt between all scalar types, of two floats into a pair, and cvt.pack.
 *
 * Reads: the source as its own type (it may lie in a wider register).  An integer becomes a float through a double;
 * 64-bit ones, rounded to odd.  A float becomes an integer by its rounding mode, clamped to the type's range.  NaN
 * becomes what it does on an H200 (tests/semantics).
 */
#include <math.h>

#include "hopper/float.h"
#include "hopper/values.h"

struct kind {
    bool is_float, is_signed;
    unsigned bits;
};

static struct kind kind_of(enum wsdbg_ptx_type type)
{
    return (struct kind){.is_float = type >= WSDBG_PTX_F16,
                         .is_signed = type >= WSDBG_PTX_S8 && type <= WSDBG_PTX_S64,
                         .bits = 8 * wsdbg_ptx_type_bytes(type)};
}

/* The value as 64 bits, extended by its own sign. */
static uint64_t extend(uint64_t bits, struct kind kind)
{
    const unsigned unused = 64 - kind.bits;
    return kind.is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
}

/* ---- integers to integers ---- */

static uint64_t clamp_integer(uint64_t value, struct kind from, struct kind to)
{
    const int64_t most = to.is_signed    ? (int64_t)((1ull << (to.bits - 1)) - 1)
                         : to.bits == 64 ? INT64_MAX
                                         : (int64_t)((1ull << to.bits) - 1);
    const int64_t least = to.is_signed ? -most - 1 : 0;
    if (!from.is_signed) {
        const uint64_t limit = !to.is_signed && to.bits == 64 ? UINT64_MAX : (uint64_t)most;
        return value > limit ? limit : value;
    }
    if ((int64_t)value < least)
        return (uint64_t)least;
    return (int64_t)value > most ? (uint64_t)most : value;
}

static uint64_t integer_of_integer(uint64_t bits, struct kind from, struct kind to, bool is_saturated)
{
    const uint64_t value = extend(bits, from);
    return extend(is_saturated ? clamp_integer(value, from, to) : value, to);
}

/* ---- integers to floats ---- */

/* A double that rounds like the integer does. */
static double odd_of_integer(uint64_t value, bool is_signed)
{
    const bool is_negative = is_signed && (int64_t)value < 0;
    uint64_t size = is_negative ? 0 - value : value;
    const int extra = size >> 53 ? 11 - __builtin_clzll(size) : 0;
    if (extra > 0) {
        const uint64_t lost = size & ((1ull << extra) - 1);
        size = size >> extra | (lost ? 1 : 0);
    }
    const double result = ldexp((double)size, extra);
    return is_negative ? -result : result;
}

/* Of an f64 the rounding is this function's. */
static double f64_of_integer(uint64_t value, bool is_signed, enum wsdbg_ptx_rounding rounding)
{
    const bool is_negative = is_signed && (int64_t)value < 0;
    const uint64_t size = is_negative ? 0 - value : value;
    double result = (double)size;
    const bool is_above = result >= 0x1p64 || (uint64_t)result > size, is_below = !is_above && (uint64_t)result < size;
    const bool wants_up = rounding == (is_negative ? WSDBG_PTX_RM : WSDBG_PTX_RP);
    const bool wants_down = rounding == WSDBG_PTX_RZ || rounding == (is_negative ? WSDBG_PTX_RP : WSDBG_PTX_RM);
    if (is_above && wants_down)
        result = nextafter(result, 0);
    if (is_below && wants_up)
        result = nextafter(result, INFINITY);
    return is_negative ? -result : result;
}

static uint64_t float_of_integer(const struct wsdbg_ptx_instruction *instruction, uint64_t value, bool is_signed)
{
    const enum wsdbg_ptx_type type = instruction->type;
    if (type == WSDBG_PTX_F64)
        return hopper_float_bits(f64_of_integer(value, is_signed, instruction->rounding), type, 0, instruction->flags);
    return hopper_float_bits(odd_of_integer(value, is_signed), type, instruction->rounding, instruction->flags);
}

/* ---- floats to integers ---- */

/* As an H200 has it: NaN is 0, but in 64 bits, and of an f64, the highest bit alone. */
static uint64_t integer_of_nan(struct kind from, struct kind to)
{
    return from.bits == 64 || to.bits == 64 ? extend(1ull << (to.bits - 1), to) : 0;
}

static uint64_t integer_of_float(double value, struct kind from, struct kind to, enum wsdbg_ptx_rounding rounding)
{
    if (isnan(value))
        return integer_of_nan(from, to);
    const double whole = hopper_round_whole(value, rounding == WSDBG_PTX_ROUND_DEFAULT ? WSDBG_PTX_RZI : rounding);
    if (to.is_signed) {
        const double limit = ldexp(1, (int)to.bits - 1);
        const uint64_t most = (1ull << (to.bits - 1)) - 1;
        return whole >= limit ? most : whole < -limit ? ~most : (uint64_t)(int64_t)whole;
    }
    const double limit = ldexp(1, (int)to.bits);
    const uint64_t most = to.bits == 64 ? UINT64_MAX : (1ull << to.bits) - 1;
    return whole >= limit ? most : whole <= 0 ? 0 : (uint64_t)whole;
}

/* ---- floats to floats ---- */

/* A whole-number rounding between equal types, else to the type's precision. */
static uint64_t float_of_float(const struct wsdbg_ptx_instruction *instruction, double value)
{
    enum wsdbg_ptx_rounding rounding = instruction->rounding;
    if (rounding >= WSDBG_PTX_RNI) {
        if (isfinite(value))
            value = copysign(hopper_round_whole(value, rounding), value);
        rounding = WSDBG_PTX_RN;
    }
    const uint32_t not_for = instruction->type == WSDBG_PTX_F32 ? 0 : WSDBG_PTX_FTZ;
    return hopper_float_bits(value, instruction->type, rounding, instruction->flags & ~not_for);
}

/* Its fraction, made quiet, as an f64 has it. */
static uint64_t wide_nan(uint64_t bits, enum wsdbg_ptx_type type)
{
    const unsigned width = 8 * wsdbg_ptx_type_bytes(type);
    const unsigned fraction_bits = type == WSDBG_PTX_F64   ? 52
                                   : type == WSDBG_PTX_F32 ? 23
                                   : type == WSDBG_PTX_F16 ? 10
                                                           : 7;
    const uint64_t fraction = bits << (64 - fraction_bits) >> 12, sign = bits >> (width - 1) & 1;
    return sign << 63 | 0xfffull << 51 | fraction;
}

/* Rounded as if it were a number, by which it may become infinite; .satfinite then goes one step back. */
static uint64_t tf32_of_nan(uint32_t bits, uint32_t flags)
{
    const uint32_t size = (bits & INT32_MAX) + 0x1000;
    const uint32_t rounded = (size > INT32_MAX ? INT32_MAX : size) & 0xffffe000;
    return (bits & 0x80000000) | (flags & WSDBG_PTX_SATFINITE ? rounded - 0x2000 : rounded);
}

/* What an H200 makes of NaN: to and from f64 and from bf16 its bits go along, most others make the canonical one. */
static uint64_t float_of_nan(const struct wsdbg_ptx_instruction *instruction, uint64_t bits)
{
    const enum wsdbg_ptx_type to = instruction->type, from = instruction->source_type;
    const uint64_t wide = wide_nan(bits, from);
    if (instruction->flags & WSDBG_PTX_SAT)
        return 0;
    if (to == from && (to == WSDBG_PTX_F32 || to == WSDBG_PTX_F64) && !instruction->flags && !instruction->rounding)
        return to == WSDBG_PTX_F32 ? bits & UINT32_MAX : bits;
    if (to == WSDBG_PTX_F64)
        return instruction->flags & WSDBG_PTX_FTZ ? wide_nan(INT32_MAX, WSDBG_PTX_F32) : wide;
    if (to == WSDBG_PTX_TF32)
        return instruction->rounding == WSDBG_PTX_RNA ? tf32_of_nan((uint32_t)bits, instruction->flags) : 0x7fffe000;
    if (to == WSDBG_PTX_F32 && from == WSDBG_PTX_BF16 && !(instruction->flags & WSDBG_PTX_FTZ))
        return (bits & UINT16_MAX) << 16;
    if (from != WSDBG_PTX_F64)
        return hopper_float_bits(NAN, to, 0, 0);
    if (to == WSDBG_PTX_F32)
        return wide >> 63 << 31 | 0x7f800000 | (wide >> 29 & 0x7fffff);
    return wide >> 63 << 15 | (to == WSDBG_PTX_F16 ? 0x7c00 | (wide >> 42 & 0x3ff) : 0x7f80 | (wide >> 45 & 0x7f));
}

static uint64_t convert(const struct wsdbg_ptx_instruction *instruction, uint64_t bits)
{
    const struct kind from = kind_of(instruction->source_type), to = kind_of(instruction->type);
    if (!from.is_float && !to.is_float)
        return integer_of_integer(bits, from, to, instruction->flags & WSDBG_PTX_SAT);
    if (!from.is_float)
        return float_of_integer(instruction, extend(bits, from), from.is_signed);
    /* .ftz is about f32, but of one that becomes an f16 nothing is lost */
    const bool flushes = instruction->source_type == WSDBG_PTX_F32 && instruction->type != WSDBG_PTX_F16;
    const double value = hopper_float_value(bits, instruction->source_type, flushes ? instruction->flags : 0);
    if (isnan(value) && to.is_float)
        return float_of_nan(instruction, bits);
    return to.is_float ? float_of_float(instruction, value) : integer_of_float(value, from, to, instruction->rounding);
}

/* ---- pairs ---- */

static enum wsdbg_ptx_type element_of(enum wsdbg_ptx_type pair)
{
    switch (pair) {
    case WSDBG_PTX_F16X2:
        return WSDBG_PTX_F16;
    case WSDBG_PTX_BF16X2:
        return WSDBG_PTX_BF16;
    case WSDBG_PTX_E4M3X2:
        return WSDBG_PTX_E4M3;
    default:
        return WSDBG_PTX_E5M2;
    }
}

static bool is_pair(enum wsdbg_ptx_type type)
{
    return type == WSDBG_PTX_F16X2 || type == WSDBG_PTX_BF16X2 || type == WSDBG_PTX_E4M3X2 || type == WSDBG_PTX_E5M2X2;
}

/* Of two f32, the first of them on top; or of another pair. */
static enum hopper_outcome convert_pair(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const enum wsdbg_ptx_type to = element_of(instruction->type), source = instruction->source_type;
    const unsigned to_bits = 8 * wsdbg_ptx_type_bytes(to);
    HOPPER_LANES_OF (step->lanes) {
        double low, high;
        if (is_pair(source)) {
            const enum wsdbg_ptx_type from = element_of(source);
            const unsigned bits = 8 * wsdbg_ptx_type_bytes(from);
            const uint64_t both = hopper_source(step, 1, lane), mask = (1u << bits) - 1;
            low = hopper_float_value(both & mask, from, 0);
            high = hopper_float_value(both >> bits & mask, from, 0);
        } else {
            high = hopper_float_source(step, 1, source, lane);
            low = hopper_float_source(step, 2, source, lane);
        }
        const enum wsdbg_ptx_rounding rounding = instruction->rounding;
        hopper_result(step, 0, lane,
                      hopper_float_bits(low, to, rounding, instruction->flags) |
                          hopper_float_bits(high, to, rounding, instruction->flags) << to_bits);
    }
    return HOPPER_NEXT;
}

/* bf16 of an f32, to the nearest even. */
static inline uint32_t nearest_bf16(uint32_t bits)
{
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded;
}

/* ---- the usual ones: loops without a call ---- */

static bool convert_fast(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const enum wsdbg_ptx_type type = instruction->type, from = instruction->source_type;
    const uint32_t *narrow = hopper_values32(step, 1);
    const uint64_t *wide = hopper_values64(step, 1);
    if (instruction->flags || hopper_is_wide(step, 0) != (kind_of(type).bits == 64) ||
        (instruction->operands[1].kind == WSDBG_PTX_OPERAND_REGISTER &&
         hopper_is_wide(step, 1) != (kind_of(from).bits == 64)))
        return false;
    if (type == WSDBG_PTX_BF16X2 && from == WSDBG_PTX_F32 && instruction->rounding == WSDBG_PTX_RN) {
        const uint32_t *low = hopper_values32(step, 2);
        HOPPER_RESULTS(32, out[lane] = nearest_bf16(narrow[lane]) << 16 | nearest_bf16(low[lane]););
        return true;
    }
    const bool to_32 = type == WSDBG_PTX_U32 || type == WSDBG_PTX_S32,
               to_64 = type == WSDBG_PTX_U64 || type == WSDBG_PTX_S64;
    if (to_32 && (from == WSDBG_PTX_U64 || from == WSDBG_PTX_S64))
        HOPPER_RESULTS(32, out[lane] = (uint32_t)wide[lane];);
    else if (to_64 && from == WSDBG_PTX_U32)
        HOPPER_RESULTS(64, out[lane] = narrow[lane];);
    else if (to_64 && from == WSDBG_PTX_S32)
        HOPPER_RESULTS(64, out[lane] = (uint64_t)(int64_t)(int32_t)narrow[lane];);
    else
        return false;
    return true;
}

enum hopper_outcome hopper_do_cvt(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    if (convert_fast(step))
        return HOPPER_NEXT;
    if (is_pair(instruction->type))
        return convert_pair(step);
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, convert(instruction, hopper_source(step, 1, lane)));
    return HOPPER_NEXT;
}

/* d = a and b saturated, b lowest; with a third source what it had moves up. */
enum hopper_outcome hopper_do_cvt_pack(struct hopper_step *step)
{
    const struct kind to = kind_of(step->instruction->type), from = {.is_signed = true, .bits = 32};
    const bool has_third = step->instruction->operand_count > 3;
    const uint32_t mask = (uint32_t)((1ull << to.bits) - 1);
    HOPPER_LANES_OF (step->lanes) {
        const uint64_t a = extend(hopper_source(step, 1, lane), from), b = extend(hopper_source(step, 2, lane), from);
        const uint32_t pair =
            ((uint32_t)clamp_integer(a, from, to) & mask) << to.bits | ((uint32_t)clamp_integer(b, from, to) & mask);
        const uint32_t above = has_third ? (uint32_t)hopper_source(step, 3, lane) : 0;
        hopper_result(step, 0, lane, above << 16 | pair);
    }
    return HOPPER_NEXT;
}
