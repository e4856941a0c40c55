/* execute_bits.c - logic, shifts, bit fields and counts, byte permutation.
 *
 * Logic on predicates works on whole masks.  Shift amounts beyond the width shift everything out (.wrap of shf wraps).
 */
#include "hopper/values.h"

static unsigned bits_of(const struct hopper_step *step)
{
    return 8 * step->op->type_bytes;
}

/* ---- logic ---- */

#define LOGIC(id, expression)                                                  \
    enum hopper_outcome hopper_do_##id(struct hopper_step *step)               \
    {                                                                          \
        if (step->instruction->type == WSDBG_PTX_PRED) {                       \
            const uint32_t x = hopper_mask(step, 1), y = hopper_mask(step, 2); \
            hopper_store_mask(step, 0, expression);                            \
        } else if (bits_of(step) == 64) {                                      \
            HOPPER_BINARY(64, uint64_t, expression);                           \
        } else {                                                               \
            HOPPER_BINARY(32, uint32_t, expression);                           \
        }                                                                      \
        return HOPPER_NEXT;                                                    \
    }
LOGIC(and, x &y)
LOGIC(or, x | y)
LOGIC(xor, x ^ y)

enum hopper_outcome hopper_do_not(struct hopper_step *step)
{
    if (step->instruction->type == WSDBG_PTX_PRED)
        hopper_store_mask(step, 0, ~hopper_mask(step, 1));
    else if (bits_of(step) == 64)
        HOPPER_UNARY(64, uint64_t, ~x);
    else
        HOPPER_UNARY(32, uint32_t, ~x);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_cnot(struct hopper_step *step)
{
    switch (bits_of(step)) {
    case 64:
        HOPPER_UNARY(64, uint64_t, x == 0);
        break;
    case 32:
        HOPPER_UNARY(32, uint32_t, x == 0);
        break;
    default:
        HOPPER_UNARY(32, uint16_t, x == 0);
    }
    return HOPPER_NEXT;
}

static inline uint32_t look_up(uint32_t x, uint32_t y, uint32_t z, uint32_t table)
{
    uint32_t result = 0;
    for (unsigned row = 0; row < 8; row++)
        if (table >> row & 1)
            result |= (row & 4 ? x : ~x) & (row & 2 ? y : ~y) & (row & 1 ? z : ~z);
    return result;
}

/* With a predicate beside the result, sources begin one operand later. */
enum hopper_outcome hopper_do_lop3(struct hopper_step *step)
{
    const bool has_predicate = step->instruction->flags & WSDBG_PTX_WITH_PREDICATE;
    const unsigned first = has_predicate ? 2 : 1;
    const uint32_t *a = hopper_values32(step, first), *b = hopper_values32(step, first + 1);
    const uint32_t *c = hopper_values32(step, first + 2);
    const uint32_t table = (uint32_t)step->instruction->operands[first + 3].value;
    uint32_t results[HOPPER_LANES], is_set = 0;
    HOPPER_EACH_LANE ()
        results[lane] = look_up(a[lane], b[lane], c[lane], table);
    hopper_store32(step, 0, results);
    if (!has_predicate)
        return HOPPER_NEXT;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        is_set |= (uint32_t)(results[lane] != 0) << lane;
    const uint32_t with = hopper_mask(step, first + 4);
    hopper_store_mask(step, 1, step->instruction->combine == WSDBG_PTX_AND ? is_set & with : is_set | with);
    return HOPPER_NEXT;
}

/* ---- shifts ---- */

/* The amount is always 32 bits wide; the same for all lanes when it is a constant. */
#define SHIFT(width, type, expression)                                                                       \
    do {                                                                                                     \
        const uint##width##_t *const a = hopper_values##width(step, 1);                                      \
        const uint32_t *const amounts = hopper_values32(step, 2);                                            \
        if (step->instruction->operands[2].kind == WSDBG_PTX_OPERAND_IMMEDIATE) {                            \
            const uint32_t by = amounts[0];                                                                  \
            HOPPER_RESULTS(width, const type x = (type)a[lane]; out[lane] = (uint##width##_t)(expression);); \
        } else {                                                                                             \
            HOPPER_RESULTS(width, const type x = (type)a[lane]; const uint32_t by = amounts[lane];           \
                           out[lane] = (uint##width##_t)(expression););                                      \
        }                                                                                                    \
    } while (0)

enum hopper_outcome hopper_do_shl(struct hopper_step *step)
{
    switch (bits_of(step)) {
    case 64:
        SHIFT(64, uint64_t, by < 64 ? x << (by & 63) : 0);
        break;
    case 32:
        SHIFT(32, uint32_t, by < 32 ? x << (by & 31) : 0);
        break;
    default:
        SHIFT(32, uint16_t, by < 16 ? (uint32_t)x << (by & 15) : 0);
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_shr(struct hopper_step *step)
{
    switch (step->instruction->type) {
    case WSDBG_PTX_S64:
        SHIFT(64, int64_t, x >> (by < 64 ? by : 63));
        break;
    case WSDBG_PTX_S32:
        SHIFT(32, int32_t, x >> (by < 32 ? by : 31));
        break;
    case WSDBG_PTX_S16:
        SHIFT(32, int16_t, x >> (by < 16 ? by : 15));
        break;
    case WSDBG_PTX_U64:
    case WSDBG_PTX_B64:
        SHIFT(64, uint64_t, by < 64 ? x >> (by & 63) : 0);
        break;
    case WSDBG_PTX_U16:
    case WSDBG_PTX_B16:
        SHIFT(32, uint16_t, by < 16 ? x >> (by & 15) : 0);
        break;
    default:
        SHIFT(32, uint32_t, by < 32 ? x >> (by & 31) : 0);
    }
    return HOPPER_NEXT;
}

/* shf: the 64 bits y:x shifted; .l gives the high half, .r the low one. */
enum hopper_outcome hopper_do_shf(struct hopper_step *step)
{
    const bool wraps = step->instruction->flags & WSDBG_PTX_SHIFT_WRAP;
    const bool is_left = step->instruction->variant == WSDBG_PTX_V_LEFT;
    const uint32_t *a = hopper_values32(step, 1), *b = hopper_values32(step, 2), *c = hopper_values32(step, 3);
    HOPPER_RESULTS(32, {
        const uint32_t by = wraps ? c[lane] & 31 : c[lane] < 32 ? c[lane] : 32;
        const uint64_t both = (uint64_t)b[lane] << 32 | a[lane];
        out[lane] = is_left ? (uint32_t)((both << by) >> 32) : (uint32_t)(both >> by);
    });
    return HOPPER_NEXT;
}

/* ---- masks, and numbers of any width ---- */

static uint32_t mask_of(uint32_t first, uint32_t count, bool wraps)
{
    if (wraps) {
        first &= 31;
        count &= 31;
    }
    if (first > 31)
        return 0;
    const uint32_t end = count > 31 ? 32 : first + count; /* no larger than 63 */
    return UINT32_MAX << first & (end > 31 ? UINT32_MAX : ~(UINT32_MAX << end));
}

enum hopper_outcome hopper_do_bmsk(struct hopper_step *step)
{
    const bool wraps = step->instruction->flags & WSDBG_PTX_SHIFT_WRAP;
    HOPPER_BINARY(32, uint32_t, mask_of(x, y, wraps));
    return HOPPER_NEXT;
}

static uint32_t extend_from(uint32_t value, uint32_t width, bool is_signed)
{
    if (width > 31)
        return value;
    const uint32_t above = UINT32_MAX << width;
    return is_signed && width && value >> (width - 1) & 1 ? value | above : value & ~above;
}

enum hopper_outcome hopper_do_szext(struct hopper_step *step)
{
    const bool wraps = step->instruction->flags & WSDBG_PTX_SHIFT_WRAP;
    const bool is_signed = step->instruction->type == WSDBG_PTX_S32;
    HOPPER_BINARY(32, uint32_t, extend_from(x, wraps ? y & 31 : y, is_signed));
    return HOPPER_NEXT;
}

/* ---- counts ---- */

/* The result is 32 bits wide whatever the source is. */
#define COUNT(id, of_32, of_64)                                                             \
    enum hopper_outcome hopper_do_##id(struct hopper_step *step)                            \
    {                                                                                       \
        if (bits_of(step) == 64) {                                                          \
            const uint64_t *const a = hopper_values64(step, 1);                             \
            HOPPER_RESULTS(32, const uint64_t x = a[lane]; out[lane] = (uint32_t)(of_64);); \
        } else {                                                                            \
            HOPPER_UNARY(32, uint32_t, of_32);                                              \
        }                                                                                   \
        return HOPPER_NEXT;                                                                 \
    }
COUNT(popc, __builtin_popcount(x), __builtin_popcountll(x))
COUNT(clz, x ? __builtin_clz(x) : 32, x ? __builtin_clzll(x) : 64)

static uint64_t reverse(uint64_t value, unsigned bits)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; i++)
        result |= (value >> i & 1) << (bits - 1 - i);
    return result;
}

enum hopper_outcome hopper_do_brev(struct hopper_step *step)
{
    if (bits_of(step) == 64)
        HOPPER_UNARY(64, uint64_t, reverse(x, 64));
    else
        HOPPER_UNARY(32, uint32_t, reverse(x, 32));
    return HOPPER_NEXT;
}

/* The highest bit that differs from the sign (of unsigned: the highest 1); all ones when there is none. */
static uint32_t find_bit(uint64_t value, unsigned bits, bool is_signed, bool as_shift)
{
    const uint64_t all = bits == 64 ? UINT64_MAX : UINT32_MAX;
    if (is_signed && value >> (bits - 1) & 1)
        value = ~value;
    value &= all;
    if (!value)
        return UINT32_MAX;
    const unsigned highest = 63 - (unsigned)__builtin_clzll(value);
    return as_shift ? bits - 1 - highest : highest;
}

enum hopper_outcome hopper_do_bfind(struct hopper_step *step)
{
    const enum wsdbg_ptx_type type = step->instruction->type;
    const bool is_signed = type == WSDBG_PTX_S32 || type == WSDBG_PTX_S64;
    const bool as_shift = step->instruction->flags & WSDBG_PTX_SHIFT_AMOUNT;
    const unsigned bits = bits_of(step);
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, find_bit(hopper_source(step, 1, lane), bits, is_signed, as_shift));
    return HOPPER_NEXT;
}

/* ---- fields ---- */

/* Of 32 bits the low byte of a place or length counts; of 64 bits all of it (as an H200 does it, not as PTX says). */
static uint32_t amount_mask(unsigned bits)
{
    return bits == 64 ? UINT32_MAX : 0xff;
}

/* `length` bits from bit `at` on; what lies beyond the value is 0, or its sign (the bit that ends the field). */
static uint64_t extract(uint64_t value, unsigned bits, uint32_t at, uint32_t length, bool is_signed)
{
    const uint64_t all = bits == 64 ? UINT64_MAX : UINT32_MAX;
    if (length == 0)
        return 0;
    const uint64_t end = (uint64_t)at + length;
    const uint32_t last = end < bits ? (uint32_t)end - 1 : bits - 1;
    const bool sign = is_signed && value >> last & 1;
    uint64_t mask = 0;
    if (at < bits)
        mask = last - at == 63 ? UINT64_MAX : (1ull << (last - at + 1)) - 1;
    const uint64_t field = at < bits ? (value & all) >> at & mask : 0;
    return (field | (sign ? ~mask : 0)) & all;
}

enum hopper_outcome hopper_do_bfe(struct hopper_step *step)
{
    const enum wsdbg_ptx_type type = step->instruction->type;
    const bool is_signed = type == WSDBG_PTX_S32 || type == WSDBG_PTX_S64;
    const unsigned bits = bits_of(step);
    const uint32_t mask = amount_mask(bits);
    HOPPER_LANES_OF (step->lanes) {
        const uint32_t at = hopper_source(step, 2, lane) & mask, length = hopper_source(step, 3, lane) & mask;
        hopper_result(step, 0, lane, extract(hopper_source(step, 1, lane), bits, at, length, is_signed));
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_bfi(struct hopper_step *step)
{
    const unsigned bits = bits_of(step);
    const uint32_t amount = amount_mask(bits);
    HOPPER_LANES_OF (step->lanes) {
        const uint64_t from = hopper_source(step, 1, lane), into = hopper_source(step, 2, lane);
        const uint32_t at = hopper_source(step, 3, lane) & amount, length = hopper_source(step, 4, lane) & amount;
        uint64_t mask = length >= 64 ? UINT64_MAX : (1ull << length) - 1;
        mask = at < bits ? mask << at : 0;
        hopper_result(step, 0, lane, (into & ~mask) | (at < bits ? from << at & mask : 0));
    }
    return HOPPER_NEXT;
}

/* fns: the position of the offset-th 1 from bit `base` on, upwards or (negative) downwards; all ones when there is
 * none. */
static uint32_t find_set_bit(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0)
        return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    const int32_t towards = offset > 0 ? 1 : -1;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int64_t at = base; at >= 0 && at < 32; at += towards)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

enum hopper_outcome hopper_do_fns(struct hopper_step *step)
{
    HOPPER_TERNARY(32, uint32_t, find_set_bit(x, y, (int32_t)z));
    return HOPPER_NEXT;
}

/* ---- bytes ---- */

static uint32_t pick_bytes(uint32_t low, uint32_t high, uint32_t selectors)
{
    const uint64_t bytes = (uint64_t)high << 32 | low;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t selector = selectors >> 4 * i & 0xf;
        uint32_t byte = (uint32_t)(bytes >> 8 * (selector & 7)) & 0xff;
        if (selector & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* The selectors of the modes of prmt, for each value of the third source's low two bits. */
static uint32_t mode_selectors(enum wsdbg_ptx_variant mode, uint32_t value)
{
    static const uint16_t forward[] = {0x3210, 0x4321, 0x5432, 0x6543}, backward[] = {0x5670, 0x6701, 0x7012, 0x0123};
    static const uint16_t replicate[] = {0x0000, 0x1111, 0x2222, 0x3333}, halves[] = {0x1010, 0x3232, 0x1010, 0x3232};
    static const uint16_t left[] = {0x3210, 0x3211, 0x3222, 0x3333}, right[] = {0x0000, 0x1110, 0x2210, 0x3210};
    switch (mode) {
    case WSDBG_PTX_V_F4E:
        return forward[value & 3];
    case WSDBG_PTX_V_B4E:
        return backward[value & 3];
    case WSDBG_PTX_V_RC8:
        return replicate[value & 3];
    case WSDBG_PTX_V_ECL:
        return left[value & 3];
    case WSDBG_PTX_V_ECR:
        return right[value & 3];
    case WSDBG_PTX_V_RC16:
        return halves[value & 3];
    default:
        return value;
    }
}

enum hopper_outcome hopper_do_prmt(struct hopper_step *step)
{
    const enum wsdbg_ptx_variant mode = step->instruction->variant;
    HOPPER_TERNARY(32, uint32_t, pick_bytes(x, y, mode_selectors(mode, z)));
    return HOPPER_NEXT;
}
