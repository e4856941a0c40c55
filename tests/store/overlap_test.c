/* overlap_test.c - stages of wgmma out of a warp's events, and what reports and queries say of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/opened.h"
#include "store/overlap.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/export.h"

enum {
    ISSUE = WSDBG_EVENT_WGMMA_ISSUE,
    COMMIT = WSDBG_EVENT_WGMMA_COMMIT,
    BEGIN = WSDBG_EVENT_WGMMA_WAIT_BEGIN,
    END = WSDBG_EVENT_WGMMA_WAIT_END,
    FULL = WSDBG_EVENT_MBARRIER_WAIT_END,
    NONE = WSDBG_NO_ITERATION,
    EVENTS = 12
};

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = example_folder();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    example_clean(folder);
    return 0;
}

struct told {
    uint8_t kind;
    uint64_t ns;
    uint32_t iteration, groups;
};

static struct wsdbg_history_event event_of(const struct told *told)
{
    return (struct wsdbg_history_event){
        .gpu_time_ns = told->ns, .iteration = told->iteration, .value = told->groups, .kind = told->kind};
}

/* The last stage in the events; *count says how many there were. */
static struct wsdbg_overlap_stage last_stage(const struct told *told, int *count)
{
    struct wsdbg_overlap overlap = {0};
    struct wsdbg_overlap_stage stage = {0};
    *count = 0;
    for (; told->kind; told++) {
        const struct wsdbg_history_event event = event_of(told);
        *count += wsdbg_overlap_add(&overlap, &event, &stage);
    }
    return stage;
}

static void check(const struct told *told, int count, uint32_t rounds, uint64_t stage_ns, uint64_t wait_ns)
{
    int found;
    const struct wsdbg_overlap_stage stage = last_stage(told, &found);
    assert_int_equal(found, count);
    assert_int_equal(stage.rounds, rounds);
    assert_int_equal(stage.wait_end_ns - stage.issued_ns, stage_ns);
    assert_int_equal(stage.wait_end_ns - stage.wait_begin_ns, wait_ns);
}

static void a_stage_goes_from_the_first_issue_to_the_wait_for_all(void **state)
{
    (void)state;
    /* As the reference GEMM tells it: the first issue of a tile, and the wait behind its last k-block. */
    check((struct told[]){{ISSUE, 100, 16, 0}, {BEGIN, 900, 23, 0}, {END, 1060, 23, 0}, {0}}, 1, 8, 960, 160);
    /* Every round. */
    check((struct told[]){{ISSUE, 0, 0, 0}, {ISSUE, 100, 1, 0}, {BEGIN, 130, 1, 0}, {END, 230, 1, 0}, {0}}, 1, 2, 230,
          100);
    /* One behind the other. */
    check((struct told[]){{ISSUE, 0, 0, 0},
                          {BEGIN, 50, 0, 0},
                          {END, 90, 0, 0},
                          {ISSUE, 200, 1, 0},
                          {BEGIN, 250, 1, 0},
                          {END, 310, 1, 0},
                          {0}},
          2, 1, 110, 60);
}

static void without_iterations_commits_are_the_rounds(void **state)
{
    (void)state;
    check((struct told[]){{ISSUE, 0, NONE, 0},
                          {COMMIT, 10, NONE, 0},
                          {COMMIT, 90, NONE, 0},
                          {BEGIN, 100, NONE, 0},
                          {END, 150, NONE, 0},
                          {0}},
          1, 2, 150, 50);
    check((struct told[]){{ISSUE, 0, NONE, 0}, {BEGIN, 100, NONE, 0}, {END, 150, NONE, 0}, {0}}, 1, 0, 150, 50);
    /* Numbers that go backward count nothing. */
    check((struct told[]){{ISSUE, 0, 9, 0}, {BEGIN, 100, 3, 0}, {END, 150, 3, 0}, {0}}, 1, 0, 150, 50);
}

