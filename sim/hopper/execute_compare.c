/* execute_compare.c - setp, set, selp, slct, testp: comparisons of integers, and of floats with and without NaN.
 *
 * Every comparison is three masks of lanes, less, equal and unordered, from which the answer is put together.
 */
#include <math.h>

#include "hopper/float.h"
#include "hopper/values.h"

struct relation {
    uint32_t less, equal, unordered;
};

#define COLLECT(mask, condition)                               \
    do {                                                       \
        uint32_t mask_ = 0;                                    \
        HOPPER_EACH_LANE ()                                    \
            mask_ |= (condition) ? hopper_lane_bits[lane] : 0; \
        mask = mask_;                                          \
    } while (0)

#define RELATE(width, type)                                                     \
    do {                                                                        \
        const uint##width##_t *const a = hopper_values##width(step, first);     \
        const uint##width##_t *const b = hopper_values##width(step, first + 1); \
        if (wants_less)                                                         \
            COLLECT(relation.less, (type)a[lane] < (type)b[lane]);              \
        if (wants_equal)                                                        \
            COLLECT(relation.equal, (type)a[lane] == (type)b[lane]);            \
    } while (0)

static __attribute__((noinline)) struct relation relate_floats(const struct hopper_step *step, unsigned first,
                                                               enum wsdbg_ptx_type type)
{
    struct relation relation = {0};
    HOPPER_LANES_OF (step->lanes) {
        const double x = hopper_float_source(step, first, type, lane),
                     y = hopper_float_source(step, first + 1, type, lane);
        relation.less |= (uint32_t)(x < y) << lane;
        relation.equal |= (uint32_t)(x == y) << lane;
        relation.unordered |= (uint32_t)(isnan(x) || isnan(y)) << lane;
    }
    return relation;
}

static inline struct relation relate(const struct hopper_step *step, unsigned first, enum wsdbg_ptx_type type)
{
    struct relation relation = {0};
    const enum wsdbg_ptx_compare compare = step->instruction->compare;
    const bool wants_less = compare != WSDBG_PTX_EQ && compare != WSDBG_PTX_NE;
    const bool wants_equal =
        compare != WSDBG_PTX_LT && compare != WSDBG_PTX_LO && compare != WSDBG_PTX_GE && compare != WSDBG_PTX_HS;
    switch (type) {
    case WSDBG_PTX_S32:
        RELATE(32, int32_t);
        break;
    case WSDBG_PTX_U32:
    case WSDBG_PTX_B32:
        RELATE(32, uint32_t);
        break;
    case WSDBG_PTX_S64:
        RELATE(64, int64_t);
        break;
    case WSDBG_PTX_U64:
    case WSDBG_PTX_B64:
        RELATE(64, uint64_t);
        break;
    case WSDBG_PTX_S16:
        RELATE(32, int16_t);
        break;
    case WSDBG_PTX_U16:
    case WSDBG_PTX_B16:
        RELATE(32, uint16_t);
        break;
    default:
        relation = relate_floats(step, first, type);
    }
    return relation;
}

static uint32_t answer(const struct relation *relation, enum wsdbg_ptx_compare compare)
{
    const uint32_t less = relation->less, equal = relation->equal, unordered = relation->unordered;
    switch (compare) {
    case WSDBG_PTX_EQ:
        return equal;
    case WSDBG_PTX_NE:
        return ~equal & ~unordered;
    case WSDBG_PTX_LT:
    case WSDBG_PTX_LO:
        return less;
    case WSDBG_PTX_LE:
    case WSDBG_PTX_LS:
        return less | equal;
    case WSDBG_PTX_GT:
    case WSDBG_PTX_HI:
        return ~(less | equal | unordered);
    case WSDBG_PTX_GE:
    case WSDBG_PTX_HS:
        return ~(less | unordered);
    case WSDBG_PTX_EQU:
        return equal | unordered;
    case WSDBG_PTX_NEU:
        return ~equal;
    case WSDBG_PTX_LTU:
        return less | unordered;
    case WSDBG_PTX_LEU:
        return less | equal | unordered;
    case WSDBG_PTX_GTU:
        return ~(less | equal);
    case WSDBG_PTX_GEU:
        return ~less;
    case WSDBG_PTX_NUM:
        return ~unordered;
    case WSDBG_PTX_NAN:
        return unordered;
    }
    return 0;
}

static uint32_t combine(const struct hopper_step *step, uint32_t mask, unsigned with)
{
    switch (step->instruction->combine) {
    case WSDBG_PTX_AND:
        return mask & hopper_mask(step, with);
    case WSDBG_PTX_OR:
        return mask | hopper_mask(step, with);
    case WSDBG_PTX_XOR:
        return mask ^ hopper_mask(step, with);
    default:
        return mask;
    }
}

