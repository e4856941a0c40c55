/* missing_ranks_test.c - a kernel of rank 0 waits in a collective: what is said, by what the other ranks have done? */
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
         .row = {.number = 1, .identity = 7, .rank = 0, .rank_count = 2, .ready_ns = 1, .calls = 2, .collectives = 2}},
        {.process_id = 6,
         .row = {.number = 1,
                 .identity = examples[i].other_identity,
                 .rank = 1,
                 .rank_count = 2,
                 .ready_ns = 1,
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

/* ---- the calls that meet ---- */

enum { INT8 = 0, FLOAT32 = 7, SUM = 0, MAX = 2, MADE_BY_THE_PROGRAM = 2147480000 };

struct argument {
    uint32_t operation;
    uint64_t count;
    uint32_t datatype, reduction;
};
static const struct {
    const char *title;
    struct argument own, other;
    bool differ;
} pairs[] = {
    {"reductions that each process made",
     {WSDBG_COLLECTIVE_ALL_REDUCE, 8, FLOAT32, MADE_BY_THE_PROGRAM},
     {WSDBG_COLLECTIVE_ALL_REDUCE, 8, FLOAT32, MADE_BY_THE_PROGRAM + 7},
     false},
    {"other reductions",
     {WSDBG_COLLECTIVE_ALL_REDUCE, 8, FLOAT32, SUM},
     {WSDBG_COLLECTIVE_ALL_REDUCE, 8, FLOAT32, MAX},
     true},
    {"the same bytes of another type",
     {WSDBG_COLLECTIVE_BROADCAST, 8, FLOAT32, WSDBG_UNKNOWN32},
     {WSDBG_COLLECTIVE_BROADCAST, 32, INT8, WSDBG_UNKNOWN32},
     false},
    {"other bytes",
     {WSDBG_COLLECTIVE_BROADCAST, 8, FLOAT32, WSDBG_UNKNOWN32},
     {WSDBG_COLLECTIVE_BROADCAST, 8, INT8, WSDBG_UNKNOWN32},
     true},
    {"the same bytes are reduced as another type",
     {WSDBG_COLLECTIVE_ALL_REDUCE, 8, FLOAT32, SUM},
     {WSDBG_COLLECTIVE_ALL_REDUCE, 32, INT8, SUM},
     true},
    {"a type of a later NCCL",
     {WSDBG_COLLECTIVE_ALL_GATHER, 8, FLOAT32, WSDBG_UNKNOWN32},
     {WSDBG_COLLECTIVE_ALL_GATHER, 8, 99, WSDBG_UNKNOWN32},
     false},
    {"other operations",
     {WSDBG_COLLECTIVE_ALL_GATHER, 8, FLOAT32, WSDBG_UNKNOWN32},
     {WSDBG_COLLECTIVE_REDUCE_SCATTER, 8, FLOAT32, SUM},
     true},
};

/* ---- several ranks ---- */

enum { RANKS_MOST = 6, CALLS_MOST = 12 };

/* Rank r is process 10 + r; its main thread, 100 + r, is kept in a call of the driver, if blocked[r].  Each grid is of
 * the rank with its number, and of launch number r. */
struct scene {
    struct wsdbg_process processes[RANKS_MOST];
    struct wsdbg_context contexts[RANKS_MOST];
    struct wsdbg_launch launches[RANKS_MOST];
    struct wsdbg_grid grids[RANKS_MOST];
    struct wsdbg_host_thread threads[RANKS_MOST];
    struct wsdbg_communicator communicators[CALLS_MOST];
    struct wsdbg_collective calls[CALLS_MOST];
    struct wsdbg_snapshot snapshot;
};

static void add_rank(struct scene *scene, bool stands, bool is_blocked)
{
    const uint32_t rank = (uint32_t)scene->snapshot.process_count++;
    scene->processes[rank] =
        (struct wsdbg_process){.process_id = 10 + rank, .pid = 100 + rank, .rank = wsdbg_known_u32(rank)};
    scene->contexts[rank] = (struct wsdbg_context){.process_id = 10 + rank, .alive = true};
    scene->launches[rank] = (struct wsdbg_launch){.process_id = 10 + rank, .context = rank, .function = WSDBG_NONE};
    scene->grids[rank] =
        (struct wsdbg_grid){.context = rank, .launch = rank, .function = WSDBG_NONE, .running = stands, .cta_count = 1};
    if (is_blocked)
        scene->threads[scene->snapshot.thread_count++] =
            (struct wsdbg_host_thread){.process_id = 10 + rank, .thread_id = 100 + rank, .since_ns = SECOND_NS};
}

/* The rank's place in a communicator, in which it has made so many calls; of the newest one runs its kernel. */
static uint32_t join(struct scene *scene, uint64_t identity, uint32_t rank, uint32_t place, uint64_t calls)
{
    const uint32_t at = (uint32_t)scene->snapshot.communicator_count++;
    scene->communicators[at] = (struct wsdbg_communicator){.process_id = 10 + rank,
                                                           .row = {.number = at + 1,
                                                                   .identity = identity,
                                                                   .rank = place,
                                                                   .rank_count = 2,
                                                                   .ready_ns = 1,
                                                                   .calls = calls,
                                                                   .collectives = calls}};
    if (calls) {
        struct wsdbg_collective *made = &scene->calls[scene->snapshot.collective_count++];
        *made = call(at, calls, 64, 0);
        made->row.thread_id = 100 + rank;
        made->launch = scene->grids[rank].running ? rank : WSDBG_NONE;
    }
    return at;
}

static void diagnose(struct scene *scene, struct wsdbg_diagnosis *diagnosis)
{
    struct wsdbg_snapshot *s = &scene->snapshot;
    s->time_ns = 10 * SECOND_NS;
    s->processes = scene->processes;
    s->contexts = scene->contexts;
    s->launches = scene->launches;
    s->grids = scene->grids;
    s->threads = scene->threads;
    s->communicators = scene->communicators;
    s->collectives = scene->calls;
    s->context_count = s->launch_count = s->grid_count = s->process_count;
    assert_null(wsdbg_find_missing_ranks(s, diagnosis));
}

static void calls_that_legitimately_differ_are_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct scene scene = {0};
        struct wsdbg_diagnosis diagnosis = {0};
        const struct argument *arguments[] = {&pairs[i].own, &pairs[i].other};
        for (uint32_t rank = 0; rank < 2; rank++) {
            add_rank(&scene, rank == 0, false);
            join(&scene, 7, rank, rank, 3);
            struct wsdbg_collective_row *row = &scene.calls[rank].row;
            row->operation = arguments[rank]->operation;
            row->count = arguments[rank]->count;
            row->datatype = arguments[rank]->datatype;
            row->reduction = arguments[rank]->reduction;
        }
        diagnose(&scene, &diagnosis);
        if ((diagnosis.finding_count != 0) != pairs[i].differ)
            fail_msg("%s: %zu findings", pairs[i].title, diagnosis.finding_count);
        wsdbg_diagnosis_deinit(&diagnosis);
    }
}

