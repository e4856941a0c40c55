/* plan_test.c - which kernel, tile, cluster and grid the reference GEMM takes for which product. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "gemm/geometry.h"
#include "gemm/plan.h"

#define MULTIPROCESSORS 132 /* of an H100 or H200 */

static void assert_same_plan(struct gemm_plan got, struct gemm_plan wanted)
{
    assert_int_equal(got.schedule, wanted.schedule);
    assert_int_equal(got.columns, wanted.columns);
    assert_int_equal(got.cluster, wanted.cluster);
    assert_int_equal(got.ctas, wanted.ctas);
    assert_int_equal(got.band_rows, wanted.band_rows);
    assert_int_equal(got.transposed, wanted.transposed);
}

/* The plan of `gemm` without options, and with some of a plan given. */
static void what_is_not_given_is_one_cta_a_multiprocessor_and_bands_of_2048_rows(void **state)
{
    static const struct {
        struct gemm_plan given;
        int m, n, k, ctas, band_rows;
    } cases[] = {
        {{.columns = 256, .cluster = 1}, 8192, 8192, 8192, 132, 16},
        {{.columns = 256, .cluster = 1}, 1024, 1024, 1024, 32, 16}, /* no more than tiles */
        {{.columns = 256, .cluster = 1, .ctas = 4}, 1024, 1024, 1024, 4, 16},
        {{.columns = 256, .cluster = 2, .band_rows = 3}, 8192, 8192, 8192, 132, 3},
        {{SCHEDULE_PINGPONG, .columns = 256, .cluster = 2}, 8192, 8192, 8192, 132, 16},
        {{SCHEDULE_PINGPONG, .columns = 256, .cluster = 1}, 1000, 776, 1032, 64, 32},
        {{.columns = 192, .cluster = 1, .transposed = true}, 4096, 256, 64, 44, 16},      /* 2 x 22 tiles */
        {{SCHEDULE_SPLITK, .columns = 128, .cluster = 3}, 512, 512, 4096, 48, 16},        /* a tile for each cluster */
        {{SCHEDULE_SPLITK_LOW, .columns = 64, .cluster = 8}, 2048, 2048, 4096, 8192, 32}, /* more than run at a time */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gemm_plan wanted = cases[i].given;
        wanted.ctas = cases[i].ctas;
        wanted.band_rows = cases[i].band_rows;
        assert_same_plan(gemm_plan_complete(cases[i].given, cases[i].m, cases[i].n, cases[i].k, MULTIPROCESSORS),
                         wanted);
    }
}

/* Every CTA has a k-block.  With one k-block a cluster is one CTA, and there is still one for each tile. */
static void split_k_has_no_more_ctas_a_tile_than_k_blocks(void **state)
{
    static const struct {
        int k, cluster, ctas;
    } cases[] = {{4 * BLOCK_K, 4, 288}, {3 * BLOCK_K, 3, 216}, {BLOCK_K + 8, 2, 144}, {BLOCK_K, 1, 72}, {8, 1, 72}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gemm_plan given = {SCHEDULE_SPLITK, .columns = 64, .cluster = 4};
        const struct gemm_plan got = gemm_plan_complete(given, 768, 768, cases[i].k, 5);
        assert_int_equal(got.cluster, cases[i].cluster);
        assert_int_equal(got.ctas, cases[i].ctas);
    }
}

static void products_get_the_plan_that_is_likely_the_fastest_on_an_h200(void **state)
{
    static const struct {
        int m, n, k;
        struct gemm_plan plan; /* schedule, columns, cluster, ctas, band_rows */
    } cases[] = {
        /* fewer columns of tiles than rows */
        {2048, 2048, 2048, {SCHEDULE_COOPERATIVE, 256, 1, 128, 1, .transposed = false}},
        /* one wave of narrow tiles */
        {8192, 256, 8192, {SCHEDULE_COOPERATIVE, 128, 1, 128, 1, .transposed = false}},
        /* one wave of low tiles */
        {1024, 1024, 1024, {SCHEDULE_PINGPONG, 128, 1, 128, 1, .transposed = false}},
        /* memory and L2 decide */
        {128, 8192, 8192, {SCHEDULE_PINGPONG, 128, 2, 128, 16, .transposed = false}},
        /* 36 waves instead of 37 */
        {16384, 4096, 1024, {SCHEDULE_PINGPONG, 224, 1, 132, 32, .transposed = true}},
        /* few tiles, long rows that do not begin at lines */
        {2104, 368, 7608, {SCHEDULE_STREAMK, 192, 4, 120, 1, .transposed = false}},
        /* 12 tiles, four CTAs each */
        {128, 384, 3776, {SCHEDULE_SPLITK_LOW, 64, 4, 48, 32, .transposed = false}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_same_plan(gemm_plan_choose(cases[i].m, cases[i].n, cases[i].k, MULTIPROCESSORS), cases[i].plan);
}

/* No CTA may wait for one that cannot run, so no more are launched than run at a time. */
static void assert_possible(const struct gemm_plan *plan, int m, int n, int k, int multiprocessors)
{
    const int clusters = plan->ctas / plan->cluster;
    const int tiles = gemm_plan_tiles(plan, m, n);
    assert_true(gemm_plan_exists(plan));
    assert_int_equal(plan->ctas % plan->cluster, 0);
    assert_in_range(plan->ctas, plan->cluster, multiprocessors);
    assert_true(plan->band_rows > 0);
    assert_true(clusters <= (plan->schedule == SCHEDULE_STREAMK ? tiles * divide_up(k, BLOCK_K) : tiles));
}

static void assert_plans_possible(int m, int n, int k, int multiprocessors)
{
    struct gemm_plan plans[GEMM_PLANS_MOST];
    const int count = gemm_plan_all(m, n, k, multiprocessors, plans);
    const struct gemm_plan chosen = gemm_plan_choose(m, n, k, multiprocessors);
    assert_in_range(count, 1, GEMM_PLANS_MOST);
    for (int p = 0; p < count; p++)
        assert_possible(&plans[p], m, n, k, multiprocessors);
    assert_possible(&chosen, m, n, k, multiprocessors);
}

static void every_plan_fits_the_gpu_and_its_clusters_all_have_work(void **state)
{
    static const int sizes[] = {8, 64, 136, 1024, 5000, 65536};
    static const int multiprocessors[] = {1, 2, 3, 4, 5, MULTIPROCESSORS}; /* few: the simulator */
    enum { SIZES = sizeof sizes / sizeof *sizes, GPUS = sizeof multiprocessors / sizeof *multiprocessors };
    (void)state;
    for (int i = 0; i < SIZES * SIZES * SIZES * GPUS; i++)
        assert_plans_possible(sizes[i % SIZES], sizes[i / SIZES % SIZES], sizes[i / SIZES / SIZES % SIZES],
                              multiprocessors[i / SIZES / SIZES / SIZES]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_is_one_cta_a_multiprocessor_and_bands_of_2048_rows),
        cmocka_unit_test(split_k_has_no_more_ctas_a_tile_than_k_blocks),
        cmocka_unit_test(products_get_the_plan_that_is_likely_the_fastest_on_an_h200),
        cmocka_unit_test(every_plan_fits_the_gpu_and_its_clusters_all_have_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