/* Pairs of halves: p is of the low ones, q of the high ones. */
static enum hopper_outcome compare_pairs(struct hopper_step *step, bool has_second)
{
    const enum wsdbg_ptx_type half = step->instruction->type == WSDBG_PTX_F16X2 ? WSDBG_PTX_F16 : WSDBG_PTX_BF16;
    const unsigned first = has_second ? 2 : 1;
    const uint32_t *a = hopper_values32(step, first), *b = hopper_values32(step, first + 1);
    for (unsigned part = 0; part < (has_second ? 2 : 1); part++) {
        struct relation relation = {0};
        HOPPER_LANES_OF (step->lanes) {
            const double x = hopper_float_value(a[lane] >> 16 * part, half, step->instruction->flags);
            const double y = hopper_float_value(b[lane] >> 16 * part, half, step->instruction->flags);
            relation.less |= (uint32_t)(x < y) << lane;
            relation.equal |= (uint32_t)(x == y) << lane;
            relation.unordered |= (uint32_t)(isnan(x) || isnan(y)) << lane;
        }
        hopper_store_mask(step, part, combine(step, answer(&relation, step->instruction->compare), first + 2));
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_setp(struct hopper_step *step)
{
    const enum wsdbg_ptx_type type = step->instruction->type;
    const bool has_second = step->instruction->flags & WSDBG_PTX_WITH_PREDICATE;
    if (type == WSDBG_PTX_F16X2 || type == WSDBG_PTX_BF16X2)
        return compare_pairs(step, has_second);
    const unsigned first = has_second ? 2 : 1;
    const struct relation relation = relate(step, first, type);
    const uint32_t mask = answer(&relation, step->instruction->compare);
    const uint32_t one = combine(step, mask, first + 2), other = has_second ? combine(step, ~mask, first + 2) : 0;
    hopper_store_mask(step, 0, one);
    if (has_second)
        hopper_store_mask(step, 1, other);
    return HOPPER_NEXT;
}

static uint64_t truth_of(enum wsdbg_ptx_type type)
{
    switch (type) {
    case WSDBG_PTX_F32:
        return 0x3f800000;
    case WSDBG_PTX_F16:
        return 0x3c00;
    case WSDBG_PTX_BF16:
        return 0x3f80;
    default:
        return UINT32_MAX;
    }
}

/* set of pairs: each half by itself. */
static enum hopper_outcome set_pairs(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const enum wsdbg_ptx_type half = instruction->source_type == WSDBG_PTX_F16X2 ? WSDBG_PTX_F16 : WSDBG_PTX_BF16;
    const uint32_t truth = instruction->type == WSDBG_PTX_F16X2    ? 0x3c00
                           : instruction->type == WSDBG_PTX_BF16X2 ? 0x3f80
                                                                   : UINT16_MAX;
    HOPPER_LANES_OF (step->lanes) {
        uint32_t result = 0;
        for (unsigned part = 0; part < 2; part++) {
            const double x =
                hopper_float_value(hopper_source(step, 1, lane) >> 16 * part & UINT16_MAX, half, instruction->flags);
            const double y =
                hopper_float_value(hopper_source(step, 2, lane) >> 16 * part & UINT16_MAX, half, instruction->flags);
            const struct relation relation = {x < y, x == y, isnan(x) || isnan(y)};
            const uint32_t mask = (answer(&relation, instruction->compare) & 1) << lane;
            result |= (combine(step, mask, 3) >> lane & 1 ? truth : 0) << 16 * part;
        }
        hopper_result(step, 0, lane, result);
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_set(struct hopper_step *step)
{
    const enum wsdbg_ptx_type source = step->instruction->source_type;
    if (source == WSDBG_PTX_F16X2 || source == WSDBG_PTX_BF16X2)
        return set_pairs(step);
    const struct relation relation = relate(step, 1, source);
    const uint32_t mask = combine(step, answer(&relation, step->instruction->compare), 3);
    const uint64_t truth = truth_of(step->instruction->type);
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, mask >> lane & 1 ? truth : 0);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_selp(struct hopper_step *step)
{
    const uint32_t mask = hopper_mask(step, 3);
    if (step->op->type_bytes == 8)
        HOPPER_BINARY(64, uint64_t, mask & hopper_lane_bits[lane] ? x : y);
    else
        HOPPER_BINARY(32, uint32_t, mask & hopper_lane_bits[lane] ? x : y);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_slct(struct hopper_step *step)
{
    const uint32_t *by = hopper_values32(step, 3);
    uint32_t mask = 0;
    HOPPER_LANES_OF (step->lanes) {
        bool is_positive = (int32_t)by[lane] >= 0;
        if (step->instruction->source_type == WSDBG_PTX_F32) /* -0 is >= 0, NaN is not */
            is_positive = hopper_float_value(by[lane], WSDBG_PTX_F32, step->instruction->flags) >= 0;
        mask |= (uint32_t)is_positive << lane;
    }
    if (step->op->type_bytes == 8)
        HOPPER_BINARY(64, uint64_t, mask & hopper_lane_bits[lane] ? x : y);
    else
        HOPPER_BINARY(32, uint32_t, mask & hopper_lane_bits[lane] ? x : y);
    return HOPPER_NEXT;
}

static bool is_such(double value, enum wsdbg_ptx_type type, enum wsdbg_ptx_variant variant)
{
    const double least_normal = type == WSDBG_PTX_F32 ? 0x1p-126 : 0x1p-1022;
    switch (variant) {
    case WSDBG_PTX_V_FINITE:
        return isfinite(value);
    case WSDBG_PTX_V_INFINITE:
        return isinf(value);
    case WSDBG_PTX_V_NUMBER:
        return !isnan(value);
    case WSDBG_PTX_V_NOT_A_NUMBER:
        return isnan(value);
    case WSDBG_PTX_V_NORMAL:
        return isfinite(value) && (value == 0 || fabs(value) >= least_normal); /* an H200 counts 0 among them */
    default:
        return value != 0 && fabs(value) < least_normal;
    }
}

enum hopper_outcome hopper_do_testp(struct hopper_step *step)
{
    const enum wsdbg_ptx_type type = step->instruction->type;
    uint32_t mask = 0;
    HOPPER_LANES_OF (step->lanes)
        mask |= (uint32_t)is_such(hopper_float_source(step, 1, type, lane), type, step->instruction->variant) << lane;
    hopper_store_mask(step, 0, mask);
    return HOPPER_NEXT;
}
