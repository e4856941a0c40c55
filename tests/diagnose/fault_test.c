/* fault_test.c - what is said about a kernel that a GPU fault ended: the overrun barrier where there is one, and
 * nothing against any barrier whose rounds are right, wherever the kernel died and however much of it is on record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

enum { LAUNCH_FAILED = 719, ILLEGAL_ADDRESS = 700 };

static const uint32_t depths[] = {128, 24, 8, 0};
enum { DEPTHS = sizeof depths / sizeof *depths };

static const struct wsdbg_finding *find(const struct result *result, enum wsdbg_cause cause)
{
    for (size_t i = 0; i < result->diagnosis.finding_count; i++)
        if (result->diagnosis.findings[i].cause == cause)
            return &result->diagnosis.findings[i];
    return NULL;
}

/* ---- overruns ---- */

/* Two loaders load a half each, for one consumer; the full barrier takes `arrivals` a round.  A fourth warp makes the
 * barriers, so that this stays on record. */
static struct device *two_loaders(uint32_t arrivals, uint32_t iterations, bool tagged)
{
    struct device *d = device_create(1, 4, 1, 128);
    device_mbarrier(d, FULL, "full", 2, false, 1 << 0, 1 << 1);
    device_mbarrier(d, EMPTY, "empty", 2, true, 1 << 1, 1 << 0);
    for (uint32_t s = 0; s < 2; s++) {
        init(d, 0, 3, FULL, s, arrivals);
        init(d, 0, 3, EMPTY, s, 1);
    }
    for (uint32_t w = 0; w < 4; w++) {
        if (w < 3)
            role(d, 0, w, w / 2);
        named_sync(d, 0, w, 0, 128);
    }
    for (uint32_t i = 0; i < iterations; i++) {
        const uint32_t tag = tagged ? i : WSDBG_NO_ITERATION;
        for (uint32_t w = 0; w < 2; w++) {
            wait(d, 0, w, EMPTY, i % 2, (i / 2 & 1) ^ 1, tag);
            arrive_expect(d, 0, w, FULL, i % 2, tag, 1024);
            copy(d, 0, w, FULL, i % 2, tag, 1024, 0);
        }
        wait(d, 0, 2, FULL, i % 2, i / 2 & 1, tag);
        arrive(d, 0, 2, EMPTY, i % 2, tag, 1);
    }
    return d;
}

/* The first finding, with words of its sentence; then the result is given back. */
static void assert_blamed(struct result r, enum wsdbg_cause cause, const char *words)
{
    assert_true(r.diagnosis.finding_count > 0);
    const struct wsdbg_finding *finding = &r.diagnosis.findings[0];
    assert_string_equal(wsdbg_cause_name(finding->cause), wsdbg_cause_name(cause));
    assert_int_equal(finding->confidence, WSDBG_CONFIDENCE_LIKELY);
    assert_non_null(strstr(finding->sentence, words));
    assert_false(r.diagnosis.hang);
    done(&r);
}

static void two_warps_with_bytes_on_a_barrier_for_one(void **state)
{
    (void)state;
    for (uint32_t tagged = 0; tagged < 2; tagged++)
        assert_blamed(judge_dead(two_loaders(1, 4, tagged), 0, 128, LAUNCH_FAILED), WSDBG_CAUSE_TX_SHARED_BARRIER,
                      "2 arrivals on \"full\"");
}

/* ---- a CTA that had left ---- */

/* Rank 1 leaves, with all its warps or but one; rank 0 arrives on its barrier before that or after it. */
static struct device *arrives_on_a_peer(bool late, bool all_left)
{
    struct device *d = device_create(2, 2, 2, 128);
    device_mbarrier(d, EMPTY, "empty", 1, true, 1 << 1, 1 << 0);
    for (uint32_t cta = 0; cta < 2; cta++) {
        init(d, cta, 0, EMPTY, 0, 1);
        role(d, cta, 1, 1);
    }
    work(d, late ? 0 : 1, 1, 200);
    arrive_remote(d, 0, 1, EMPTY, 0, 0, 1);
    leave(d, 1, 0);
    if (all_left)
        leave(d, 1, 1);
    return d;
}

