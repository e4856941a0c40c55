/* gemm_test.c - the reference GEMM's deliberate hangs: verdict, role and barrier, as the evidence gets thinner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

#define SEEDS 6u
#define WHOLE 100000u
#define NO_ROLE UINT32_MAX
#define NO_BARRIER UINT32_MAX

/* What a bug must be called with whole records, and with a ring of 128 events that has wrapped. */
struct expectation {
    enum gemm_bug bug;
    enum wsdbg_cause cause;
    enum wsdbg_confidence whole, wrapped;
    uint32_t role, barrier;
    bool race; /* some schedules do not hang */
};

#define PROVEN WSDBG_CONFIDENCE_PROVEN
#define LIKELY WSDBG_CONFIDENCE_LIKELY

static const struct expectation expectations[] = {
    {GEMM_REGS_PARTIAL, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP, PROVEN, PROVEN, PRODUCER, NO_BARRIER, false},
    {GEMM_REGS_EXHAUSTED, WSDBG_CAUSE_REGS_EXHAUSTED, PROVEN, PROVEN, NO_ROLE, NO_BARRIER, false},
    {GEMM_REGS_NO_RELEASE, WSDBG_CAUSE_REGS_EXHAUSTED, PROVEN, PROVEN, PRODUCER, NO_BARRIER, false},
    {GEMM_PARITY_WRONG, WSDBG_CAUSE_PARITY_WRONG, PROVEN, PROVEN, PRODUCER, EMPTY, false},
    {GEMM_PARITY_DRIFT, WSDBG_CAUSE_PARITY_DRIFT, PROVEN, PROVEN, PRODUCER, EMPTY, false},
    {GEMM_SHARED_FULL, WSDBG_CAUSE_TX_SHARED_BARRIER, PROVEN, LIKELY, PRODUCER, FULL, true},
    {GEMM_DOUBLE_ARRIVE, WSDBG_CAUSE_DOUBLE_ARRIVE, PROVEN, LIKELY, CONSUMER_0, EMPTY, true},
    {GEMM_TX_MISMATCH, WSDBG_CAUSE_TX_MISMATCH, PROVEN, PROVEN, PRODUCER, FULL, false},
    {GEMM_ARRIVE_MISSING, WSDBG_CAUSE_ARRIVE_MISSING, PROVEN, PROVEN, CONSUMER_0, EMPTY, false},
    {GEMM_WAKER_EXITED, WSDBG_CAUSE_WAKER_EXITED, PROVEN, PROVEN, PRODUCER, FULL, false},
    {GEMM_ARRIVE_SHORT, WSDBG_CAUSE_ARRIVE_SHORT, PROVEN, PROVEN, CONSUMER_0, EMPTY, false},
    {GEMM_TX_NO_ARRIVE, WSDBG_CAUSE_TX_NO_ARRIVE, PROVEN, PROVEN, PRODUCER, FULL, false},
    {GEMM_TMA_LOST, WSDBG_CAUSE_TMA_NEVER_COMPLETED, LIKELY, LIKELY, PRODUCER, FULL, false},
    {GEMM_NOT_INIT, WSDBG_CAUSE_BARRIER_NOT_INIT, LIKELY, LIKELY, NO_ROLE, FULL, false},
};
#define EXPECTATIONS (sizeof expectations / sizeof *expectations)

static struct gemm usual(enum gemm_bug bug)
{
    return (struct gemm){.bug = bug, .ctas = 2, .stages = 4, .tiles = 8, .k_blocks = 16, .cluster = 1};
}

static void assert_verdict(const struct expectation *expected, enum wsdbg_confidence least,
                           const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis)
{
    assert_true(diagnosis->hang);
    assert_true(diagnosis->finding_count > 0);
    const struct wsdbg_finding *finding = &diagnosis->findings[0];
    assert_string_equal(wsdbg_cause_name(finding->cause), wsdbg_cause_name(expected->cause));
    assert_true(finding->confidence >= least);
    assert_int_equal(finding->role.known, expected->role != NO_ROLE);
    if (expected->role != NO_ROLE)
        assert_int_equal(finding->role.value, expected->role);
    if (expected->barrier != NO_BARRIER) {
        assert_true(finding->barrier < snapshot->barrier_count);
        assert_int_equal(snapshot->barriers[finding->barrier].id, expected->barrier);
    }
    assert_true(strlen(finding->sentence) > 40);
    assert_true(strlen(finding->fix) > 20);
    assert_true(finding->evidence_count > 0);
}

static void check_all(uint32_t depth, bool whole)
{
    for (size_t i = 0; i < EXPECTATIONS; i++) {
        uint32_t hangs = 0;
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            struct wsdbg_snapshot snapshot;
            struct wsdbg_diagnosis diagnosis;
            struct device *device = gemm_create(usual(expectations[i].bug));
            examine(device, seed, depth, &snapshot, &diagnosis);
            if (snapshot.grids[0].running) {
                hangs++;
                assert_verdict(&expectations[i], whole ? expectations[i].whole : expectations[i].wrapped, &snapshot,
                               &diagnosis);
            } else {
                assert_true(expectations[i].race);
                assert_false(diagnosis.hang);
            }
            wsdbg_diagnosis_deinit(&diagnosis);
            wsdbg_snapshot_deinit(&snapshot);
            device_destroy(device);
        }
        assert_true(hangs > 0);
    }
}

static void every_bug_is_named_from_whole_records(void **state)
{
    (void)state;
    check_all(WHOLE, true);
}

static void every_bug_is_named_from_a_wrapped_ring(void **state)
{
    (void)state;
    check_all(128, false);
}

