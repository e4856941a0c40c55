/* execute_float.c - floating-point arithmetic: add, sub, mul, fma, div, rcp, sqrt, min, max and the approximate
 * functions.
 *
 * f32 to the nearest without saturation has loops of its own; everything else goes lane by lane through doubles
 * (float.h). Directed rounding of f64 is the host's own, set around one operation.  Approximate functions give the
 * nearest value, which is within PTX's bounds but not always the hardware's last bit.
 */
#include <fenv.h>
#include <math.h>

#include "hopper/float.h"
#include "hopper/number.h"
#include "hopper/values.h"

enum operation { ADD, SUB, MUL, FMA, DIV, RCP, SQRT, RSQRT, SIN, COS, LG2, EX2, TANH, MIN, MAX };

/* ---- one value ---- */

static int host_rounding(enum wsdbg_ptx_rounding rounding)
{
    switch (rounding) {
    case WSDBG_PTX_RZ:
        return FE_TOWARDZERO;
    case WSDBG_PTX_RM:
        return FE_DOWNWARD;
    case WSDBG_PTX_RP:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

/* Of f64, in the rounding mode that is set: volatile keeps the operation between the calls that set it. */
static double compute_f64(enum operation operation, double x, double y, double z)
{
    volatile double a = x, b = y, c = z;
    switch (operation) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case FMA:
        return fma(a, b, c);
    case DIV:
        return a / b;
    case RCP:
        return 1 / a;
    default:
        return sqrt(a);
    }
}

/* What an H200 makes of sources that are NaN: the second one, else the third, else the first, made quiet. */
static double propagate(const double *sources)
{
    const double of = isnan(sources[1]) ? sources[1] : isnan(sources[2]) ? sources[2] : sources[0];
    return hopper_quiet(of);
}

static double compute_f64_rounded(enum operation operation, enum wsdbg_ptx_rounding rounding, double x, double y,
                                  double z)
{
    const int mode = host_rounding(rounding);
    if (mode == FE_TONEAREST)
        return compute_f64(operation, x, y, z);
    fesetround(mode);
    volatile double result = compute_f64(operation, x, y, z);
    fesetround(FE_TONEAREST);
    return result;
}

/* A quotient or root that was rounded, made odd when it is not exact: `missing` is what it falls short of. */
static double to_odd(double value, double missing)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!isfinite(value) || value == 0 || missing == 0 || !isfinite(missing) || bits & 1)
        return value;
    bits += (missing > 0) == (value > 0) ? 1 : (uint64_t)-1;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static double divide(double x, double y)
{
    const double quotient = x / y, rest = fma(-quotient, y, x);
    return to_odd(quotient, y > 0 ? rest : -rest);
}

static double root(double x)
{
    const double value = sqrt(x);
    return to_odd(value, fma(-value, value, x));
}

static double least_or_most(double x, double y, bool wants_least, uint32_t flags)
{
    if (flags & WSDBG_PTX_NAN_WINS && (isnan(x) || isnan(y)))
        return NAN;
    const bool is_negative = signbit(x) != signbit(y);
    if (flags & WSDBG_PTX_XORSIGN_ABS) {
        x = fabs(x);
        y = fabs(y);
    }
    double result = isnan(x) ? y : isnan(y) ? x : (x < y) == wants_least ? x : y;
    if (x == 0 && y == 0) /* -0 is less than 0 */
        result = wants_least == (bool)signbit(x) ? x : y;
    return flags & WSDBG_PTX_XORSIGN_ABS && is_negative ? -result : result;
}

/* The hardware counts in turns, an f32 of them, rounded towards 0: of large angles little is left. */
static double angle(double x)
{
    const double exact = x * 0x1.45f306p-3; /* 1 / 2 pi */
    float turns = (float)exact;
    if (fabs((double)turns) > fabs(exact))
        turns = nextafterf(turns, 0);
    return fabsf(turns) < 0x1p-126f ? copysign(0, x) : 0x1.921fb54442d18p+2 * remainder(turns, 1);
}