static void an_arrival_on_a_cta_that_has_left(void **state)
{
    (void)state;
    assert_blamed(judge_dead(arrives_on_a_peer(true, true), 0, 128, LAUNCH_FAILED), WSDBG_CAUSE_PEER_EXITED,
                  "after that CTA had exited");
    struct result early = judge_dead(arrives_on_a_peer(false, true), 0, 128, LAUNCH_FAILED);
    assert_null(find(&early, WSDBG_CAUSE_PEER_EXITED));
    done(&early);
    struct result stays = judge_dead(arrives_on_a_peer(true, false), 0, 128, LAUNCH_FAILED);
    assert_null(find(&stays, WSDBG_CAUSE_PEER_EXITED));
    done(&stays);
}

/* As on an H200: both loaders arrive within 32 ns, long before the consumer comes to wait. */
static void an_overrun_before_anybody_waits(void **state)
{
    (void)state;
    struct device *d = two_loaders(1, 4, true);
    assert_true(device_delay(d, 0, 2, 2, 100000));
    assert_blamed(judge_dead(d, 40, 128, LAUNCH_FAILED), WSDBG_CAUSE_TX_SHARED_BARRIER, "in iteration 1");
}

/* The second loader is late: its arrival meets the next one of the first, which is of another iteration. */
static void loaders_out_of_step(void **state)
{
    (void)state;
    struct device *d = two_loaders(1, 4, true);
    assert_true(device_delay(d, 0, 1, 3, 12));
    assert_blamed(judge_dead(d, 0, 128, LAUNCH_FAILED), WSDBG_CAUSE_TX_SHARED_BARRIER,
                  "2 arrivals on \"full\" stage 0 in one phase");
}

/* Rounds are right for long; what is left of the histories begins in the middle. */
static void a_late_overrun_in_histories_that_are_cut(void **state)
{
    (void)state;
    struct device *d = two_loaders(2, 30, true);
    wait(d, 0, 0, EMPTY, 0, 0, 30);
    arrive_expect(d, 0, 0, FULL, 0, 30, 1024);
    wait(d, 0, 1, EMPTY, 0, 0, 30);
    arrive_expect(d, 0, 1, FULL, 0, 30, 1024);
    arrive_expect(d, 0, 1, FULL, 0, 30, 1024);
    assert_blamed(judge_dead(d, 0, 24, LAUNCH_FAILED), WSDBG_CAUSE_TX_SHARED_BARRIER,
                  "3 arrivals on \"full\" stage 0 in iteration 30");
}

/* One loader that arrives twice in the round that it dies in. */
static void one_warp_that_arrives_twice(void **state)
{
    (void)state;
    struct device *d = device_create(1, 2, 1, 128);
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    init(d, 0, 0, FULL, 0, 1);
    named_sync(d, 0, 0, 0, 64);
    named_sync(d, 0, 1, 0, 64);
    arrive_expect(d, 0, 0, FULL, 0, 0, 1024);
    arrive(d, 0, 0, FULL, 0, 0, 1);
    copy(d, 0, 0, FULL, 0, 0, 1024, 0);
    wait(d, 0, 1, FULL, 0, 0, 0);
    assert_blamed(judge_dead(d, 0, 128, LAUNCH_FAILED), WSDBG_CAUSE_DOUBLE_ARRIVE, "2 arrivals on \"full\"");
}

static void another_error_has_another_cause(void **state)
{
    (void)state;
    struct result r = judge_dead(two_loaders(1, 4, true), 0, 128, ILLEGAL_ADDRESS);
    assert_int_equal(r.diagnosis.finding_count, 0);
    done(&r);
}

/* The arrivals are in the histories alone. */
static void without_histories_nothing_is_blamed(void **state)
{
    (void)state;
    struct result r = judge_dead(two_loaders(1, 4, true), 0, 0, LAUNCH_FAILED);
    assert_int_equal(r.diagnosis.finding_count, 0);
    done(&r);
}

