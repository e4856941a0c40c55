/* recorded_test.c - one snapshot of both kinds of evidence: what is left of what each says alone, and who is right
 * where they contradict each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/recorded_rows.h"
#include "kernels.h"

#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY
#define PROVEN WSDBG_CONFIDENCE_PROVEN
#define CAUSE(name) WSDBG_CAUSE_##name

/* ---- findings of both ---- */

struct said {
    enum wsdbg_cause cause;
    enum wsdbg_confidence confidence; /* 0 = nothing */
};

static const struct row {
    const char *name;
    struct said state, record, first, second;
} table[] = {
    {"the record knows the cause",
     {CAUSE(WAIT_CYCLE), LIKELY},
     {CAUSE(ARRIVE_SHORT), PROVEN},
     {CAUSE(ARRIVE_SHORT), PROVEN},
     {0}},
    {"... and is not sure", {CAUSE(UNKNOWN), LIKELY}, {CAUSE(TX_MISMATCH), LIKELY}, {CAUSE(TX_MISMATCH), LIKELY}, {0}},
    {"the state knows the cause",
     {CAUSE(GLOBAL_SPIN), LIKELY},
     {CAUSE(WAIT_CYCLE), LIKELY},
     {CAUSE(GLOBAL_SPIN), LIKELY},
     {0}},
    {"nobody does",
     {CAUSE(WAIT_CYCLE), LIKELY},
     {CAUSE(UNKNOWN), LIKELY},
     {CAUSE(WAIT_CYCLE), LIKELY},
     {CAUSE(UNKNOWN), LIKELY}},
    {"a guess ends no program",
     {CAUSE(WAIT_CYCLE), LIKELY},
     {CAUSE(TX_MISMATCH), POSSIBLE},
     {CAUSE(WAIT_CYCLE), LIKELY},
     {CAUSE(TX_MISMATCH), POSSIBLE}},
    {"the state shows that somebody runs",
     {CAUSE(SLOW), LIKELY},
     {CAUSE(WAIT_CYCLE), LIKELY},
     {CAUSE(SLOW), LIKELY},
     {0}},
    {"the state shows that nobody runs",
     {CAUSE(WAIT_CYCLE), LIKELY},
     {CAUSE(SLOW), LIKELY},
     {CAUSE(WAIT_CYCLE), LIKELY},
     {0}},
    {"who runs polls", {CAUSE(GLOBAL_SPIN), LIKELY}, {CAUSE(SLOW), LIKELY}, {CAUSE(GLOBAL_SPIN), LIKELY}, {0}},
    {"both say it, one proves it",
     {CAUSE(TX_NO_ARRIVE), LIKELY},
     {CAUSE(TX_NO_ARRIVE), PROVEN},
     {CAUSE(TX_NO_ARRIVE), PROVEN},
     {0}},
    {"... the state",
     {CAUSE(BARRIER_NOT_INIT), PROVEN},
     {CAUSE(BARRIER_NOT_INIT), LIKELY},
     {CAUSE(BARRIER_NOT_INIT), PROVEN},
     {0}},
    {"that both say it proves nothing",
     {CAUSE(TX_MISMATCH), LIKELY},
     {CAUSE(TX_MISMATCH), LIKELY},
     {CAUSE(TX_MISMATCH), LIKELY},
     {0}},
    {"the record proves another cause",
     {CAUSE(ARRIVE_SHORT), LIKELY},
     {CAUSE(ARRIVE_MISSING), PROVEN},
     {CAUSE(ARRIVE_MISSING), PROVEN},
     {0}},
    {"the state proves another cause",
     {CAUSE(ARRIVE_MISSING), PROVEN},
     {CAUSE(ARRIVE_SHORT), LIKELY},
     {CAUSE(ARRIVE_MISSING), PROVEN},
     {0}},
    {"two proofs prove neither",
     {CAUSE(TX_NO_ARRIVE), PROVEN},
     {CAUSE(ARRIVE_MISSING), PROVEN},
     {CAUSE(TX_NO_ARRIVE), LIKELY},
     {CAUSE(ARRIVE_MISSING), LIKELY}},
    {"that everybody has left is a consequence",
     {CAUSE(WAKER_EXITED), LIKELY},
     {CAUSE(DOUBLE_ARRIVE), LIKELY},
     {CAUSE(DOUBLE_ARRIVE), LIKELY},
     {0}},
    {"... proven, of what is proven",
     {CAUSE(WAKER_EXITED), PROVEN},
     {CAUSE(DOUBLE_ARRIVE), PROVEN},
     {CAUSE(DOUBLE_ARRIVE), PROVEN},
     {0}},
    {"that everybody has left is proven, why they did is not",
     {CAUSE(WAKER_EXITED), PROVEN},
     {CAUSE(TX_MISMATCH), LIKELY},
     {CAUSE(WAKER_EXITED), PROVEN},
     {0}},
    {"the record has nothing to say", {CAUSE(NAMED_COUNT), LIKELY}, {0}, {CAUSE(NAMED_COUNT), LIKELY}, {0}},
    {"the state has nothing to say", {0}, {CAUSE(NAMED_COUNT), PROVEN}, {CAUSE(NAMED_COUNT), PROVEN}, {0}},
};

