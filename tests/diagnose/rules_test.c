/* rules_test.c - small kernels for the rules the GEMM does not show.  Arrivals that come too early are early_test.c's,
 * what must give no hang decoys_test.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "caused.h"
#include "diagnose/phrase.h"

/* What the loaders of two CTAs announce for a round, and the copies that each issues: bytes and mask. */
struct shares {
    const char *name;
    uint32_t expected[2];
    struct {
        uint32_t bytes, mask;
    } copies[2][3];
    enum wsdbg_cause cause;
};

static struct device *loaders_of_a_pair(const struct shares *shares)
{
    struct device *d = device_create(2, 2, 2, 128);
    device_role(d, 0, "loader");
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    for (uint32_t cta = 0; cta < 2; cta++) {
        role(d, cta, 0, 0);
        role(d, cta, 1, 1);
        init(d, cta, 0, FULL, 0, 1);
        for (uint32_t w = 0; w < 2; w++)
            cluster_sync(d, cta, w);
        arrive_expect(d, cta, 0, FULL, 0, 0, shares->expected[cta]);
        for (uint32_t i = 0; shares->copies[cta][i].bytes; i++)
            copy(d, cta, 0, FULL, 0, 0, shares->copies[cta][i].bytes, shares->copies[cta][i].mask);
        wait(d, cta, 1, FULL, 0, 0, 0);
        for (uint32_t w = 0; w < 2; w++) {
            cluster_sync(d, cta, w);
            leave(d, cta, w);
        }
    }
    return d;
}

static void ctas_that_disagree_about_their_copies(void **state)
{
    (void)state;
    const enum wsdbg_cause asymmetry = WSDBG_CAUSE_CLUSTER_RANK_ASYMMETRY, mismatch = WSDBG_CAUSE_TX_MISMATCH;
    const struct shares rows[] = {
        {"one loads its half alone, one counts on it", {2048, 2048}, {{{1024, 0}, {1024, 0}}, {{1024, 0}}}, asymmetry},
        {"the masks differ", {2048, 2048}, {{{1024, 3}}, {{1024, 2}}}, asymmetry},
        {"copies cross, other bytes announced", {2048, 3072}, {{{1024, 3}}, {{1024, 3}}}, asymmetry},
        {"both name one CTA only", {2048, 2048}, {{{1024, 1}}, {{1024, 1}}}, mismatch},
        {"one loads for both, and not for all", {2048, 2048}, {{{1024, 0}, {1024, 1}}, {{1024, 0}}}, mismatch},
        {"a copy is cut short", {2048, 2048}, {{{2048, 0}}, {{512, 0}}}, mismatch},
        {"both announce too much", {3072, 3072}, {{{1024, 0}, {1024, 3}}, {{1024, 0}}}, mismatch},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result r = judge(loaders_of_a_pair(&rows[i]), 0, 128);
        assert_true(r.diagnosis.finding_count > 0);
        if (r.diagnosis.findings[0].cause != rows[i].cause)
            fail_msg("%s: %s", rows[i].name, r.diagnosis.findings[0].sentence);
        assert_cause(&r, rows[i].cause);
        assert_true(r.diagnosis.findings[0].role.known && r.diagnosis.findings[0].role.value == 0);
        done(&r);
    }
}

/* One loader; what its copies name is wrong, or it issues none. */
static void copies_for_a_barrier_that_expects_none(void **state)
{
    (void)state;
    enum { OTHER = 2 };
    for (uint32_t issued = 0; issued < 2; issued++) {
        struct device *d = device_create(1, 2, 1, 128);
        device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
        device_mbarrier(d, OTHER, "other", 1, false, 1 << 0, 1 << 1);
        for (uint32_t w = 0; w < 2; w++)
            role(d, 0, w, w);
        init(d, 0, 0, FULL, 0, 1);
        init(d, 0, 0, OTHER, 0, 1);
        named_sync(d, 0, 0, 0, 64);
        named_sync(d, 0, 1, 0, 64);
        arrive_expect(d, 0, 0, FULL, 0, 0, 2048);
        if (issued)
            copy(d, 0, 0, OTHER, 0, 0, 2048, 0);
        leave(d, 0, 0);
        wait(d, 0, 1, FULL, 0, 0, 0);
        struct result r = judge(d, 0, 128);
        assert_cause(&r, issued ? WSDBG_CAUSE_TX_MISMATCH : WSDBG_CAUSE_TMA_NEVER_COMPLETED);
        done(&r);
    }
}

