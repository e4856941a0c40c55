/* values.c - see values.h.  Pure functions. */
#include "sass/values_parts.h"

#include <stdlib.h>
#include <string.h>

#define RANK_SHIFT 24
#define ALL_NUMBERS ((uint64_t)1 << 32)

struct wsdbg_values wsdbg_values_none(void)
{
    return (struct wsdbg_values){.kind = WSDBG_VALUES_NONE};
}

struct wsdbg_values wsdbg_values_any(void)
{
    return (struct wsdbg_values){.kind = WSDBG_VALUES_ANY};
}

struct wsdbg_values wsdbg_values_one(uint32_t number)
{
    return (struct wsdbg_values){.kind = WSDBG_VALUES_LISTED, .count = 1, .number = {number}};
}

struct wsdbg_values wsdbg_values_own_rank(void)
{
    return (struct wsdbg_values){.kind = WSDBG_VALUES_OWN_RANK};
}

static int by_number(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool is_ascending(const uint32_t *numbers, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (numbers[i] < numbers[i - 1])
            return false;
    return true;
}

/* Two ascending lists as one. */
static size_t merge(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, uint32_t *out)
{
    size_t i = 0, j = 0, count = 0;
    while (i < a_count || j < b_count) {
        const bool takes_a = j == b_count || (i < a_count && a[i] <= b[j]);
        out[count++] = takes_a ? a[i++] : b[j++];
    }
    return count;
}

/* The set of `count` numbers in any order, which are sorted in place. */
struct wsdbg_values wsdbg_values_of_numbers(uint32_t *numbers, size_t count)
{
    size_t kept = 0;
    uint32_t divisor = 0;
    if (!is_ascending(numbers, count))
        qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < count; i++)
        if (!kept || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    if (kept <= WSDBG_VALUES_FEW) {
        struct wsdbg_values values = {.kind = WSDBG_VALUES_LISTED, .count = (uint32_t)kept};
        memcpy(values.number, numbers, kept * sizeof *numbers);
        return values;
    }
    for (size_t i = 1; i < kept; i++)
        divisor = common_divisor(divisor, numbers[i] - numbers[0]);
    return wsdbg_values_steps(numbers[0], divisor, (numbers[kept - 1] - numbers[0]) / divisor + 1);
}

struct wsdbg_values wsdbg_values_steps(uint32_t base, uint32_t stride, uint32_t count)
{
    if (!stride || count == 1)
        return wsdbg_values_one(base);
    if (stride == 1 && !count)
        return wsdbg_values_any();
    if (!count || count > WSDBG_VALUES_FEW)
        return (struct wsdbg_values){.kind = WSDBG_VALUES_STEPS, .count = count, .number = {base, stride}};
    uint32_t numbers[WSDBG_VALUES_FEW];
    for (uint32_t k = 0; k < count; k++)
        numbers[k] = base + k * stride;
    return wsdbg_values_of_numbers(numbers, count);
}

/* Steps of `count` as a wide number: those that may wrap around become any. */
struct wsdbg_values wsdbg_values_long_steps(uint32_t base, uint32_t stride, uint64_t count)
{
    const bool wraps = count > ALL_NUMBERS || count * stride > ALL_NUMBERS;
    return wsdbg_values_steps(base, stride, wraps ? 0 : (uint32_t)count);
}

bool wsdbg_values_equal(const struct wsdbg_values *a, const struct wsdbg_values *b)
{
    if (a->kind != b->kind || a->rank != b->rank || a->count != b->count || a->form != b->form ||
        a->shift != b->shift || a->mask != b->mask)
        return false;
    const size_t numbers = a->kind == WSDBG_VALUES_LISTED ? a->count : a->kind == WSDBG_VALUES_STEPS ? 2 : 0;
    return memcmp(a->number, b->number, numbers * sizeof *a->number) == 0;
}

bool wsdbg_values_tells_lanes(const struct wsdbg_values *values)
{
    const uint32_t lanes = 31;
    return values->form != WSDBG_FORM_OTHER && !values->shift && (values->mask & lanes) == lanes;
}

struct wsdbg_values wsdbg_values_with_form(const struct wsdbg_values *values, enum wsdbg_values_form form)
{
    struct wsdbg_values result = *values;
    result.form = (uint8_t)form;
    result.mask = form == WSDBG_FORM_OTHER ? 0 : ~(uint32_t)0;
    result.shift = 0;
    return result;
}

/* Gives a result the form that it has as a part of a value: (that >> shift) & mask. */
struct wsdbg_values wsdbg_values_as_part_of(const struct wsdbg_values *whole, unsigned shift, uint32_t mask,
                                            struct wsdbg_values result)
{
    result.form = whole->form;
    result.shift = (uint8_t)(whole->form ? whole->shift + shift : 0);
    result.mask = whole->form ? whole->mask >> shift & mask : 0;
    return result;
}

bool wsdbg_values_is_listed(const struct wsdbg_values *values)
{
    return values->kind == WSDBG_VALUES_LISTED && values->rank == WSDBG_RANK_NONE;
}

bool wsdbg_values_is_one(const struct wsdbg_values *values, uint32_t *number)
{
    if (!wsdbg_values_is_listed(values) || values->count != 1)
        return false;
    *number = values->number[0];
    return true;
}

bool wsdbg_values_range(const struct wsdbg_values *values, uint32_t *base, uint32_t *stride, uint32_t *count)
{
    if (values->kind == WSDBG_VALUES_STEPS) {
        *base = values->number[0];
        *stride = values->number[1];
        *count = values->count;
        return true;
    }
    if (values->kind != WSDBG_VALUES_LISTED || !values->count)
        return false;
    uint32_t divisor = 0;
    for (uint32_t i = 1; i < values->count; i++)
        divisor = common_divisor(divisor, values->number[i] - values->number[0]);
    *base = values->number[0];
    *stride = divisor;
    *count = divisor ? (values->number[values->count - 1] - values->number[0]) / divisor + 1 : 1;
    return true;
}

/* Either is empty: the result is. Either cannot be calculated with: any. */
static bool is_trivial(const struct wsdbg_values *a, const struct wsdbg_values *b, struct wsdbg_values *out)
{
    const bool is_none = a->kind == WSDBG_VALUES_NONE || b->kind == WSDBG_VALUES_NONE;
    *out = is_none ? wsdbg_values_none() : wsdbg_values_any();
    return is_none || a->kind == WSDBG_VALUES_OWN_RANK || b->kind == WSDBG_VALUES_OWN_RANK;
}

/* Of two sets that hold something. */
static struct wsdbg_values union_of(const struct wsdbg_values *a, const struct wsdbg_values *b)
{
    uint32_t numbers[2 * WSDBG_VALUES_FEW], base[2], stride[2], count[2];
    const bool own_and_other = a->rank != WSDBG_RANK_NONE && b->rank != WSDBG_RANK_NONE;
    struct wsdbg_values result = wsdbg_values_any();
    if (a->rank != b->rank && !own_and_other)
        return result;
    if (a->kind == WSDBG_VALUES_LISTED && b->kind == WSDBG_VALUES_LISTED) {
        result = wsdbg_values_of_numbers(numbers, merge(a->number, a->count, b->number, b->count, numbers));
    } else if (wsdbg_values_range(a, &base[0], &stride[0], &count[0]) &&
               wsdbg_values_range(b, &base[1], &stride[1], &count[1])) {
        const int low = base[1] < base[0], high = !low;
        const uint32_t divisor = common_divisor(common_divisor(stride[0], stride[1]), base[high] - base[low]);
        const uint64_t last_low = base[low] + (uint64_t)(count[low] - 1) * stride[low];
        const uint64_t last_high = base[high] + (uint64_t)(count[high] - 1) * stride[high];
        const uint64_t last = last_low > last_high ? last_low : last_high;
        result = !count[0] || !count[1] ? wsdbg_values_steps(base[low], divisor, 0)
                                        : wsdbg_values_long_steps(base[low], divisor, (last - base[low]) / divisor + 1);
    }
    if (result.kind != WSDBG_VALUES_ANY)
        result.rank = a->rank > b->rank ? a->rank : b->rank;
    return result;
}

struct wsdbg_values wsdbg_values_union(const struct wsdbg_values *a, const struct wsdbg_values *b)
{
    if (a->kind == WSDBG_VALUES_NONE || wsdbg_values_equal(a, b))
        return *b;
    if (b->kind == WSDBG_VALUES_NONE)
        return *a;
    const bool have_form = a->form == b->form && a->shift == b->shift && a->mask == b->mask;
    const struct wsdbg_values result = union_of(a, b);
    return have_form ? wsdbg_values_as_part_of(a, 0, ~(uint32_t)0, result) : result;
}

/* Of two ascending lists. */
static bool is_part_of(const struct wsdbg_values *part, const struct wsdbg_values *whole)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < part->count; i++, k++) {
        while (k < whole->count && whole->number[k] < part->number[i])
            k++;
        if (k == whole->count || whole->number[k] != part->number[i])
            return false;
    }
    return true;
}

