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

/* What `gemm` runs without options, and with those that it had before it could choose. */
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

static void products_get_the_plan_that_is_likely_the_fastest_on_an_h200(void **state)
{
    static const struct {
        int m, n, k;
        struct gemm_plan plan;
    } cases[] = {
        {2048,
         2048,
         2048,
         {SCHEDULE_COOPERATIVE, .columns = 256, .cluster = 1, .ctas = 128,
          .band_rows = 1}}, /* fewer columns of tiles than rows */
        {8192,
         256,
         8192,
         {SCHEDULE_COOPERATIVE, .columns = 128, .cluster = 1, .ctas = 128,
          .band_rows = 1}}, /* one wave of narrow tiles */
        {1024,
         1024,
         1024,
         {SCHEDULE_PINGPONG, .columns = 128, .cluster = 1, .ctas = 128, .band_rows = 1}}, /* one wave of low tiles */
        {128,
         8192,
         8192,
         {SCHEDULE_PINGPONG, .columns = 128, .cluster = 2, .ctas = 128, .band_rows = 16}}, /* memory and L2 decide */
        {16384,
         4096,
         1024,
         {SCHEDULE_PINGPONG, .columns = 224, .cluster = 1, .ctas = 132, .band_rows = 32,
          .transposed = true}}, /* 36 waves instead of 37 */
        {128,
         384,
         3776,
         {SCHEDULE_SPLITK_LOW, .columns = 96, .cluster = 6, .ctas = 48, .band_rows = 32}}, /* 8 tiles, six CTAs each */
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
        cmocka_unit_test(products_get_the_plan_that_is_likely_the_fastest_on_an_h200),
        cmocka_unit_test(every_plan_fits_the_gpu_and_its_clusters_all_have_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