static void say(struct wsdbg_case *c, struct said said)
{
    c->findings = calloc(1, sizeof *c->findings);
    assert_non_null(c->findings);
    c->finding_count = said.confidence ? 1 : 0;
    c->findings[0] = (struct wsdbg_finding){.cause = said.cause, .confidence = said.confidence, .barrier = WSDBG_NONE};
}

static bool holds(const struct wsdbg_case *c, struct said said)
{
    for (size_t i = 0; i < c->finding_count; i++)
        if (c->findings[i].cause == said.cause && c->findings[i].confidence == said.confidence)
            return true;
    return false;
}

static void findings_of_both_are_put_together(void **state)
{
    (void)state;
    struct wsdbg_grid grid = {.cta_count = 1};
    struct wsdbg_cta cta = {.cluster_size = 1};
    struct wsdbg_snapshot record = {.grids = &grid, .grid_count = 1, .ctas = &cta, .cta_count = 1};
    struct wsdbg_snapshot snapshot = record;
    const uint32_t first = 0;
    snapshot.record = &record;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct wsdbg_recorded *recorded;
        struct wsdbg_case c = {.snapshot = &snapshot, .ctas = &first, .cta_count = 1};
        struct wsdbg_case r = {.snapshot = &record, .ctas = &first, .cta_count = 1};
        assert_null(wsdbg_recorded_create(&snapshot, &recorded));
        say(&c, table[i].state);
        say(&r, table[i].record);
        wsdbg_recorded_join(recorded, &c, &r);
        const size_t expected = table[i].second.confidence ? 2 : 1;
        if (c.finding_count != expected || !holds(&c, table[i].first) || (expected == 2 && !holds(&c, table[i].second)))
            fail_msg("%s: %zu findings, the first %s (%s)", table[i].name, c.finding_count,
                     c.finding_count ? wsdbg_cause_name(c.findings[0].cause) : "none",
                     c.finding_count ? wsdbg_confidence_name(c.findings[0].confidence) : "");
        wsdbg_recorded_destroy(recorded);
        for (size_t k = 0; k < c.finding_count; k++)
            free(c.findings[k].evidence);
        free(c.findings);
        free(r.findings);
    }
}

/* ---- the record of a kernel, and a state of it ---- */

/* A state that shows what the record says, of each live warp the wait in which its record ends, in two looks that saw
 * the same; nothing is known of its code. */
struct both {
    struct result record;
    struct wsdbg_snapshot state;
};

