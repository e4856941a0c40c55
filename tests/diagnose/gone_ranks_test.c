/* gone_ranks_test.c - rank 0's kernel waits, and the process of rank 1 has ended: when is that the cause? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/gone_ranks.h"

enum { NOTHING = 0, LIKELY = WSDBG_CONFIDENCE_LIKELY, POSSIBLE = WSDBG_CONFIDENCE_POSSIBLE };

#define KILLED                    \
    {                             \
        WSDBG_END_SIGNAL, SIGKILL \
    }
#define EXITED(status)           \
    {                            \
        WSDBG_END_EXITED, status \
    }

static const struct {
    const char *title;
    struct wsdbg_process_end end; /* of rank 1 */
    bool third_lives;             /* a third process uses CUDA */
    bool polls;                   /* rank 0 polls memory that it shares */
    bool has_rank;                /* rank 1 does */
    enum wsdbg_cause cause;       /* what the rules say of rank 0 */
    int confidence;
    int expected;
} examples[] = {
    {"nobody is left who could write", KILLED, false, true, true, WSDBG_CAUSE_GLOBAL_SPIN, LIKELY, LIKELY},
    {"however it ended", EXITED(0), false, true, true, WSDBG_CAUSE_GLOBAL_SPIN, LIKELY, LIKELY},
    {"or nobody saw how", {WSDBG_END_UNKNOWN, 0}, false, true, true, WSDBG_CAUSE_GLOBAL_SPIN, LIKELY, LIKELY},
    {"the host may write", KILLED, false, true, true, WSDBG_CAUSE_GLOBAL_SPIN, POSSIBLE, POSSIBLE},
    {"a third rank may write", KILLED, true, true, true, WSDBG_CAUSE_GLOBAL_SPIN, POSSIBLE, POSSIBLE},
    {"an error counts as a signal does", EXITED(1), true, true, true, WSDBG_CAUSE_UNKNOWN, POSSIBLE, POSSIBLE},
    {"it ended well, and a third rank lives", EXITED(0), true, true, true, WSDBG_CAUSE_UNKNOWN, POSSIBLE, NOTHING},
    {"how is not known, and a third rank lives",
     {WSDBG_END_UNKNOWN, 0},
     true,
     true,
     true,
     WSDBG_CAUSE_UNKNOWN,
     POSSIBLE,
     NOTHING},
    {"it lives", {WSDBG_END_NONE, 0}, true, true, true, WSDBG_CAUSE_GLOBAL_SPIN, POSSIBLE, NOTHING},
    {"it is no rank", KILLED, false, true, false, WSDBG_CAUSE_GLOBAL_SPIN, LIKELY, NOTHING},
    {"the kernel has a cause of its own", KILLED, true, true, true, WSDBG_CAUSE_ARRIVE_MISSING, LIKELY, NOTHING},
    {"the kernel polls its own memory", KILLED, false, false, true, WSDBG_CAUSE_GLOBAL_SPIN, LIKELY, NOTHING},
    {"the kernel is slow", KILLED, true, true, true, WSDBG_CAUSE_SLOW, LIKELY, NOTHING},
};

static void check(size_t i)
{
    struct wsdbg_process processes[] = {
        {.process_id = 5, .pid = 5, .rank = wsdbg_known_u32(0)},
        {.process_id = 6, .pid = 6, .rank = {.value = 1, .known = examples[i].has_rank}, .end = examples[i].end},
        {.process_id = 7, .pid = 7, .rank = wsdbg_known_u32(2)}};
    struct wsdbg_context contexts[] = {{.process_id = 5, .alive = true},
                                       {.process_id = 6, .process_ended = examples[i].end.kind != WSDBG_END_NONE},
                                       {.process_id = 7, .alive = true}};
    struct wsdbg_grid grid = {.context = 0, .running = true, .cta_count = 1};
    struct wsdbg_cta cta = {.grid = 0};
    struct wsdbg_warp_row warp = {.cta = 0};
    struct wsdbg_part part = {.state = WSDBG_WARP_SPIN_GLOBAL, .address = {.value = 64, .known = examples[i].polls}};
    struct wsdbg_allocation memory[] = {
        {.process_id = 5, .row = {.number = 1, .address = 64, .bytes = 64, .flags = WSDBG_ALLOCATION_EXPORTED}},
        {.process_id = 6, .row = {.number = 1, .address = 640, .bytes = 64, .kind = WSDBG_ALLOCATION_IMPORTED}}};
    const size_t count = examples[i].third_lives ? 3 : 2;
    const struct wsdbg_snapshot snapshot = {.processes = processes,
                                            .process_count = count,
                                            .contexts = contexts,
                                            .context_count = count,
                                            .grids = &grid,
                                            .grid_count = 1,
                                            .ctas = &cta,
                                            .cta_count = 1,
                                            .warps = &warp,
                                            .warp_count = 1,
                                            .parts = &part,
                                            .part_count = 1,
                                            .allocations = memory,
                                            .allocation_count = 2};
    struct wsdbg_diagnosis diagnosis = {.findings = calloc(1, sizeof *diagnosis.findings), .finding_count = 1};
    diagnosis.findings[0] =
        (struct wsdbg_finding){.cause = examples[i].cause, .confidence = (enum wsdbg_confidence)examples[i].confidence};
    assert_null(wsdbg_find_gone_ranks(&snapshot, &diagnosis));
    const int found = diagnosis.finding_count > 1 ? (int)diagnosis.findings[1].confidence : NOTHING;
    if (found != examples[i].expected)
        fail_msg("%s: %d", examples[i].title, found);
    if (found != NOTHING) {
        assert_int_equal(diagnosis.findings[1].cause, WSDBG_CAUSE_RANK_GONE);
        assert_int_equal(diagnosis.findings[1].process_id.value, 6);
        assert_int_equal(diagnosis.findings[1].grid, 0);
    }
    if (i == 0)
        assert_string_equal(diagnosis.findings[1].sentence,
                            "Rank 1 (process 6) was killed by SIGKILL, and a kernel of rank 0 polls memory that nobody "
                            "else can write any more.");
    if (i == 2)
        assert_non_null(strstr(diagnosis.findings[1].sentence, "Rank 1 (process 6) has ended, and"));
    wsdbg_diagnosis_deinit(&diagnosis);
}

static void a_rank_that_is_gone_is_the_cause_as_far_as_that_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_rank_that_is_gone_is_the_cause_as_far_as_that_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