/* Examines one bug and returns the verdict's cause; *confidence and *hang of the diagnosis. */
static enum wsdbg_cause verdict(struct gemm gemm, uint32_t depth, enum wsdbg_confidence *confidence, bool *hang)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    struct device *device = gemm_create(gemm);
    examine(device, 3, depth, &snapshot, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    const enum wsdbg_cause cause = diagnosis.findings[0].cause;
    *confidence = diagnosis.findings[0].confidence;
    *hang = diagnosis.hang;
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
    device_destroy(device);
    return cause;
}

static void nothing_is_proven_without_histories(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTATIONS; i++) {
        enum wsdbg_confidence confidence;
        bool hang;
        verdict(usual(expectations[i].bug), 0, &confidence, &hang);
        assert_true(hang);
        assert_true(confidence < PROVEN);
    }
}

/* Names are a comfort, not a need: the cause is the same, or it is not claimed as proven. */
static void unnamed_barriers_never_give_a_wrong_proof(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTATIONS; i++) {
        struct gemm gemm = usual(expectations[i].bug);
        enum wsdbg_confidence confidence;
        bool hang;
        gemm.unnamed = true;
        const enum wsdbg_cause cause = verdict(gemm, WHOLE, &confidence, &hang);
        assert_true(hang);
        if (cause != expectations[i].cause)
            assert_true(confidence < PROVEN);
    }
}

static void unnamed_barriers_still_tell_most_causes(void **state)
{
    (void)state;
    uint32_t same = 0;
    for (size_t i = 0; i < EXPECTATIONS; i++) {
        struct gemm gemm = usual(expectations[i].bug);
        enum wsdbg_confidence confidence;
        bool hang;
        gemm.unnamed = true;
        same += verdict(gemm, WHOLE, &confidence, &hang) == expectations[i].cause;
    }
    assert_true(same >= EXPECTATIONS - 1); /* whose first wait is inverted cannot be told without names */
}

static void rounds_are_counted_where_the_author_gives_no_iteration(void **state)
{
    (void)state;
    static const enum gemm_bug bugs[] = {GEMM_PARITY_WRONG, GEMM_TX_MISMATCH, GEMM_REGS_PARTIAL, GEMM_ARRIVE_SHORT};
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
        struct gemm gemm = usual(bugs[i]);
        enum wsdbg_confidence confidence;
        bool hang;
        gemm.no_iterations = true;
        const enum wsdbg_cause cause = verdict(gemm, WHOLE, &confidence, &hang);
        for (size_t k = 0; k < EXPECTATIONS; k++)
            if (expectations[k].bug == bugs[i])
                assert_string_equal(wsdbg_cause_name(cause), wsdbg_cause_name(expectations[k].cause));
    }
}

/* Healthy kernels frozen at any moment: nothing may be called a hang while somebody runs. */
static void a_healthy_kernel_ends_and_has_no_finding(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEEDS; seed++)
        for (uint32_t cluster = 1; cluster <= 2; cluster++) {
            struct wsdbg_snapshot snapshot;
            struct wsdbg_diagnosis diagnosis;
            struct gemm gemm = usual(GEMM_HEALTHY);
            gemm.cluster = cluster;
            struct device *device = gemm_create(gemm);
            examine(device, seed, 128, &snapshot, &diagnosis);
            assert_false(snapshot.grids[0].running);
            assert_false(diagnosis.hang);
            assert_int_equal(diagnosis.finding_count, 0);
            wsdbg_diagnosis_deinit(&diagnosis);
            wsdbg_snapshot_deinit(&snapshot);
            device_destroy(device);
        }
}

static void the_two_async_warps_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        uint32_t defects;
        enum wsdbg_cause cause;
        enum wsdbg_confidence confidence;
    } rows[] = {
        {ASYNC_LEFTOVER_ASKS, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP, PROVEN},
        {ASYNC_DOUBLED, WSDBG_CAUSE_DOUBLE_ARRIVE, LIKELY},
        {ASYNC_LEFTOVER_ASKS | ASYNC_DOUBLED, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP, PROVEN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            struct wsdbg_snapshot snapshot;
            struct wsdbg_diagnosis diagnosis;
            struct device *device = two_async_warps_create(rows[i].defects, 40);
            examine(device, seed, 128, &snapshot, &diagnosis);
            assert_true(snapshot.grids[0].running);
            assert_true(diagnosis.hang);
            assert_string_equal(wsdbg_cause_name(diagnosis.findings[0].cause), wsdbg_cause_name(rows[i].cause));
            assert_true(diagnosis.findings[0].confidence >= rows[i].confidence);
            wsdbg_diagnosis_deinit(&diagnosis);
            wsdbg_snapshot_deinit(&snapshot);
            device_destroy(device);
        }
}

static void equal_ctas_are_folded_into_one_finding(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    struct gemm gemm = usual(GEMM_TX_MISMATCH);
    gemm.ctas = 7;
    struct device *device = gemm_create(gemm);
    examine(device, 1, 128, &snapshot, &diagnosis);
    assert_int_equal(diagnosis.finding_count, 1);
    assert_int_equal(diagnosis.findings[0].cta_count, 7);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
    device_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bug_is_named_from_whole_records),
        cmocka_unit_test(every_bug_is_named_from_a_wrapped_ring),
        cmocka_unit_test(nothing_is_proven_without_histories),
        cmocka_unit_test(unnamed_barriers_never_give_a_wrong_proof),
        cmocka_unit_test(unnamed_barriers_still_tell_most_causes),
        cmocka_unit_test(rounds_are_counted_where_the_author_gives_no_iteration),
        cmocka_unit_test(a_healthy_kernel_ends_and_has_no_finding),
        cmocka_unit_test(the_two_async_warps_are_told_apart),
        cmocka_unit_test(equal_ctas_are_folded_into_one_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
