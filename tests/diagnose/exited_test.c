/* exited_test.c - warps that left before they signalled, told by histories: when that is the cause, and what else
 * leaves the same wait behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY
#define PROVEN WSDBG_CONFIDENCE_PROVEN

/* Warp 0 fills, warp 1 takes; one arrival a round unless a kernel says otherwise. */
static struct device *pair_of_warps(uint32_t full_arrivals)
{
    struct device *d = device_create(1, 2, 1, 128);
    device_role(d, PRODUCER, "producer");
    device_role(d, CONSUMER_0, "consumer");
    device_mbarrier(d, FULL, "full", 2, false, 1 << PRODUCER, 1 << CONSUMER_0);
    device_mbarrier(d, EMPTY, "empty", 2, true, 1 << CONSUMER_0, 1 << PRODUCER);
    role(d, 0, 0, PRODUCER);
    role(d, 0, 1, CONSUMER_0);
    for (uint32_t stage = 0; stage < 2; stage++) {
        init(d, 0, 0, FULL, stage, full_arrivals);
        init(d, 0, 0, EMPTY, stage, 1);
    }
    return d;
}

/* The producer fills `filled` slots, the consumer takes `taken` of them and releases those before `released`. */
static struct device *ring(uint32_t filled, uint32_t taken, uint32_t released)
{
    struct device *d = pair_of_warps(1);
    for (uint32_t i = 0; i < filled; i++) {
        wait(d, 0, 0, EMPTY, i % 2, (i / 2 + 1) % 2, i);
        arrive(d, 0, 0, FULL, i % 2, i, 1);
    }
    for (uint32_t i = 0; i < taken; i++) {
        wait(d, 0, 1, FULL, i % 2, i / 2 % 2, i);
        if (i < released)
            arrive(d, 0, 1, EMPTY, i % 2, i, 1);
    }
    return d;
}

static struct device *consumer_left(void)
{
    struct device *d = ring(8, 4, 4);
    leave(d, 0, 1);
    return d;
}

static struct device *producer_never_came(void)
{
    struct device *d = ring(0, 1, 1);
    leave(d, 0, 0);
    return d;
}

/* The consumer took all blocks but did not release the last one, and left; the producer waits for that slot. */
static struct device *last_release_left_out(void)
{
    struct device *d = ring(6, 6, 5);
    wait(d, 0, 0, EMPTY, 0, 0, 6);
    wait(d, 0, 0, EMPTY, 1, 0, 7);
    leave(d, 0, 1);
    return d;
}

/* Both partitions of the producer fill slot 0 and count partitions, not rounds. */
static struct device *two_partitions(void)
{
    struct device *d = pair_of_warps(1);
    arrive(d, 0, 0, FULL, 0, 0, 1);
    arrive(d, 0, 0, FULL, 0, 1, 1);
    work(d, 0, 1, 1000);
    wait(d, 0, 1, FULL, 0, 0, 0);
    leave(d, 0, 0);
    return d;
}

/* The same with a barrier that counts both: both arrivals are meant, and a third round never comes. */
static struct device *two_partitions_counted(void)
{
    struct device *d = pair_of_warps(2);
    arrive(d, 0, 0, FULL, 0, 0, 1);
    arrive(d, 0, 0, FULL, 0, 1, 1);
    wait(d, 0, 1, FULL, 0, 0, 0);
    wait(d, 0, 1, FULL, 0, 1, 2);
    leave(d, 0, 0);
    return d;
}

/* Three tiles of two blocks, the second one empty: for it the consumer releases a slot too many, or not.  The producer
 * is late before the third. */
static struct device *an_empty_tile(bool releases, bool waits_before_release)
{
    struct device *d = pair_of_warps(1);
    for (uint32_t i = 0; i < 4; i++) {
        if (i == 2)
            work(d, 0, 0, 1000);
        wait(d, 0, 0, EMPTY, i % 2, (i / 2 + 1) % 2, i);
        arrive(d, 0, 0, FULL, i % 2, i, 1);
        if (waits_before_release)
            wait(d, 0, 1, FULL, i % 2, i / 2 % 2, i);
        else
            named_arrive(d, 0, 1, 1, 64);
        arrive(d, 0, 1, EMPTY, i % 2, i, 1);
        if (i == 1 && releases)
            arrive(d, 0, 1, EMPTY, 0, 2, 1);
    }
    return d;
}

static struct device *an_empty_tile_is_released(void)
{
    return an_empty_tile(true, true);
}