static void a_wait_that_leaves_groups_ends_no_stage(void **state)
{
    (void)state;
    const struct told told[] = {{ISSUE, 0, 0, 0},  {BEGIN, 10, 0, 1}, {END, 20, 0, 0},
                                {ISSUE, 30, 1, 0}, {BEGIN, 40, 1, 1}, {END, 80, 1, 0},
                                {BEGIN, 90, 1, 0}, {END, 150, 1, 0},  {0}};
    int count;
    const struct wsdbg_overlap_stage stage = last_stage(told, &count);
    check(told, 1, 2, 150, 60);
    assert_int_equal(stage.earlier_waits, 2);
    assert_int_equal(stage.earlier_wait_ns, 10 + 40);
}

#define ROUND(ns, iteration)   \
    {                          \
        FULL, ns, iteration, 0 \
    }
#define ROUNDS_40_TO_49                                                                                   \
    ROUND(1000, 40), ROUND(1100, 41), ROUND(1200, 42), ROUND(1300, 43), ROUND(1400, 44), ROUND(1500, 45), \
        ROUND(1600, 46), ROUND(1700, 47), ROUND(1800, 48), ROUND(1900, 49)
#define LAST_WAIT                             \
    {BEGIN, 2000, 49, 0}, {END, 2090, 49, 0}, \
    {                                         \
        0                                     \
    }

/* A ring of events: of long stages the issue is gone, but not the rounds that came last. */
static void a_long_stage_counts_from_the_first_round_that_is_known(void **state)
{
    (void)state;
    check((struct told[]){ROUNDS_40_TO_49, LAST_WAIT}, 1, 10, 1090, 90);
    /* The issue is what counts where it is there; waits before it are of the tile before. */
    check((struct told[]){ROUND(900, 39), {ISSUE, 990, 40, 0}, ROUNDS_40_TO_49, LAST_WAIT}, 1, 10, 1100, 90);
    /* Counted by something else, as by tile, or by nothing: the row begins behind it. */
    check((struct told[]){ROUND(100, 3), ROUND(900, NONE), ROUNDS_40_TO_49, LAST_WAIT}, 1, 10, 1090, 90);
    /* Too few rounds to count from a wait that came somewhat after its issue. */
    check((struct told[]){ROUND(1800, 48), ROUND(1900, 49), LAST_WAIT}, 0, 0, 0, 0);
    /* A round that is missing, and a wait for all that counts otherwise. */
    check((struct told[]){ROUND(1000, 40), ROUND(1900, 49), LAST_WAIT}, 0, 0, 0, 0);
    check((struct told[]){ROUNDS_40_TO_49, {BEGIN, 2000, 60, 0}, {END, 2090, 60, 0}, {0}}, 0, 0, 0, 0);
    /* What came before the end of a wait for all belongs to another stage. */
    check((struct told[]){ROUNDS_40_TO_49, {END, 1950, 49, 0}, LAST_WAIT}, 0, 0, 0, 0);
}

/* Two barriers by turns: whose round a wait is nobody says. */
static void rounds_of_two_barriers_are_no_row(void **state)
{
    (void)state;
    struct wsdbg_overlap overlap = {0};
    struct wsdbg_overlap_stage stage;
    struct told rounds[] = {ROUNDS_40_TO_49, LAST_WAIT};
    for (int i = 0; rounds[i].kind; i++) {
        struct wsdbg_history_event event = event_of(&rounds[i]);
        event.barrier = (uint8_t)(i % 2);
        assert_false(wsdbg_overlap_add(&overlap, &event, &stage));
    }
}