/* Rank 0 waits for rank 1, which is blocked in a collective with a rank that nobody sees: of another node. */
static void a_rank_that_waits_for_one_that_is_not_seen_may_come(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct wsdbg_diagnosis diagnosis = {0};
    add_rank(&scene, true, true);
    add_rank(&scene, true, true);
    join(&scene, 7, 0, 0, 1);
    join(&scene, 7, 1, 1, 0);
    join(&scene, 8, 1, 0, 1);
    diagnose(&scene, &diagnosis);
    assert_int_equal(diagnosis.finding_count, 1);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_RANK_MISSING);
    assert_int_equal(diagnosis.findings[0].confidence, POSSIBLE);
    assert_true(wsdbg_rank_may_come(&scene.snapshot, 0));
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* Rank 0 waits for rank 1, which is blocked in a collective with rank 2: that one sleeps, or has ended its
 * communicator. */
static void a_chain_is_as_sure_as_its_end(void **state)
{
    (void)state;
    for (int has_ended = 0; has_ended < 2; has_ended++) {
        struct scene scene = {0};
        struct wsdbg_diagnosis diagnosis = {0};
        add_rank(&scene, true, true);
        add_rank(&scene, true, true);
        add_rank(&scene, false, false);
        join(&scene, 7, 0, 0, 1);
        join(&scene, 7, 1, 1, 0);
        join(&scene, 8, 1, 0, 1);
        const uint32_t last = join(&scene, 8, 2, 1, 0);
        scene.communicators[last].row.ended_ns = has_ended ? SECOND_NS : 0;
        diagnose(&scene, &diagnosis);
        assert_int_equal(diagnosis.finding_count, 1);
        assert_int_equal(diagnosis.findings[0].process_id.value, 12);
        assert_int_equal(diagnosis.findings[0].confidence, has_ended ? LIKELY : POSSIBLE);
        assert_int_equal(wsdbg_rank_may_come(&scene.snapshot, 0), !has_ended);
        wsdbg_diagnosis_deinit(&diagnosis);
    }
}