/* A stall beside the overrun is no more than possible: it may have been about to end. */
static void stalls_beside_it_are_possible(void **state)
{
    (void)state;
    struct device *d = two_async_warps_create(ASYNC_LEFTOVER_ASKS | ASYNC_DOUBLED | ASYNC_SHARED_FULL, 6);
    struct result r = judge_dead(d, 0, 128, LAUNCH_FAILED);
    assert_true(r.diagnosis.finding_count > 1);
    assert_int_equal(r.diagnosis.findings[0].cause, WSDBG_CAUSE_TX_SHARED_BARRIER);
    for (size_t i = 1; i < r.diagnosis.finding_count; i++)
        assert_int_equal(r.diagnosis.findings[i].confidence, WSDBG_CONFIDENCE_POSSIBLE);
    assert_non_null(find(&r, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP));
    assert_false(r.diagnosis.hang);
    done(&r);
}

/* A kernel that hung, and was then ended by a fault of something else, is a hang no more and has no cause here. */
static void a_stall_alone_is_not_the_cause(void **state)
{
    (void)state;
    struct device *d = two_async_warps_create(ASYNC_LEFTOVER_ASKS | ASYNC_DOUBLED, 6);
    struct result r = judge_dead(d, 0, 128, LAUNCH_FAILED);
    assert_int_equal(r.diagnosis.finding_count, 0);
    assert_false(r.diagnosis.hang);
    done(&r);
}

/* ---- decoys: right kernels that die of something else ---- */

typedef struct device *make_kernel(void);

static struct device *loaders_on_a_barrier_for_two(void)
{
    return two_loaders(2, 8, true);
}

static struct device *loaders_without_iterations(void)
{
    return two_loaders(2, 8, false);
}

/* A full and an empty barrier of one stage, each for one arrival. */
static struct device *one_stage(uint32_t warps)
{
    struct device *d = device_create(1, warps, 1, 128);
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    device_mbarrier(d, EMPTY, "empty", 1, true, 1 << 1, 1 << 0);
    init(d, 0, 0, FULL, 0, 1);
    init(d, 0, 0, EMPTY, 0, 1);
    for (uint32_t w = 0; w < warps; w++) {
        role(d, 0, w, w + 1 == warps);
        named_sync(d, 0, w, 0, warps * 32);
    }
    return d;
}

/* Two producers take turns on one stage.  Each counts its own turns, so their iterations are the same. */
static struct device *producers_that_take_turns(bool tagged)
{
    struct device *d = one_stage(3);
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t w = 0; w < 2; w++) {
            const uint32_t turn = 2 * i + w, tag = tagged ? i : WSDBG_NO_ITERATION;
            /* Two phases ahead is beyond what a parity tells: the named barrier hands over the turn. */
            if (turn > 0)
                named_sync(d, 0, w, 1 + w, 64);
            wait(d, 0, w, EMPTY, 0, (turn & 1) ^ 1, tag);
            arrive_expect(d, 0, w, FULL, 0, tag, 1024);
            copy(d, 0, w, FULL, 0, tag, 1024, 0);
            named_arrive(d, 0, w, 2 - w, 64);
            wait(d, 0, 2, FULL, 0, turn & 1, tagged ? turn : WSDBG_NO_ITERATION);
            arrive(d, 0, 2, EMPTY, 0, tagged ? turn : WSDBG_NO_ITERATION, 1);
        }
    }
    return d;
}

static struct device *turns_with_own_counts(void)
{
    return producers_that_take_turns(true);
}

static struct device *turns_without_iterations(void)
{
    return producers_that_take_turns(false);
}

/* The author gives the tile where each tile is several rounds of the only stage. */
static struct device *tile_as_iteration(void)
{
    struct device *d = one_stage(2);
    for (uint32_t i = 0; i < 12; i++) {
        wait(d, 0, 0, EMPTY, 0, (i & 1) ^ 1, i / 4);
        arrive_expect(d, 0, 0, FULL, 0, i / 4, 1024);
        copy(d, 0, 0, FULL, 0, i / 4, 1024, 0);
        wait(d, 0, 1, FULL, 0, i & 1, i / 4);
        arrive(d, 0, 1, EMPTY, 0, i / 4, 1);
    }
    return d;
}

