/* values_test.c - sets of values: whatever numbers are taken from them, what an instruction makes of those is in the
 * set that is calculated; and the sets that barriers' addresses are made of are exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/values.h"

#define ROUNDS 50000

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* Small numbers, multiples, and numbers at both ends. */
static uint32_t random_number(uint64_t *random)
{
    const uint32_t kind = next_random(random) % 4, number = next_random(random);
    return kind == 0 ? number % 16 : kind == 1 ? number % 64 * 8 : kind == 2 ? number : 0u - number % 16;
}

static struct wsdbg_values random_set(uint64_t *random)
{
    const uint32_t kind = next_random(random) % 6;
    if (kind == 0)
        return wsdbg_values_any();
    if (kind == 1) /* any number of steps */
        return wsdbg_values_steps(random_number(random), 1u << next_random(random) % 8, 0);
    if (kind == 2)
        return wsdbg_values_steps(random_number(random), 1 + next_random(random) % 12, 1 + next_random(random) % 200);
    struct wsdbg_values set = wsdbg_values_one(random_number(random));
    for (uint32_t more = next_random(random) % 5; more; more--) {
        const struct wsdbg_values one = wsdbg_values_one(random_number(random));
        set = wsdbg_values_union(&set, &one);
    }
    return set;
}

static uint32_t number_of(const struct wsdbg_values *set, uint64_t *random)
{
    uint32_t base, stride, count;
    if (!wsdbg_values_range(set, &base, &stride, &count))
        return next_random(random);
    if (set->kind == WSDBG_VALUES_LISTED)
        return set->number[next_random(random) % set->count];
    return base + stride * (count ? next_random(random) % count : next_random(random));
}

static bool holds(const struct wsdbg_values *set, uint32_t number)
{
    if (set->kind == WSDBG_VALUES_ANY)
        return true;
    for (uint32_t i = 0; set->kind == WSDBG_VALUES_LISTED && i < set->count; i++)
        if (set->number[i] == number)
            return true;
    if (set->kind != WSDBG_VALUES_STEPS)
        return false;
    const uint32_t distance = number - set->number[0], stride = set->number[1];
    if (!set->count) /* all that is the same modulo the stride's power of two */
        return distance % (stride & -stride) == 0;
    return distance % stride == 0 && distance / stride < set->count;
}

static void assert_holds(const char *what, const struct wsdbg_values *set, uint32_t number, uint32_t a, uint32_t b)
{
    if (!holds(set, number))
        fail_msg("%s of 0x%x and 0x%x is 0x%x, which is not in a set of kind %u, count %u, first 0x%x, 0x%x", what, a,
                 b, number, set->kind, set->count, set->number[0], set->number[1]);
}

static uint32_t logic(uint32_t a, uint32_t b, uint32_t c, uint8_t table)
{
    uint32_t result = 0;
    for (unsigned bit = 0; bit < 32; bit++)
        result |= (table >> ((a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1)) & 1u) << bit;
    return result;
}

static void arithmetic_loses_no_number(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        const struct wsdbg_values left = random_set(&random), right = random_set(&random);
        const uint32_t a = number_of(&left, &random), b = number_of(&right, &random);
        const unsigned shift = next_random(&random) % 32;
        const struct wsdbg_values sum = wsdbg_values_sum(&left, &right), product = wsdbg_values_product(&left, &right);
        const struct wsdbg_values high = wsdbg_values_high_product(&left, &right), minus = wsdbg_values_negated(&left);
        const struct wsdbg_values both = wsdbg_values_union(&left, &right), wide = wsdbg_values_widened(&both);
        const struct wsdbg_values up = wsdbg_values_left(&left, shift), down = wsdbg_values_right(&left, shift, false);
        const struct wsdbg_values shifted = wsdbg_values_right(&left, shift, true);
        assert_holds("the sum", &sum, a + b, a, b);
        assert_holds("the product", &product, a * b, a, b);
        assert_holds("the high product", &high, (uint32_t)((uint64_t)a * b >> 32), a, b);
        assert_holds("the negation", &minus, -a, a, b);
        assert_holds("the union", &both, a, a, b);
        assert_holds("the union", &both, b, a, b);
        assert_holds("the widened union", &wide, b, a, b);
        assert_holds("the left shift", &up, a << shift, a, shift);
        assert_holds("the right shift", &down, a >> shift, a, shift);
        assert_holds("the signed shift", &shifted, (uint32_t)((int64_t)(int32_t)a >> shift), a, shift);
    }
}

static void bitwise_logic_loses_no_number(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (int round = 0; round < ROUNDS; round++) {
        const struct wsdbg_values left = random_set(&random), right = random_set(&random);
        const struct wsdbg_values third = round % 2 ? wsdbg_values_one(random_number(&random)) : random_set(&random);
        const uint32_t a = number_of(&left, &random), b = number_of(&right, &random), c = number_of(&third, &random);
        const uint8_t table = (uint8_t)next_random(&random);
        const struct wsdbg_values result = wsdbg_values_logic(&left, &right, &third, table);
        assert_holds("the logic", &result, logic(a, b, c, table), a, b);
    }
}

static void a_filter_keeps_what_the_condition_allows(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < ROUNDS; round++) {
        const struct wsdbg_values left = random_set(&random), right = random_set(&random);
        const uint32_t a = number_of(&left, &random), b = number_of(&right, &random);
        const bool is_signed = round % 2;
        const bool is_less = is_signed ? (int32_t)a < (int32_t)b : a < b;
        const unsigned relation = a == b ? WSDBG_VALUES_EQUAL : is_less ? WSDBG_VALUES_LESS : WSDBG_VALUES_GREATER;
        const struct wsdbg_values kept = wsdbg_values_filtered(&left, relation, is_signed, &right);
        assert_holds("the filter", &kept, a, a, b);
    }
}