/* The exact result of narrower types, or to odd. */
static double compute(enum operation operation, double x, double y, double z, uint32_t flags)
{
    switch (operation) {
    case ADD:
        return hopper_add_to_odd(x, y);
    case SUB:
        return hopper_add_to_odd(x, -y);
    case MUL:
        return x * y;
    case FMA:
        return hopper_add_to_odd(x * y, z);
    case DIV:
        return divide(x, y);
    case RCP:
        return divide(1, x);
    case SQRT:
        return root(x);
    case RSQRT:
        return 1 / sqrt(x);
    case SIN:
        return sin(angle(x));
    case COS:
        return cos(angle(x));
    case LG2:
        return log2(x);
    case EX2:
        return exp2(x);
    case TANH:
        return tanh(x);
    case MIN:
        return least_or_most(x, y, true, flags);
    default:
        return least_or_most(x, y, false, flags);
    }
}

/* A sum that is exactly 0, rounded downwards: -0 unless both of its parts are +0. */
static double zero_sum(enum operation operation, const double *values)
{
    const double first = operation == FMA ? values[0] * values[1] : values[0];
    const double second = operation == FMA ? values[2] : operation == SUB ? -values[1] : values[1];
    return first == 0 && second == 0 && !signbit(first) && !signbit(second) ? 0.0 : -0.0;
}

/* rcp and rsqrt.approx.ftz.f64 look at the high half of their source and give that of their result. */
static uint64_t approximate_f64(enum operation operation, uint64_t source)
{
    const uint64_t high = source >> 32 << 32;
    const double x = hopper_float_value(high & 0x7ff0000000000000 ? high : high & 1ull << 63, WSDBG_PTX_F64, 0);
    const double result = operation == RCP ? 1 / x : 1 / sqrt(x);
    if (isnan(result))
        return 0x7fffffff00000000;
    return hopper_float_bits(fabs(result) < 0x1p-1022 ? copysign(0, result) : result, WSDBG_PTX_F64, 0, 0) >> 32 << 32;
}

/* div.approx.f32 multiplies by 1 / y, which of such a y is subnormal, and becomes 0. */
static uint64_t divide_by_large(double x, double y)
{
    const double zero = copysign(0, x) * copysign(1, y);
    return hopper_float_bits(isfinite(x) ? zero : NAN, WSDBG_PTX_F32, 0, 0);
}

static uint64_t result_of(const struct wsdbg_ptx_instruction *instruction, enum operation operation,
                          const uint64_t *sources, enum wsdbg_ptx_type type)
{
    const uint32_t flags = instruction->flags;
    double values[3];
    for (unsigned i = 0; i < 3; i++)
        values[i] = hopper_float_value(sources[i], type, flags);
    if (type == WSDBG_PTX_F64 && flags & WSDBG_PTX_APPROX && flags & WSDBG_PTX_FTZ)
        return approximate_f64(operation, sources[0]);
    if (operation == DIV && flags & WSDBG_PTX_APPROX && isfinite(values[1]) && fabs(values[1]) > 0x1p126)
        return divide_by_large(values[0], values[1]);
    if (type == WSDBG_PTX_F64 && operation <= FMA && (isnan(values[0]) || isnan(values[1]) || isnan(values[2])))
        return hopper_float_bits(propagate(values), type, 0, flags);
    if (type == WSDBG_PTX_F64 && operation <= SQRT) {
        const double result = compute_f64_rounded(operation, instruction->rounding, values[0], values[1], values[2]);
        return hopper_float_bits(result, type, 0, flags);
    }
    double result = compute(operation, values[0], values[1], values[2], flags);
    if (result == 0 && instruction->rounding == WSDBG_PTX_RM && operation <= FMA && operation != MUL)
        result = zero_sum(operation, values);
    if (type == WSDBG_PTX_F64 && isnan(result))
        result = hopper_quiet(result);
    return hopper_float_bits(result, type, instruction->rounding, flags);
}

/* ---- any type, lane by lane ---- */

static unsigned source_count(enum operation operation)
{
    if (operation == FMA)
        return 3;
    return operation <= DIV || operation >= MIN ? 2 : 1;
}

static enum hopper_outcome each_lane(struct hopper_step *step, enum operation operation)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const enum wsdbg_ptx_type type = instruction->type;
    const bool is_pair = type == WSDBG_PTX_F16X2 || type == WSDBG_PTX_BF16X2;
    const enum wsdbg_ptx_type half = type == WSDBG_PTX_F16X2 ? WSDBG_PTX_F16 : WSDBG_PTX_BF16;
    const unsigned count = source_count(operation);
    HOPPER_LANES_OF (step->lanes) {
        uint64_t low[3] = {0}, high[3] = {0};
        for (unsigned i = 0; i < count; i++) {
            low[i] = hopper_source(step, 1 + i, lane);
            high[i] = low[i] >> 16 & UINT16_MAX;
        }
        uint64_t result;
        if (is_pair) {
            for (unsigned i = 0; i < count; i++)
                low[i] &= UINT16_MAX;
            result = result_of(instruction, operation, low, half) | result_of(instruction, operation, high, half) << 16;
        } else {
            result = result_of(instruction, operation, low, type);
        }
        hopper_result(step, 0, lane, result);
    }
    return HOPPER_NEXT;
}

