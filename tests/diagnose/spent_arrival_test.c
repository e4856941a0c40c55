/* spent_arrival_test.c - why an arrival found the count of its phase spent; and errors at named barriers.
 *
 * A test writes the walks of a small kernel: warp 0 fills a slot again and again, warp 1 empties it.  "b" is full, "c"
 * is empty.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "diagnose/repair.h"
#include "diagnose/spent_arrival.h"
#include "replay_kernel.h"

enum { MEETING = 2 }; /* a named barrier */
enum { BYTES = 128, ROUNDS = 3, NO_WAIT = 2 };

/* The producer waits for `parities` of the empty slot, one a round, or not at all (NO_WAIT). */
static void fill(struct kernel *k, const uint32_t parities[ROUNDS])
{
    kernel_begin(k);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_sync(k);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (parities[i] != NO_WAIT)
            kernel_add(k, 0, WSDBG_ACCESS_WAIT, AT_C, parities[i]);
        kernel_add(k, 0, WSDBG_ACCESS_ARRIVE_EXPECT, AT_B, BYTES);
        kernel_add(k, 0, WSDBG_ACCESS_COPY, AT_B, BYTES);
        kernel_add(k, 1, WSDBG_ACCESS_WAIT, AT_B, i & 1);
        kernel_add(k, 1, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    }
    kernel_run(k);
}

static uint32_t row_of_b(const struct kernel *k)
{
    return wsdbg_case_mbarrier_at(&k->c, 0, AT_B);
}

static struct wsdbg_spent_arrival spent(const struct kernel *k, uint32_t warp)
{
    return wsdbg_spent_arrival_of(&k->c, warp, row_of_b(k));
}

/* ---- what the walk shows ---- */

static void a_wait_for_each_phase_keeps_arrivals_apart(void **state)
{
    struct kernel k;
    fill(&k, (const uint32_t[ROUNDS]){1, 0, 1});
    assert_int_equal(spent(&k, 0).between, WSDBG_BETWEEN_WAIT);
    kernel_end(&k);
    (void)state;
}

static void a_wait_for_the_phase_before_does_not(void **state)
{
    struct kernel k;
    fill(&k, (const uint32_t[ROUNDS]){1, 0, 0});
    const struct wsdbg_spent_arrival found = spent(&k, 0);
    assert_int_equal(found.between, WSDBG_BETWEEN_REPEAT);
    assert_int_equal(found.turn, 3);
    assert_int_equal(k.p.snapshot.steps[found.wait].kind, WSDBG_ACCESS_WAIT);
    assert_int_equal(k.p.snapshot.steps[found.wait].address, AT_C);
    kernel_end(&k);
    (void)state;
}

/* The same, but on the barrier of another CTA: its parity says nothing of this one. */
static void a_wait_on_another_rank_keeps_arrivals_apart(void **state)
{
    struct kernel k;
    fill(&k, (const uint32_t[ROUNDS]){1, 0, 0});
    for (size_t i = 0; i < k.p.snapshot.step_count; i++)
        if (k.p.snapshot.steps[i].kind == WSDBG_ACCESS_WAIT && k.p.snapshot.steps[i].address == AT_C)
            k.p.snapshot.steps[i].rank = 1;
    assert_int_equal(spent(&k, 0).between, WSDBG_BETWEEN_WAIT);
    kernel_end(&k);
    (void)state;
}

static void arrivals_without_a_wait_are_too_many(void **state)
{
    struct kernel k;
    fill(&k, (const uint32_t[ROUNDS]){1, NO_WAIT, 0});
    assert_int_equal(spent(&k, 0).between, WSDBG_BETWEEN_NOTHING);
    kernel_end(&k);
    (void)state;
}

/* The warps that meet may do so behind the wait of another one. */
static void arrivals_with_a_meeting_between_them_may_be_kept_apart(void **state)
{
    static const uint8_t kinds[] = {WSDBG_ACCESS_NAMED_SYNC, WSDBG_ACCESS_CLUSTER_WAIT, WSDBG_STEP_POLL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct kernel k;
        kernel_begin(&k);
        kernel_add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_add(&k, 2, kinds[i], MEETING, 0);
        kernel_add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_run(&k);
        assert_int_equal(spent(&k, 2).between, WSDBG_BETWEEN_OTHER);
        kernel_end(&k);
    }
    (void)state;
}

/* Another warp arrives once, without a wait: the count has no room for it. */
static void a_single_arrival_of_a_warp_is_too_many(void **state)
{
    struct kernel k;
    kernel_begin(&k);
    kernel_add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_run(&k);
    assert_int_equal(spent(&k, 2).between, WSDBG_BETWEEN_NOTHING);
    assert_int_equal(spent(&k, 1).between, WSDBG_BETWEEN_UNKNOWN);
    kernel_end(&k);
    (void)state;
}

