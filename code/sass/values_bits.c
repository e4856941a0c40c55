/* values_bits.c - sets of values bit by bit: logic and permutations, where each bit may be known or not.  Pure
 * functions. */
#include "sass/values_parts.h"

#define OFFSET_MASK 0xffffffu /* of a shared address; above it the rank */
#define SELECT_RANK 0x654u
#define A_AND_B 0xc0
#define ALL_NUMBERS ((uint64_t)1 << 32)
enum { OFFSET_BITS = 24, FREE_BITS_MOST = 5 }; /* 2^5 = WSDBG_VALUES_FEW */

struct bits {
    uint32_t known, value; /* value only where known */
};

static struct bits bits_of(const struct wsdbg_values *values)
{
    uint32_t base, stride, count;
    if (values->kind == WSDBG_VALUES_LISTED) {
        struct bits bits = {~(uint32_t)0, values->number[0]};
        for (uint32_t i = 1; i < values->count; i++)
            bits.known &= ~(values->number[i] ^ values->number[0]);
        bits.value &= bits.known;
        return bits;
    }
    if (!wsdbg_values_range(values, &base, &stride, &count))
        return (struct bits){0, 0};
    struct bits bits = {((uint32_t)1 << wsdbg_values_trailing_zeros(stride)) - 1, 0};
    const uint64_t last = base + (uint64_t)(count - 1) * stride;
    if (count && last <= UINT32_MAX) /* nothing is higher than the last one's highest bit */
        for (uint32_t bit = (uint32_t)1 << 31; bit > last; bit >>= 1)
            bits.known |= bit;
    bits.value = base & bits.known & (((uint32_t)1 << wsdbg_values_trailing_zeros(stride)) - 1);
    return bits;
}

static struct wsdbg_values of_bits(struct bits bits)
{
    const uint32_t free_bits = ~bits.known;
    uint32_t numbers[WSDBG_VALUES_FEW];
    size_t count = 0;
    if (!free_bits)
        return wsdbg_values_one(bits.value);
    if (__builtin_popcount(free_bits) > FREE_BITS_MOST) {
        const uint32_t stride = free_bits & -free_bits;
        const uint32_t highest = (uint32_t)1 << (31 - __builtin_clz(free_bits));
        const bool is_low = !(bits.value & ~(highest - 1)); /* no bit above the free ones is set */
        const uint32_t base = bits.value & (stride - 1);
        return wsdbg_values_long_steps(base, stride,
                                       is_low ? (uint64_t)highest * 2 / stride : ALL_NUMBERS / stride + 1);
    }
    for (uint32_t some = free_bits;; some = (some - 1) & free_bits) {
        numbers[count++] = bits.value | some;
        if (!some)
            return wsdbg_values_of_numbers(numbers, count);
    }
}

/* All 32 bits at once: for each row of the table those bits whose inputs may be that row. */
static struct bits logic_of_bits(const struct bits input[3], uint8_t table)
{
    uint32_t may_be[2] = {0, 0};
    for (unsigned row = 0; row < 8; row++) {
        uint32_t possible = ~(uint32_t)0;
        for (unsigned i = 0; i < 3; i++)
            possible &= ~input[i].known | (row >> (2 - i) & 1 ? input[i].value : ~input[i].value);
        may_be[table >> row & 1] |= possible;
    }
    return (struct bits){~(may_be[0] & may_be[1]), may_be[1] & ~may_be[0]};
}

static struct wsdbg_values logic_of_numbers(const struct wsdbg_values *a, const struct wsdbg_values *b,
                                            const struct wsdbg_values *c, uint8_t table)
{
    uint32_t numbers[WSDBG_VALUES_PAIRS];
    size_t count = 0;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            for (uint32_t k = 0; k < c->count; k++) {
                const struct bits input[3] = {
                    {~(uint32_t)0, a->number[i]}, {~(uint32_t)0, b->number[j]}, {~(uint32_t)0, c->number[k]}};
                numbers[count++] = logic_of_bits(input, table).value;
            }
    return wsdbg_values_of_numbers(numbers, count);
}

/* What becomes of the rank that input `which` carries: the rank, nothing where the result does not depend on it (its
 * bits then known), or false if that is not known. */