/* ---- f32 to the nearest ---- */

static inline uint32_t as_bits(float value)
{
    return value != value ? 0x7fffffff : hopper_bits_of_float(value);
}

/* `mask`: 0 where subnormal numbers are zeros, all ones where they are kept. */
static inline uint32_t flushed(uint32_t bits, uint32_t mask)
{
    return bits & 0x7f800000 ? bits : bits & (mask | 0x80000000);
}

static bool is_plain_f32(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->type == WSDBG_PTX_F32 && instruction->rounding <= WSDBG_PTX_RN &&
           !(instruction->flags & (WSDBG_PTX_SAT | WSDBG_PTX_APPROX));
}

#define F32_LOOP(expression)                                                                                 \
    do {                                                                                                     \
        const uint32_t *const a = hopper_values32(step, 1), *const b = hopper_values32(step, 2);             \
        if (step->instruction->flags & WSDBG_PTX_FTZ)                                                        \
            HOPPER_RESULTS(32, const float x = hopper_float_of_bits(flushed(a[lane], 0));                    \
                           const float y = hopper_float_of_bits(flushed(b[lane], 0));                        \
                           out[lane] = flushed(as_bits(expression), 0););                                    \
        else                                                                                                 \
            HOPPER_RESULTS(32, const float x = hopper_float_of_bits(a[lane]);                                \
                           const float y = hopper_float_of_bits(b[lane]); out[lane] = as_bits(expression);); \
    } while (0)