/* The probes leave the copies out.  Where bytes came in an earlier round all the same, they are only not on record. */
static void copies_that_are_not_on_record(void **state)
{
    (void)state;
    for (uint32_t rounds = 0; rounds < 2; rounds++) {
        struct device *d = device_create(1, 2, 1, 128);
        device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
        for (uint32_t w = 0; w < 2; w++)
            role(d, 0, w, w);
        init(d, 0, 0, FULL, 0, 1);
        for (uint32_t i = 0; i <= rounds; i++) {
            named_sync(d, 0, 0, 0, 64);
            named_sync(d, 0, 1, 0, 64);
            arrive_expect(d, 0, 0, FULL, 0, i, 2048);
            if (i < rounds)
                copy(d, 0, 0, FULL, 0, i, 2048, 0);
            wait(d, 0, 1, FULL, 0, i & 1, i);
        }
        leave(d, 0, 0);
        device_run(d, 1);
        struct result r;
        device_snapshot(d, 128, &r.snapshot);
        device_destroy(d);
        for (size_t i = 0; i < r.snapshot.history_count; i++) /* as if nobody had a probe there */
            if (r.snapshot.history[i].kind == WSDBG_EVENT_TMA_ISSUE)
                r.snapshot.history[i].kind = WSDBG_EVENT_WGMMA_COMMIT;
        must(wsdbg_diagnose(&r.snapshot, &r.diagnosis) == NULL);
        assert_cause(&r, rounds ? WSDBG_CAUSE_TX_MISMATCH : WSDBG_CAUSE_TMA_NEVER_COMPLETED);
        assert_int_equal(r.diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_LIKELY);
        done(&r);
    }
}

static void named_counts_that_differ(void **state)
{
    (void)state;
    struct device *d = device_create(1, 4, 1, 128);
    named_sync(d, 0, 0, 1, 96);
    named_sync(d, 0, 1, 1, 128);
    for (uint32_t w = 0; w < 4; w++)
        leave(d, 0, w);
    struct result r = judge(d, 0, 128);
    assert_cause(&r, WSDBG_CAUSE_NAMED_COUNT);
    assert_non_null(strstr(r.diagnosis.findings[0].sentence, "96"));
    assert_non_null(strstr(r.diagnosis.findings[0].sentence, "128"));
    done(&r);
}

/* Warps 0 to 3 and 4 to 6 are a group each; that they share an id is as near as a wrong total. */
static void two_groups_of_other_sizes_prove_no_count(void **state)
{
    (void)state;
    struct device *d = device_create(1, 7, 1, 128);
    for (uint32_t w = 0; w < 7; w++)
        role(d, 0, w, w / 4);
    named_sync(d, 0, 0, 1, 128);
    named_sync(d, 0, 4, 1, 96);
    for (uint32_t w = 0; w < 7; w++)
        leave(d, 0, w);
    struct result r = judge(d, 0, 128);
    assert_cause(&r, WSDBG_CAUSE_NAMED_COUNT);
    assert_int_equal(r.diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_LIKELY);
    assert_non_null(strstr(r.diagnosis.findings[0].fix, "different barrier ids"));
    done(&r);
}

static void a_named_count_that_is_never_reached(void **state)
{
    (void)state;
    struct device *d = device_create(1, 4, 1, 128);
    for (uint32_t w = 0; w < 4; w++) {
        if (w < 2)
            named_sync(d, 0, w, 3, 96);
        leave(d, 0, w);
    }
    struct result r = judge(d, 0, 128);
    assert_cause(&r, WSDBG_CAUSE_NAMED_COUNT);
    done(&r);
}

