/* collective_test.c - whether a process waits in a collective for a rank that has ended, by a snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/collective.h"

/* Ranks 0 and 1 of one communicator, processes 5 and 6.  Rank 0 is in all_reduce #3; rank 1 has ended after #2. */
struct world {
    struct wsdbg_process processes[3];
    struct wsdbg_communicator communicators[2];
    struct wsdbg_collective calls[1];
    struct wsdbg_snapshot snapshot;
};

static void fill(struct world *w)
{
    *w = (struct world){
        .processes = {{.process_id = 5}, {.process_id = 6, .end = {WSDBG_END_SIGNAL, 9}}},
        .communicators = {{.process_id = 5, .row = {.identity = 77, .rank = 0, .rank_count = 2, .collectives = 3}},
                          {.process_id = 6, .row = {.identity = 77, .rank = 1, .rank_count = 2, .collectives = 2}}},
        .calls = {{.communicator = 0, .row = {.number = 3, .operation = WSDBG_COLLECTIVE_ALL_REDUCE}}}};
    w->snapshot = (struct wsdbg_snapshot){.processes = w->processes,
                                          .process_count = 2,
                                          .communicators = w->communicators,
                                          .communicator_count = 2,
                                          .collectives = w->calls,
                                          .collective_count = 1};
}

static void a_rank_that_ended_before_the_collective_is_gone(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    assert_true(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 6));
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 7));
    w.processes[1].end = (struct wsdbg_process_end){WSDBG_END_EXITED, 0};
    assert_true(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
}

/* What keeps the answer from being yes, one at a time. */
static void a_rank_that_may_come_still_is_not_gone(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    w.processes[1].end.kind = WSDBG_END_NONE;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w); /* it is not known whether it has ended */
    w.snapshot.process_count = 1;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w); /* another process has its number now */
    w.processes[2] = (struct wsdbg_process){.process_id = 6};
    w.snapshot.process_count = 3;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w);
    w.communicators[1].row.rank = WSDBG_UNKNOWN32;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
}

static void a_rank_that_made_the_collective_or_belongs_elsewhere_is_not_missed(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    w.communicators[1].row.collectives = 3;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w);
    w.communicators[1].row.identity = 78;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w); /* neither communicator is known */
    w.communicators[0].row.identity = w.communicators[1].row.identity = 0;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w); /* a communicator that the same rank had before */
    w.communicators[1].row.rank = 0;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
}

/* Then what its GPU does is other work, which may wait for something that is to come. */
static void a_process_that_is_in_no_collective_misses_nobody(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    w.calls[0].done = true;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w);
    w.snapshot.collective_count = 0;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w); /* between two other ranks */
    w.calls[0].row.operation = WSDBG_COLLECTIVE_SEND;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w);
    w.calls[0].row.flags = WSDBG_COLLECTIVE_CAPTURED;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w);
    w.calls[0].row.flags = WSDBG_COLLECTIVE_REFUSED;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w); /* aborted: its kernel is about to end */
    w.communicators[0].row.ended_ns = 9;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
    fill(&w); /* which one it is, is not known */
    w.calls[0].row.number = 0;
    assert_false(wsdbg_collective_peer_is_gone(&w.snapshot, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_ended_before_the_collective_is_gone),
        cmocka_unit_test(a_rank_that_may_come_still_is_not_gone),
        cmocka_unit_test(a_rank_that_made_the_collective_or_belongs_elsewhere_is_not_missed),
        cmocka_unit_test(a_process_that_is_in_no_collective_misses_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