bool wsdbg_values_add(struct wsdbg_values *to, const struct wsdbg_values *more)
{
    if (more->kind == WSDBG_VALUES_NONE || wsdbg_values_equal(to, more))
        return false;
    const bool are_alike =
        to->rank == more->rank && to->form == more->form && to->shift == more->shift && to->mask == more->mask;
    if (are_alike && to->kind == WSDBG_VALUES_LISTED && more->kind == WSDBG_VALUES_LISTED && is_part_of(more, to))
        return false;
    const struct wsdbg_values both = wsdbg_values_union(to, more);
    if (wsdbg_values_equal(&both, to))
        return false;
    *to = both;
    return true;
}

struct wsdbg_values wsdbg_values_widened(const struct wsdbg_values *values)
{
    uint32_t base, stride, count;
    if (!wsdbg_values_range(values, &base, &stride, &count) || count == 1)
        return *values;
    struct wsdbg_values result = wsdbg_values_steps(base, stride, 0);
    if (result.kind == WSDBG_VALUES_STEPS)
        result.rank = values->rank;
    return result;
}

/* ---- arithmetic ---- */

struct wsdbg_values wsdbg_values_negated(const struct wsdbg_values *values)
{
    uint32_t numbers[WSDBG_VALUES_FEW], base, stride, count;
    if (wsdbg_values_is_listed(values)) {
        for (uint32_t i = 0; i < values->count; i++)
            numbers[i] = -values->number[i];
        return wsdbg_values_of_numbers(numbers, values->count);
    }
    if (values->kind == WSDBG_VALUES_NONE || values->rank != WSDBG_RANK_NONE ||
        !wsdbg_values_range(values, &base, &stride, &count))
        return values->kind == WSDBG_VALUES_NONE ? *values : wsdbg_values_any();
    return wsdbg_values_steps(count ? -(base + (count - 1) * stride) : -base, stride, count);
}