static void a_block_wide_sync_in_one_role(void **state)
{
    (void)state;
    struct device *d = device_create(1, 4, 1, 128);
    for (uint32_t w = 0; w < 4; w++) {
        role(d, 0, w, w / 2);
        if (w < 2)
            named_sync(d, 0, w, 0, 128);
        leave(d, 0, w);
    }
    struct result r = judge(d, 0, 128);
    assert_cause(&r, WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE);
    done(&r);
}

/* Warps 1 and 2 release what warp 0 fills, of warp 2 the probes do not show it; in the last round it does not.  As
 * earlier rounds ended, the count is right. */
static void arrivals_of_which_some_are_on_record(void **state)
{
    (void)state;
    struct device *d = device_create(1, 3, 1, 128);
    device_mbarrier(d, FULL, "empty", 1, false, 1 << 1, 1 << 0);
    for (uint32_t w = 0; w < 3; w++)
        role(d, 0, w, w);
    init(d, 0, 0, FULL, 0, 2);
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t w = 0; w < 3; w++)
            named_sync(d, 0, w, 0, 96);
        arrive(d, 0, 1, FULL, 0, i, 1);
        if (i < 4)
            arrive(d, 0, 2, FULL, 0, i, 1);
        wait(d, 0, 0, FULL, 0, i & 1, i);
    }
    leave(d, 0, 1);
    leave(d, 0, 2);
    device_run(d, 1);
    struct result r;
    device_snapshot(d, 128, &r.snapshot);
    device_destroy(d);
    for (size_t w = 0; w < r.snapshot.warp_count; w++)
        for (uint32_t i = 0; i < r.snapshot.warps[w].history_count; i++) {
            struct wsdbg_history_event *event = &r.snapshot.history[r.snapshot.warps[w].history_first + i];
            if (r.snapshot.warps[w].warp == 2 && event->kind == WSDBG_EVENT_MBARRIER_ARRIVE)
                event->kind = WSDBG_EVENT_WGMMA_COMMIT;
        }
    must(wsdbg_diagnose(&r.snapshot, &r.diagnosis) == NULL);
    for (size_t i = 0; i < r.diagnosis.finding_count; i++)
        assert_int_not_equal(r.diagnosis.findings[i].cause, WSDBG_CAUSE_ARRIVE_SHORT);
    done(&r);
}

/* Two copies a round, of which the probes show the larger one; the other is not issued for the last round. */
static void copies_of_which_some_are_on_record(void **state)
{
    (void)state;
    struct device *d = device_create(1, 2, 1, 128);
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    for (uint32_t w = 0; w < 2; w++)
        role(d, 0, w, w);
    init(d, 0, 0, FULL, 0, 1);
    for (uint32_t i = 0; i < 3; i++) {
        named_sync(d, 0, 0, 0, 64);
        named_sync(d, 0, 1, 0, 64);
        arrive_expect(d, 0, 0, FULL, 0, i, 3072);
        copy(d, 0, 0, FULL, 0, i, 2048, 0);
        if (i < 2)
            copy(d, 0, 0, FULL, 0, i, 1024, 0);
        wait(d, 0, 1, FULL, 0, i & 1, i);
    }
    leave(d, 0, 0);
    device_run(d, 1);
    struct result r;
    device_snapshot(d, 128, &r.snapshot);
    device_destroy(d);
    for (size_t i = 0; i < r.snapshot.history_count; i++)
        if (r.snapshot.history[i].kind == WSDBG_EVENT_TMA_ISSUE && WSDBG_TMA_BYTES(r.snapshot.history[i].value) == 1024)
            r.snapshot.history[i].kind = WSDBG_EVENT_WGMMA_COMMIT;
    must(wsdbg_diagnose(&r.snapshot, &r.diagnosis) == NULL);
    assert_cause(&r, WSDBG_CAUSE_TX_MISMATCH);
    assert_int_equal(r.diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_LIKELY);
    assert_non_null(strstr(r.diagnosis.findings[0].sentence, "do not show all copies"));
    done(&r);
}