static void assert_range(const struct wsdbg_values *set, uint32_t base, uint32_t stride, uint32_t count)
{
    uint32_t is[3];
    assert_true(wsdbg_values_range(set, &is[0], &is[1], &is[2]));
    assert_int_equal(is[0], base);
    assert_int_equal(is[1], stride);
    assert_int_equal(is[2], count);
}

static void masks_of_anything_are_counted(void **state)
{
    (void)state;
    const struct wsdbg_values any = wsdbg_values_any(), zero = wsdbg_values_one(0);
    const struct {
        uint32_t mask, stride, count;
    } rows[] = {{0x3, 1, 4}, {0x18, 8, 4}, {0x1f, 1, 32}, {0x80000000, 0x80000000, 2}, {0x3f8, 8, 128}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_values mask = wsdbg_values_one(rows[i].mask);
        const struct wsdbg_values result = wsdbg_values_logic(&any, &mask, &zero, 0xc0);
        assert_range(&result, 0, rows[i].stride, rows[i].count);
    }
}

/* slot = iteration % 4 of an array of 8-byte barriers at 0x400, with the rank of the CTA above it. */
static void a_barrier_s_address_keeps_the_rank_apart(void **state)
{
    (void)state;
    const struct wsdbg_values any = wsdbg_values_any(), mask = wsdbg_values_one(3), zero = wsdbg_values_one(0);
    const struct wsdbg_values rank = wsdbg_values_own_rank(), base = wsdbg_values_one(0x400);
    const struct wsdbg_values slot = wsdbg_values_logic(&any, &mask, &zero, 0xc0);
    const struct wsdbg_values offset = wsdbg_values_left(&slot, 3), high = wsdbg_values_left(&rank, 24);
    const struct wsdbg_values start = wsdbg_values_sum(&high, &base), address = wsdbg_values_sum(&start, &offset);
    assert_range(&address, 0x400, 8, 4);
    assert_int_equal(address.rank, WSDBG_RANK_OWN);

    const struct wsdbg_values other = wsdbg_values_one(1);
    const struct wsdbg_values mapped = wsdbg_values_permuted(&other, 0x654, &address);
    assert_range(&mapped, 0x400, 8, 4);
    assert_int_equal(mapped.rank, WSDBG_RANK_OTHER);

    const struct wsdbg_values endless = wsdbg_values_steps(0x438, 8, 0);
    const struct wsdbg_values endless_address = wsdbg_values_sum(&endless, &high);
    const struct wsdbg_values endless_mapped = wsdbg_values_permuted(&other, 0x654, &endless_address);
    assert_range(&endless_mapped, 0x438, 8, 0);
    assert_int_equal(endless_mapped.rank, WSDBG_RANK_OTHER);

    const struct wsdbg_values offset_mask = wsdbg_values_one(0xffffff);
    const struct wsdbg_values stripped = wsdbg_values_logic(&mapped, &offset_mask, &zero, 0xc0);
    assert_range(&stripped, 0x400, 8, 4);
    assert_int_equal(stripped.rank, WSDBG_RANK_NONE);
}

/* As IMAD.U32 R, RZ, RZ, UR copies it. */
static void a_rank_is_copied_by_adding_nothing(void **state)
{
    (void)state;
    const struct wsdbg_values rank = wsdbg_values_own_rank(), zero = wsdbg_values_one(0), one = wsdbg_values_one(1);
    const struct wsdbg_values copy = wsdbg_values_sum(&zero, &rank), again = wsdbg_values_sum(&rank, &zero);
    const struct wsdbg_values next = wsdbg_values_sum(&rank, &one);
    assert_true(wsdbg_values_equal(&copy, &rank));
    assert_true(wsdbg_values_equal(&again, &rank));
    assert_int_equal(next.kind, WSDBG_VALUES_ANY);
}

static void parts_of_a_thread_s_index_tell_lanes_apart_or_do_not(void **state)
{
    (void)state;
    const struct wsdbg_values numbers = wsdbg_values_steps(0, 1, 384), zero = wsdbg_values_one(0);
    const struct wsdbg_values index = wsdbg_values_with_form(&numbers, WSDBG_FORM_THREAD_X);
    const struct wsdbg_values lane_mask = wsdbg_values_one(31), short_mask = wsdbg_values_one(15);
    const struct wsdbg_values lane = wsdbg_values_logic(&index, &lane_mask, &zero, 0xc0);
    const struct wsdbg_values half = wsdbg_values_logic(&index, &short_mask, &zero, 0xc0);
    const struct wsdbg_values warp = wsdbg_values_right(&index, 5, false), sum = wsdbg_values_sum(&lane, &zero);
    assert_true(wsdbg_values_tells_lanes(&index));
    assert_true(wsdbg_values_tells_lanes(&lane));
    assert_false(wsdbg_values_tells_lanes(&half));
    assert_false(wsdbg_values_tells_lanes(&warp));
    assert_false(wsdbg_values_tells_lanes(&sum));
    assert_range(&warp, 0, 1, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_loses_no_number),
        cmocka_unit_test(bitwise_logic_loses_no_number),
        cmocka_unit_test(a_filter_keeps_what_the_condition_allows),
        cmocka_unit_test(masks_of_anything_are_counted),
        cmocka_unit_test(a_barrier_s_address_keeps_the_rank_apart),
        cmocka_unit_test(a_rank_is_copied_by_adding_nothing),
        cmocka_unit_test(parts_of_a_thread_s_index_tell_lanes_apart_or_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
