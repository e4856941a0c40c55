/* rank_waits_test.c - what looks like a missing rank, or like calls that differ, and is none or is not known.
 *
 * Each case begins with ranks 0 and 1 of a communicator, which have both made all_reduce #1 and #2.  The kernel of rank
 * 0's second call stands still.  What a case changes is beside what is then said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "diagnose/missing_ranks.h"
#include "diagnose/rank_waits.h"

enum { FLOAT32 = 7, SUM = 0, MAX = 2, RANKS = 3, X = 7, Y = 8 };
#define SECOND_NS UINT64_C(1000000000)

/* Process, context, launch and thread n are those of rank n of the run. */
struct world {
    struct wsdbg_process processes[RANKS];
    struct wsdbg_context contexts[RANKS];
    struct wsdbg_function functions[1];
    struct wsdbg_launch launches[RANKS + 1];
    struct wsdbg_grid grids[RANKS + 1];
    struct wsdbg_host_thread threads[RANKS];
    struct wsdbg_communicator communicators[8];
    struct wsdbg_collective calls[16];
    struct wsdbg_snapshot s;
};

static uint32_t join(struct world *w, uint32_t process, uint64_t identity, uint32_t rank, uint32_t rank_count)
{
    w->communicators[w->s.communicator_count] = (struct wsdbg_communicator){
        .process_id = 10 + process,
        .row = {.identity = identity, .rank = rank, .rank_count = rank_count, .ready_ns = 1}};
    return (uint32_t)w->s.communicator_count++;
}

static struct wsdbg_collective_row *call(struct world *w, uint32_t communicator, uint32_t operation)
{
    struct wsdbg_collective *row = &w->calls[w->s.collective_count];
    struct wsdbg_communicator_row *of = &w->communicators[communicator].row;
    const bool is_pair = operation == WSDBG_COLLECTIVE_SEND || operation == WSDBG_COLLECTIVE_RECEIVE;
    of->calls++;
    of->collectives += !is_pair;
    *row = (struct wsdbg_collective){.communicator = communicator,
                                     .launch = WSDBG_NONE,
                                     .row = {.number = is_pair ? 1 : of->collectives,
                                             .time_ns = SECOND_NS + w->s.collective_count,
                                             .issued_ns = SECOND_NS + w->s.collective_count,
                                             .count = 64,
                                             .datatype = FLOAT32,
                                             .reduction = SUM,
                                             .operation = operation,
                                             .peer = WSDBG_UNKNOWN32,
                                             .thread_id = w->communicators[communicator].process_id}};
    w->s.collective_count++;
    return &row->row;
}

/* The kernel of the newest call, which is of this process, stands still. */
static void stand(struct world *w, uint32_t process)
{
    w->calls[w->s.collective_count - 1].launch = process;
    w->grids[process].running = true;
}

static struct world *begin(void)
{
    struct world *w = calloc(1, sizeof *w);
    for (uint32_t i = 0; i < RANKS; i++) {
        w->processes[i] = (struct wsdbg_process){.process_id = 10 + i, .pid = 10 + i, .rank = wsdbg_known_u32(i)};
        w->contexts[i] = (struct wsdbg_context){.process_id = 10 + i, .alive = true};
        w->launches[i] = (struct wsdbg_launch){.process_id = 10 + i, .context = i};
        w->grids[i] = (struct wsdbg_grid){.context = i, .launch = i, .cta_count = 1};
        w->threads[i] =
            (struct wsdbg_host_thread){.process_id = 10 + i, .thread_id = 10 + i, .since_ns = 5 * SECOND_NS};
    }
    w->s = (struct wsdbg_snapshot){.time_ns = 10 * SECOND_NS,
                                   .processes = w->processes,
                                   .process_count = RANKS,
                                   .contexts = w->contexts,
                                   .context_count = RANKS,
                                   .functions = w->functions,
                                   .function_count = 1,
                                   .launches = w->launches,
                                   .launch_count = RANKS,
                                   .grids = w->grids,
                                   .grid_count = RANKS,
                                   .threads = w->threads,
                                   .communicators = w->communicators,
                                   .collectives = w->calls};
    return w;
}

static struct wsdbg_collective_row *two_calls(struct world *w, uint32_t process, uint32_t communicator, bool both)
{
    call(w, communicator, WSDBG_COLLECTIVE_ALL_REDUCE);
    w->calls[w->s.collective_count - 1].done = true;
    struct wsdbg_collective_row *second = both ? call(w, communicator, WSDBG_COLLECTIVE_ALL_REDUCE) : NULL;
    if (both && process == 0)
        stand(w, process);
    return second;
}