/* Two CTAs wait for each other's arrival before making their own. */
static struct device *cluster_ring(bool unnamed)
{
    struct device *d = device_create(2, 1, 2, 128);
    if (!unnamed)
        device_mbarrier(d, FULL, "handover", 1, false, 1, 1);
    for (uint32_t cta = 0; cta < 2; cta++) {
        role(d, cta, 0, 0);
        init(d, cta, 0, FULL, 0, 1);
        cluster_sync(d, cta, 0);
        wait(d, cta, 0, FULL, 0, 0, 0);
        arrive_remote(d, cta, 0, FULL, 0, 0, 1 - cta);
        leave(d, cta, 0);
    }
    return d;
}

static void a_ring_over_two_ctas_of_a_cluster(void **state)
{
    (void)state;
    struct result r = judge(cluster_ring(false), 0, 128);
    assert_cause(&r, WSDBG_CAUSE_WAIT_CYCLE);
    uint32_t cycle_edges = 0;
    for (size_t i = 0; i < r.diagnosis.edge_count; i++) {
        const struct wsdbg_edge *edge = &r.diagnosis.edges[i];
        cycle_edges += edge->in_cycle;
        assert_int_not_equal(r.snapshot.warps[edge->waiter].cta, r.snapshot.warps[edge->waker].cta);
    }
    assert_int_equal(cycle_edges, 2);
    done(&r);
}

static void an_unnamed_ring_is_stuck_but_unknown(void **state)
{
    (void)state;
    struct result r = judge(cluster_ring(true), 0, 128);
    assert_cause(&r, WSDBG_CAUSE_UNKNOWN);
    assert_int_equal(r.diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_LIKELY);
    done(&r);
}

static void a_cluster_barrier_one_role_never_reaches(void **state)
{
    (void)state;
    struct device *d = device_create(2, 2, 2, 128);
    device_mbarrier(d, FULL, "ready", 1, false, 1 << 0, 1 << 1);
    for (uint32_t cta = 0; cta < 2; cta++) {
        for (uint32_t w = 0; w < 2; w++)
            role(d, cta, w, w);
        init(d, cta, 0, FULL, 0, 1);
        cluster_sync(d, cta, 0);
        arrive(d, cta, 0, FULL, 0, 0, 1);
        wait(d, cta, 1, FULL, 0, 0, 0);
        cluster_sync(d, cta, 1);
    }
    struct result r = judge(d, 0, 128);
    assert_true(r.diagnosis.hang);
    bool named = false;
    for (size_t i = 0; i < r.diagnosis.finding_count; i++)
        named = named || r.diagnosis.findings[i].cause == WSDBG_CAUSE_CLUSTER_MISSING ||
                r.diagnosis.findings[i].cause == WSDBG_CAUSE_WAIT_CYCLE;
    assert_true(named);
    done(&r);
}

/* A multicast copy of rank 0 brings its bytes to both CTAs; rank 1 expects them. */
static void multicast_bytes_count_in_every_cta_of_the_mask(void **state)
{
    (void)state;
    for (uint32_t mask = 1; mask <= 3; mask += 2) {
        struct device *d = device_create(2, 2, 2, 128);
        device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
        for (uint32_t cta = 0; cta < 2; cta++) {
            role(d, cta, 0, 0);
            role(d, cta, 1, 1);
            init(d, cta, 0, FULL, 0, 1);
            for (uint32_t w = 0; w < 2; w++)
                cluster_sync(d, cta, w);
            arrive_expect(d, cta, 0, FULL, 0, 0, 4096);
            if (cta == 0)
                copy(d, cta, 0, FULL, 0, 0, 4096, mask);
            wait(d, cta, 1, FULL, 0, 0, 0);
            leave(d, cta, 0);
            leave(d, cta, 1);
        }
        struct result r = judge(d, 0, 128);
        if (mask == 3) {
            assert_false(r.snapshot.grids[0].running);
        } else {
            assert_cause(&r, WSDBG_CAUSE_TX_MISMATCH);
            assert_int_equal(r.snapshot.ctas[r.diagnosis.findings[0].cta].cluster_rank, 1);
        }
        done(&r);
    }
}

