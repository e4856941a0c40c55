/* named_test.c - named barriers, block-wide syncs and the cluster barrier from the record: kernels whose participants
 * do not add up, and neighbours of theirs that stop, or do not, for another reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

enum { LONG = 200, LONGER = 1000 };
#define NOBODY UINT32_MAX

/* ---- kernels ---- */

static struct device *cta_of(uint32_t warps)
{
    struct device *d = device_create(1, warps, 1, 128);
    device_role(d, PRODUCER, "producer");
    device_role(d, CONSUMER_0, "consumer");
    device_role(d, CONSUMER_1, "epilogue");
    return d;
}

static void all_leave(struct device *d, uint32_t warps)
{
    for (uint32_t w = 0; w < warps; w++)
        leave(d, 0, w);
}

/* Warps 0 to `users` - 1 sync `times` times on a barrier for two of them. */
static struct device *in_pairs(uint32_t users, uint32_t times)
{
    struct device *d = cta_of(8);
    for (uint32_t w = 0; w < users; w++) {
        role(d, 0, w, CONSUMER_1);
        for (uint32_t i = 0; i < times; i++)
            named_sync(d, 0, w, 2, 64);
    }
    all_leave(d, 8);
    return d;
}

static struct device *five_on_a_barrier_for_two(void)
{
    return in_pairs(5, 1);
}

static struct device *five_on_a_barrier_for_two_in_a_loop(void)
{
    return in_pairs(5, 3);
}

static struct device *four_on_a_barrier_for_two(void)
{
    return in_pairs(4, 3);
}

/* Three warps wait for the fourth of their group, which is kept from coming, or has left after `rounds` of two. */
static struct device *three_of_four(bool fourth_exits, uint32_t its_role, uint32_t rounds)
{
    struct device *d = cta_of(4);
    device_mbarrier(d, FULL, "full", 1, false, 1 << PRODUCER, 1 << CONSUMER_0);
    for (uint32_t w = 0; w < 4; w++) {
        role(d, 0, w, w < 3 ? CONSUMER_1 : its_role);
        if (w == 0)
            init(d, 0, w, FULL, 0, 1);
        for (uint32_t i = 0; i < (w < 3 ? rounds + 1 : rounds); i++)
            named_sync(d, 0, w, 3, 128);
        if (w == 3 && !fourth_exits)
            wait(d, 0, w, FULL, 0, 0, 0);
    }
    all_leave(d, 4);
    return d;
}

static struct device *fourth_waits_elsewhere(void)
{
    return three_of_four(false, CONSUMER_0, 0);
}

/* Nobody else ever comes, and three are too few. */
static struct device *fourth_has_left(void)
{
    return three_of_four(true, CONSUMER_0, 0);
}

/* It should have come, as it is of their role. */
static struct device *mate_has_left(void)
{
    return three_of_four(true, CONSUMER_1, 0);
}

static struct device *fourth_left_after_a_round(void)
{
    return three_of_four(true, CONSUMER_0, 1);
}

/* Two pairs on one id, with delays that let warps of both meet: 0 with 2, then 2 with 1; 3 is left. */
static struct device *two_pairs(uint32_t id_of_second)
{
    struct device *d = cta_of(4);
    for (uint32_t w = 0; w < 4; w++) {
        role(d, 0, w, CONSUMER_1);
        work(d, 0, w, w == 1 ? LONG : w == 3 ? LONGER : 0);
        for (uint32_t i = 0; i < (w < 2 ? 1u : 2u); i++)
            named_sync(d, 0, w, w < 2 ? 3 : id_of_second, 64);
    }
    all_leave(d, 4);
    return d;
}

static struct device *two_pairs_with_one_id(void)
{
    return two_pairs(3);
}

static struct device *two_pairs_with_two_ids(void)
{
    return two_pairs(4);
}

/* Two roles of two warps, each twice on one id: 0 meets 2, then 1; 1 meets 2; 3 is left with two rounds to go. */
static struct device *two_roles_with_one_id(void)
{
    struct device *d = cta_of(4);
    for (uint32_t w = 0; w < 4; w++) {
        role(d, 0, w, w < 2 ? CONSUMER_0 : CONSUMER_1);
        work(d, 0, w, w == 1 ? LONG : w == 3 ? LONGER : 0);
        for (uint32_t i = 0; i < 2; i++) {
            named_sync(d, 0, w, 3, 64);
            work(d, 0, w, w == 2 ? 2 * LONG : 0);
        }
    }
    all_leave(d, 4);
    return d;
}

/* Two groups in turns on one id, in order by another one, as for an epilogue that only one group does at a time; one
 * warp of the second group leaves before its last turn. */