/* So many findings, the first one of this cause; and whether a rank that rank 0 waits for may still come. */
static void expect(struct world *w, const char *title, size_t count, int cause, int confidence, bool may_come)
{
    struct wsdbg_diagnosis diagnosis = {0};
    assert_null(wsdbg_find_missing_ranks(&w->s, &diagnosis));
    if (diagnosis.finding_count != count ||
        (count && ((int)diagnosis.findings[0].cause != cause || (int)diagnosis.findings[0].confidence != confidence)))
        fail_msg("%s: %zu findings; %d, %d: %s", title, diagnosis.finding_count,
                 diagnosis.finding_count ? (int)diagnosis.findings[0].cause : 0,
                 diagnosis.finding_count ? (int)diagnosis.findings[0].confidence : 0,
                 diagnosis.finding_count ? diagnosis.findings[0].sentence : "");
    if (wsdbg_rank_may_come(&w->s, 0) != may_come)
        fail_msg("%s: whether rank 0 may go on", title);
    wsdbg_diagnosis_deinit(&diagnosis);
    free(w);
}

static void another_reduction_gives_wrong_numbers_rather_than_a_hang(void **state)
{
    static const struct {
        const char *title;
        uint64_t count;
        uint32_t reduction;
        int confidence;
    } examples[] = {
        {"another reduction", 64, MAX, WSDBG_CONFIDENCE_POSSIBLE},
        {"another size", 32, SUM, WSDBG_CONFIDENCE_LIKELY},
        {"both", 32, MAX, WSDBG_CONFIDENCE_LIKELY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct world *w = begin();
        two_calls(w, 0, join(w, 0, X, 0, 2), true);
        struct wsdbg_collective_row *second = two_calls(w, 1, join(w, 1, X, 1, 2), true);
        second->count = examples[i].count;
        second->reduction = examples[i].reduction;
        expect(w, examples[i].title, 1, WSDBG_CAUSE_RANK_MISMATCH, examples[i].confidence, false);
    }
}

static void a_rank_that_is_not_recorded_any_more(void **state)
{
    (void)state;
    for (int lacks_calls = 0; lacks_calls < 2; lacks_calls++) {
        struct world *w = begin();
        two_calls(w, 0, join(w, 0, X, 0, 2), true);
        two_calls(w, 1, join(w, 1, X, 1, 2), false);
        w->communicators[1].lacks_calls = lacks_calls;
        expect(w, lacks_calls ? "its observer is off" : "it is recorded", !lacks_calls, WSDBG_CAUSE_RANK_MISSING,
               WSDBG_CONFIDENCE_POSSIBLE, !lacks_calls);
    }
}

/* Rank 2 is on another node. */
static void a_rank_that_is_not_seen(void **state)
{
    (void)state;
    struct world *w = begin();
    two_calls(w, 0, join(w, 0, X, 0, 3), true);
    two_calls(w, 1, join(w, 1, X, 1, 3), true);
    w->processes[1].end.kind = WSDBG_END_EXITED;
    expect(w, "rank 1 has ended after its call", 1, WSDBG_CAUSE_RANK_GONE, WSDBG_CONFIDENCE_POSSIBLE, false);

    w = begin();
    two_calls(w, 0, join(w, 0, X, 0, 3), true);
    two_calls(w, 1, join(w, 1, X, 1, 3), false);
    w->processes[1].end.kind = WSDBG_END_EXITED;
    expect(w, "rank 1 has ended before its call", 1, WSDBG_CAUSE_RANK_GONE, WSDBG_CONFIDENCE_LIKELY, false);

    /* Which call the kernel is is not known: it may be #2, for which rank 2 is missing perhaps. */
    for (uint32_t ranks = 2; ranks <= 3; ranks++) {
        w = begin();
        const uint32_t own = join(w, 0, X, 0, ranks);
        two_calls(w, 0, own, true);
        call(w, own, WSDBG_COLLECTIVE_ALL_REDUCE);
        w->calls[w->s.collective_count - 1].launch = 0;
        w->grids[0].launch = WSDBG_NONE;
        two_calls(w, 1, join(w, 1, X, 1, ranks), true);
        w->calls[w->s.collective_count - 1].done = true;
        expect(w, "an older call may stand", ranks == 2 ? 1 : 0, WSDBG_CAUSE_RANK_MISSING, WSDBG_CONFIDENCE_POSSIBLE,
               ranks == 2);
    }
}

/* Rank 1 has made all_reduce #2 on X; its kernel does not run, while that of a call on Y stands still. */
static void a_call_may_be_queued_behind_what_moves(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        struct world *w = begin();
        two_calls(w, 0, join(w, 0, X, 0, 2), true);
        call(w, join(w, 1, Y, 0, 2), WSDBG_COLLECTIVE_ALL_REDUCE);
        stand(w, 1);
        join(w, 0, Y, 1, 2);
        two_calls(w, 1, join(w, 1, X, 1, 2), true);
        w->launches[RANKS] = (struct wsdbg_launch){.process_id = 11, .context = 1};
        w->calls[w->s.collective_count - 1].launch = RANKS;
        w->grids[RANKS] = (struct wsdbg_grid){
            .context = 1, .launch = WSDBG_NONE, .function = WSDBG_NONE, .running = moves, .moves = moves};
        w->s.launch_count = w->s.grid_count = RANKS + 1;
        w->s.thread_count = 2;
        expect(w, moves ? "another kernel of rank 1 moves" : "a circle", 1,
               moves ? WSDBG_CAUSE_RANK_MISSING : WSDBG_CAUSE_RANK_MISMATCH,
               moves ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY, false);
    }
}