static void a_split_warp_is_at_most_likely(void **state)
{
    (void)state;
    struct device *d = device_create(1, 1, 1, 128);
    init(d, 0, 0, FULL, 0, 1);
    wait(d, 0, 0, FULL, 0, 0, 0);
    struct result r = judge(d, 0, 128);
    wsdbg_diagnosis_deinit(&r.diagnosis);
    /* Lanes 1-31 began a wait on the barrier before lane 0 began its own. */
    struct wsdbg_history_event *events = &r.snapshot.history[r.snapshot.warps[0].history_first];
    events[1] = events[2];
    events[1].value = 90u | 1u << 16 | 31u << 21;
    events[2].value = 90u | 1u << 21;
    assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
    bool split = false;
    for (size_t i = 0; i < r.diagnosis.finding_count; i++)
        if (r.diagnosis.findings[i].cause == WSDBG_CAUSE_LANE_SPLIT) {
            split = true;
            assert_int_equal(r.diagnosis.findings[i].confidence, WSDBG_CONFIDENCE_LIKELY);
        }
    assert_true(split);
    done(&r);
}

/* Lane 0 saw the wait of iteration 0 end; `lanes` lanes from lane 1 on, or all, stand in the wait of `iteration`. */
static bool is_split(uint32_t iteration, uint32_t lane, uint32_t lanes)
{
    struct device *d = device_create(1, 2, 1, 128);
    device_mbarrier(d, EMPTY, "empty", 1, true, 1 << 1, 1 << 0);
    role(d, 0, 0, 0);
    role(d, 0, 1, 1);
    init(d, 0, 0, EMPTY, 0, 1);
    wait(d, 0, 0, EMPTY, 0, 1, 0);
    wait(d, 0, 0, EMPTY, 0, 0, 1);
    leave(d, 0, 1);
    struct result r = judge(d, 0, 128);
    wsdbg_diagnosis_deinit(&r.diagnosis);
    const struct wsdbg_warp_row *row = &r.snapshot.warps[0];
    struct wsdbg_history_event *events = &r.snapshot.history[row->history_first];
    for (uint32_t i = 0; i < row->history_count; i++)
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END)
            events[i].value = 90u | 1u << 21;
    events[row->history_count - 1].iteration = iteration;
    events[row->history_count - 1].parity = iteration == 0;
    events[row->history_count - 1].value = 91u | lane << 16 | lanes << 21;
    assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
    bool split = false;
    for (size_t i = 0; i < r.diagnosis.finding_count; i++)
        split = split || r.diagnosis.findings[i].cause == WSDBG_CAUSE_LANE_SPLIT;
    assert_true(!split || r.diagnosis.findings[0].confidence == WSDBG_CONFIDENCE_LIKELY);
    done(&r);
    return split;
}

static void lanes_that_wait_for_what_others_saw_end_have_split(void **state)
{
    (void)state;
    assert_true(is_split(0, 1, 31));
    assert_false(is_split(1, 1, 31)); /* lane 0 has not come as far */
    assert_false(is_split(0, 1, 32)); /* all of them */
    assert_false(is_split(0, 0, 1));  /* lane 0 itself: a phase that it waits for twice */
    assert_false(is_split(WSDBG_NO_ITERATION, 1, 31));
}

/* Error 719: two arrivals on a count of one.  Not a hang, but the structure is worth telling. */
/* "empty" is taken for a barrier whose first wait must not pass, which the producer's own first waits did. */
static void judge_with_a_wrong_name(enum gemm_bug bug, bool no_iterations, uint32_t depth)
{
    const struct gemm gemm = {
        .bug = bug, .ctas = 2, .stages = 3, .tiles = 2, .k_blocks = 5, .no_iterations = no_iterations};
    struct result r = judge(gemm_create(gemm), 0, depth);
    wsdbg_diagnosis_deinit(&r.diagnosis);
    r.snapshot.names_inferred = true;
    for (size_t k = 0; k < r.snapshot.name_count; k++)
        r.snapshot.names[k].first_free = false;
    assert_null(wsdbg_diagnose(&r.snapshot, &r.diagnosis));
    assert_true(r.diagnosis.hang);
    for (size_t k = 0; k < r.diagnosis.finding_count; k++)
        if (r.diagnosis.findings[k].cause == WSDBG_CAUSE_PARITY_WRONG ||
            r.diagnosis.findings[k].cause == WSDBG_CAUSE_PARITY_DRIFT)
            fail_msg("bug %u, depth %u: %s", bug, depth, r.diagnosis.findings[k].sentence);
    done(&r);
}