/* Rank 1 waits for rank 0.  The main thread of rank 0 waits for a kernel that belongs to no collective. */
static void a_rank_that_its_own_kernel_keeps_is_not_missing(void **state)
{
    (void)state;
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        struct scene scene = {0};
        struct wsdbg_diagnosis diagnosis = {0};
        add_rank(&scene, true, is_kept);
        add_rank(&scene, true, true);
        join(&scene, 7, 0, 0, 0);
        join(&scene, 7, 1, 1, 1);
        assert_non_null(wsdbg_diagnosis_add(&diagnosis, WSDBG_CAUSE_GLOBAL_SPIN, WSDBG_CONFIDENCE_POSSIBLE, 0));
        diagnose(&scene, &diagnosis);
        assert_int_equal(diagnosis.finding_count, is_kept ? 1 : 2);
        assert_int_equal(diagnosis.findings[diagnosis.finding_count - 1].cause,
                         is_kept ? WSDBG_CAUSE_GLOBAL_SPIN : WSDBG_CAUSE_RANK_MISSING);
        wsdbg_diagnosis_deinit(&diagnosis);
    }
}

/* Ranks 0 and 1 wait for each other in two communicators. */
static void a_circle_of_blocked_ranks_is_likely(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct wsdbg_diagnosis diagnosis = {0};
    for (uint32_t rank = 0; rank < 2; rank++) {
        add_rank(&scene, true, true);
        join(&scene, 7 + rank, rank, 0, 1);
        join(&scene, 8 - rank, rank, 1, 0);
    }
    diagnose(&scene, &diagnosis);
    assert_int_equal(diagnosis.finding_count, 1);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_RANK_MISMATCH);
    assert_int_equal(diagnosis.findings[0].confidence, LIKELY);
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* Each of six ranks waits in a communicator with the next one, which is blocked in its own. */
static void a_circle_may_be_long(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct wsdbg_diagnosis diagnosis = {0};
    for (uint32_t rank = 0; rank < RANKS_MOST; rank++) {
        add_rank(&scene, true, true);
        join(&scene, 7 + rank, rank, 0, 1);
        join(&scene, 7 + (rank + RANKS_MOST - 1) % RANKS_MOST, rank, 1, 0);
    }
    diagnose(&scene, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_RANK_MISMATCH);
    assert_int_equal(diagnosis.findings[0].confidence, LIKELY);
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* Rank 0 sends to rank 1, of whose receives none is among its newest 64 calls. */
static void a_receive_that_may_have_left_the_ring_is_not_missing(void **state)
{
    (void)state;
    for (uint64_t calls = 1; calls <= 100; calls += 99) {
        struct scene scene = {0};
        struct wsdbg_diagnosis diagnosis = {0};
        add_rank(&scene, true, true);
        add_rank(&scene, false, false);
        join(&scene, 7, 0, 0, 1);
        join(&scene, 7, 1, 1, calls);
        scene.calls[0].row.operation = WSDBG_COLLECTIVE_SEND;
        scene.calls[0].row.peer = 1;
        diagnose(&scene, &diagnosis);
        assert_int_equal(diagnosis.finding_count, calls == 1);
        wsdbg_diagnosis_deinit(&diagnosis);
    }
}

/* Rank 1 has done its part and ended, as after a broadcast of its own. */
static void a_rank_that_did_its_part_may_end(void **state)
{
    (void)state;
    for (int is_done = 0; is_done < 2; is_done++) {
        struct scene scene = {0};
        struct wsdbg_diagnosis diagnosis = {0};
        add_rank(&scene, true, true);
        add_rank(&scene, false, false);
        join(&scene, 7, 0, 0, 1);
        join(&scene, 7, 1, 1, 1);
        scene.calls[1].done = is_done;
        scene.processes[1].end = (struct wsdbg_process_end){.kind = WSDBG_END_EXITED};
        diagnose(&scene, &diagnosis);
        assert_int_equal(diagnosis.finding_count, !is_done);
        wsdbg_diagnosis_deinit(&diagnosis);
    }
}

/* A first call that should have made the communicator failed; the second one is the rank's place in it. */
static void a_place_that_was_never_taken_says_nothing(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct wsdbg_diagnosis diagnosis = {0};
    add_rank(&scene, true, true);
    add_rank(&scene, false, false);
    join(&scene, 7, 0, 0, 1);
    const uint32_t failed = join(&scene, 7, 1, 1, 0);
    scene.communicators[failed].row.ready_ns = 0;
    scene.communicators[failed].row.ended_ns = SECOND_NS;
    join(&scene, 7, 1, 1, 1);
    diagnose(&scene, &diagnosis);
    assert_int_equal(diagnosis.finding_count, 0);
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* Of four ranks only one kernel runs, that of the rank whose size is another one. */
static void the_rank_that_is_alone_is_at_fault(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct wsdbg_diagnosis diagnosis = {0};
    for (uint32_t rank = 0; rank < RANKS_MOST; rank++) {
        add_rank(&scene, rank == 2, false);
        join(&scene, 7, rank, rank, 1);
        scene.communicators[rank].row.rank_count = RANKS_MOST;
        scene.calls[rank].row.count = rank == 2 ? 32 : 64;
    }
    diagnose(&scene, &diagnosis);
    assert_int_equal(diagnosis.finding_count, 1);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_RANK_MISMATCH);
    assert_int_equal(diagnosis.findings[0].process_id.value, 12);
    assert_null(strstr(diagnosis.findings[0].sentence, "which rank is wrong is not known"));
    wsdbg_diagnosis_deinit(&diagnosis);
}

/* With two ranks alone nobody can tell whose call is the wrong one: the second is listed, also where only one of them
 * was looked at. */
static void of_two_ranks_that_differ_none_is_blamed(void **state)
{
    (void)state;
    for (uint32_t unseen = 0; unseen <= 2; unseen++) {
        struct scene scene = {0};
        struct wsdbg_diagnosis diagnosis = {0};
        for (uint32_t rank = 0; rank < 2; rank++) {
            add_rank(&scene, rank != unseen, false);
            join(&scene, 7, rank, rank, 1);
            scene.calls[rank].row.count = rank == 1 ? 32 : 64;
        }
        diagnose(&scene, &diagnosis);
        assert_int_equal(diagnosis.finding_count, 1);
        assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_RANK_MISMATCH);
        assert_int_equal(diagnosis.findings[0].process_id.value, 11);
        assert_non_null(strstr(diagnosis.findings[0].sentence, "which rank is wrong is not known"));
        wsdbg_diagnosis_deinit(&diagnosis);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_other_rank_has_done_decides),
        cmocka_unit_test(calls_that_legitimately_differ_are_alike),
        cmocka_unit_test(a_rank_that_waits_for_one_that_is_not_seen_may_come),
        cmocka_unit_test(a_chain_is_as_sure_as_its_end),
        cmocka_unit_test(a_rank_that_its_own_kernel_keeps_is_not_missing),
        cmocka_unit_test(a_circle_of_blocked_ranks_is_likely),
        cmocka_unit_test(a_circle_may_be_long),
        cmocka_unit_test(a_receive_that_may_have_left_the_ring_is_not_missing),
        cmocka_unit_test(a_rank_that_did_its_part_may_end),
        cmocka_unit_test(a_place_that_was_never_taken_says_nothing),
        cmocka_unit_test(the_rank_that_is_alone_is_at_fault),
        cmocka_unit_test(of_two_ranks_that_differ_none_is_blamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
