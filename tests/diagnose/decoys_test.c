/* decoys_test.c - kernels that are healthy, or only slow, wherever they are looked at: no hang. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

/* ---- decoys: no hang ---- */

static void assert_no_hang(struct result *result)
{
    if (result->diagnosis.hang)
        fail_msg("%s: %s", wsdbg_cause_name(result->diagnosis.findings[0].cause),
                 result->diagnosis.findings[0].sentence);
    done(result);
}

/* bar.arrive names the total of both sides; 128 threads arrive, 128 wait. */
static void bar_arrive_names_the_total(void **state)
{
    (void)state;
    for (uint32_t arrivers_busy = 0; arrivers_busy < 2; arrivers_busy++) {
        struct device *d = device_create(1, 8, 1, 128);
        for (uint32_t w = 0; w < 8; w++) {
            role(d, 0, w, w / 4);
            if (w < 4 && arrivers_busy)
                work(d, 0, w, 100000);
            if (w < 4)
                named_arrive(d, 0, w, 2, 256);
            else
                named_sync(d, 0, w, 2, 256);
            work(d, 0, w, 100000);
            leave(d, 0, w);
        }
        struct result r = judge(d, 50, 128);
        assert_no_hang(&r);
    }
}

/* The first wait on an empty barrier passes by design, and the last arrivals are waited for by nobody. */
static void one_arrival_more_than_waits_is_normal(void **state)
{
    (void)state;
    struct gemm gemm = {.ctas = 1, .stages = 4, .tiles = 1, .k_blocks = 6, .cluster = 1};
    struct device *d = gemm_create(gemm);
    work(d, 0, 4, 0);
    struct result r = judge(d, 0, 128);
    assert_int_equal(r.diagnosis.finding_count, 0);
    assert_no_hang(&r);
}

static struct device *a_long_computation(void)
{
    struct device *d = device_create(1, 2, 1, 128);
    device_role(d, 0, "producer");
    device_role(d, 1, "consumer");
    device_mbarrier(d, EMPTY, "empty", 1, true, 1 << 1, 1 << 0);
    role(d, 0, 0, 0);
    role(d, 0, 1, 1);
    init(d, 0, 0, EMPTY, 0, 1);
    wait(d, 0, 0, EMPTY, 0, 1, 0);
    wait(d, 0, 0, EMPTY, 0, 0, 1);
    work(d, 0, 1, 1000000);
    arrive(d, 0, 1, EMPTY, 0, 0, 1);
    return d;
}

/* The record tells that it left its waits, not that it moves. */
static void a_long_computation_is_not_hung(void **state)
{
    (void)state;
    struct result r = judge(a_long_computation(), 100, 128);
    assert_int_equal(r.diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN);
    assert_non_null(strstr(r.diagnosis.findings[0].sentence, "consumer"));
    assert_non_null(strstr(r.diagnosis.findings[0].sentence, "2.0 s"));
    assert_no_hang(&r);
}

static void a_computation_that_recorded_something_just_now_is_slow(void **state)
{
    (void)state;
    struct result r = judge(a_long_computation(), 100, 128);
    wsdbg_diagnosis_deinit(&r.diagnosis);
    r.snapshot.progress_ns = r.snapshot.time_ns - 20000000;
    assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
    assert_int_equal(r.diagnosis.findings[0].cause, WSDBG_CAUSE_SLOW);
    assert_no_hang(&r);
}

/* A healthy GEMM stopped anywhere: nothing is proven, and while slots still move nothing is a hang. */
static void a_healthy_kernel_stopped_anywhere(void **state)
{
    (void)state;
    for (uint32_t cluster = 1; cluster <= 2; cluster++)
        for (uint32_t steps = 1; steps < 500; steps += 7)
            for (uint32_t depth = 0; depth <= 128; depth += 64) {
                struct gemm gemm = {
                    .ctas = 2, .stages = 3, .tiles = 3, .k_blocks = 6, .cluster = cluster, .unnamed = steps % 2};
                struct result r = judge(gemm_create(gemm), steps, depth);
                for (size_t i = 0; i < r.diagnosis.finding_count; i++)
                    if (r.diagnosis.findings[i].confidence == WSDBG_CONFIDENCE_PROVEN)
                        fail_msg("steps %u: %s", steps, r.diagnosis.findings[i].sentence);
                wsdbg_diagnosis_deinit(&r.diagnosis);
                r.snapshot.progress_ns = r.snapshot.time_ns - 20000000;
                assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
                assert_no_hang(&r);
            }
}

/* A healthy GEMM in which one warp computes for long, at any place of its program: all others end up waiting. */
static struct device *some_healthy_kernel(uint32_t which)
{
    struct gemm gemm = {.ctas = 2, .stages = 3, .tiles = 2, .k_blocks = 5};
    if (which == 8)
        return two_async_warps_create(0, 6);
    gemm.unnamed = which & 1;
    gemm.no_iterations = which >> 1 & 1;
    gemm.cluster = 1 + (which >> 2 & 1);
    return gemm_create(gemm);
}

static void a_warp_that_is_slow_anywhere_is_no_hang(void **state)
{
    (void)state;
    static const uint32_t warps[] = {0, 1, 4, 8, 11}, depths[] = {128, 8, 0};
    for (uint32_t which = 0; which <= 8; which++)
        for (size_t i = 0; i < sizeof warps / sizeof *warps; i++)
            for (uint32_t at = 0;; at++) {
                struct device *d = some_healthy_kernel(which);
                if (!device_delay(d, 0, warps[i], at, 1000000)) {
                    device_destroy(d);
                    break;
                }
                struct result r = judge(d, 4000, depths[at % 3]);
                if (r.diagnosis.hang)
                    print_message("kernel %u, warp %u before its operation %u\n", which, warps[i], at);
                assert_no_hang(&r);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar_arrive_names_the_total),
        cmocka_unit_test(one_arrival_more_than_waits_is_normal),
        cmocka_unit_test(a_long_computation_is_not_hung),
        cmocka_unit_test(a_computation_that_recorded_something_just_now_is_slow),
        cmocka_unit_test(a_healthy_kernel_stopped_anywhere),
        cmocka_unit_test(a_warp_that_is_slow_anywhere_is_no_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
