/* values.h - how executors reach the 32 values of an operand, and store results of the lanes that take part.
 *
 * Reads: the op's places.  All of it is inline: an executor's loops over lanes are what the simulator's speed is made
 * of.
 */
#ifndef WSDBG_HOPPER_VALUES_H
#define WSDBG_HOPPER_VALUES_H

#include <string.h>

#include "hopper/code.h"

#define HOPPER_ALL UINT32_MAX

/* 1 << lane, from memory: shifts by as many different amounts are slow on many hosts. */
extern const uint32_t hopper_lane_bits[HOPPER_LANES];

#if defined(__clang__)
#define HOPPER_INDEPENDENT
#else
#define HOPPER_INDEPENDENT _Pragma("GCC ivdep")
#endif
/* A loop over lanes without dependencies between them, though results may overwrite sources. */
#define HOPPER_EACH_LANE() HOPPER_INDEPENDENT for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
/* Lanes of a mask, lowest first. */
#define HOPPER_LANES_OF(mask)                                                                    \
    for (uint32_t left_ = (mask), lane = left_ ? (uint32_t)__builtin_ctz(left_) : 0; left_ != 0; \
         left_ &= left_ - 1, lane = left_ ? (uint32_t)__builtin_ctz(left_) : 0)

static inline unsigned char *hopper_place64(const struct hopper_step *step, uint32_t place)
{
    return step->bases[place >> HOPPER_BASE_SHIFT] + (place & HOPPER_OFFSET_MASK);
}

static inline unsigned char *hopper_place32(const struct hopper_step *step, uint32_t place)
{
    return hopper_place64(step, place) + (place >> HOPPER_BASE_SHIFT ? HOPPER_CONSTANT_32 : 0);
}

/* The lanes' values of operand `number`: of a register as wide as asked for, or of anything that is no register. */
static inline const uint32_t *hopper_values32(const struct hopper_step *step, unsigned number)
{
    return (const uint32_t *)(const void *)hopper_place32(step, step->op->places[number]);
}

static inline const uint64_t *hopper_values64(const struct hopper_step *step, unsigned number)
{
    return (const uint64_t *)(const void *)hopper_place64(step, step->op->places[number]);
}

static inline bool hopper_is_wide(const struct hopper_step *step, unsigned number)
{
    const uint32_t place = step->op->places[number];
    return place != WSDBG_PTX_NONE && place & HOPPER_PLACE_WIDE;
}

/* A predicate operand as a mask, with its `!`. */
static inline uint32_t hopper_mask(const struct hopper_step *step, unsigned number)
{
    const struct wsdbg_ptx_operand *operand = &step->instruction->operands[number];
    if (operand->kind != WSDBG_PTX_OPERAND_REGISTER)
        return operand->value ? HOPPER_ALL : 0;
    const uint32_t mask = *hopper_values32(step, number);
    return operand->negated ? ~mask : mask;
}

/* Where results go; NULL for a sink. */
static inline void *hopper_destination(const struct hopper_step *step, unsigned number)
{
    const uint32_t place = step->op->places[number];
    return place == WSDBG_PTX_NONE ? NULL : hopper_place64(step, place);
}

/* Results of some lanes.  Few are stored one by one; of more, all 32 are taken and those of other lanes put back, which
 * the compiler turns into vector instructions. */
#define HOPPER_FEW_LANES 6
static inline bool hopper_are_few(uint32_t lanes)
{
    for (unsigned i = 0; i < HOPPER_FEW_LANES && lanes; i++)
        lanes &= lanes - 1;
    return !lanes;
}

static inline void hopper_blend32(uint32_t *to, const uint32_t *results, uint32_t lanes)
{
    HOPPER_EACH_LANE () {
        const uint32_t keep = lanes & hopper_lane_bits[lane] ? 0 : UINT32_MAX;
        to[lane] = (to[lane] & keep) | (results[lane] & ~keep);
    }
}

static inline void hopper_blend64(uint64_t *to, const uint64_t *results, uint32_t lanes)
{
    HOPPER_EACH_LANE () {
        const uint64_t keep = lanes & hopper_lane_bits[lane] ? 0 : UINT64_MAX;
        to[lane] = (to[lane] & keep) | (results[lane] & ~keep);
    }
}

static inline void hopper_store32(const struct hopper_step *step, unsigned number, const uint32_t results[HOPPER_LANES])
{
    uint32_t *to = hopper_destination(step, number);
    if (!to)
        return;
    if (step->lanes == HOPPER_ALL) {
        memcpy(to, results, HOPPER_BYTES_32);
        return;
    }
    if (!hopper_are_few(step->lanes)) {
        hopper_blend32(to, results, step->lanes);
        return;
    }
    HOPPER_LANES_OF (step->lanes)
        to[lane] = results[lane];
}

static inline void hopper_store64(const struct hopper_step *step, unsigned number, const uint64_t results[HOPPER_LANES])
{
    uint64_t *to = hopper_destination(step, number);
    if (!to)
        return;
    if (step->lanes == HOPPER_ALL) {
        memcpy(to, results, HOPPER_BYTES_64);
        return;
    }
    if (!hopper_are_few(step->lanes)) {
        hopper_blend64(to, results, step->lanes);
        return;
    }
    HOPPER_LANES_OF (step->lanes)
        to[lane] = results[lane];
}

static inline void hopper_store_mask(const struct hopper_step *step, unsigned number, uint32_t mask)
{
    uint32_t *to = hopper_destination(step, number);
    if (to)
        *to = (*to & ~step->lanes) | (mask & step->lanes);
}

/* Results of all lanes from sources 1, 2 and 3: `expression` of x, y and z, read as `type`.  They are computed for
 * every lane, in place when every lane takes part. */
#define HOPPER_RESULTS(width, ...)                                                   \
    do {                                                                             \
        uint##width##_t results[HOPPER_LANES];                                       \
        uint##width##_t *const to = hopper_destination(step, 0);                     \
        uint##width##_t *const out = to && step->lanes == HOPPER_ALL ? to : results; \
        HOPPER_EACH_LANE () {                                                        \
            __VA_ARGS__                                                              \
        }                                                                            \
        if (out == results)                                                          \
            hopper_store##width(step, 0, results);                                   \
    } while (0)
#define HOPPER_UNARY(width, type, expression)                                                            \
    do {                                                                                                 \
        const uint##width##_t *const a = hopper_values##width(step, 1);                                  \
        HOPPER_RESULTS(width, const type x = (type)a[lane]; out[lane] = (uint##width##_t)(expression);); \
    } while (0)
#define HOPPER_BINARY(width, type, expression)                                            \
    do {                                                                                  \
        const uint##width##_t *const a = hopper_values##width(step, 1);                   \
        const uint##width##_t *const b = hopper_values##width(step, 2);                   \
        HOPPER_RESULTS(width, const type x = (type)a[lane]; const type y = (type)b[lane]; \
                       out[lane] = (uint##width##_t)(expression););                       \
    } while (0)
#define HOPPER_TERNARY(width, type, expression)                                                   \
    do {                                                                                          \
        const uint##width##_t *const a = hopper_values##width(step, 1);                           \
        const uint##width##_t *const b = hopper_values##width(step, 2);                           \
        const uint##width##_t *const c = hopper_values##width(step, 3);                           \
        HOPPER_RESULTS(width, const type x = (type)a[lane]; const type y = (type)b[lane];         \
                       const type z = (type)c[lane]; out[lane] = (uint##width##_t)(expression);); \
    } while (0)

#endif
