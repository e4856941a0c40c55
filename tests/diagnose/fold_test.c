/* fold_test.c - which finding is the verdict, where the findings of several CTAs differ in how sure they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/fold.h"

enum { POSSIBLE = WSDBG_CONFIDENCE_POSSIBLE, LIKELY = WSDBG_CONFIDENCE_LIKELY, PROVEN = WSDBG_CONFIDENCE_PROVEN };
enum { CASES = 2, FINDINGS = 3 };
#define FOUND(code, sure)            \
    {                                \
        WSDBG_CAUSE_##code + 1, sure \
    }

/* What is found in two CTAs, and in which order it is told.  0 = nothing. */
struct found {
    uint32_t cause_and_1, confidence;
};

static const struct {
    const char *title;
    struct found cases[CASES][FINDINGS], expected[CASES * FINDINGS];
    bool is_no_hang;
} examples[] = {
    {"what may be the cause goes before a cycle",
     {{FOUND(WAIT_CYCLE, LIKELY), FOUND(ARRIVE_MISSING, POSSIBLE)}},
     {FOUND(ARRIVE_MISSING, POSSIBLE), FOUND(WAIT_CYCLE, LIKELY)},
     false},
    {"... and before a standstill that no rule knows",
     {{FOUND(TX_MISMATCH, POSSIBLE), FOUND(UNKNOWN, LIKELY)}},
     {FOUND(TX_MISMATCH, POSSIBLE), FOUND(UNKNOWN, LIKELY)},
     false},
    {"the first cause of the table goes first",
     {{FOUND(WAIT_CYCLE, LIKELY), FOUND(PEER_EXITED, POSSIBLE), FOUND(PARITY_WRONG, POSSIBLE)}},
     {FOUND(PARITY_WRONG, POSSIBLE), FOUND(PEER_EXITED, POSSIBLE), FOUND(WAIT_CYCLE, LIKELY)},
     false},
    {"so do causes that are known by who is there",
     {{FOUND(WAIT_CYCLE, LIKELY), FOUND(WAKER_EXITED, POSSIBLE)},
      {FOUND(WAIT_CYCLE, LIKELY), FOUND(CLUSTER_MISSING, POSSIBLE), FOUND(ROLE_DISAGREE, POSSIBLE)}},
     {FOUND(WAKER_EXITED, POSSIBLE), FOUND(ROLE_DISAGREE, POSSIBLE), FOUND(CLUSTER_MISSING, POSSIBLE),
      FOUND(WAIT_CYCLE, LIKELY)},
     false},
    {"a likely cause of another CTA goes first",
     {{FOUND(WAIT_CYCLE, LIKELY), FOUND(PARITY_DRIFT, POSSIBLE)}, {FOUND(ARRIVE_SHORT, LIKELY)}},
     {FOUND(ARRIVE_SHORT, LIKELY), FOUND(PARITY_DRIFT, POSSIBLE), FOUND(WAIT_CYCLE, LIKELY)},
     false},
    {"where a cause is likely, none that is possible goes before a standstill",
     {{FOUND(ARRIVE_SHORT, LIKELY), FOUND(PARITY_DRIFT, POSSIBLE)}, {FOUND(UNKNOWN, LIKELY)}},
     {FOUND(ARRIVE_SHORT, LIKELY), FOUND(UNKNOWN, LIKELY), FOUND(PARITY_DRIFT, POSSIBLE)},
     false},
    {"a cycle that is proven stays first",
     {{FOUND(WAIT_CYCLE, PROVEN), FOUND(ROLE_DISAGREE, POSSIBLE)}},
     {FOUND(WAIT_CYCLE, PROVEN), FOUND(ROLE_DISAGREE, POSSIBLE)},
     false},
    {"the host may still end the wait",
     {{FOUND(WAIT_CYCLE, LIKELY), FOUND(HOST_WAIT, POSSIBLE)}},
     {FOUND(WAIT_CYCLE, LIKELY), FOUND(HOST_WAIT, POSSIBLE)},
     false},
    {"so may whoever writes the word that is polled",
     {{FOUND(UNKNOWN, LIKELY), FOUND(GLOBAL_SPIN, POSSIBLE)}},
     {FOUND(UNKNOWN, LIKELY), FOUND(GLOBAL_SPIN, POSSIBLE)},
     false},
    {"... another rank",
     {{FOUND(WAIT_CYCLE, LIKELY), FOUND(RANK_MISSING, POSSIBLE), FOUND(RANK_MISMATCH, POSSIBLE)}},
     {FOUND(WAIT_CYCLE, LIKELY), FOUND(RANK_MISMATCH, POSSIBLE), FOUND(RANK_MISSING, POSSIBLE)},
     false},
    {"... or a CTA that begins later, and another grid",
     {{FOUND(WAIT_CYCLE, LIKELY), FOUND(NOT_RESIDENT, POSSIBLE), FOUND(GRID_DEPENDENCY, POSSIBLE)}},
     {FOUND(WAIT_CYCLE, LIKELY), FOUND(GRID_DEPENDENCY, POSSIBLE), FOUND(NOT_RESIDENT, POSSIBLE)},
     false},
    {"what may be wrong in another CTA is not the cause of this cycle",
     {{FOUND(WAIT_CYCLE, LIKELY)}, {FOUND(ARRIVE_MISSING, POSSIBLE)}},
     {FOUND(WAIT_CYCLE, LIKELY), FOUND(ARRIVE_MISSING, POSSIBLE)},
     false},
    {"... also where a cycle there is only possible",
     {{FOUND(WAIT_CYCLE, LIKELY)}, {FOUND(ARRIVE_MISSING, POSSIBLE), FOUND(WAIT_CYCLE, POSSIBLE)}},
     {FOUND(WAIT_CYCLE, LIKELY), FOUND(ARRIVE_MISSING, POSSIBLE), FOUND(WAIT_CYCLE, POSSIBLE)},
     false},
    {"the same in two CTAs, and only one of them is known to hang",
     {{FOUND(ARRIVE_MISSING, POSSIBLE)}, {FOUND(WAIT_CYCLE, LIKELY), FOUND(ARRIVE_MISSING, POSSIBLE)}},
     {FOUND(ARRIVE_MISSING, POSSIBLE), FOUND(WAIT_CYCLE, LIKELY)},
     false},
    {"that another CTA is slow goes last",
     {{FOUND(WAIT_CYCLE, LIKELY), FOUND(ARRIVE_MISSING, POSSIBLE)}, {FOUND(SLOW, LIKELY)}},
     {FOUND(ARRIVE_MISSING, POSSIBLE), FOUND(WAIT_CYCLE, LIKELY), FOUND(SLOW, LIKELY)},
     false},
    {"nothing is known to hang",
     {{FOUND(UNKNOWN, POSSIBLE), FOUND(ARRIVE_MISSING, POSSIBLE)}},
     {FOUND(ARRIVE_MISSING, POSSIBLE), FOUND(UNKNOWN, POSSIBLE)},
     true},
};

