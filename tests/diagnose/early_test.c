/* early_test.c - arrivals before, between and behind the initialisations of a barrier, from the record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "caused.h"

/* Warp 0 arrives after `arrival_steps`, warp 1 initialises after `init_steps` and waits. */
static struct result early_arrival(uint32_t arrival_steps, uint32_t init_steps)
{
    struct device *d = device_create(1, 2, 1, 128);
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    for (uint32_t w = 0; w < 2; w++)
        role(d, 0, w, w);
    work(d, 0, 0, arrival_steps);
    arrive(d, 0, 0, FULL, 0, 0, 1);
    work(d, 0, 1, init_steps);
    init(d, 0, 1, FULL, 0, 1);
    wait(d, 0, 1, FULL, 0, 0, 0);
    for (uint32_t w = 0; w < 2; w++)
        leave(d, 0, w);
    return judge(d, 0, 128);
}

/* Warp 0 arrives once too early and once in time on a barrier for so many; warp 1 waits for a second phase that nobody
 * brings. */
static struct result early_arrival_and_a_second(uint32_t arrivals)
{
    struct device *d = device_create(1, 2, 1, 128);
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    for (uint32_t w = 0; w < 2; w++)
        role(d, 0, w, w);
    arrive(d, 0, 0, FULL, 0, 0, 1);
    work(d, 0, 0, 80);
    arrive(d, 0, 0, FULL, 0, 0, 1);
    work(d, 0, 1, 40);
    init(d, 0, 1, FULL, 0, arrivals);
    wait(d, 0, 1, FULL, 0, 0, 0);
    wait(d, 0, 1, FULL, 0, 1, 1);
    for (uint32_t w = 0; w < 2; w++)
        leave(d, 0, w);
    return judge(d, 0, 128);
}

static void an_arrival_before_the_initialisation(void **state)
{
    (void)state;
    struct result r = early_arrival(1, 40);
    assert_cause(&r, WSDBG_CAUSE_BARRIER_NOT_INIT);
    assert_int_equal(r.diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_PROVEN);
    done(&r);
    /* So close together the record does not show the order. */
    r = early_arrival(1, 4);
    for (size_t i = 0; i < r.diagnosis.finding_count; i++)
        assert_false(r.diagnosis.findings[i].cause == WSDBG_CAUSE_BARRIER_NOT_INIT &&
                     r.diagnosis.findings[i].confidence == WSDBG_CONFIDENCE_PROVEN);
    done(&r);
    r = early_arrival_and_a_second(1);
    assert_int_not_equal(r.diagnosis.finding_count, 0);
    for (size_t i = 0; i < r.diagnosis.finding_count; i++)
        assert_int_not_equal(r.diagnosis.findings[i].cause, WSDBG_CAUSE_BARRIER_NOT_INIT);
    done(&r);
    r = early_arrival_and_a_second(3);
    for (size_t i = 0; i < r.diagnosis.finding_count; i++)
        assert_false(r.diagnosis.findings[i].cause == WSDBG_CAUSE_BARRIER_NOT_INIT &&
                     r.diagnosis.findings[i].confidence == WSDBG_CONFIDENCE_PROVEN);
    done(&r);
    r = early_arrival(40, 1);
    assert_int_equal(r.diagnosis.finding_count, 0);
    done(&r);
}

/* Warp 1 initialises the barrier anew for each of two tiles; the second one lacks the arrival of warp 0.  `marks` more
 * events of warp 1 lie between, which a short record has instead of what came before. */
static struct result second_initialisation(uint32_t marks, uint32_t depth)
{
    struct device *d = device_create(1, 2, 1, 128);
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    for (uint32_t w = 0; w < 2; w++)
        role(d, 0, w, w);
    init(d, 0, 1, FULL, 0, 1);
    named_sync(d, 0, 0, 1, 64);
    named_sync(d, 0, 1, 1, 64);
    arrive(d, 0, 0, FULL, 0, 0, 1);
    wait(d, 0, 1, FULL, 0, 0, 0);
    for (uint32_t i = 0; i < marks; i++)
        tile(d, 0, 1, i, i);
    work(d, 0, 1, 40);
    init(d, 0, 1, FULL, 0, 1);
    wait(d, 0, 1, FULL, 0, 0, 1);
    for (uint32_t w = 0; w < 2; w++)
        leave(d, 0, w);
    return judge(d, 0, depth);
}

static void an_arrival_between_two_initialisations_is_not_early(void **state)
{
    (void)state;
    const uint32_t marks[] = {0, 2, 14, 40};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        struct result r = second_initialisation(marks[i], 16);
        for (size_t k = 0; k < r.diagnosis.finding_count; k++)
            assert_false(r.diagnosis.findings[k].cause == WSDBG_CAUSE_BARRIER_NOT_INIT &&
                         r.diagnosis.findings[k].confidence >= WSDBG_CONFIDENCE_LIKELY);
        done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_before_the_initialisation),
        cmocka_unit_test(an_arrival_between_two_initialisations_is_not_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
