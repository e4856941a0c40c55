/* blame_test.c - which rank caused a hang (the origin), and which ranks only wait for another process (victims).  In
 * each row the first cause is that of rank 0 and the second that of rank 1.  Rank 1 polls another process's memory if
 * the row says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/blame.h"

enum { NOTHING = -1 };

static const struct {
    const char *title;
    int cause[2];
    enum wsdbg_confidence confidence[2];
    bool polls, hang;
    enum wsdbg_blame expected[2];
} examples[] = {
    {"a cause of its own, and a peer that polls",
     {WSDBG_CAUSE_ARRIVE_MISSING, WSDBG_CAUSE_GLOBAL_SPIN},
     {WSDBG_CONFIDENCE_LIKELY, WSDBG_CONFIDENCE_LIKELY},
     true,
     true,
     {WSDBG_BLAME_ORIGIN, WSDBG_BLAME_VICTIM}},
    {"what the other one waits for is not known",
     {WSDBG_CAUSE_ARRIVE_MISSING, WSDBG_CAUSE_UNKNOWN},
     {WSDBG_CONFIDENCE_PROVEN, WSDBG_CONFIDENCE_POSSIBLE},
     false,
     true,
     {WSDBG_BLAME_ORIGIN, WSDBG_BLAME_UNKNOWN}},
    {"two of them",
     {WSDBG_CAUSE_ARRIVE_MISSING, WSDBG_CAUSE_TX_MISMATCH},
     {WSDBG_CONFIDENCE_PROVEN, WSDBG_CONFIDENCE_LIKELY},
     true,
     true,
     {WSDBG_BLAME_ORIGIN, WSDBG_BLAME_ORIGIN}},
    {"a cause that is only possible makes nobody a victim",
     {WSDBG_CAUSE_ARRIVE_MISSING, NOTHING},
     {WSDBG_CONFIDENCE_POSSIBLE, WSDBG_CONFIDENCE_POSSIBLE},
     true,
     true,
     {WSDBG_BLAME_UNKNOWN, WSDBG_BLAME_UNKNOWN}},
    {"all wait for each other",
     {WSDBG_CAUSE_GLOBAL_SPIN, WSDBG_CAUSE_HOST_WAIT},
     {WSDBG_CONFIDENCE_LIKELY, WSDBG_CONFIDENCE_LIKELY},
     true,
     true,
     {WSDBG_BLAME_UNKNOWN, WSDBG_BLAME_UNKNOWN}},
    {"no hang",
     {WSDBG_CAUSE_ARRIVE_MISSING, NOTHING},
     {WSDBG_CONFIDENCE_LIKELY, WSDBG_CONFIDENCE_LIKELY},
     true,
     false,
     {WSDBG_BLAME_UNKNOWN, WSDBG_BLAME_UNKNOWN}},
};

static void check(size_t i)
{
    struct wsdbg_process processes[] = {{.process_id = 5, .pid = 5}, {.process_id = 6, .pid = 6}};
    struct wsdbg_context contexts[] = {{.process_id = 5, .alive = true}, {.process_id = 6, .alive = true}};
    struct wsdbg_grid grids[] = {{.context = 0, .running = true}, {.context = 1, .running = true}};
    struct wsdbg_cta cta = {.grid = 1};
    struct wsdbg_warp_row warp = {.cta = 0};
    struct wsdbg_part part = {.state = WSDBG_WARP_SPIN_GLOBAL, .address = {.value = 64, .known = examples[i].polls}};
    struct wsdbg_allocation memory = {
        .process_id = 6, .row = {.number = 1, .address = 64, .bytes = 64, .kind = WSDBG_ALLOCATION_IMPORTED}};
    const struct wsdbg_snapshot snapshot = {.processes = processes,
                                            .process_count = 2,
                                            .contexts = contexts,
                                            .context_count = 2,
                                            .grids = grids,
                                            .grid_count = 2,
                                            .ctas = &cta,
                                            .cta_count = 1,
                                            .warps = &warp,
                                            .warp_count = 1,
                                            .parts = &part,
                                            .part_count = 1,
                                            .allocations = &memory,
                                            .allocation_count = 1};
    struct wsdbg_finding findings[2];
    struct wsdbg_diagnosis diagnosis = {.hang = examples[i].hang, .findings = findings};
    for (uint32_t rank = 0; rank < 2; rank++)
        if (examples[i].cause[rank] != NOTHING)
            findings[diagnosis.finding_count++] =
                (struct wsdbg_finding){.cause = (enum wsdbg_cause)examples[i].cause[rank],
                                       .confidence = examples[i].confidence[rank],
                                       .grid = rank};
    for (uint32_t rank = 0; rank < 2; rank++)
        if (wsdbg_blame_of(&snapshot, &diagnosis, rank) != examples[i].expected[rank])
            fail_msg("%s: rank %u is %d", examples[i].title, rank, wsdbg_blame_of(&snapshot, &diagnosis, rank));
}

static void whose_fault_it_is_is_said_only_where_it_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check(i);
}

/* Six at fault, and rank 6, which polls memory of another process. */
static void a_victim_waits_for_all_origins(void **state)
{
    (void)state;
    enum { ORIGINS = 6, RANKS = ORIGINS + 1 };
    struct wsdbg_process processes[RANKS];
    struct wsdbg_context contexts[RANKS];
    struct wsdbg_grid grids[RANKS];
    struct wsdbg_finding findings[ORIGINS];
    for (uint32_t i = 0; i < RANKS; i++) {
        processes[i] = (struct wsdbg_process){.process_id = 10 + i, .pid = 10 + i, .rank = wsdbg_known_u32(i)};
        contexts[i] = (struct wsdbg_context){.process_id = 10 + i, .alive = true};
        grids[i] = (struct wsdbg_grid){.context = i, .running = true};
    }
    for (uint32_t i = 0; i < ORIGINS; i++)
        findings[i] = (struct wsdbg_finding){
            .cause = WSDBG_CAUSE_ARRIVE_MISSING, .confidence = WSDBG_CONFIDENCE_LIKELY, .grid = i};
    struct wsdbg_cta cta = {.grid = ORIGINS};
    struct wsdbg_warp_row warp = {.cta = 0};
    struct wsdbg_part part = {.state = WSDBG_WARP_SPIN_GLOBAL, .address = wsdbg_known_u64(64)};
    struct wsdbg_allocation memory = {
        .process_id = 10 + ORIGINS,
        .row = {.number = 1, .address = 64, .bytes = 64, .kind = WSDBG_ALLOCATION_IMPORTED}};
    const struct wsdbg_snapshot s = {.processes = processes,
                                     .process_count = RANKS,
                                     .contexts = contexts,
                                     .context_count = RANKS,
                                     .grids = grids,
                                     .grid_count = RANKS,
                                     .ctas = &cta,
                                     .cta_count = 1,
                                     .warps = &warp,
                                     .warp_count = 1,
                                     .parts = &part,
                                     .part_count = 1,
                                     .allocations = &memory,
                                     .allocation_count = 1};
    struct wsdbg_diagnosis diagnosis = {.hang = true, .findings = findings, .finding_count = 2};
    char text[64];
    wsdbg_blame_waits_for(&s, &diagnosis, ORIGINS, text, sizeof text);
    assert_string_equal(text, "rank 0, rank 1");
    diagnosis.finding_count = ORIGINS;
    wsdbg_blame_waits_for(&s, &diagnosis, ORIGINS, text, sizeof text);
    assert_string_equal(text, "rank 0, rank 1, rank 2, rank 3 and 2 more");
    wsdbg_blame_waits_for(&s, &diagnosis, ORIGINS, text, 10);
    assert_string_equal(text, "rank 0, r");
    wsdbg_blame_waits_for(&s, &diagnosis, 0, text, sizeof text);
    assert_string_equal(text, ""); /* an origin waits for nobody */
}