/* Rank 0: all_reduce on X, and none on Y yet.  Rank 1: all_reduce on Y, and none on X yet. */
static void a_circle_needs_all_callers_kept(void **state)
{
    (void)state;
    for (int free_thread = 0; free_thread < 3; free_thread++) {
        struct world *w = begin();
        two_calls(w, 0, join(w, 0, X, 0, 2), true);
        two_calls(w, 1, join(w, 1, X, 1, 2), false);
        const uint32_t own = join(w, 1, Y, 1, 2);
        join(w, 0, Y, 0, 2);
        call(w, own, WSDBG_COLLECTIVE_ALL_REDUCE);
        stand(w, 1);
        w->s.thread_count = 2;
        if (free_thread == 1)
            w->calls[2].row.thread_id = 99; /* another thread of rank 1 has called NCCL, and is in no call */
        if (free_thread == 2)
            w->threads[1].since_ns = w->s.time_ns;
        expect(w, "a circle", 1, WSDBG_CAUSE_RANK_MISMATCH,
               free_thread ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY, free_thread != 0);
    }
}

/* ---- calls that wait on the host ---- */

/* Rank 0 is inside its second call, and no kernel runs. */
static void a_call_may_wait_on_the_host(void **state)
{
    static const struct {
        const char *title;
        uint64_t time_ns, issued_ns, launches_before;
        uint32_t flags;
        int end;              /* of rank 1's process */
        uint64_t other_count; /* of rank 1's second call; 0 = it has made none */
        int cause, confidence;
    } examples[] = {
        {"rank 1 has not come", SECOND_NS, 0, 0, 0, WSDBG_END_NONE, 0, WSDBG_CAUSE_RANK_MISSING,
         WSDBG_CONFIDENCE_POSSIBLE},
        {"the group's end was called", SECOND_NS, 0, 5, WSDBG_COLLECTIVE_GROUPED, WSDBG_END_NONE, 0,
         WSDBG_CAUSE_RANK_MISSING, WSDBG_CONFIDENCE_POSSIBLE},
        {"rank 1 has ended", SECOND_NS, 0, 0, 0, WSDBG_END_SIGNAL, 0, WSDBG_CAUSE_RANK_GONE, WSDBG_CONFIDENCE_LIKELY},
        {"the group is open", SECOND_NS, 0, 0, WSDBG_COLLECTIVE_GROUPED, WSDBG_END_NONE, 0, 0, 0},
        {"it has returned", SECOND_NS, SECOND_NS, 0, 0, WSDBG_END_NONE, 0, 0, 0},
        {"it has just begun", 10 * SECOND_NS - 1, 0, 0, 0, WSDBG_END_NONE, 0, 0, 0},
        {"it was refused", SECOND_NS, 0, 0, WSDBG_COLLECTIVE_REFUSED, WSDBG_END_NONE, 0, 0, 0},
        {"rank 1 has come", SECOND_NS, 0, 0, 0, WSDBG_END_NONE, 64, 0, 0},
        {"rank 1 has come with another size", SECOND_NS, 0, 0, 0, WSDBG_END_NONE, 32, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct world *w = begin();
        struct wsdbg_collective_row *second = two_calls(w, 0, join(w, 0, X, 0, 2), true);
        w->grids[0].running = false;
        w->calls[1].launch = WSDBG_NONE;
        second->time_ns = examples[i].time_ns;
        second->issued_ns = examples[i].issued_ns;
        second->launches_before = examples[i].launches_before;
        second->flags = examples[i].flags;
        struct wsdbg_collective_row *other = two_calls(w, 1, join(w, 1, X, 1, 2), examples[i].other_count != 0);
        if (other)
            other->count = examples[i].other_count;
        w->processes[1].end.kind = examples[i].end;
        expect(w, examples[i].title, examples[i].cause != 0, examples[i].cause, examples[i].confidence, false);
    }
}

/* Rank 0 has launched its second call and waits for its GPU, at which nobody could look. */
static void a_call_may_wait_where_no_look_shows_it(void **state)
{
    static const struct {
        const char *title;
        uint64_t since_ns; /* rank 0's thread waits; 0 = it does not */
        uint32_t looked;   /* process of a look that shows no kernel; 0 = there was none */
        uint32_t flags;
        bool done, other_works, other_came;
        int end; /* of rank 1's process */
        int cause;
    } examples[] = {
        {"rank 1 has not come", 5, 0, 0, false, false, false, WSDBG_END_NONE, WSDBG_CAUSE_RANK_MISSING},
        {"only rank 1 was looked at", 5, 11, 0, false, false, false, WSDBG_END_NONE, WSDBG_CAUSE_RANK_MISSING},
        {"rank 1 was killed", 5, 0, 0, false, false, false, WSDBG_END_SIGNAL, WSDBG_CAUSE_RANK_GONE},
        {"rank 1 has work of its own", 5, 0, 0, false, true, false, WSDBG_END_NONE, 0},
        {"rank 1 has come", 5, 0, 0, false, false, true, WSDBG_END_NONE, 0},
        {"rank 0 waits for nothing", 0, 0, 0, false, false, false, WSDBG_END_NONE, 0},
        {"it waits for what was there before the call", 1, 0, 0, false, false, false, WSDBG_END_NONE, 0},
        {"it has just begun to wait", 10, 0, 0, false, false, false, WSDBG_END_NONE, 0},
        {"the call is done", 5, 0, 0, true, false, false, WSDBG_END_NONE, 0},
        {"it went into a graph", 5, 0, WSDBG_COLLECTIVE_CAPTURED, false, false, false, WSDBG_END_NONE, 0},
        {"a look at rank 0 saw no kernel", 5, 10, 0, false, false, false, WSDBG_END_NONE, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct world *w = begin();
        struct wsdbg_look_row look = {.process_id = examples[i].looked};
        two_calls(w, 0, join(w, 0, X, 0, 2), true)->flags = examples[i].flags;
        two_calls(w, 1, join(w, 1, X, 1, 2), examples[i].other_came);
        w->calls[1].done = examples[i].done;
        w->grids[0].running = false;
        w->threads[0].since_ns = examples[i].since_ns * SECOND_NS;
        w->s.thread_count = examples[i].since_ns != 0;
        w->contexts[1].given_ns = wsdbg_known_u64(2 * SECOND_NS);
        w->contexts[1].done_given_ns = wsdbg_known_u64((examples[i].other_works ? 1 : 2) * SECOND_NS);
        w->processes[1].end.kind = examples[i].end;
        w->s.looks = &look;
        w->s.look_count = examples[i].looked != 0;
        expect(w, examples[i].title, examples[i].cause != 0, examples[i].cause, WSDBG_CONFIDENCE_POSSIBLE, false);
    }
}

/* Rank 0 makes a communicator.  There are three processes, each with a context. */
static void a_communicator_waits_for_ranks(void **state)
{
    static const struct {
        const char *title;
        uint32_t rank_count, others_come;
        bool last_has_context;
        size_t findings;
    } examples[] = {
        {"both others are missing", 3, 0, true, 2},
        {"one other is missing", 3, 1, true, 1},
        {"nobody is missing", 3, 2, true, 0},
        {"one of two is missing, nobody knows which", 2, 0, true, 0},
        {"only one of them has a context", 2, 0, false, 1},
        {"a process has no context yet", 3, 0, false, 0},
        {"ranks are on other nodes", 8, 1, true, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct world *w = begin();
        for (uint32_t rank = 0; rank <= examples[i].others_come; rank++) {
            w->communicators[join(w, rank, X, rank, examples[i].rank_count)].row.ready_ns = 0;
            w->communicators[rank].row.began_ns = SECOND_NS;
        }
        w->contexts[2].alive = examples[i].last_has_context;
        expect(w, examples[i].title, examples[i].findings, WSDBG_CAUSE_RANK_MISSING, WSDBG_CONFIDENCE_POSSIBLE, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_reduction_gives_wrong_numbers_rather_than_a_hang),
        cmocka_unit_test(a_rank_that_is_not_recorded_any_more),
        cmocka_unit_test(a_rank_that_is_not_seen),
        cmocka_unit_test(a_call_may_be_queued_behind_what_moves),
        cmocka_unit_test(a_circle_needs_all_callers_kept),
        cmocka_unit_test(a_call_may_wait_on_the_host),
        cmocka_unit_test(a_call_may_wait_where_no_look_shows_it),
        cmocka_unit_test(a_communicator_waits_for_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