static void show_the_same(struct both *both)
{
    struct wsdbg_snapshot *record = calloc(1, sizeof *record), *state = &both->state;
    assert_non_null(record);
    assert_null(wsdbg_snapshot_copy(&both->record.snapshot, record));
    assert_null(wsdbg_snapshot_copy(&both->record.snapshot, state));
    state->record = record;
    state->parts = calloc(state->warp_count, sizeof *state->parts);
    state->looks = calloc(2, sizeof *state->looks);
    assert_true(state->parts && state->looks);
    for (uint32_t i = 0; i < state->warp_count; i++) {
        struct wsdbg_warp_row *warp = &state->warps[i];
        if (warp->state == WSDBG_WARP_EXITED)
            continue;
        warp->part_first = (uint32_t)state->part_count++;
        warp->part_count = 1;
        state->parts[warp->part_first] = (struct wsdbg_part){
            .warp = i, .lanes = 1, .state = warp->state, .site = WSDBG_NONE, .barrier = warp->barrier, .seen = true};
    }
    state->look_count = 2;
    state->looks[0].time_ns = 1000000000;
    state->looks[1].time_ns = 1200000000;
    state->looks[1].barriers_changed = wsdbg_known_u32(0);
}

static struct both gemm_with(enum gemm_bug bug)
{
    struct both both = {
        .record =
            judge(gemm_create((struct gemm){.bug = bug, .ctas = 1, .stages = 4, .tiles = 4, .k_blocks = 10}), 0, 1000)};
    show_the_same(&both);
    return both;
}

/* Judges and frees. */
static struct said verdict(struct both *both, char barrier[64])
{
    struct wsdbg_diagnosis diagnosis;
    assert_null(wsdbg_diagnose(&both->state, &diagnosis));
    struct said said = {0};
    snprintf(barrier, 64, "none");
    if (diagnosis.finding_count) {
        const struct wsdbg_finding *finding = &diagnosis.findings[0];
        said = (struct said){finding->cause, finding->confidence};
        if (finding->barrier != WSDBG_NONE && both->state.barriers[finding->barrier].name)
            snprintf(barrier, 64, "%s", both->state.barriers[finding->barrier].name->name);
    }
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&both->state);
    done(&both->record);
    return said;
}

static void assert_says(struct both *both, enum wsdbg_cause cause, enum wsdbg_confidence confidence,
                        const char *barrier)
{
    char said_of[64];
    const struct said said = verdict(both, said_of);
    if (said.cause != cause || said.confidence != confidence || (barrier && strcmp(barrier, said_of) != 0))
        fail_msg("%s (%s) of %s", said.confidence ? wsdbg_cause_name(said.cause) : "nothing",
                 wsdbg_confidence_name(said.confidence), said_of);
}

static void set_state(struct both *both, uint32_t first, uint32_t last, enum wsdbg_warp_state state)
{
    for (uint32_t i = 0; i < both->state.warp_count; i++) {
        struct wsdbg_warp_row *warp = &both->state.warps[i];
        if (warp->warp < first || warp->warp > last)
            continue;
        warp->state = state;
        warp->barrier = WSDBG_NONE;
        if (warp->part_count)
            both->state.parts[warp->part_first].state = state;
    }
}

/* What only histories tell is not lost because the state of the warps is known too. */
static void the_record_counts_beside_the_state(void **state)
{
    (void)state;
    struct both both = gemm_with(GEMM_ARRIVE_MISSING);
    assert_says(&both, CAUSE(ARRIVE_MISSING), PROVEN, "empty");
    both = gemm_with(GEMM_TX_MISMATCH);
    assert_says(&both, CAUSE(TX_MISMATCH), PROVEN, "full");
    both = gemm_with(GEMM_WAKER_EXITED);
    assert_says(&both, CAUSE(WAKER_EXITED), PROVEN, "full");
}