/* One role reads one tile, the other two; all but the producer stand at the last sync of the block. */
static struct device *tiles_counted_apart(uint32_t threads, bool one_is_elsewhere)
{
    struct device *d = device_create(1, 3, 1, 128);
    device_role(d, PRODUCER, "producer");
    device_role(d, CONSUMER_0, "consumer");
    device_mbarrier(d, FULL, "full", 1, false, 1 << PRODUCER, 1 << CONSUMER_0);
    device_mbarrier(d, EMPTY, "empty", 1, true, 1 << CONSUMER_0, 1 << PRODUCER);
    role(d, 0, 0, PRODUCER);
    role(d, 0, 1, CONSUMER_0);
    init(d, 0, 0, FULL, 0, 1);
    init(d, 0, 0, EMPTY, 0, 1);
    for (uint32_t i = 0; i < 3; i++) {
        tile(d, 0, 0, i, i);
        wait(d, 0, 0, EMPTY, 0, (i + 1) % 2, i);
        arrive(d, 0, 0, FULL, 0, i, 1);
    }
    tile(d, 0, 1, 0, 0);
    wait(d, 0, 1, FULL, 0, 0, 0);
    arrive(d, 0, 1, EMPTY, 0, 0, 1);
    named_sync(d, 0, 0, 0, threads);
    named_sync(d, 0, 1, 0, threads);
    if (one_is_elsewhere)
        named_sync(d, 0, 2, 1, 64);
    named_sync(d, 0, 2, 0, threads);
    return d;
}

static struct device *tiles_counted_less(void)
{
    return tiles_counted_apart(96, false);
}

/* Two CTAs; warp 1 of each says to CTA 0 that it is done, CTA 1's perhaps not.  Warp 0 of CTA 0 waits for both. */
static struct device *cluster_end(uint32_t counted, bool peer_arrives, bool over_cluster, bool peer_stays)
{
    struct device *d = device_create(2, 2, 2, 128);
    device_role(d, PRODUCER, "producer");
    device_role(d, CONSUMER_0, "consumer");
    device_mbarrier(d, FULL, "done", 1, false, 1 << CONSUMER_0, 1 << PRODUCER);
    for (uint32_t cta = 0; cta < 2; cta++) {
        role(d, cta, 0, PRODUCER);
        role(d, cta, 1, CONSUMER_0);
        init(d, cta, 0, FULL, 0, counted);
        for (uint32_t warp = 0; warp < 2; warp++)
            cluster_sync(d, cta, warp);
        if (!over_cluster && cta == 0)
            arrive(d, cta, 1, FULL, 0, 0, 1);
        else if (cta == 0 || peer_arrives)
            arrive_remote(d, cta, 1, FULL, 0, 0, 0);
        if (cta == 1 && peer_stays)
            cluster_sync(d, cta, 1);
        leave(d, cta, 1);
    }
    wait(d, 0, 0, FULL, 0, 0, 0);
    leave(d, 1, 0);
    return d;
}

/* Two CTAs.  In CTA 0 a ring whose stage 1 counts two arrivals; stage 0 was completed by one of its own warps.  CTA 1
 * has nothing to do with it. */
static struct device *ring_beside_a_peer(void)
{
    struct device *d = device_create(2, 2, 2, 128);
    device_mbarrier(d, FULL, "full", 2, false, 0, 0);
    device_mbarrier(d, EMPTY, "empty", 2, true, 0, 0);
    for (uint32_t stage = 0; stage < 2; stage++) {
        init(d, 0, 0, FULL, stage, stage + 1);
        init(d, 0, 0, EMPTY, stage, 1);
    }
    for (uint32_t warp = 0; warp < 4; warp++)
        cluster_sync(d, warp / 2, warp % 2);
    for (uint32_t i = 0; i < 4; i++) {
        wait(d, 0, 0, EMPTY, i % 2, (i / 2 + 1) % 2, i);
        arrive(d, 0, 0, FULL, i % 2, i, 1);
        wait(d, 0, 1, FULL, i % 2, i / 2 % 2, i);
        arrive(d, 0, 1, EMPTY, i % 2, i, 1);
    }
    for (uint32_t warp = 0; warp < 4; warp++)
        cluster_sync(d, warp / 2, warp % 2);
    return d;
}

static struct device *peer_left(void)
{
    return cluster_end(2, false, true, false);
}

static struct device *peer_arrived_count_too_high(void)
{
    return cluster_end(3, true, true, false);
}

static struct device *no_peer_is_meant(void)
{
    return cluster_end(2, false, false, false);
}

static struct device *peer_is_there(void)
{
    return cluster_end(2, false, true, true);
}

/* Two warps arrive in each round.  One leaves after its first. */
static struct device *one_of_two_arrivers_left(bool counted)
{
    struct device *d = device_create(1, 3, 1, 128);
    device_role(d, PRODUCER, "producer");
    device_role(d, CONSUMER_0, "consumer");
    device_mbarrier(d, FULL, "full", 1, false, 1 << PRODUCER, 1 << CONSUMER_0);
    role(d, 0, 0, CONSUMER_0);
    role(d, 0, 1, PRODUCER);
    role(d, 0, 2, PRODUCER);
    init(d, 0, 0, FULL, 0, 2);
    for (uint32_t warp = 0; warp < 3; warp++)
        named_sync(d, 0, warp, 0, 96);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t iteration = counted ? i : WSDBG_NO_ITERATION;
        arrive(d, 0, 1, FULL, 0, iteration, 1);
        if (i == 0)
            arrive(d, 0, 2, FULL, 0, iteration, 1);
        wait(d, 0, 0, FULL, 0, i, iteration);
        wait(d, 0, 1, FULL, 0, i, iteration);
    }
    leave(d, 0, 2);
    return d;
}

