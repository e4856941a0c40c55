/* execute_product.c - integer products: mul, mad, with carry, of 24 bits, dp4a, dp2a.
 *
 * The same rows with a float type are in execute_float.c.
 */
#include "hopper/float.h"
#include "hopper/integer.h"

/* ---- mul, mad ---- */

static void multiply_high(struct hopper_step *step)
{
    switch (step->instruction->type) {
    case WSDBG_PTX_U16:
        HOPPER_BINARY(32, uint16_t, ((uint32_t)x * y) >> 16);
        break;
    case WSDBG_PTX_S16:
        HOPPER_BINARY(32, int16_t, ((int32_t)x * y) >> 16);
        break;
    case WSDBG_PTX_U32:
        HOPPER_BINARY(32, uint32_t, ((uint64_t)x * y) >> 32);
        break;
    case WSDBG_PTX_S32:
        HOPPER_BINARY(32, int32_t, ((int64_t)x * y) >> 32);
        break;
    case WSDBG_PTX_U64:
        HOPPER_BINARY(64, uint64_t, ((unsigned __int128)x * y) >> 64);
        break;
    default:
        HOPPER_BINARY(64, int64_t, ((__int128)x * y) >> 64);
    }
}

/* Products of 32-bit sources in 64 bits, plus a 64-bit addend (NULL = none). */
static void multiply_wide(struct hopper_step *step, const uint64_t *addend)
{
    static const uint64_t zeros[HOPPER_LANES];
    const uint32_t *a = hopper_values32(step, 1), *b = hopper_values32(step, 2);
    const uint64_t *c = addend ? addend : zeros;
    if (step->instruction->type == WSDBG_PTX_S32)
        HOPPER_RESULTS(64, out[lane] = (uint64_t)((int64_t)(int32_t)a[lane] * (int32_t)b[lane]) + c[lane];);
    else
        HOPPER_RESULTS(64, out[lane] = (uint64_t)a[lane] * b[lane] + c[lane];);
}

/* The same of 16-bit sources in 32 bits. */
static void multiply_wide_16(struct hopper_step *step, const uint32_t *addend)
{
    static const uint32_t zeros[HOPPER_LANES];
    const uint32_t *a = hopper_values32(step, 1), *b = hopper_values32(step, 2);
    const uint32_t *c = addend ? addend : zeros;
    if (step->instruction->type == WSDBG_PTX_S16)
        HOPPER_RESULTS(32, out[lane] = (uint32_t)((int16_t)a[lane] * (int16_t)b[lane]) + c[lane];);
    else
        HOPPER_RESULTS(32, out[lane] = (uint32_t)(uint16_t)a[lane] * (uint16_t)b[lane] + c[lane];);
}

static bool is_16(const struct hopper_step *step)
{
    return step->op->type_bytes == 2;
}

enum hopper_outcome hopper_do_mul(struct hopper_step *step)
{
    switch (step->instruction->part) {
    case WSDBG_PTX_WIDE:
        if (is_16(step))
            multiply_wide_16(step, NULL);
        else
            multiply_wide(step, NULL);
        return HOPPER_NEXT;
    case WSDBG_PTX_HIGH:
        multiply_high(step);
        return HOPPER_NEXT;
    default:
        break;
    }
    switch (step->instruction->type) {
    BITS32:
        HOPPER_BINARY(32, uint32_t, x * y);
        return HOPPER_NEXT;
    BITS64:
        HOPPER_BINARY(64, uint64_t, x * y);
        return HOPPER_NEXT;
    BITS16:
        HOPPER_BINARY(32, uint16_t, (uint32_t)x * y);
        return HOPPER_NEXT;
    default:
        return hopper_float_mul(step);
    }
}

static void multiply_high_add(struct hopper_step *step)
{
    const bool is_saturated = hopper_has_flag(step, WSDBG_PTX_SAT);
    switch (step->instruction->type) {
    case WSDBG_PTX_U16:
        HOPPER_TERNARY(32, uint16_t, (((uint32_t)x * y) >> 16) + z);
        break;
    case WSDBG_PTX_S16:
        HOPPER_TERNARY(32, int16_t, (((int32_t)x * y) >> 16) + z);
        break;
    case WSDBG_PTX_U32:
        HOPPER_TERNARY(32, uint32_t, (((uint64_t)x * y) >> 32) + z);
        break;
    case WSDBG_PTX_S32:
        if (is_saturated)
            HOPPER_TERNARY(32, int32_t, hopper_saturate((((int64_t)x * y) >> 32) + z));
        else
            HOPPER_TERNARY(32, int32_t, (uint32_t)(((int64_t)x * y) >> 32) + (uint32_t)z);
        break;
    case WSDBG_PTX_U64:
        HOPPER_TERNARY(64, uint64_t, (((unsigned __int128)x * y) >> 64) + z);
        break;
    default:
        HOPPER_TERNARY(64, int64_t, (uint64_t)(((__int128)x * y) >> 64) + (uint64_t)z);
    }
}