typedef uint32_t operation_fn(uint32_t a, uint32_t b);

static uint32_t add(uint32_t a, uint32_t b)
{
    return a + b;
}
static uint32_t multiply(uint32_t a, uint32_t b)
{
    return a * b;
}
static uint32_t multiply_high(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

bool wsdbg_values_are_few_pairs(const struct wsdbg_values *a, const struct wsdbg_values *b)
{
    return a->kind == WSDBG_VALUES_LISTED && b->kind == WSDBG_VALUES_LISTED &&
           a->count * b->count <= WSDBG_VALUES_PAIRS;
}

/* Of two lists, number by number. */
static struct wsdbg_values of_pairs(const struct wsdbg_values *a, const struct wsdbg_values *b, operation_fn *operation)
{
    uint32_t numbers[WSDBG_VALUES_PAIRS];
    size_t count = 0;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            numbers[count++] = operation(a->number[i], b->number[j]);
    return wsdbg_values_of_numbers(numbers, count);
}

static bool is_zero(const struct wsdbg_values *values)
{
    uint32_t number;
    return wsdbg_values_is_one(values, &number) && number == 0;
}

struct wsdbg_values wsdbg_values_sum(const struct wsdbg_values *a, const struct wsdbg_values *b)
{
    struct wsdbg_values result;
    uint32_t base[2], stride[2], count[2];
    if (is_zero(a) && b->kind == WSDBG_VALUES_OWN_RANK)
        return *b;
    if (is_zero(b) && a->kind == WSDBG_VALUES_OWN_RANK)
        return *a;
    if (is_trivial(a, b, &result) || (a->rank != WSDBG_RANK_NONE && b->rank != WSDBG_RANK_NONE))
        return result;
    if (wsdbg_values_are_few_pairs(a, b)) {
        result = of_pairs(a, b, add);
    } else if (wsdbg_values_range(a, &base[0], &stride[0], &count[0]) &&
               wsdbg_values_range(b, &base[1], &stride[1], &count[1])) {
        const uint32_t divisor = common_divisor(stride[0], stride[1]);
        const uint64_t span = (uint64_t)(count[0] - 1) * stride[0] + (uint64_t)(count[1] - 1) * stride[1];
        result = !count[0] || !count[1] ? wsdbg_values_steps(base[0] + base[1], divisor, 0)
                                        : wsdbg_values_long_steps(base[0] + base[1], divisor, span / divisor + 1);
    }
    if (result.kind != WSDBG_VALUES_ANY)
        result.rank = a->rank | b->rank;
    return result;
}

unsigned wsdbg_values_trailing_zeros(uint32_t number)
{
    return number ? (unsigned)__builtin_ctz(number) : 32;
}

/* Anything that is a multiple of `divisor`'s power of two, plus `base` modulo it. */
static struct wsdbg_values congruent(uint32_t base, unsigned bits)
{
    if (bits >= 32)
        return wsdbg_values_one(base);
    return wsdbg_values_steps(base & (((uint32_t)1 << bits) - 1), (uint32_t)1 << bits, 0);
}

static struct wsdbg_values times(const struct wsdbg_values *values, uint32_t factor)
{
    uint32_t base, stride, count;
    if (!wsdbg_values_range(values, &base, &stride, &count))
        return congruent(0, wsdbg_values_trailing_zeros(factor));
    const uint64_t span = (uint64_t)(count - 1) * stride * (uint64_t)factor;
    if (!count || (uint64_t)(count - 1) * stride > UINT32_MAX || span > UINT32_MAX)
        return congruent(base * factor, wsdbg_values_trailing_zeros(stride) + wsdbg_values_trailing_zeros(factor));
    return wsdbg_values_steps(base * factor, stride * factor, count);
}

struct wsdbg_values wsdbg_values_product(const struct wsdbg_values *a, const struct wsdbg_values *b)
{
    struct wsdbg_values result;
    uint32_t factor;
    if (wsdbg_values_is_one(b, &factor) && factor == 1)
        return *a;
    if (wsdbg_values_is_one(b, &factor) && factor == (uint32_t)1 << RANK_SHIFT)
        return wsdbg_values_left(a, RANK_SHIFT);
    if (is_trivial(a, b, &result) || a->rank != WSDBG_RANK_NONE || b->rank != WSDBG_RANK_NONE)
        return result;
    if (wsdbg_values_are_few_pairs(a, b))
        return of_pairs(a, b, multiply);
    if (wsdbg_values_is_one(b, &factor))
        return times(a, factor);
    return wsdbg_values_is_one(a, &factor) ? times(b, factor) : result;
}

struct wsdbg_values wsdbg_values_high_product(const struct wsdbg_values *a, const struct wsdbg_values *b)
{
    struct wsdbg_values result;
    if (!is_trivial(a, b, &result) && wsdbg_values_is_listed(a) && wsdbg_values_is_listed(b) &&
        wsdbg_values_are_few_pairs(a, b))
        return of_pairs(a, b, multiply_high);
    return result;
}

struct wsdbg_values wsdbg_values_left(const struct wsdbg_values *values, unsigned shift)
{
    if (values->kind == WSDBG_VALUES_OWN_RANK && shift == RANK_SHIFT) {
        struct wsdbg_values result = wsdbg_values_one(0);
        result.rank = WSDBG_RANK_OWN;
        return result;
    }
    if (values->kind == WSDBG_VALUES_NONE || shift >= 32)
        return values->kind == WSDBG_VALUES_NONE ? *values : wsdbg_values_one(0);
    const struct wsdbg_values factor = wsdbg_values_one((uint32_t)1 << shift);
    if (values->rank != WSDBG_RANK_NONE || values->kind == WSDBG_VALUES_OWN_RANK)
        return congruent(0, shift);
    return wsdbg_values_is_listed(values) ? of_pairs(values, &factor, multiply) : times(values, factor.number[0]);
}

static uint32_t shifted_right(uint32_t number, unsigned shift, bool is_signed)
{
    const uint32_t sign = is_signed && number >> 31 ? ~(uint32_t)0 : 0;
    if (shift >= 32)
        return sign;
    return shift ? number >> shift | (sign << (32 - shift)) : number;
}

static struct wsdbg_values right(const struct wsdbg_values *values, unsigned shift, bool is_signed)
{
    uint32_t numbers[WSDBG_VALUES_FEW], base, stride, count;
    if (wsdbg_values_is_listed(values)) {
        for (uint32_t i = 0; i < values->count; i++)
            numbers[i] = shifted_right(values->number[i], shift, is_signed);
        return wsdbg_values_of_numbers(numbers, values->count);
    }
    if (values->rank == WSDBG_RANK_NONE && wsdbg_values_range(values, &base, &stride, &count) && count) {
        const uint64_t last = base + (uint64_t)(count - 1) * stride;
        if (shift < 32 && last <= (is_signed ? INT32_MAX : UINT32_MAX)) {
            const bool is_even = wsdbg_values_trailing_zeros(stride) >= shift;
            const uint32_t step = is_even ? stride >> shift : 1;
            return wsdbg_values_steps(base >> shift, step, (uint32_t)(((last >> shift) - (base >> shift)) / step + 1));
        }
    }
    return is_signed || shift >= 32 ? wsdbg_values_any() : wsdbg_values_steps(0, 1, (uint32_t)1 << (32 - shift));
}

struct wsdbg_values wsdbg_values_right(const struct wsdbg_values *values, unsigned shift, bool is_signed)
{
    if (values->kind == WSDBG_VALUES_NONE || !shift)
        return *values;
    const struct wsdbg_values result = right(values, shift, is_signed);
    return is_signed || shift >= 32 ? result : wsdbg_values_as_part_of(values, shift, ~(uint32_t)0, result);
}

/* ---- conditions ---- */

static unsigned relation_of(uint32_t a, uint32_t b, bool is_signed)
{
    const uint32_t flip = is_signed ? (uint32_t)1 << 31 : 0;
    if (a == b)
        return WSDBG_VALUES_EQUAL;
    return (a ^ flip) < (b ^ flip) ? WSDBG_VALUES_LESS : WSDBG_VALUES_GREATER;
}

struct wsdbg_values wsdbg_values_filtered(const struct wsdbg_values *values, unsigned relations, bool is_signed,
                                          const struct wsdbg_values *other)
{
    uint32_t numbers[WSDBG_VALUES_FEW];
    size_t count = 0;
    if (other->kind == WSDBG_VALUES_NONE)
        return wsdbg_values_none();
    if (!wsdbg_values_is_listed(other))
        return *values;
    if (relations == WSDBG_VALUES_EQUAL && values->rank == WSDBG_RANK_NONE && values->kind != WSDBG_VALUES_LISTED &&
        values->kind != WSDBG_VALUES_NONE)
        return wsdbg_values_as_part_of(values, 0, ~(uint32_t)0, *other);
    if (!wsdbg_values_is_listed(values))
        return *values;
    for (uint32_t i = 0; i < values->count; i++)
        for (uint32_t j = 0; j < other->count; j++)
            if (relation_of(values->number[i], other->number[j], is_signed) & relations) {
                numbers[count++] = values->number[i];
                break;
            }
    return count ? wsdbg_values_as_part_of(values, 0, ~(uint32_t)0, wsdbg_values_of_numbers(numbers, count))
                 : wsdbg_values_none();
}