/* An exit was recorded, and the warp did not leave: it may do anything yet. */
static void who_is_seen_has_not_left(void **state)
{
    (void)state;
    struct both both = gemm_with(GEMM_WAKER_EXITED);
    for (uint32_t i = 0; i < both.state.warp_count; i++)
        if (both.state.warps[i].warp == 0) {
            both.state.warps[i].part_first = (uint32_t)both.state.part_count;
            both.state.warps[i].part_count = 1;
            both.state.parts[both.state.part_count++] =
                (struct wsdbg_part){.warp = i, .lanes = 1, .site = WSDBG_NONE, .barrier = WSDBG_NONE, .seen = true};
        }
    set_state(&both, 0, 0, WSDBG_WARP_RUNNING);
    assert_says(&both, CAUSE(UNKNOWN), POSSIBLE, NULL);
}

/* Who recorded no exit, and is not there, has left. */
static void who_is_not_seen_has_left(void **state)
{
    (void)state;
    struct both both = gemm_with(GEMM_WAKER_EXITED);
    for (uint32_t i = 0; i < both.state.record->warp_count; i++)
        if (both.state.record->warps[i].warp == 0)
            both.state.record->warps[i].state = WSDBG_WARP_RUNNING;
    assert_says(&both, CAUSE(WAKER_EXITED), PROVEN, "full");
}

/* The record ends in a wait that is over. */
static void who_goes_on_may_still_arrive(void **state)
{
    (void)state;
    struct both both = gemm_with(GEMM_ARRIVE_MISSING);
    set_state(&both, 4, 7, WSDBG_WARP_RUNNING);
    assert_says(&both, CAUSE(UNKNOWN), POSSIBLE, NULL);
}

/* The warp stands at a wait without a probe: whom that waits for the record does not tell. */
static void a_wait_that_nobody_recorded_is_open(void **state)
{
    (void)state;
    struct both both = gemm_with(GEMM_ARRIVE_MISSING);
    set_state(&both, 4, 7, WSDBG_WARP_WAIT_GRID_DEPENDENCY);
    struct wsdbg_diagnosis diagnosis;
    assert_null(wsdbg_diagnose(&both.state, &diagnosis));
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        assert_int_not_equal(diagnosis.findings[i].confidence, PROVEN);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&both.state);
    done(&both.record);
}

/* The word has arrivals that no probe recorded: what the record counts says nothing. */
static void a_word_that_counts_otherwise_is_right(void **state)
{
    (void)state;
    struct both both = gemm_with(GEMM_ARRIVE_MISSING);
    for (size_t i = 0; i < both.state.barrier_count; i++)
        both.state.barriers[i].record_lacks = both.state.barriers[i].kind == WSDBG_BARRIER_MBARRIER;
    char barrier[64];
    const struct said said = verdict(&both, barrier);
    assert_int_not_equal(said.cause, CAUSE(ARRIVE_MISSING));
    assert_int_not_equal(said.confidence, PROVEN);
}

/* A record of other CTAs, or none, changes nothing. */
static void a_record_of_something_else_is_not_used(void **state)
{
    (void)state;
    struct both both = gemm_with(GEMM_ARRIVE_MISSING);
    both.state.record->grids[0].grid_id++;
    char barrier[64];
    assert_int_not_equal(verdict(&both, barrier).cause, CAUSE(ARRIVE_MISSING));
    both = gemm_with(GEMM_ARRIVE_MISSING);
    both.state.record->ctas[0].warp_first = 1u << 30; /* points outside */
    assert_int_not_equal(verdict(&both, barrier).cause, CAUSE(ARRIVE_MISSING));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_of_both_are_put_together),
        cmocka_unit_test(the_record_counts_beside_the_state),
        cmocka_unit_test(who_is_seen_has_not_left),
        cmocka_unit_test(who_is_not_seen_has_left),
        cmocka_unit_test(who_goes_on_may_still_arrive),
        cmocka_unit_test(a_wait_that_nobody_recorded_is_open),
        cmocka_unit_test(a_word_that_counts_otherwise_is_right),
        cmocka_unit_test(a_record_of_something_else_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