/* mad.cc and madc: the half of the product that is asked for, plus the addend (plus the carry). */
static enum hopper_outcome multiply_add_carry(struct hopper_step *step, bool takes_carry)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const bool is_64 = step->op->type_bytes == 8, is_high = instruction->part == WSDBG_PTX_HIGH;
    const bool is_signed = instruction->type == WSDBG_PTX_S32 || instruction->type == WSDBG_PTX_S64;
    uint32_t carries = step->warp->carries;
    HOPPER_LANES_OF (step->lanes) {
        const uint64_t x = hopper_source(step, 1, lane), y = hopper_source(step, 2, lane),
                       z = hopper_source(step, 3, lane);
        unsigned __int128 product;
        if (is_64)
            product = is_signed ? (unsigned __int128)((__int128)(int64_t)x * (int64_t)y) : (unsigned __int128)x * y;
        else
            product = is_signed ? (uint64_t)((int64_t)(int32_t)x * (int32_t)y) : (uint64_t)(uint32_t)x * (uint32_t)y;
        const uint64_t half =
            is_64 ? (uint64_t)(product >> (is_high ? 64 : 0)) : (uint32_t)(product >> (is_high ? 32 : 0));
        const unsigned __int128 sum =
            (unsigned __int128)half + (is_64 ? z : (uint32_t)z) + (takes_carry ? carries >> lane & 1 : 0);
        if (hopper_has_flag(step, WSDBG_PTX_CARRY_OUT))
            carries = (carries & ~(1u << lane)) | (uint32_t)(sum >> (is_64 ? 64 : 32) & 1) << lane;
        hopper_result(step, 0, lane, (uint64_t)sum);
    }
    step->warp->carries = carries;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_mad(struct hopper_step *step)
{
    if (hopper_has_flag(step, WSDBG_PTX_CARRY_OUT))
        return multiply_add_carry(step, false);
    switch (step->instruction->part) {
    case WSDBG_PTX_WIDE:
        if (is_16(step))
            multiply_wide_16(step, hopper_values32(step, 3));
        else
            multiply_wide(step, hopper_values64(step, 3));
        return HOPPER_NEXT;
    case WSDBG_PTX_HIGH:
        multiply_high_add(step);
        return HOPPER_NEXT;
    default:
        break;
    }
    switch (step->instruction->type) {
    BITS32:
        HOPPER_TERNARY(32, uint32_t, x * y + z);
        return HOPPER_NEXT;
    BITS64:
        HOPPER_TERNARY(64, uint64_t, x * y + z);
        return HOPPER_NEXT;
    BITS16:
        HOPPER_TERNARY(32, uint16_t, (uint32_t)x * y + z);
        return HOPPER_NEXT;
    default:
        return hopper_do_fma(step);
    }
}

enum hopper_outcome hopper_do_madc(struct hopper_step *step)
{
    return multiply_add_carry(step, true);
}

/* ---- 24 bits ---- */

static inline int64_t signed_24(uint32_t value)
{
    return (int32_t)(value << 8) >> 8;
}

static inline int64_t unsigned_24(uint32_t value)
{
    return value & 0xffffff;
}

enum hopper_outcome hopper_do_mul24(struct hopper_step *step)
{
    const unsigned shift = step->instruction->part == WSDBG_PTX_HIGH ? 16 : 0;
    if (step->instruction->type == WSDBG_PTX_S32)
        HOPPER_BINARY(32, uint32_t, (signed_24(x) * signed_24(y)) >> shift);
    else
        HOPPER_BINARY(32, uint32_t, (unsigned_24(x) * unsigned_24(y)) >> shift);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_mad24(struct hopper_step *step)
{
    const unsigned shift = step->instruction->part == WSDBG_PTX_HIGH ? 16 : 0;
    if (hopper_has_flag(step, WSDBG_PTX_SAT))
        HOPPER_TERNARY(32, uint32_t, hopper_saturate(((signed_24(x) * signed_24(y)) >> shift) + (int32_t)z));
    else if (step->instruction->type == WSDBG_PTX_S32)
        HOPPER_TERNARY(32, uint32_t, (uint32_t)((signed_24(x) * signed_24(y)) >> shift) + z);
    else
        HOPPER_TERNARY(32, uint32_t, (uint32_t)((unsigned_24(x) * unsigned_24(y)) >> shift) + z);
    return HOPPER_NEXT;
}

/* ---- dp4a, dp2a ---- */

static int32_t byte_of(uint32_t word, unsigned number, bool is_signed)
{
    const uint8_t byte = (uint8_t)(word >> 8 * number);
    return is_signed ? (int8_t)byte : byte;
}

enum hopper_outcome hopper_do_dp4a(struct hopper_step *step)
{
    const bool is_signed[] = {step->instruction->type == WSDBG_PTX_S32,
                              step->instruction->source_type == WSDBG_PTX_S32};
    const uint32_t *a = hopper_values32(step, 1), *b = hopper_values32(step, 2), *c = hopper_values32(step, 3);
    HOPPER_RESULTS(32, {
        uint32_t sum = c[lane];
        for (unsigned i = 0; i < 4; i++)
            sum += (uint32_t)(byte_of(a[lane], i, is_signed[0]) * byte_of(b[lane], i, is_signed[1]));
        out[lane] = sum;
    });
    return HOPPER_NEXT;
}

static int32_t half_of(uint32_t word, unsigned number, bool is_signed)
{
    const uint16_t half = (uint16_t)(word >> 16 * number);
    return is_signed ? (int16_t)half : half;
}

enum hopper_outcome hopper_do_dp2a(struct hopper_step *step)
{
    const bool is_signed[] = {step->instruction->type == WSDBG_PTX_S32,
                              step->instruction->source_type == WSDBG_PTX_S32};
    const unsigned first = step->instruction->part == WSDBG_PTX_HIGH ? 2 : 0;
    const uint32_t *a = hopper_values32(step, 1), *b = hopper_values32(step, 2), *c = hopper_values32(step, 3);
    HOPPER_RESULTS(32, {
        uint32_t sum = c[lane];
        for (unsigned i = 0; i < 2; i++)
            sum += (uint32_t)(half_of(a[lane], i, is_signed[0]) * byte_of(b[lane], first + i, is_signed[1]));
        out[lane] = sum;
    });
    return HOPPER_NEXT;
}