/* The same where the consumer does much between its waits, so that these scroll off its history. */
static struct device *waits_that_scroll_off(void)
{
    struct device *d = one_stage(2);
    for (uint32_t i = 0; i < 8; i++) {
        wait(d, 0, 0, EMPTY, 0, (i & 1) ^ 1, 0);
        arrive_expect(d, 0, 0, FULL, 0, 0, 1024);
        copy(d, 0, 0, FULL, 0, 0, 1024, 0);
        wait(d, 0, 1, FULL, 0, i & 1, 0);
        for (uint32_t k = 0; k < 30; k++)
            tile(d, 0, 1, k, k);
        arrive(d, 0, 1, EMPTY, 0, 0, 1);
        for (uint32_t k = 0; k < 30; k++)
            tile(d, 0, 1, k, k);
    }
    return d;
}

/* More arrivals than a phase takes, in one iteration, are no fault where no bytes are on their way. */
static struct device *arrivals_without_bytes(void)
{
    struct device *d = device_create(1, 2, 1, 128);
    device_mbarrier(d, FULL, "go", 1, false, 1 << 0, 1 << 1);
    init(d, 0, 0, FULL, 0, 1);
    named_sync(d, 0, 0, 0, 64);
    named_sync(d, 0, 1, 0, 64);
    for (uint32_t i = 0; i < 4; i++)
        arrive(d, 0, 0, FULL, 0, i / 2, 1);
    work(d, 0, 1, 100000);
    wait(d, 0, 1, FULL, 0, 0, 0);
    return d;
}

static struct device *some_gemm(uint32_t cluster, bool no_iterations, bool unnamed)
{
    struct gemm gemm = {.ctas = 2, .stages = 3, .tiles = 3, .k_blocks = 6, .cluster = cluster, .unnamed = unnamed};
    gemm.no_iterations = no_iterations;
    return gemm_create(gemm);
}

static struct device *gemm_of_single_ctas(void)
{
    return some_gemm(1, false, false);
}

/* Remote arrivals of both CTAs on either's barriers, and copies that reach both. */
static struct device *gemm_of_clusters(void)
{
    return some_gemm(2, false, false);
}

static struct device *gemm_without_iterations(void)
{
    return some_gemm(1, true, true);
}

static struct device *gemm_of_clusters_without_iterations(void)
{
    return some_gemm(2, true, false);
}

/* Its first arrivals on empty carry no iteration, all later ones do. */
static struct device *two_async_warps(void)
{
    return two_async_warps_create(0, 8);
}

static const struct {
    const char *name;
    make_kernel *make;
} right_kernels[] = {
    {"loaders_on_a_barrier_for_two", loaders_on_a_barrier_for_two},
    {"loaders_without_iterations", loaders_without_iterations},
    {"turns_with_own_counts", turns_with_own_counts},
    {"turns_without_iterations", turns_without_iterations},
    {"tile_as_iteration", tile_as_iteration},
    {"waits_that_scroll_off", waits_that_scroll_off},
    {"arrivals_without_bytes", arrivals_without_bytes},
    {"gemm_of_single_ctas", gemm_of_single_ctas},
    {"gemm_of_clusters", gemm_of_clusters},
    {"gemm_without_iterations", gemm_without_iterations},
    {"gemm_of_clusters_without_iterations", gemm_of_clusters_without_iterations},
    {"two_async_warps", two_async_warps},
};

static void a_right_kernel_that_died_anywhere_is_not_blamed(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof right_kernels / sizeof *right_kernels; k++)
        for (uint32_t steps = 1; steps < 600; steps += steps < 100 ? 1 : 7)
            for (uint32_t i = 0; i < DEPTHS; i++) {
                struct result r = judge_dead(right_kernels[k].make(), steps, depths[i], LAUNCH_FAILED);
                if (r.diagnosis.finding_count > 0)
                    fail_msg("%s, dead after %u steps, %u events a warp: %s: %s", right_kernels[k].name, steps,
                             depths[i], wsdbg_cause_name(r.diagnosis.findings[0].cause),
                             r.diagnosis.findings[0].sentence);
                done(&r);
            }
}