/* What may be the cause of a cycle goes before it, and the cycle is likely all the same. */
static void a_cycle_whose_cause_is_only_possible_is_the_fault_of_its_process(void **state)
{
    (void)state;
    struct wsdbg_process process = {.process_id = 5, .pid = 5};
    struct wsdbg_context context = {.process_id = 5, .alive = true};
    struct wsdbg_grid grid = {.context = 0, .running = true};
    const struct wsdbg_snapshot snapshot = {.processes = &process,
                                            .process_count = 1,
                                            .contexts = &context,
                                            .context_count = 1,
                                            .grids = &grid,
                                            .grid_count = 1};
    struct wsdbg_finding findings[] = {
        {.cause = WSDBG_CAUSE_TX_MISMATCH, .confidence = WSDBG_CONFIDENCE_POSSIBLE, .leads = true},
        {.cause = WSDBG_CAUSE_WAIT_CYCLE, .confidence = WSDBG_CONFIDENCE_LIKELY}};
    const struct wsdbg_diagnosis diagnosis = {.hang = true, .findings = findings, .finding_count = 2};
    assert_int_equal(wsdbg_blame_of(&snapshot, &diagnosis, 0), WSDBG_BLAME_ORIGIN);
    findings[1].cause = WSDBG_CAUSE_UNKNOWN;
    assert_int_equal(wsdbg_blame_of(&snapshot, &diagnosis, 0), WSDBG_BLAME_UNKNOWN);
}

/* A finding may be about another process than that of its grid. */
static void a_finding_is_of_the_process_that_it_names(void **state)
{
    (void)state;
    struct wsdbg_context context = {.process_id = 5};
    struct wsdbg_grid grid = {.context = 0};
    const struct wsdbg_snapshot snapshot = {.contexts = &context, .context_count = 1, .grids = &grid, .grid_count = 1};
    struct wsdbg_finding finding = {.grid = 0};
    struct wsdbg_diagnosis diagnosis = {.findings = &finding, .finding_count = 1};
    assert_int_equal(wsdbg_finding_of_process(&snapshot, &diagnosis, 5), 0);
    finding.process_id = wsdbg_known_u32(6);
    assert_int_equal(wsdbg_finding_of_process(&snapshot, &diagnosis, 6), 0);
    assert_int_equal(wsdbg_finding_of_process(&snapshot, &diagnosis, 5), WSDBG_NONE);
    finding = (struct wsdbg_finding){.grid = WSDBG_NONE};
    assert_false(wsdbg_finding_process_id(&snapshot, &finding).known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_fault_it_is_is_said_only_where_it_is_known),
        cmocka_unit_test(a_victim_waits_for_all_origins),
        cmocka_unit_test(a_cycle_whose_cause_is_only_possible_is_the_fault_of_its_process),
        cmocka_unit_test(a_finding_is_of_the_process_that_it_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