static void find(struct wsdbg_case *c, uint32_t cta, const struct found *found)
{
    *c = (struct wsdbg_case){.snapshot = c->snapshot};
    c->findings = calloc(FINDINGS, sizeof *c->findings);
    for (; c->finding_count < FINDINGS && found[c->finding_count].cause_and_1; c->finding_count++)
        c->findings[c->finding_count] =
            (struct wsdbg_finding){.cause = (enum wsdbg_cause)(found[c->finding_count].cause_and_1 - 1),
                                   .confidence = (enum wsdbg_confidence)found[c->finding_count].confidence,
                                   .cta = cta,
                                   .cta_count = 1,
                                   .barrier = WSDBG_NONE,
                                   .sentence = "a sentence"};
}

/* Whether the findings are told in this order, whichever CTA is judged first. */
static void check(size_t example, bool is_backwards)
{
    struct wsdbg_grid grid = {.running = true};
    struct wsdbg_walk_row walk = {.is_whole = true};
    const struct wsdbg_snapshot snapshot = {.grids = &grid, .grid_count = 1, .walks = &walk, .walk_count = 1};
    const struct found *expected = examples[example].expected;
    struct wsdbg_diagnosis diagnosis = {0};
    for (uint32_t i = 0; i < CASES; i++) {
        const uint32_t cta = is_backwards ? CASES - 1 - i : i;
        struct wsdbg_case c = {.snapshot = &snapshot};
        find(&c, cta, examples[example].cases[cta]);
        assert_null(wsdbg_fold(&c, &diagnosis));
        free(c.findings);
    }
    wsdbg_rank_findings(&diagnosis, &snapshot);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        if (diagnosis.findings[i].cause + 1 != expected[i].cause_and_1 ||
            diagnosis.findings[i].confidence != (enum wsdbg_confidence)expected[i].confidence)
            fail_msg("%s: number %zu is %s, %s", examples[example].title, i,
                     wsdbg_cause_name(diagnosis.findings[i].cause),
                     wsdbg_confidence_name(diagnosis.findings[i].confidence));
    if (diagnosis.hang == examples[example].is_no_hang)
        fail_msg("%s: whether it hangs", examples[example].title);
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* One change repairs the second of two CTAs with the same finding: that counts for both. */
static void a_repair_in_one_cta_counts_for_all_with_the_same_finding(void **state)
{
    struct wsdbg_grid grid = {.running = true};
    const struct wsdbg_snapshot snapshot = {.grids = &grid, .grid_count = 1};
    const struct found found[FINDINGS] = {FOUND(ARRIVE_MISSING, LIKELY)};
    struct wsdbg_diagnosis diagnosis = {0};
    for (uint32_t cta = 0; cta < CASES; cta++) {
        struct wsdbg_case c = {.snapshot = &snapshot};
        find(&c, cta, found);
        c.findings[0].is_repaired = cta == 1;
        assert_null(wsdbg_fold(&c, &diagnosis));
        free(c.findings);
    }
    assert_int_equal(diagnosis.finding_count, 1);
    assert_true(diagnosis.findings[0].is_repaired);
    wsdbg_diagnosis_deinit(&diagnosis);
    (void)state;
}

/* Two likely causes.  One of them is seen to be enough: with that one change the walks lead to the kernel's end. */
static void what_one_change_repairs_goes_before_what_is_only_counted(void **state)
{
    (void)state;
    struct wsdbg_finding counted = {.cause = WSDBG_CAUSE_PARITY_WRONG, .confidence = WSDBG_CONFIDENCE_LIKELY};
    struct wsdbg_finding repaired = {.cause = WSDBG_CAUSE_ARRIVE_MISSING, .confidence = WSDBG_CONFIDENCE_LIKELY};
    assert_true(wsdbg_finding_compare(&counted, &repaired) < 0);
    repaired.is_repaired = true;
    assert_true(wsdbg_finding_compare(&counted, &repaired) > 0);
    counted.confidence = WSDBG_CONFIDENCE_PROVEN;
    assert_true(wsdbg_finding_compare(&counted, &repaired) < 0);
}

/* The CTA that is shown is one that is known to hang, whichever is judged first; both are counted. */
static void the_example_is_a_cta_that_hangs(void **state)
{
    static const struct found cases[CASES][FINDINGS] = {{FOUND(ARRIVE_MISSING, POSSIBLE)},
                                                        {FOUND(WAIT_CYCLE, LIKELY), FOUND(ARRIVE_MISSING, POSSIBLE)}};
    struct wsdbg_grid grid = {.running = true};
    struct wsdbg_walk_row walk = {.is_whole = true};
    const struct wsdbg_snapshot snapshot = {.grids = &grid, .grid_count = 1, .walks = &walk, .walk_count = 1};
    for (uint32_t first = 0; first < CASES; first++) {
        struct wsdbg_diagnosis diagnosis = {0};
        for (uint32_t i = 0; i < CASES; i++) {
            struct wsdbg_case c = {.snapshot = &snapshot};
            find(&c, i ^ first, cases[i ^ first]);
            assert_null(wsdbg_fold(&c, &diagnosis));
            free(c.findings);
        }
        wsdbg_rank_findings(&diagnosis, &snapshot);
        assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_ARRIVE_MISSING);
        assert_int_equal(diagnosis.findings[0].cta, 1);
        assert_int_equal(diagnosis.findings[0].cta_count, CASES);
        assert_string_equal(diagnosis.findings[0].sentence, "A sentence");
        wsdbg_diagnosis_deinit(&diagnosis);
    }
    (void)state;
}