static void a_guessed_walk_shows_nothing(void **state)
{
    struct kernel k;
    fill(&k, (const uint32_t[ROUNDS]){1, 0, 0});
    for (size_t i = 0; i < k.p.snapshot.walk_count; i++)
        k.p.snapshot.walks[i].is_guessed = true;
    assert_int_equal(spent(&k, 0).between, WSDBG_BETWEEN_UNKNOWN);
    kernel_end(&k);
    (void)state;
}

/* ---- what would repair it ---- */

/* A copy takes its time: the arrival of the next round may come before its bytes. */
static void the_wait_that_was_let_through_is_the_repair(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    fill(&k, (const uint32_t[ROUNDS]){1, 1, 1});
    struct wsdbg_replay *replay = wsdbg_replay_faulting(&k.c, row_of_b(&k));
    assert_non_null(replay);
    assert_true(replay->overflows);
    assert_null(wsdbg_repairs_find_fault(replay, &repairs));
    assert_true(repairs.count > 0);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_DRIFT);
    assert_int_equal(repairs.rows[0].wait.turn, 1);
    kernel_end(&k);
    (void)state;
}

static void a_kernel_without_a_fault_has_no_replay_of_one(void **state)
{
    struct kernel k;
    fill(&k, (const uint32_t[ROUNDS]){1, 0, 1});
    assert_null(wsdbg_replay_faulting(&k.c, row_of_b(&k)));
    kernel_end(&k);
    (void)state;
}

/* The replay breaks at "b", and the GPU stopped a warp at "c". */
static void a_fault_elsewhere_is_not_explained(void **state)
{
    struct kernel k;
    fill(&k, (const uint32_t[ROUNDS]){1, 1, 1});
    assert_null(wsdbg_replay_faulting(&k.c, wsdbg_case_mbarrier_at(&k.c, 0, AT_C)));
    kernel_end(&k);
    (void)state;
}

/* ---- what is said ---- */

/* The GPU stopped warp 0 at its arrival on "b", whose word an arrival has locked. */
static void expect_said_of(struct kernel *k, enum wsdbg_cause cause, enum wsdbg_confidence confidence)
{
    const uint64_t lock = UINT64_C(1) << 42;
    struct wsdbg_snapshot *s = &k->p.snapshot;
    const uint32_t row = row_of_b(k);
    struct wsdbg_exception stopped = {.code = 4,
                                      .lanes = LANE_0,
                                      .at_lanes = LANE_0,
                                      .exact = true,
                                      .site = WSDBG_NONE,
                                      .access = WSDBG_ACCESS_ARRIVE_EXPECT,
                                      .barrier = row};
    struct wsdbg_diagnosis diagnosis;
    s->barriers[row].word = wsdbg_known_u64(lock);
    picture_judge_fault(s, &stopped, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    assert_int_equal(diagnosis.findings[0].cause, cause);
    assert_int_equal(diagnosis.findings[0].confidence, confidence);
    wsdbg_diagnosis_deinit(&diagnosis);
    kernel_end(k);
}

static void expect_said(const uint32_t parities[ROUNDS], enum wsdbg_cause cause, enum wsdbg_confidence confidence)
{
    struct kernel k;
    fill(&k, parities);
    expect_said_of(&k, cause, confidence);
}

static void a_parity_that_let_a_wait_through_is_the_cause(void **state)
{
    expect_said((const uint32_t[ROUNDS]){1, 1, 1}, WSDBG_CAUSE_PARITY_DRIFT, WSDBG_CONFIDENCE_LIKELY);
    (void)state;
}

static void two_arrivals_without_a_wait_are_the_cause(void **state)
{
    expect_said((const uint32_t[ROUNDS]){1, NO_WAIT, 0}, WSDBG_CAUSE_DOUBLE_ARRIVE, WSDBG_CONFIDENCE_LIKELY);
    (void)state;
}

static void where_each_arrival_has_its_wait_a_double_arrival_is_only_possible(void **state)
{
    expect_said((const uint32_t[ROUNDS]){1, 0, 1}, WSDBG_CAUSE_DOUBLE_ARRIVE, WSDBG_CONFIDENCE_POSSIBLE);
    (void)state;
}

/* The consumer comes through its first wait at once, and releases a slot that is not filled. */
static void a_first_parity_of_the_other_side_is_the_cause(void **state)
{
    struct kernel k;
    kernel_begin(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_sync(&k);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        kernel_add(&k, 0, WSDBG_ACCESS_WAIT, AT_C, (i & 1) ^ 1);
        kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE_EXPECT, AT_B, BYTES);
        kernel_add(&k, 0, WSDBG_ACCESS_COPY, AT_B, BYTES);
        kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, (i & 1) ^ 1);
        kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    }
    kernel_run(&k);
    expect_said_of(&k, WSDBG_CAUSE_PARITY_WRONG, WSDBG_CONFIDENCE_LIKELY);
    (void)state;
}