static struct device *turns_on_one_id(bool one_leaves_early)
{
    struct device *d = cta_of(8);
    for (uint32_t turn = 0; turn < 3; turn++)
        for (uint32_t w = 0; w < 8; w++) {
            const uint32_t group = w / 4;
            if (turn == 2 && w == 7 && one_leaves_early)
                continue;
            if (turn + group > 0)
                named_sync(d, 0, w, 2 + group, 256);
            named_sync(d, 0, w, 1, 128);
            named_arrive(d, 0, w, 3 - group, 256);
        }
    all_leave(d, 8);
    return d;
}

static struct device *ordered_turns(void)
{
    return turns_on_one_id(false);
}

static struct device *ordered_turns_one_left(void)
{
    return turns_on_one_id(true);
}

/* Eight warps hand over twice to four, which come late. */
static struct device *hand_over(uint32_t ids)
{
    struct device *d = cta_of(12);
    for (uint32_t w = 0; w < 12; w++) {
        role(d, 0, w, w < 8 ? CONSUMER_0 : CONSUMER_1);
        work(d, 0, w, w < 8 ? 0 : LONG);
        for (uint32_t tile = 0; tile < 2; tile++)
            if (w < 8)
                named_arrive(d, 0, w, 1 + tile % ids, 384);
            else
                named_sync(d, 0, w, 1 + tile % ids, 384);
        named_sync(d, 0, w, 0, 384);
    }
    all_leave(d, 12);
    return d;
}

static struct device *hand_over_on_one_id(void)
{
    return hand_over(1);
}

static struct device *hand_over_on_two_ids(void)
{
    return hand_over(2);
}

/* 128 threads arrive and 128 sync on a count of 256; the arriving ones do a round too few. */
static struct device *hand_over_once_too_few(void)
{
    struct device *d = cta_of(8);
    for (uint32_t w = 0; w < 8; w++) {
        role(d, 0, w, w < 4 ? PRODUCER : CONSUMER_0);
        for (uint32_t i = 0; i < (w < 4 ? 2u : 3u); i++)
            if (w < 4)
                named_arrive(d, 0, w, 1, 256);
            else
                named_sync(d, 0, w, 1, 256);
        named_sync(d, 0, w, 2, 256);
    }
    all_leave(d, 8);
    return d;
}

/* 128 threads arrive twice and leave, 128 sync for the third time. */
static struct device *arrivers_have_left(void)
{
    struct device *d = cta_of(8);
    for (uint32_t w = 0; w < 8; w++) {
        role(d, 0, w, w < 4 ? PRODUCER : CONSUMER_0);
        for (uint32_t i = 0; i < (w < 4 ? 2u : 3u); i++)
            if (w < 4)
                named_arrive(d, 0, w, 1, 256);
            else
                named_sync(d, 0, w, 1, 256);
    }
    all_leave(d, 8);
    return d;
}

enum sync_at { SYNC_NOWHERE, SYNC_BEFORE_RELEASE, SYNC_AT_END };

/* A ring of one slot: warp 0 fills it, warp 1 empties it, `fills` times and `empties` times; a barrier for all of the
 * CTA or, with two CTAs, of the cluster stands before the first release, or behind the loops. */
static struct device *nameless_ring(uint32_t ctas, uint32_t fills, uint32_t empties, enum sync_at sync_at)
{
    struct device *d = device_create(ctas, 2, ctas, 128);
    for (uint32_t cta = 0; cta < ctas; cta++)
        for (uint32_t w = 0; w < 2; w++) {
            for (uint32_t b = 0; b < 2 && w == 0; b++)
                init(d, cta, 0, b, 0, 1);
            named_sync(d, cta, w, 5, 64);
            role(d, cta, w, w == 0 ? PRODUCER : CONSUMER_0);
            for (uint32_t i = 0; i < (w == 0 ? fills : empties); i++) {
                wait(d, cta, w, w == 0 ? EMPTY : FULL, 0, (i + (w == 0)) % 2, i);
                if (w == 1 && i == 0 && sync_at == SYNC_BEFORE_RELEASE) {
                    if (ctas > 1)
                        cluster_sync(d, cta, w);
                    else
                        named_sync(d, cta, w, 0, 64);
                }
                if (w == 0)
                    arrive_expect(d, cta, w, FULL, 0, i, 0);
                else
                    arrive(d, cta, w, EMPTY, 0, i, 1);
            }
            if (sync_at == SYNC_AT_END && ctas == 1)
                named_sync(d, cta, w, 0, 64);
            else if (ctas > 1)
                cluster_sync(d, cta, w);
            leave(d, cta, w);
        }
    return d;
}

