/* reference_test.c - the float64 reference finds what is wrong and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "gemm/reference.h"

enum { M = 5, N = 3, K = 4 };

/* bf16 of small whole numbers. */
#define ZERO 0x0000
#define ONE 0x3f80
#define TWO 0x4000
#define FOUR 0x4080
#define EIGHT 0x4100

static const struct gemm_problem problem = {.m = M, .n = N, .k = K};

static void fill_with(bf16 *matrix, size_t count, bf16 value)
{
    for (size_t i = 0; i < count; i++)
        matrix[i] = value;
}

static void a_right_result_passes(void **state)
{
    bf16 a[M * K], b[N * K], c[M * N];
    (void)state;
    fill_with(a, M * K, ONE);
    fill_with(b, N * K, TWO);
    fill_with(c, M * N, EIGHT); /* 4 x 1 x 2 */
    const struct reference_result result = reference_check(&problem, a, b, c, M, 1);
    assert_int_equal(result.rows_checked, M);
    assert_int_equal(result.wrong, 0);
    assert_true(result.worst == 0);
}

static void one_wrong_element_is_found_and_named(void **state)
{
    bf16 a[M * K], b[N * K], c[M * N];
    (void)state;
    fill_with(a, M * K, ONE);
    fill_with(b, N * K, TWO);
    fill_with(c, M * N, EIGHT);
    c[3 * N + 2] = FOUR;
    const struct reference_result result = reference_check(&problem, a, b, c, M, 1);
    assert_int_equal(result.wrong, 1);
    assert_int_equal(result.row, 3);
    assert_int_equal(result.column, 2);
    assert_true(result.got == 4 && result.wanted == 8);
}

static void a_tile_of_zeros_and_a_nan_are_wrong(void **state)
{
    bf16 a[M * K], b[N * K], c[M * N];
    (void)state;
    fill_with(a, M * K, ONE);
    fill_with(b, N * K, TWO);
    fill_with(c, M * N, ZERO);
    c[0] = 0x7fc0; /* NaN */
    const struct reference_result result = reference_check(&problem, a, b, c, M, 1);
    assert_int_equal(result.wrong, M * N);
}

static void a_sample_has_the_first_and_the_last_row(void **state)
{
    bf16 a[M * K], b[N * K], c[M * N];
    (void)state;
    fill_with(a, M * K, ONE);
    fill_with(b, N * K, TWO);
    fill_with(c, M * N, EIGHT);
    c[(M - 1) * N] = ONE;
    c[0] = ONE;
    assert_int_equal(reference_check(&problem, a, b, c, 2, 1).wrong, 2);
}

static void two_results_may_differ_by_rounding_and_by_no_more(void **state)
{
    (void)state;
    bf16 ours[M * N], theirs[M * N];
    fill_with(ours, M * N, EIGHT);
    fill_with(theirs, M * N, EIGHT);
    theirs[1] = EIGHT + 1; /* one bf16 step */
    struct reference_difference difference = reference_compare(ours, theirs, M * N, K);
    assert_int_equal(difference.other_bits, 1);
    assert_int_equal(difference.beyond, 0);
    theirs[2] = FOUR;
    ours[3] = theirs[3] = 0x7fc0; /* NaN on both sides */
    difference = reference_compare(ours, theirs, M * N, K);
    assert_int_equal(difference.other_bits, 2);
    assert_int_equal(difference.beyond, 2);
}

static void inputs_depend_on_the_seed_alone_and_look_normal(void **state)
{
    static bf16 first[4096], again[4096], other[4096];
    int beyond_two = 0, negative = 0;
    (void)state;
    reference_fill(first, 4096, 7);
    reference_fill(again, 4096, 7);
    reference_fill(other, 4096, 8);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    for (int i = 0; i < 4096; i++) {
        beyond_two += (first[i] & 0x7fff) > TWO;
        negative += first[i] >> 15;
    }
    assert_in_range(negative, 4096 * 45 / 100, 4096 * 55 / 100);
    assert_in_range(beyond_two, 4096 * 3 / 100, 4096 * 6 / 100); /* 4.6 % of a normal distribution */
}

static void the_hash_sees_one_bit_and_the_order(void **state)
{
    bf16 c[4] = {1, 2, 3, 4};
    (void)state;
    const uint64_t hash = reference_hash(c, 4);
    assert_true(hash == reference_hash(c, 4));
    c[2] ^= 1;
    assert_true(hash != reference_hash(c, 4));
    const bf16 swapped[4] = {2, 1, 3, 4};
    assert_true(hash != reference_hash(swapped, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_result_passes),
        cmocka_unit_test(one_wrong_element_is_found_and_named),
        cmocka_unit_test(a_tile_of_zeros_and_a_nan_are_wrong),
        cmocka_unit_test(a_sample_has_the_first_and_the_last_row),
        cmocka_unit_test(two_results_may_differ_by_rounding_and_by_no_more),
        cmocka_unit_test(inputs_depend_on_the_seed_alone_and_look_normal),
        cmocka_unit_test(the_hash_sees_one_bit_and_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