static void the_record_counts_more_than_an_inferred_name(void **state)
{
    (void)state;
    static const enum gemm_bug bugs[] = {GEMM_ARRIVE_MISSING, GEMM_ARRIVE_SHORT, GEMM_TX_MISMATCH, GEMM_WAKER_EXITED};
    static const uint32_t depths[] = {128, 24, 12};
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++)
        for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
            judge_with_a_wrong_name(bugs[i], false, depths[k]);
            judge_with_a_wrong_name(bugs[i], true, depths[k]);
        }
}

/* 132 CTAs x 12 warps x 128 events. */
static void a_full_chip_is_judged_as_a_few_ctas_are(void **state)
{
    (void)state;
    struct gemm gemm = {.bug = GEMM_WAKER_EXITED, .ctas = 132, .stages = 4, .tiles = 8, .k_blocks = 16, .cluster = 1};
    struct result r = judge(gemm_create(gemm), 0, 128);
    assert_cause(&r, WSDBG_CAUSE_WAKER_EXITED);
    assert_int_equal(r.diagnosis.findings[0].cta_count, 132);
    done(&r);
}

/* Probes name the file of their module; those of another module name another one. */
static void a_line_is_said_with_its_file_where_that_is_known(void **state)
{
    (void)state;
    struct wsdbg_module modules[] = {{.source_path = "/src/gemm.cu"}, {.source_path = ""}};
    struct wsdbg_grid grids[] = {{.module = 0}, {.module = 1}, {.module = WSDBG_NONE}};
    const struct wsdbg_snapshot s = {.modules = modules, .module_count = 2, .grids = grids, .grid_count = 3};
    const struct wsdbg_history_event arrival = {.kind = WSDBG_EVENT_MBARRIER_ARRIVE, .value = 241},
                                     exit = {.kind = WSDBG_EVENT_EXIT, .value = 241},
                                     nowhere = {.kind = WSDBG_EVENT_MBARRIER_ARRIVE};
    const char *const expected[] = {" (gemm.cu:241)", " (line 241)", " (line 241)"};
    for (uint32_t grid = 0; grid < 3; grid++) {
        const struct wsdbg_case c = {.snapshot = &s, .grid = grid};
        assert_string_equal(wsdbg_say_line(&c, &arrival).text, expected[grid]);
        assert_string_equal(wsdbg_say_line(&c, &exit).text, "");
        assert_string_equal(wsdbg_say_line(&c, &nowhere).text, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_that_disagree_about_their_copies),
        cmocka_unit_test(copies_for_a_barrier_that_expects_none),
        cmocka_unit_test(copies_that_are_not_on_record),
        cmocka_unit_test(named_counts_that_differ),
        cmocka_unit_test(two_groups_of_other_sizes_prove_no_count),
        cmocka_unit_test(a_named_count_that_is_never_reached),
        cmocka_unit_test(a_block_wide_sync_in_one_role),
        cmocka_unit_test(arrivals_of_which_some_are_on_record),
        cmocka_unit_test(copies_of_which_some_are_on_record),
        cmocka_unit_test(a_ring_over_two_ctas_of_a_cluster),
        cmocka_unit_test(an_unnamed_ring_is_stuck_but_unknown),
        cmocka_unit_test(a_cluster_barrier_one_role_never_reaches),
        cmocka_unit_test(multicast_bytes_count_in_every_cta_of_the_mask),
        cmocka_unit_test(a_split_warp_is_at_most_likely),
        cmocka_unit_test(lanes_that_wait_for_what_others_saw_end_have_split),
        cmocka_unit_test(the_record_counts_more_than_an_inferred_name),
        cmocka_unit_test(a_full_chip_is_judged_as_a_few_ctas_are),
        cmocka_unit_test(a_line_is_said_with_its_file_where_that_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