static void where_no_thread_was_followed_nothing_goes_before_a_cycle(void **state)
{
    static const struct found cycle[FINDINGS] = {FOUND(ARRIVE_MISSING, POSSIBLE), FOUND(WAIT_CYCLE, LIKELY)};
    struct wsdbg_grid grid = {.running = true};
    const struct wsdbg_snapshot snapshot = {.grids = &grid, .grid_count = 1};
    struct wsdbg_diagnosis diagnosis = {0};
    struct wsdbg_case c = {.snapshot = &snapshot};
    find(&c, 0, cycle);
    assert_null(wsdbg_fold(&c, &diagnosis));
    free(c.findings);
    wsdbg_rank_findings(&diagnosis, &snapshot);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_WAIT_CYCLE);
    assert_true(diagnosis.hang);
    wsdbg_diagnosis_deinit(&diagnosis);
    (void)state;
}

static void what_may_be_the_cause_goes_before_a_standstill_without_one(void **state)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        check(i, false);
        check(i, true);
    }
    (void)state;
}

/* Every two findings are in one order, and of three the first goes before the last: else a sort may do anything. */
static void the_order_of_findings_has_no_circle(void **state)
{
    enum { KINDS = 16 };
    static const enum wsdbg_cause causes[] = {WSDBG_CAUSE_ARRIVE_MISSING, WSDBG_CAUSE_WAIT_CYCLE, WSDBG_CAUSE_UNKNOWN,
                                              WSDBG_CAUSE_SLOW};
    struct wsdbg_finding findings[KINDS];
    for (uint32_t i = 0; i < KINDS; i++) {
        const bool may_lead = causes[i / 4] == WSDBG_CAUSE_ARRIVE_MISSING;
        findings[i] = (struct wsdbg_finding){.cause = causes[i / 4],
                                             .confidence = i % 4 ? (enum wsdbg_confidence)(i % 4) : POSSIBLE,
                                             .leads = may_lead && i % 4 == 0};
    }
    for (uint32_t a = 0; a < KINDS; a++)
        for (uint32_t b = 0; b < KINDS; b++) {
            assert_int_equal(wsdbg_finding_compare(&findings[a], &findings[b]) < 0,
                             wsdbg_finding_compare(&findings[b], &findings[a]) > 0);
            for (uint32_t c = 0; c < KINDS; c++)
                if (wsdbg_finding_compare(&findings[a], &findings[b]) < 0 &&
                    wsdbg_finding_compare(&findings[b], &findings[c]) < 0)
                    assert_true(wsdbg_finding_compare(&findings[a], &findings[c]) < 0);
        }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_be_the_cause_goes_before_a_standstill_without_one),
        cmocka_unit_test(the_example_is_a_cta_that_hangs),
        cmocka_unit_test(where_no_thread_was_followed_nothing_goes_before_a_cycle),
        cmocka_unit_test(a_repair_in_one_cta_counts_for_all_with_the_same_finding),
        cmocka_unit_test(what_one_change_repairs_goes_before_what_is_only_counted),
        cmocka_unit_test(the_order_of_findings_has_no_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