/* The consumer's waits have no probes; what it does after them has. */
static void hide_waits(struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->history_count; i++) {
        struct wsdbg_history_event *event = &snapshot->history[i];
        if (event->barrier == FULL &&
            (event->kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN || event->kind == WSDBG_EVENT_MBARRIER_WAIT_END))
            event->kind = WSDBG_EVENT_USER_MARK;
    }
}

/* Waits that end at the first look have no probes. */
static void hide_short_waits(struct wsdbg_snapshot *snapshot)
{
    for (size_t w = 0; w < snapshot->warp_count; w++) {
        struct wsdbg_history_event *events = &snapshot->history[snapshot->warps[w].history_first];
        for (uint32_t i = 0; i < snapshot->warps[w].history_count; i++)
            if (events[i].barrier == FULL && events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END &&
                (i == 0 || events[i - 1].kind != WSDBG_EVENT_MBARRIER_WAIT_BEGIN))
                events[i].kind = WSDBG_EVENT_USER_MARK;
    }
}

static void waits_without_probes_do_not_make_an_overrun(void **state)
{
    (void)state;
    static void (*const hide[])(struct wsdbg_snapshot *) = {hide_waits, hide_short_waits};
    for (size_t k = 0; k < 2 * sizeof right_kernels / sizeof *right_kernels; k++)
        for (uint32_t steps = 0; steps < 200; steps += 1 + steps / 50) {
            struct result r = judge_dead(right_kernels[k / 2].make(), steps, 128, LAUNCH_FAILED);
            wsdbg_diagnosis_deinit(&r.diagnosis);
            hide[k % 2](&r.snapshot);
            assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
            if (r.diagnosis.finding_count > 0)
                fail_msg("%s, dead after %u steps: %s", right_kernels[k / 2].name, steps,
                         r.diagnosis.findings[0].sentence);
            done(&r);
        }
}

/* ---- what goes on beside a fault ---- */

/* A second context, that an error has ended, before anything ran in it. */
static void add_dead_context(struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_context *grown = realloc(snapshot->contexts, (snapshot->context_count + 1) * sizeof *grown);
    assert_non_null(grown);
    snapshot->contexts = grown;
    grown[snapshot->context_count] = grown[0];
    grown[snapshot->context_count].alive = false;
    grown[snapshot->context_count++].error = LAUNCH_FAILED;
}

/* Nobody says that it stalls: it may move on the next moment. */
static void a_kernel_beside_the_fault_is_not_judged_by_it(void **state)
{
    (void)state;
    struct result r =
        judge(gemm_create((struct gemm){
                  .bug = GEMM_ARRIVE_MISSING, .ctas = 2, .stages = 3, .tiles = 3, .k_blocks = 6, .cluster = 1}),
              0, 128);
    assert_true(r.diagnosis.hang);
    wsdbg_diagnosis_deinit(&r.diagnosis);
    add_dead_context(&r.snapshot);
    assert_null(wsdbg_diagnose_faults(&r.snapshot, &r.diagnosis));
    assert_int_equal(r.diagnosis.finding_count, 0);
    assert_false(r.diagnosis.hang);
    assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
    assert_true(r.diagnosis.hang);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_on_a_cta_that_has_left),
        cmocka_unit_test(two_warps_with_bytes_on_a_barrier_for_one),
        cmocka_unit_test(an_overrun_before_anybody_waits),
        cmocka_unit_test(loaders_out_of_step),
        cmocka_unit_test(a_late_overrun_in_histories_that_are_cut),
        cmocka_unit_test(one_warp_that_arrives_twice),
        cmocka_unit_test(another_error_has_another_cause),
        cmocka_unit_test(without_histories_nothing_is_blamed),
        cmocka_unit_test(stalls_beside_it_are_possible),
        cmocka_unit_test(a_stall_alone_is_not_the_cause),
        cmocka_unit_test(a_right_kernel_that_died_anywhere_is_not_blamed),
        cmocka_unit_test(waits_without_probes_do_not_make_an_overrun),
        cmocka_unit_test(a_kernel_beside_the_fault_is_not_judged_by_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