static void what_is_not_in_the_history_is_not_measured(void **state)
{
    (void)state;
    check((struct told[]){{BEGIN, 900, 23, 0}, {END, 1060, 23, 0}, {0}}, 0, 0, 0, 0);  /* the issue was overwritten */
    check((struct told[]){{ISSUE, 100, 16, 0}, {BEGIN, 900, 23, 0}, {0}}, 0, 0, 0, 0); /* it waits still */
    /* A wait whose begin is not there may have been one for all: what was issued before it belongs to no stage. */
    check((struct told[]){{ISSUE, 100, 0, 0}, {END, 200, 0, 0}, {BEGIN, 300, 1, 0}, {END, 400, 1, 0}, {0}}, 0, 0, 0, 0);
    /* Times of a file from elsewhere. */
    check((struct told[]){{ISSUE, 100, 0, 0}, {BEGIN, 300, 0, 0}, {END, 200, 0, 0}, {0}}, 0, 0, 0, 0);
    check((struct told[]){{ISSUE, 400, 0, 0}, {BEGIN, 300, 0, 0}, {END, 500, 0, 0}, {0}}, 0, 0, 0, 0);
}

/* The consumers' warps 4 and 8 of a hang tell what `told` says. */
static void example_with(struct example *e, const struct told *told)
{
    example_hang(e, 1, EVENTS);
    for (uint32_t warp = 4; warp <= 8; warp += 4)
        for (uint32_t i = 0; told[i].kind; i++)
            e->snapshot.history[e->snapshot.warps[warp].history_first + 1 + i] = event_of(&told[i]);
}

/* One group in flight: a round takes 100 ns, the last wait 90. */
static const struct told overlapped[] = {{ISSUE, 1000, 0, 0},
                                         {BEGIN, 1020, 0, 1},
                                         {END, 1030, 0, 0},
                                         {ISSUE, 1100, 1, 0},
                                         {BEGIN, 1110, 1, 0},
                                         {END, 1200, 1, 0},
                                         {0}};
/* ptxas waits before the author does. */
static const struct told serialized[] = {{ISSUE, 1000, 0, 0},
                                         {BEGIN, 1390, 0, 1},
                                         {END, 1400, 0, 0},
                                         {ISSUE, 1400, 1, 0},
                                         {BEGIN, 1790, 1, 0},
                                         {END, 1800, 1, 0},
                                         {0}};

static char *report_of(const struct told *told, bool json, const char *device)
{
    struct example e;
    static int number;
    char name[32];
    snprintf(name, sizeof name, "report%d.db", number++);
    example_with(&e, told);
    e.info.device = device;
    example_store(&e, example_path(folder, name));
    example_free(&e);
    return example_stored_report(example_path(folder, name), json);
}

static void expect(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("no \"%s\" in\n%s", line, text);
}

static void the_report_says_what_was_in_flight(void **state)
{
    (void)state;
    char *text = report_of(overlapped, false, "gpu");
    expect(text, "wgmma in flight when their warps began to wait for all of them, in rounds of the main loop\n"
                 "  gemm_kernel<128>\n"
                 "  warps 4-7  consumer  0.90 (0.90-0.90), waited 90 ns, a round 100 ns; 1 stage of 2; earlier waits 10 ns\n"
                 "  warps 8-11  consumer  0.90 (0.90-0.90), ");
    assert_null(strstr(text, "Close to 0"));
    free(text);
}

static void serialized_wgmma_stand_out(void **state)
{
    (void)state;
    char *text = report_of(serialized, false, "gpu");
    expect(text, "consumer  0.03 (0.03-0.03), waited 10 ns, a round 400 ns; 1 stage of 2; earlier waits 10 ns\n");
    expect(text, "  Close to 0: the tensor cores were done before anybody waited");
    expect(text, "WGMMA_SERIALIZED");
    free(text);
}

static void of_the_simulator_nothing_is_concluded(void **state)
{
    (void)state;
    char *text = report_of(serialized, false, "sim");
    expect(text, "The simulator's times are chosen");
    assert_null(strstr(text, "Close to 0"));
    free(text);
}