/* ---- errors at a named barrier ---- */

enum { PLACE = 3, OTHER_PLACE };

/* How warp 1 uses the barrier besides, or what is known of the walks. */
enum beside { NOTHING, BEFORE, BEHIND, GUESSED };

/* Warp 0 was stopped at a use of a named barrier with `own` threads; warp 1 names `other` there, and `own` at another
 * use if it has one. */
static struct wsdbg_diagnosis judge_named(struct kernel *k, uint32_t own, uint32_t other, uint32_t site,
                                          enum beside beside)
{
    kernel_begin(k);
    const uint32_t access = picture_access(&k->p, WSDBG_ACCESS_NAMED_SYNC, MEETING, 1, own, WSDBG_LANES_ALL);
    struct wsdbg_snapshot *s = &k->p.snapshot;
    s->accesses[access].site = PLACE;
    way_add(&k->ways[0], WSDBG_ACCESS_NAMED_SYNC, MEETING, own)->access = access;
    if (beside == BEFORE)
        kernel_add(k, 1, WSDBG_ACCESS_NAMED_SYNC, MEETING, own);
    kernel_add(k, 1, WSDBG_ACCESS_NAMED_SYNC, MEETING, other);
    if (beside == BEHIND)
        kernel_add(k, 1, WSDBG_ACCESS_NAMED_SYNC, MEETING, own);
    kernel_run(k);
    for (size_t i = 0; i < s->walk_count && beside == GUESSED; i++)
        s->walks[i].is_guessed |= s->walks[i].warp == 0;
    struct wsdbg_exception stopped = {.code = 4,
                                      .lanes = UINT32_MAX,
                                      .exact = true,
                                      .site = site,
                                      .access = WSDBG_ACCESS_NAMED_SYNC,
                                      .barrier = WSDBG_NONE};
    struct wsdbg_diagnosis diagnosis;
    picture_judge_fault(s, &stopped, &diagnosis);
    return diagnosis;
}

static void two_counts_at_a_named_barrier_are_told_where_the_gpu_stops_a_warp(void **state)
{
    static const struct {
        const char *name;
        uint32_t own, other, site;
        enum wsdbg_cause cause;
        enum wsdbg_confidence confidence;
        enum beside beside;
    } rows[] = {
        {"another warp names another number", 64, 96, PLACE, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY, NOTHING},
        {"... in another round", 64, 96, PLACE, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_POSSIBLE, BEFORE},
        {"... and comes more often", 64, 96, PLACE, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_POSSIBLE, BEHIND},
        {"its own walk is guessed", 64, 96, PLACE, WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_POSSIBLE, GUESSED},
        {"all name the same number", 64, 64, PLACE, WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_POSSIBLE, NOTHING},
        {"the warp was stopped elsewhere", 64, 96, OTHER_PLACE, WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_POSSIBLE,
         NOTHING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kernel k;
        print_message("%s\n", rows[i].name);
        struct wsdbg_diagnosis diagnosis = judge_named(&k, rows[i].own, rows[i].other, rows[i].site, rows[i].beside);
        assert_true(diagnosis.finding_count > 0);
        assert_int_equal(diagnosis.findings[0].cause, rows[i].cause);
        assert_int_equal(diagnosis.findings[0].confidence, rows[i].confidence);
        wsdbg_diagnosis_deinit(&diagnosis);
        kernel_end(&k);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_each_phase_keeps_arrivals_apart),
        cmocka_unit_test(a_wait_for_the_phase_before_does_not),
        cmocka_unit_test(a_wait_on_another_rank_keeps_arrivals_apart),
        cmocka_unit_test(arrivals_without_a_wait_are_too_many),
        cmocka_unit_test(arrivals_with_a_meeting_between_them_may_be_kept_apart),
        cmocka_unit_test(a_single_arrival_of_a_warp_is_too_many),
        cmocka_unit_test(a_guessed_walk_shows_nothing),
        cmocka_unit_test(the_wait_that_was_let_through_is_the_repair),
        cmocka_unit_test(a_kernel_without_a_fault_has_no_replay_of_one),
        cmocka_unit_test(a_fault_elsewhere_is_not_explained),
        cmocka_unit_test(a_parity_that_let_a_wait_through_is_the_cause),
        cmocka_unit_test(two_arrivals_without_a_wait_are_the_cause),
        cmocka_unit_test(a_first_parity_of_the_other_side_is_the_cause),
        cmocka_unit_test(where_each_arrival_has_its_wait_a_double_arrival_is_only_possible),
        cmocka_unit_test(two_counts_at_a_named_barrier_are_told_where_the_gpu_stops_a_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