static struct device *ring(uint32_t ctas, uint32_t fills, uint32_t empties, enum sync_at sync_at)
{
    struct device *d = nameless_ring(ctas, fills, empties, sync_at);
    device_role(d, PRODUCER, "producer");
    device_role(d, CONSUMER_0, "consumer");
    device_mbarrier(d, FULL, "full", 1, false, 1 << PRODUCER, 1 << CONSUMER_0);
    device_mbarrier(d, EMPTY, "empty", 1, true, 1 << CONSUMER_0, 1 << PRODUCER);
    return d;
}

static struct device *block_sync_before_nameless_release(void)
{
    return nameless_ring(1, 4, 4, SYNC_BEFORE_RELEASE);
}

static struct device *cluster_sync_before_nameless_release(void)
{
    return nameless_ring(2, 4, 4, SYNC_BEFORE_RELEASE);
}

static struct device *nameless_block_sync_behind_loops_that_disagree(void)
{
    return nameless_ring(1, 4, 2, SYNC_AT_END);
}

/* The one that fills waits for a slot that none was filled for: the other one has taken nothing that it could owe. */
static struct device *nameless_block_sync_before_all(void)
{
    struct device *d = device_create(1, 2, 1, 128);
    for (uint32_t w = 0; w < 2; w++) {
        role(d, 0, w, w == 0 ? PRODUCER : CONSUMER_0);
        if (w == 0)
            init(d, 0, 0, EMPTY, 0, 1);
        named_sync(d, 0, w, 5, 64);
        if (w == 0)
            wait(d, 0, w, EMPTY, 0, 0, 0);
        named_sync(d, 0, w, 0, 64);
        leave(d, 0, w);
    }
    return d;
}

static struct device *block_sync_before_release(void)
{
    return ring(1, 4, 4, SYNC_BEFORE_RELEASE);
}

static struct device *block_sync_behind_loops(void)
{
    return ring(1, 4, 4, SYNC_AT_END);
}

/* The producer goes on for a tile of which the consumer does not know. */
static struct device *block_sync_behind_loops_that_disagree(void)
{
    return ring(1, 4, 2, SYNC_AT_END);
}

static struct device *cluster_sync_before_release(void)
{
    return ring(2, 4, 4, SYNC_BEFORE_RELEASE);
}

static struct device *cluster_sync_behind_loops(void)
{
    return ring(2, 4, 4, SYNC_AT_END);
}

static struct device *cluster_sync_behind_loops_that_disagree(void)
{
    return ring(2, 4, 2, SYNC_AT_END);
}

/* ---- what is said of them ---- */

static const char *role_of(const struct result *r, const struct wsdbg_finding *finding)
{
    const struct wsdbg_name *name =
        finding->role.known ? wsdbg_snapshot_name(&r->snapshot, 0, WSDBG_NAME_ROLE, finding->role.value) : NULL;
    return name ? name->name : "";
}

/* `barrier` NOBODY: not one of named barriers. */
struct row {
    struct device *(*kernel)(void);
    const char *cause, *role, *words;
    uint32_t barrier;
};

static void stopped_kernels_have_this_cause(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {five_on_a_barrier_for_two, "NAMED_COUNT", "epilogue", "5 warps, 160 threads", 2},
        {five_on_a_barrier_for_two_in_a_loop, "NAMED_COUNT", "epilogue", "5 warps, 160 threads", 2},
        {fourth_has_left, "NAMED_COUNT", "epilogue", "only 96 take part", 3},
        {mate_has_left, "WAKER_EXITED", "epilogue", "but warp 3 (epilogue), which is part of the group, exited", 3},
        {fourth_left_after_a_round, "WAKER_EXITED", "consumer",
         "but warp 3 (consumer), which is part of the group, exited", 3},
        {arrivers_have_left, "WAKER_EXITED", "producer",
         "but warps 0-3 (producer), which are part of the group, exited", 1},
        {two_pairs_with_one_id, "NAMED_ID_SHARED", "epilogue", "named barrier 3", 3},
        {two_roles_with_one_id, "NAMED_ID_SHARED", "epilogue", "named barrier 3", 3},
        {hand_over_on_one_id, "DOUBLE_ARRIVE", "consumer", "twice before warps 8-11", 1},
        {block_sync_before_release, "BLOCK_SYNC_IN_ROLE", "consumer", "block-wide barrier", 0},
        {block_sync_before_nameless_release, "BLOCK_SYNC_IN_ROLE", "", "block-wide barrier", 0},
        {cluster_sync_before_release, "CLUSTER_MISSING", "consumer", "the cluster barrier", NOBODY},
        {cluster_sync_before_nameless_release, "CLUSTER_MISSING", "", "the cluster barrier", NOBODY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result r = judge(rows[i].kernel(), 0, 128);
        assert_true(r.diagnosis.hang);
        const struct wsdbg_finding *finding = &r.diagnosis.findings[0];
        assert_string_equal(wsdbg_cause_name(finding->cause), rows[i].cause);
        assert_string_equal(role_of(&r, finding), rows[i].role);
        if (!strstr(finding->sentence, rows[i].words))
            fail_msg("'%s' is not in: %s", rows[i].words, finding->sentence);
        if (rows[i].barrier != NOBODY)
            assert_int_equal(r.snapshot.barriers[finding->barrier].id, rows[i].barrier);
        done(&r);
    }
}

