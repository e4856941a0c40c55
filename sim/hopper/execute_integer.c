/* execute_integer.c - integer arithmetic: add, sub, div, rem, abs, neg, min, max, sad, sums with carry; vabsdiff.
 *
 * The same rows with a float type are in execute_float.c.  Results wrap; .sat clamps s32.  What PTX leaves open is as
 * hardware does it: x / 0 is all ones, x % 0 is x.
 */
#include "hopper/float.h"
#include "hopper/integer.h"

/* ---- carries: a bit a lane ---- */

/* d = x + y (+ carry), with the carry out where .cc is written; x - y is x + ~y + 1. */
static enum hopper_outcome add_with_carry(struct hopper_step *step, bool is_subtraction, bool takes_carry)
{
    const bool is_64 = step->op->type_bytes == 8;
    uint32_t carries = step->warp->carries;
    HOPPER_LANES_OF (step->lanes) {
        const uint64_t x = is_64 ? hopper_values64(step, 1)[lane] : hopper_values32(step, 1)[lane];
        uint64_t y = is_64 ? hopper_values64(step, 2)[lane] : hopper_values32(step, 2)[lane];
        if (is_subtraction)
            y = is_64 ? ~y : (uint32_t)~y;
        const bool carry_in = takes_carry ? carries >> lane & 1 : is_subtraction;
        const unsigned __int128 sum = (unsigned __int128)x + y + carry_in;
        const bool carry_out = sum >> (is_64 ? 64 : 32) & 1;
        if (hopper_has_flag(step, WSDBG_PTX_CARRY_OUT))
            carries = (carries & ~(1u << lane)) | (uint32_t)carry_out << lane;
        hopper_result(step, 0, lane, (uint64_t)sum);
    }
    step->warp->carries = carries;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_addc(struct hopper_step *step)
{
    return add_with_carry(step, false, true);
}

enum hopper_outcome hopper_do_subc(struct hopper_step *step)
{
    return add_with_carry(step, true, true);
}

/* ---- add, sub ---- */

/* Two 16-bit numbers in each. */
static uint32_t pair_of(uint32_t low, uint32_t high)
{
    return (low & UINT16_MAX) | high << 16;
}

enum hopper_outcome hopper_do_add(struct hopper_step *step)
{
    if (hopper_has_flag(step, WSDBG_PTX_CARRY_OUT))
        return add_with_carry(step, false, false);
    switch (step->instruction->type) {
    BITS32:
        if (hopper_has_flag(step, WSDBG_PTX_SAT))
            HOPPER_BINARY(32, int32_t, hopper_saturate((int64_t)x + y));
        else
            HOPPER_BINARY(32, uint32_t, x + y);
        return HOPPER_NEXT;
    BITS64:
        HOPPER_BINARY(64, uint64_t, x + y);
        return HOPPER_NEXT;
    BITS16:
        HOPPER_BINARY(32, uint16_t, x + y);
        return HOPPER_NEXT;
    case WSDBG_PTX_U16X2:
    case WSDBG_PTX_S16X2:
        HOPPER_BINARY(32, uint32_t, pair_of(x + y, (x >> 16) + (y >> 16)));
        return HOPPER_NEXT;
    default:
        return hopper_float_add(step);
    }
}

enum hopper_outcome hopper_do_sub(struct hopper_step *step)
{
    if (hopper_has_flag(step, WSDBG_PTX_CARRY_OUT))
        return add_with_carry(step, true, false);
    switch (step->instruction->type) {
    BITS32:
        if (hopper_has_flag(step, WSDBG_PTX_SAT))
            HOPPER_BINARY(32, int32_t, hopper_saturate((int64_t)x - y));
        else
            HOPPER_BINARY(32, uint32_t, x - y);
        return HOPPER_NEXT;
    BITS64:
        HOPPER_BINARY(64, uint64_t, x - y);
        return HOPPER_NEXT;
    BITS16:
        HOPPER_BINARY(32, uint16_t, x - y);
        return HOPPER_NEXT;
    default:
        return hopper_float_sub(step);
    }
}

/* ---- div, rem ---- */

static inline int64_t divide(int64_t x, int64_t y, int64_t least)
{
    if (y == 0)
        return -1;
    return x == least && y == -1 ? least : x / y;
}

static inline int64_t remainder_of(int64_t x, int64_t y)
{
    if (y == 0)
        return -1; /* all ones, as an H200 has it */
    return y == -1 ? 0 : x % y;
}

enum hopper_outcome hopper_do_div(struct hopper_step *step)
{
    switch (step->instruction->type) {
    case WSDBG_PTX_U16:
        HOPPER_BINARY(32, uint16_t, y ? x / y : UINT16_MAX);
        return HOPPER_NEXT;
    case WSDBG_PTX_S16:
        HOPPER_BINARY(32, int16_t, divide(x, y, INT16_MIN));
        return HOPPER_NEXT;
    case WSDBG_PTX_U32:
        HOPPER_BINARY(32, uint32_t, y ? x / y : UINT32_MAX);
        return HOPPER_NEXT;
    case WSDBG_PTX_S32:
        HOPPER_BINARY(32, int32_t, divide(x, y, INT32_MIN));
        return HOPPER_NEXT;
    case WSDBG_PTX_U64:
        HOPPER_BINARY(64, uint64_t, y ? x / y : UINT64_MAX);
        return HOPPER_NEXT;
    case WSDBG_PTX_S64:
        HOPPER_BINARY(64, int64_t, divide(x, y, INT64_MIN));
        return HOPPER_NEXT;
    default:
        return hopper_float_div(step);
    }
}

enum hopper_outcome hopper_do_rem(struct hopper_step *step)
{
    switch (step->instruction->type) {
    case WSDBG_PTX_U16:
        HOPPER_BINARY(32, uint16_t, y ? x % y : UINT16_MAX);
        break;
    case WSDBG_PTX_S16:
        HOPPER_BINARY(32, int16_t, remainder_of(x, y));
        break;
    case WSDBG_PTX_U32:
        HOPPER_BINARY(32, uint32_t, y ? x % y : UINT32_MAX);
        break;
    case WSDBG_PTX_S32:
        HOPPER_BINARY(32, int32_t, remainder_of(x, y));
        break;
    case WSDBG_PTX_U64:
        HOPPER_BINARY(64, uint64_t, y ? x % y : UINT64_MAX);
        break;
    default:
        HOPPER_BINARY(64, int64_t, remainder_of(x, y));
    }
    return HOPPER_NEXT;
}

/* ---- abs, neg, min, max, sad ---- */

enum hopper_outcome hopper_do_abs(struct hopper_step *step)
{
    switch (step->instruction->type) {
    case WSDBG_PTX_S16:
        HOPPER_UNARY(32, int16_t, x < 0 ? -x : x);
        return HOPPER_NEXT;
    case WSDBG_PTX_S32:
        HOPPER_UNARY(32, int32_t, x < 0 ? 0u - (uint32_t)x : (uint32_t)x);
        return HOPPER_NEXT;
    case WSDBG_PTX_S64:
        HOPPER_UNARY(64, int64_t, x < 0 ? 0u - (uint64_t)x : (uint64_t)x);
        return HOPPER_NEXT;
    default:
        return hopper_float_abs(step);
    }
}

enum hopper_outcome hopper_do_neg(struct hopper_step *step)
{
    switch (step->instruction->type) {
    case WSDBG_PTX_S16:
        HOPPER_UNARY(32, uint16_t, 0u - x);
        return HOPPER_NEXT;
    case WSDBG_PTX_S32:
        HOPPER_UNARY(32, uint32_t, 0u - x);
        return HOPPER_NEXT;
    case WSDBG_PTX_S64:
        HOPPER_UNARY(64, uint64_t, 0u - x);
        return HOPPER_NEXT;
    default:
        return hopper_float_neg(step);
    }
}

/* .relu: at least 0. */
static int32_t positive(const struct hopper_step *step, int32_t value)
{
    return value < 0 && hopper_has_flag(step, WSDBG_PTX_RELU) ? 0 : value;
}

static int32_t half_of(uint32_t pair, bool is_high, bool is_signed)
{
    const uint16_t half = (uint16_t)(is_high ? pair >> 16 : pair);
    return is_signed ? (int16_t)half : half;
}

/* The smaller or larger one of each half. */
static uint32_t choose_halves(const struct hopper_step *step, uint32_t x, uint32_t y, bool wants_smaller)
{
    const bool is_signed = step->instruction->type == WSDBG_PTX_S16X2;
    uint32_t halves[2];
    for (unsigned i = 0; i < 2; i++) {
        const int32_t a = half_of(x, i, is_signed), b = half_of(y, i, is_signed);
        halves[i] = (uint32_t)positive(step, (a < b) == wants_smaller ? a : b);
    }
    return pair_of(halves[0], halves[1]);
}

#define MIN_OR_MAX(id, sign)                                                  \
    enum hopper_outcome hopper_do_##id(struct hopper_step *step)              \
    {                                                                         \
        switch (step->instruction->type) {                                    \
        case WSDBG_PTX_U16:                                                   \
            HOPPER_BINARY(32, uint16_t, x sign y ? x : y);                    \
            return HOPPER_NEXT;                                               \
        case WSDBG_PTX_S16:                                                   \
            HOPPER_BINARY(32, int16_t, x sign y ? x : y);                     \
            return HOPPER_NEXT;                                               \
        case WSDBG_PTX_U16X2:                                                 \
        case WSDBG_PTX_S16X2:                                                 \
            HOPPER_BINARY(32, uint32_t, choose_halves(step, x, y, 0 sign 1)); \
            return HOPPER_NEXT;                                               \
        case WSDBG_PTX_U32:                                                   \
            HOPPER_BINARY(32, uint32_t, x sign y ? x : y);                    \
            return HOPPER_NEXT;                                               \
        case WSDBG_PTX_S32:                                                   \
            HOPPER_BINARY(32, int32_t, positive(step, x sign y ? x : y));     \
            return HOPPER_NEXT;                                               \
        case WSDBG_PTX_U64:                                                   \
            HOPPER_BINARY(64, uint64_t, x sign y ? x : y);                    \
            return HOPPER_NEXT;                                               \
        case WSDBG_PTX_S64:                                                   \
            HOPPER_BINARY(64, int64_t, x sign y ? x : y);                     \
            return HOPPER_NEXT;                                               \
        default:                                                              \
            return hopper_float_##id(step);                                   \
        }                                                                     \
    }
MIN_OR_MAX(min, <)
MIN_OR_MAX(max, >)

enum hopper_outcome hopper_do_sad(struct hopper_step *step)
{
    switch (step->instruction->type) {
    case WSDBG_PTX_U16:
        HOPPER_TERNARY(32, uint16_t, z + (x < y ? y - x : x - y));
        break;
    case WSDBG_PTX_S16:
        HOPPER_TERNARY(32, int16_t, z + (x < y ? y - x : x - y));
        break;
    case WSDBG_PTX_U32:
        HOPPER_TERNARY(32, uint32_t, z + (x < y ? y - x : x - y));
        break;
    case WSDBG_PTX_S32:
        HOPPER_TERNARY(32, int32_t, (uint32_t)z + (x < y ? (uint32_t)y - (uint32_t)x : (uint32_t)x - (uint32_t)y));
        break;
    case WSDBG_PTX_U64:
        HOPPER_TERNARY(64, uint64_t, z + (x < y ? y - x : x - y));
        break;
    default:
        HOPPER_TERNARY(64, int64_t, (uint64_t)z + (x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y));
    }
    return HOPPER_NEXT;
}

/* ---- vabsdiff ---- */

/* Of `parts` in each word: side by side, or their sum added to c. */
static uint32_t differences(uint32_t a, uint32_t b, uint32_t c, unsigned parts, bool adds)
{
    const unsigned bits = 32 / parts;
    const uint32_t mask = (1u << bits) - 1;
    uint32_t sum = c, packed = 0;
    for (unsigned shift = 0; shift < 32; shift += bits) {
        const uint32_t x = a >> shift & mask, y = b >> shift & mask, difference = x > y ? x - y : y - x;
        sum += difference;
        packed |= difference << shift;
    }
    return adds ? sum : packed;
}

enum hopper_outcome hopper_do_vabsdiff(struct hopper_step *step)
{
    const unsigned parts = step->instruction->vector_length;
    const bool adds = step->instruction->variant == WSDBG_PTX_V_ADD;
    HOPPER_TERNARY(32, uint32_t, differences(x, y, z, parts, adds));
    return HOPPER_NEXT;
}