static bool rank_after(const struct bits input[3], unsigned which, uint8_t table, uint8_t rank, uint8_t *after)
{
    struct bits with[3] = {input[0], input[1], input[2]};
    const uint32_t high = ~OFFSET_MASK;
    with[which].known |= high;
    with[which].value &= OFFSET_MASK;
    const struct bits zeros = logic_of_bits(with, table);
    with[which].value |= high;
    const struct bits ones = logic_of_bits(with, table);
    if ((zeros.known & high) != high || (ones.known & high) != high)
        return false;
    const bool passes = !(zeros.value & high) && (ones.value & high) == high;
    *after = passes ? rank : WSDBG_RANK_NONE;
    return passes || (zeros.value & high) == (ones.value & high);
}

static bool is_offset(const struct wsdbg_values *values)
{
    const struct bits bits = bits_of(values);
    return !(~bits.known & ~OFFSET_MASK) && !(bits.value & ~OFFSET_MASK);
}

struct wsdbg_values wsdbg_values_logic(const struct wsdbg_values *a, const struct wsdbg_values *b,
                                       const struct wsdbg_values *c, uint8_t table)
{
    const struct wsdbg_values *of[3] = {a, b, c};
    struct bits input[3];
    uint8_t rank = WSDBG_RANK_NONE;
    int ranked = -1;
    for (int i = 0; i < 3; i++) {
        if (of[i]->kind == WSDBG_VALUES_NONE)
            return wsdbg_values_none();
        input[i] = bits_of(of[i]);
        if (of[i]->rank == WSDBG_RANK_NONE)
            continue;
        if (ranked >= 0 || !is_offset(of[i]))
            return wsdbg_values_any();
        ranked = i;
    }
    if (ranked >= 0 && !rank_after(input, (unsigned)ranked, table, of[ranked]->rank, &rank))
        return wsdbg_values_any();
    const bool are_listed = a->kind == WSDBG_VALUES_LISTED && b->kind == WSDBG_VALUES_LISTED &&
                            c->kind == WSDBG_VALUES_LISTED && a->count * b->count * c->count <= WSDBG_VALUES_PAIRS;
    struct wsdbg_values result = are_listed ? logic_of_numbers(a, b, c, table) : of_bits(logic_of_bits(input, table));
    if (result.kind != WSDBG_VALUES_ANY)
        result.rank = rank;
    if (table != A_AND_B)
        return result;
    uint32_t mask;
    if (wsdbg_values_is_one(b, &mask))
        return wsdbg_values_as_part_of(a, 0, mask, result);
    return wsdbg_values_is_one(a, &mask) ? wsdbg_values_as_part_of(b, 0, mask, result) : result;
}

static struct wsdbg_values masked(const struct wsdbg_values *values, uint32_t mask)
{
    const struct wsdbg_values bits = wsdbg_values_one(mask), nothing = wsdbg_values_one(0);
    return wsdbg_values_logic(values, &bits, &nothing, A_AND_B);
}

static uint32_t permute(uint32_t a, uint32_t selector, uint32_t c)
{
    const uint64_t bytes = (uint64_t)c << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = selector >> 4 * i & 15;
        const uint32_t byte = (uint32_t)(bytes >> 8 * (nibble & 7)) & 0xff;
        result |= (nibble & 8 ? (byte >> 7) * 0xff : byte) << 8 * i;
    }
    return result;
}

struct wsdbg_values wsdbg_values_permuted(const struct wsdbg_values *a, uint32_t selector, const struct wsdbg_values *c)
{
    uint32_t numbers[WSDBG_VALUES_PAIRS];
    size_t count = 0;
    if (a->kind == WSDBG_VALUES_NONE || c->kind == WSDBG_VALUES_NONE)
        return wsdbg_values_none();
    if (selector == SELECT_RANK) { /* mapa: the same place in the CTA that `a` names */
        /* Steps without end are such steps also modulo 2^24, whatever is added above. */
        const bool is_endless =
            c->kind == WSDBG_VALUES_STEPS && !c->count && wsdbg_values_trailing_zeros(c->number[1]) <= OFFSET_BITS;
        struct wsdbg_values result = is_endless ? *c : masked(c, OFFSET_MASK);
        if (result.kind == WSDBG_VALUES_LISTED || result.kind == WSDBG_VALUES_STEPS)
            result.rank = WSDBG_RANK_OTHER;
        return result;
    }
    if (!wsdbg_values_is_listed(a) || !wsdbg_values_is_listed(c) || !wsdbg_values_are_few_pairs(a, c))
        return wsdbg_values_any();
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < c->count; j++)
            numbers[count++] = permute(a->number[i], selector, c->number[j]);
    return wsdbg_values_of_numbers(numbers, count);
}