static bool is_about_a_sync(enum wsdbg_cause cause)
{
    return cause == WSDBG_CAUSE_NAMED_COUNT || cause == WSDBG_CAUSE_NAMED_ID_SHARED ||
           cause == WSDBG_CAUSE_DOUBLE_ARRIVE || cause == WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE ||
           cause == WSDBG_CAUSE_CLUSTER_MISSING;
}

/* They stop, but not for what the syncs count. */
static void other_kernels_that_stop_at_syncs(void **state)
{
    (void)state;
    static struct device *(*const kernels[])(void) = {
        fourth_waits_elsewhere,
        ordered_turns_one_left,
        hand_over_once_too_few,
        block_sync_behind_loops_that_disagree,
        nameless_block_sync_behind_loops_that_disagree,
        nameless_block_sync_before_all,
        cluster_sync_behind_loops_that_disagree,
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct result r = judge(kernels[i](), 0, 128);
        assert_true(r.snapshot.grids[0].running);
        for (size_t k = 0; k < r.diagnosis.finding_count; k++)
            if (is_about_a_sync(r.diagnosis.findings[k].cause))
                fail_msg("kernel %zu: %s: %s", i, wsdbg_cause_name(r.diagnosis.findings[k].cause),
                         r.diagnosis.findings[k].sentence);
        done(&r);
    }
}

/* Where the events before are lost, how often a warp came is not known. */
static void a_wrapped_record_proves_no_count(void **state)
{
    (void)state;
    struct result r = judge(five_on_a_barrier_for_two_in_a_loop(), 0, 4);
    for (size_t k = 0; k < r.diagnosis.finding_count; k++)
        assert_false(is_about_a_sync(r.diagnosis.findings[k].cause));
    done(&r);
}

/* The arrivals have no probes: on record four warps sync, and rounds ended that eight are needed for. */
static void rounds_that_lack_arrivals_are_no_count(void **state)
{
    (void)state;
    struct result r = judge(arrivers_have_left(), 0, 128);
    wsdbg_diagnosis_deinit(&r.diagnosis);
    for (size_t i = 0; i < r.snapshot.history_count; i++)
        if (r.snapshot.history[i].kind == WSDBG_EVENT_NAMED_ARRIVE)
            r.snapshot.history[i].kind = WSDBG_EVENT_USER_MARK;
    assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
    for (size_t k = 0; k < r.diagnosis.finding_count; k++)
        assert_false(is_about_a_sync(r.diagnosis.findings[k].cause));
    done(&r);
}

/* One warp is late at any place of its program, so that all others stand somewhere. */
static void correct_kernels_are_no_hang_wherever_a_warp_is_slow(void **state)
{
    (void)state;
    static struct device *(*const kernels[])(void) = {
        four_on_a_barrier_for_two, two_pairs_with_two_ids,  ordered_turns,
        hand_over_on_two_ids,      block_sync_behind_loops, cluster_sync_behind_loops,
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (uint32_t warp = 0; warp < 2; warp++)
            for (uint32_t at = 0;; at++) {
                struct device *d = kernels[i]();
                if (!device_delay(d, 0, warp, at, 1000000)) {
                    device_destroy(d);
                    break;
                }
                struct result r = judge(d, 4000, 128);
                if (r.diagnosis.hang)
                    fail_msg("kernel %zu, warp %u, operation %u: %s", i, warp, at, r.diagnosis.findings[0].sentence);
                done(&r);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_kernels_have_this_cause),
        cmocka_unit_test(other_kernels_that_stop_at_syncs),
        cmocka_unit_test(a_wrapped_record_proves_no_count),
        cmocka_unit_test(rounds_that_lack_arrivals_are_no_count),
        cmocka_unit_test(correct_kernels_are_no_hang_wherever_a_warp_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