static void rounds_that_nobody_counted_are_unknown(void **state)
{
    (void)state;
    static const struct told told[] = {{ISSUE, 1000, NONE, 0}, {BEGIN, 1110, NONE, 0}, {END, 1200, NONE, 0}, {0}};
    char *text = report_of(told, false, "gpu");
    expect(text, "consumer  ? rounds, waited 90 ns; 1 stage\n");
    free(text);
    text = report_of(told, true, "gpu");
    json_t *root = json_loads(text, 0, NULL);
    json_t *row = json_array_get(json_object_get(root, "wgmma_overlap"), 0);
    assert_true(json_is_null(json_object_get(row, "rounds_in_flight")));
    assert_true(json_is_null(json_object_get(row, "round_ns")));
    assert_int_equal(json_integer_value(json_object_get(row, "wait_ns")), 90);
    json_decref(root);
    free(text);
}

static void a_kernel_without_wgmma_has_no_such_lines(void **state)
{
    (void)state;
    static const struct told nothing[] = {{0}};
    char *text = report_of(nothing, false, "gpu");
    assert_null(strstr(text, "wgmma"));
    free(text);
}

/* Nobody told roles: rows are warpgroups. */
static void without_roles_warpgroups_are_told_apart(void **state)
{
    (void)state;
    struct example e;
    example_with(&e, overlapped);
    for (size_t i = 0; i < e.snapshot.warp_count; i++)
        e.snapshot.warps[i].role.known = false;
    struct wsdbg_store *store = stored(folder, &e);
    char *text = example_query(store, "@overlap", WSDBG_QUERY_CSV);
    expect(text, "v,,1,1,2,100,90,0.9,0.9,0.9,1,10\r\n");
    expect(text, "v,,2,1,2,100,90,0.9,0.9,0.9,1,10\r\n");
    free(text);
    text = example_query(store, "@stages", WSDBG_QUERY_CSV);
    expect(text, "v,0,0,0,4,,1000,200,90,2,1,10\r\n");
    free(text);
    wsdbg_store_close(store);
    example_free(&e);
}

/* What a simulated device writes of kernels without probes has no begins of waits that passed. */
static void inferred_events_of_the_simulator_are_left_out(void **state)
{
    (void)state;
    struct example e;
    example_with(&e, overlapped);
    e.snapshot.names_inferred = true;
    e.info.device = "sim";
    struct wsdbg_store *store = stored(folder, &e);
    char *text = example_query(store, "SELECT count(*) FROM wgmma_stage", WSDBG_QUERY_CSV);
    expect(text, "\n0\r\n");
    free(text);
    wsdbg_store_close(store);
    example_free(&e);
}

static void the_page_has_a_table(void **state)
{
    (void)state;
    struct example e;
    example_with(&e, serialized);
    struct wsdbg_store *store = stored(folder, &e);
    char *page = NULL;
    size_t length;
    FILE *out = open_memstream(&page, &length);
    example_ok(wsdbg_report_html(store, out));
    fclose(out);
    expect(page, "<h2 id=\"overlap\">wgmma in flight</h2>");
    expect(page, "<td>4-7</td><td>consumer</td><td>0.03</td><td>0.03</td><td>0.03</td><td>400</td><td>10</td>");
    expect(page, "<p class=\"soft\">Close to 0");
    free(page);
    wsdbg_store_close(store);
    example_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stage_goes_from_the_first_issue_to_the_wait_for_all),
        cmocka_unit_test(without_iterations_commits_are_the_rounds),
        cmocka_unit_test(a_wait_that_leaves_groups_ends_no_stage),
        cmocka_unit_test(a_long_stage_counts_from_the_first_round_that_is_known),
        cmocka_unit_test(rounds_of_two_barriers_are_no_row),
        cmocka_unit_test(what_is_not_in_the_history_is_not_measured),
        cmocka_unit_test(the_report_says_what_was_in_flight),
        cmocka_unit_test(serialized_wgmma_stand_out),
        cmocka_unit_test(of_the_simulator_nothing_is_concluded),
        cmocka_unit_test(rounds_that_nobody_counted_are_unknown),
        cmocka_unit_test(a_kernel_without_wgmma_has_no_such_lines),
        cmocka_unit_test(without_roles_warpgroups_are_told_apart),
        cmocka_unit_test(inferred_events_of_the_simulator_are_left_out),
        cmocka_unit_test(the_page_has_a_table),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