static struct device *arriver_left(void)
{
    return one_of_two_arrivers_left(true);
}

/* Nobody knows whether it left before its turn: it may have left out an arrival. */
static struct device *arriver_left_in_some_round(void)
{
    return one_of_two_arrivers_left(false);
}

static const struct row {
    const char *name;
    struct device *(*kernel)(void);
    const char *cause; /* of the first finding */
    enum wsdbg_confidence confidence;
} table[] = {
    {"the consumer counted less rounds and left", consumer_left, "WAKER_EXITED", PROVEN},
    {"the producer left at once", producer_never_came, "WAKER_EXITED", PROVEN},
    {"one of two that arrive left", arriver_left, "WAKER_EXITED", PROVEN},
    {"... in which round is not told", arriver_left_in_some_round, "WAKER_EXITED", LIKELY},
    {"the last release left out", last_release_left_out, "ARRIVE_MISSING", PROVEN},
    {"two arrivals where one completes a phase", two_partitions, "DOUBLE_ARRIVE", PROVEN},
    {"a slot released that nobody filled", an_empty_tile_is_released, "DOUBLE_ARRIVE", PROVEN},
    {"one role read less tiles", tiles_counted_less, "ROLE_DISAGREE", LIKELY},
    {"two arrivals that are counted", two_partitions_counted, "WAKER_EXITED", LIKELY},
    {"a CTA of the cluster left", peer_left, "PEER_EXITED", LIKELY},
    {"a CTA that is not meant", ring_beside_a_peer, "ARRIVE_SHORT", PROVEN},
    {"all CTAs arrived", peer_arrived_count_too_high, "ARRIVE_SHORT", PROVEN},
    /* The warp of the other CTA that has left may have been meant to. */
    {"no arrival goes to another CTA", no_peer_is_meant, "ARRIVE_SHORT", LIKELY},
};

static void each_kernel_gives_its_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct result r = judge(table[i].kernel(), 0, 128);
        assert_true(r.diagnosis.hang);
        const struct wsdbg_finding *first = &r.diagnosis.findings[0];
        if (strcmp(wsdbg_cause_name(first->cause), table[i].cause) != 0 || first->confidence != table[i].confidence)
            fail_msg("%s: %s (%s): %s", table[i].name, wsdbg_cause_name(first->cause),
                     wsdbg_confidence_name(first->confidence), first->sentence);
        for (size_t k = 0; k < r.diagnosis.finding_count; k++)
            if (r.diagnosis.findings[k].confidence == PROVEN)
                assert_string_equal(wsdbg_cause_name(r.diagnosis.findings[k].cause), table[i].cause);
        done(&r);
    }
}

/* Nobody is called guilty of it whose record does not show it. */
static void what_looks_alike_is_not_the_same(void **state)
{
    (void)state;
    static const struct {
        uint32_t kernel; /* 0, 1: no second arrival, no wait before any; 2, 3: another sync, another place */
        enum wsdbg_cause cause;
    } rows[] = {{0, WSDBG_CAUSE_DOUBLE_ARRIVE},
                {1, WSDBG_CAUSE_DOUBLE_ARRIVE},
                {2, WSDBG_CAUSE_ROLE_DISAGREE},
                {3, WSDBG_CAUSE_ROLE_DISAGREE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct device *d = rows[i].kernel < 2 ? an_empty_tile(rows[i].kernel == 1, rows[i].kernel != 1)
                                              : tiles_counted_apart(rows[i].kernel == 2 ? 64 : 96, rows[i].kernel == 3);
        struct result r = judge(d, 0, 128);
        for (size_t k = 0; k < r.diagnosis.finding_count; k++)
            if (r.diagnosis.findings[k].cause == rows[i].cause)
                fail_msg("kernel %u: %s", rows[i].kernel, r.diagnosis.findings[k].sentence);
        done(&r);
    }
}

static void a_cta_that_is_there_has_not_left(void **state)
{
    (void)state;
    struct result r = judge(peer_is_there(), 0, 128);
    assert_true(r.diagnosis.hang);
    for (size_t i = 0; i < r.diagnosis.finding_count; i++) {
        assert_int_not_equal(r.diagnosis.findings[i].cause, WSDBG_CAUSE_PEER_EXITED);
        assert_int_not_equal(r.diagnosis.findings[i].confidence, PROVEN);
    }
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_kernel_gives_its_cause),
                                       cmocka_unit_test(what_looks_alike_is_not_the_same),
                                       cmocka_unit_test(a_cta_that_is_there_has_not_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
