/* later_work_test.c - who may still give the GPU work that a look would hold back, by a snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch/later_work.h"

#define AGE_NS 1000u
#define NOW_NS 5000u

/* Process 5 has unfinished work and a thread that has waited for it long.  It is in all_reduce #3 with process 6. */
struct world {
    struct wsdbg_process processes[2];
    struct wsdbg_context contexts[2];
    struct wsdbg_host_thread threads[2];
    struct wsdbg_communicator communicators[2];
    struct wsdbg_collective calls[1];
    struct wsdbg_snapshot snapshot;
};

static void fill(struct world *w)
{
    *w = (struct world){
        .processes = {{.process_id = 5}, {.process_id = 6}},
        .contexts = {{.process_id = 5, .alive = true, .unfinished_ns = wsdbg_known_u64(AGE_NS)}},
        .threads = {{.process_id = 5, .since_ns = NOW_NS - AGE_NS, .host_state = WSDBG_HOST_ALL_BLOCKED}},
        .communicators = {{.process_id = 5, .row = {.identity = 77, .rank = 0, .rank_count = 2, .collectives = 3}},
                          {.process_id = 6, .row = {.identity = 77, .rank = 1, .rank_count = 2, .collectives = 2}}},
        .calls = {{.communicator = 0, .row = {.number = 3, .operation = WSDBG_COLLECTIVE_ALL_REDUCE}}}};
    w->snapshot = (struct wsdbg_snapshot){.processes = w->processes,
                                          .process_count = 2,
                                          .contexts = w->contexts,
                                          .context_count = 1,
                                          .threads = w->threads,
                                          .thread_count = 1,
                                          .communicators = w->communicators,
                                          .communicator_count = 2,
                                          .collectives = w->calls,
                                          .collective_count = 1};
}

static enum wsdbg_submitter submitter(const struct world *w)
{
    return wsdbg_work_submitter(&w->snapshot, AGE_NS, NOW_NS);
}

static void a_program_whose_threads_all_wait_gives_nothing(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_NONE);
    w.threads[0].host_state = WSDBG_HOST_GOES_ON;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_ANOTHER);
}

static void a_thread_that_does_not_wait_for_long_may_give_work(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    w.threads[0].since_ns = NOW_NS - AGE_NS / 2;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_NONE);
    w.threads[0].since_ns++;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_ANY);
    w.snapshot.thread_count = 0;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_ANY);
}

static void only_work_that_a_look_would_hold_back_counts(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    w.snapshot.thread_count = 0;
    w.contexts[0].attended = true;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_NONE);
    fill(&w);
    w.snapshot.thread_count = 0;
    w.contexts[0].alive = false;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_NONE);
    fill(&w);
    w.snapshot.thread_count = 0;
    w.contexts[0].unfinished_ns.known = false;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_NONE);
}

/* Whatever the program gives later, the collective does not end by it. */
static void a_process_that_waits_for_a_rank_that_has_ended_does_not_count(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    w.snapshot.thread_count = 0;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_ANY);
    w.processes[1].end = (struct wsdbg_process_end){WSDBG_END_SIGNAL, 9};
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_NONE);
    w.calls[0].done = true; /* its work is something else */
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_ANY);
}

/* ... but another process does, which the look would meet as well. */
static void each_process_counts_for_itself(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    w.processes[1].end = (struct wsdbg_process_end){WSDBG_END_SIGNAL, 9};
    w.contexts[1] = (struct wsdbg_context){.process_id = 8, .alive = true, .unfinished_ns = wsdbg_known_u64(AGE_NS)};
    w.snapshot.context_count = 2;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_ANY);
    w.threads[1] = (struct wsdbg_host_thread){.process_id = 8, .since_ns = 1, .host_state = WSDBG_HOST_ALL_BLOCKED};
    w.snapshot.thread_count = 2;
    assert_int_equal(submitter(&w), WSDBG_SUBMITTER_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_whose_threads_all_wait_gives_nothing),
        cmocka_unit_test(a_thread_that_does_not_wait_for_long_may_give_work),
        cmocka_unit_test(only_work_that_a_look_would_hold_back_counts),
        cmocka_unit_test(a_process_that_waits_for_a_rank_that_has_ended_does_not_count),
        cmocka_unit_test(each_process_counts_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