enum hopper_outcome hopper_float_add(struct hopper_step *step)
{
    if (!is_plain_f32(step->instruction))
        return each_lane(step, ADD);
    F32_LOOP(x + y);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_float_sub(struct hopper_step *step)
{
    if (!is_plain_f32(step->instruction))
        return each_lane(step, SUB);
    F32_LOOP(x - y);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_float_mul(struct hopper_step *step)
{
    if (!is_plain_f32(step->instruction))
        return each_lane(step, MUL);
    F32_LOOP(x * y);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_float_div(struct hopper_step *step)
{
    if (!is_plain_f32(step->instruction))
        return each_lane(step, DIV);
    F32_LOOP(x / y);
    return HOPPER_NEXT;
}

/* x * y + z of every lane, where the host has such an instruction and where it has not. */
#if defined(__x86_64__)
#define WITH_FMA __attribute__((target("avx2,fma")))
static bool host_has_fma(void)
{
    return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
}
#else
#define WITH_FMA
static bool host_has_fma(void)
{
    return true; /* in its C library, or better */
}
#endif

WITH_FMA static void fma_by_host(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    HOPPER_EACH_LANE ()
        out[lane] = as_bits(__builtin_fmaf(hopper_float_of_bits(a[lane]), hopper_float_of_bits(b[lane]),
                                           hopper_float_of_bits(c[lane])));
}

static void fma_by_doubles(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    HOPPER_EACH_LANE ()
        out[lane] = as_bits((float)hopper_add_to_odd(
            (double)hopper_float_of_bits(a[lane]) * hopper_float_of_bits(b[lane]), hopper_float_of_bits(c[lane])));
}

static void fma_lanes(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    if (host_has_fma())
        fma_by_host(out, a, b, c);
    else
        fma_by_doubles(out, a, b, c);
}

/* The same with .ftz: sources and results without subnormal numbers. */
static void fma_lanes_flushed(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    uint32_t sources[3][HOPPER_LANES];
    HOPPER_EACH_LANE () {
        sources[0][lane] = flushed(a[lane], 0);
        sources[1][lane] = flushed(b[lane], 0);
        sources[2][lane] = flushed(c[lane], 0);
    }
    fma_lanes(out, sources[0], sources[1], sources[2]);
    HOPPER_EACH_LANE ()
        out[lane] = flushed(out[lane], 0);
}

enum hopper_outcome hopper_do_fma(struct hopper_step *step)
{
    if (!is_plain_f32(step->instruction))
        return each_lane(step, FMA);
    const uint32_t *a = hopper_values32(step, 1), *b = hopper_values32(step, 2), *c = hopper_values32(step, 3);
    uint32_t results[HOPPER_LANES];
    if (step->instruction->flags & WSDBG_PTX_FTZ)
        fma_lanes_flushed(results, a, b, c);
    else
        fma_lanes(results, a, b, c);
    hopper_store32(step, 0, results);
    return HOPPER_NEXT;
}

/* ---- signs ---- */

/* The bits of a type that are signs. */
static uint64_t signs_of(enum wsdbg_ptx_type type)
{
    switch (type) {
    case WSDBG_PTX_F64:
        return 1ull << 63;
    case WSDBG_PTX_F32:
        return 1u << 31;
    case WSDBG_PTX_F16X2:
    case WSDBG_PTX_BF16X2:
        return 0x80008000;
    default:
        return 0x8000;
    }
}

/* Subnormal numbers of f32, f16 and f16x2 as zeros. */
static uint64_t flush(uint64_t bits, enum wsdbg_ptx_type type)
{
    if (type == WSDBG_PTX_F32)
        return flushed((uint32_t)bits, 0);
    uint64_t result = bits;
    for (unsigned part = 0; part < (type == WSDBG_PTX_F16X2 ? 2 : 1); part++)
        if (!(bits >> 16 * part & 0x7c00))
            result &= ~(0x3ffull << 16 * part);
    return result;
}

static bool is_nan(uint64_t bits, enum wsdbg_ptx_type type)
{
    return isnan(hopper_float_value(bits, type, 0));
}

/* NaN becomes the canonical one; of f64 it stays, made quiet. */
static uint64_t change_sign(uint64_t bits, enum wsdbg_ptx_type type, bool negate)
{
    const uint64_t sign = signs_of(type);
    if (is_nan(bits, type))
        return type == WSDBG_PTX_F64 ? bits | 1ull << 51 : type == WSDBG_PTX_F32 ? 0x7fffffff : 0x7fff;
    return negate ? bits ^ sign : bits & ~sign;
}

static uint64_t change_signs_of(uint64_t bits, enum wsdbg_ptx_type type, bool negate)
{
    if (type != WSDBG_PTX_F16X2 && type != WSDBG_PTX_BF16X2)
        return change_sign(type == WSDBG_PTX_F64   ? bits
                           : type == WSDBG_PTX_F32 ? bits & UINT32_MAX
                                                   : bits & UINT16_MAX,
                           type, negate);
    const enum wsdbg_ptx_type half = type == WSDBG_PTX_F16X2 ? WSDBG_PTX_F16 : WSDBG_PTX_BF16;
    return change_sign(bits & UINT16_MAX, half, negate) | change_sign(bits >> 16 & UINT16_MAX, half, negate) << 16;
}

static enum hopper_outcome change_signs(struct hopper_step *step, bool negate)
{
    const enum wsdbg_ptx_type type = step->instruction->type;
    HOPPER_LANES_OF (step->lanes) {
        const uint64_t bits = change_signs_of(hopper_source(step, 1, lane), type, negate);
        hopper_result(step, 0, lane, step->instruction->flags & WSDBG_PTX_FTZ ? flush(bits, type) : bits);
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_float_abs(struct hopper_step *step)
{
    return change_signs(step, false);
}

enum hopper_outcome hopper_float_neg(struct hopper_step *step)
{
    return change_signs(step, true);
}

enum hopper_outcome hopper_do_copysign(struct hopper_step *step)
{
    const uint64_t sign = signs_of(step->instruction->type);
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, (hopper_source(step, 1, lane) & sign) | (hopper_source(step, 2, lane) & ~sign));
    return HOPPER_NEXT;
}

/* ---- the rest of the rows ---- */

#define ROW(function, operation)                           \
    enum hopper_outcome function(struct hopper_step *step) \
    {                                                      \
        return each_lane(step, operation);                 \
    }
ROW(hopper_float_min, MIN)
ROW(hopper_float_max, MAX)
ROW(hopper_do_rcp, RCP)
ROW(hopper_do_sqrt, SQRT)
ROW(hopper_do_rsqrt, RSQRT)
ROW(hopper_do_sin, SIN)
ROW(hopper_do_cos, COS)
ROW(hopper_do_lg2, LG2)
ROW(hopper_do_ex2, EX2)
ROW(hopper_do_tanh, TANH)
