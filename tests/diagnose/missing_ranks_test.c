/* missing_ranks_test.c - a kernel of rank 0 waits in all_reduce #2 of a communicator of two ranks: what is said, by
 * what rank 1 has done? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/missing_ranks.h"
#include "diagnose/rank_waits.h"

enum { NOTHING = -1, NONE = 0, LIKELY = WSDBG_CONFIDENCE_LIKELY, POSSIBLE = WSDBG_CONFIDENCE_POSSIBLE };
#define SECOND_NS UINT64_C(1000000000)

static const struct {
    const char *title;
    uint64_t other_calls; /* of rank 1 on the communicator */
    uint64_t other_count; /* elements of its second one */
    uint64_t other_identity;
    uint32_t other_flags;
    uint64_t ended_ns;       /* when rank 1 ended the communicator */
    enum wsdbg_end_kind end; /* of rank 1's process */
    bool moves;              /* rank 0's kernel does */
    int cause, confidence;
    int poll; /* what becomes of GLOBAL_SPIN (likely) for rank 0 */
} examples[] = {
    {"it has made one call", 1, 0, 7, 0, 0, WSDBG_END_NONE, false, WSDBG_CAUSE_RANK_MISSING, POSSIBLE, POSSIBLE},
    {"it has ended the communicator", 1, 0, 7, 0, 1, WSDBG_END_NONE, false, WSDBG_CAUSE_RANK_MISSING, LIKELY, LIKELY},
    {"its process has ended", 1, 0, 7, 0, 0, WSDBG_END_SIGNAL, false, WSDBG_CAUSE_RANK_GONE, LIKELY, LIKELY},
    {"it has made both", 2, 64, 7, 0, 0, WSDBG_END_NONE, false, NOTHING, NONE, LIKELY},
    {"its second one has another size", 2, 32, 7, 0, 0, WSDBG_END_NONE, false, WSDBG_CAUSE_RANK_MISMATCH, LIKELY,
     LIKELY},
    {"it is in another communicator", 1, 0, 8, 0, 0, WSDBG_END_NONE, false, NOTHING, NONE, LIKELY},
    {"which communicator is not known", 1, 0, 0, 0, 0, WSDBG_END_NONE, false, NOTHING, NONE, LIKELY},
    {"its calls went into a graph", 1, 0, 7, WSDBG_COLLECTIVE_CAPTURED, 0, WSDBG_END_NONE, false, NOTHING, NONE,
     LIKELY},
    {"NCCL refused a call of it", 1, 0, 7, WSDBG_COLLECTIVE_REFUSED, 0, WSDBG_END_NONE, false, NOTHING, NONE, LIKELY},
    {"the kernel moves", 1, 0, 7, 0, 0, WSDBG_END_NONE, true, NOTHING, NONE, LIKELY},
};

static struct wsdbg_collective call(uint32_t communicator, uint64_t number, uint64_t count, uint32_t flags)
{
    return (struct wsdbg_collective){.communicator = communicator,
                                     .launch = WSDBG_NONE,
                                     .row = {.sequence = number,
                                             .number = number,
                                             .time_ns = SECOND_NS,
                                             .issued_ns = SECOND_NS,
                                             .count = count,
                                             .operation = WSDBG_COLLECTIVE_ALL_REDUCE,
                                             .datatype = 7,
                                             .peer = WSDBG_UNKNOWN32,
                                             .flags = flags}};
}

static void check(size_t i)
{
    struct wsdbg_process processes[] = {
        {.process_id = 5, .pid = 5, .rank = wsdbg_known_u32(0)},
        {.process_id = 6, .pid = 6, .rank = wsdbg_known_u32(1), .end = {.kind = examples[i].end, .value = 9}}};
    struct wsdbg_context contexts[] = {{.process_id = 5, .alive = true}, {.process_id = 6, .alive = true}};
    struct wsdbg_launch launch = {.process_id = 5, .context = 0, .function = WSDBG_NONE};
    struct wsdbg_grid grid = {
        .context = 0, .launch = 0, .function = WSDBG_NONE, .running = true, .cta_count = 1, .moves = examples[i].moves};
    struct wsdbg_communicator communicators[] = {
        {.process_id = 5,
         .row = {.number = 1, .identity = 7, .rank = 0, .rank_count = 2, .calls = 2, .collectives = 2}},
        {.process_id = 6,
         .row = {.number = 1,
                 .identity = examples[i].other_identity,
                 .rank = 1,
                 .rank_count = 2,
                 .calls = examples[i].other_calls,
                 .collectives = examples[i].other_calls,
                 .ended_ns = examples[i].ended_ns,
                 .end = examples[i].ended_ns ? WSDBG_COMMUNICATOR_DESTROYED : 0}}};
    struct wsdbg_collective calls[] = {call(0, 1, 64, 0), call(0, 2, 64, 0), call(1, 1, 64, examples[i].other_flags),
                                       call(1, 2, examples[i].other_count, 0)};
    calls[0].done = true;
    calls[1].launch = 0;
    const struct wsdbg_snapshot snapshot = {.time_ns = 10 * SECOND_NS,
                                            .processes = processes,
                                            .process_count = 2,
                                            .contexts = contexts,
                                            .context_count = 2,
                                            .launches = &launch,
                                            .launch_count = 1,
                                            .grids = &grid,
                                            .grid_count = 1,
                                            .communicators = communicators,
                                            .communicator_count = 2,
                                            .collectives = calls,
                                            .collective_count = 2 + examples[i].other_calls};
    struct wsdbg_diagnosis diagnosis = {.findings = calloc(1, sizeof *diagnosis.findings), .finding_count = 1};
    diagnosis.findings[0] =
        (struct wsdbg_finding){.cause = WSDBG_CAUSE_GLOBAL_SPIN, .confidence = WSDBG_CONFIDENCE_LIKELY};
    assert_null(wsdbg_find_missing_ranks(&snapshot, &diagnosis));
    const int cause = diagnosis.finding_count > 1 ? (int)diagnosis.findings[1].cause : NOTHING;
    const int confidence = diagnosis.finding_count > 1 ? (int)diagnosis.findings[1].confidence : NONE;
    if (cause != examples[i].cause || confidence != examples[i].confidence)
        fail_msg("%s: %d, %d", examples[i].title, cause, confidence);
    if ((int)diagnosis.findings[0].confidence != examples[i].poll)
        fail_msg("%s: what is polled is %d", examples[i].title, diagnosis.findings[0].confidence);
    if (wsdbg_rank_may_come(&snapshot, 0) != (examples[i].poll == POSSIBLE))
        fail_msg("%s: whether it may come", examples[i].title);
    if (i == 0)
        assert_string_equal(
            diagnosis.findings[1].sentence,
            "Rank 1 has not entered all_reduce #2 of communicator 00000000 (2 ranks), in which rank 0 waits.");
    wsdbg_diagnosis_deinit(&diagnosis);
}

static void what_the_other_rank_has_done_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_other_rank_has_done_decides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
