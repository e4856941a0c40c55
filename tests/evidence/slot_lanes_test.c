/* slot_lanes_test.c - slots and histories of a warp whose lanes go ways of their own: each part counts its own events,
 * and all write into one ring.
 */
#include "evidence/slot_warp.h"

/* The part that left last counts less events than the others wrote: its EXIT stands in the slot alone. */
static void leave_in_parts(struct segment_writer *writer, uint8_t sequence)
{
    struct wsdbg_slot *slot = segment_writer_slot(writer, 0, 19);
    slot->state = (struct wsdbg_event){.kind = WSDBG_EVENT_EXIT,
                                       .sequence = sequence,
                                       .iteration = WSDBG_NO_ITERATION,
                                       .time = slot->state.time + 100};
    /* Of a grid that has ended nothing is told: another warp is there. */
    struct segment_warp stays = the_warp();
    stays.warp++;
    stays.sm_warp++;
    segment_writer_begin(writer, &stays);
}

static void an_exit_in_the_slot_alone_follows_the_rings_newest_event(void **state)
{
    (void)state;
    for (uint8_t sequence = 1; sequence < 7; sequence++) {
        struct segment_writer *writer = one_context(DEPTH);
        struct segment_warp warp = marks(writer, 3);
        arrivals(writer, &warp, 2);
        leave_in_parts(writer, sequence);
        segment_writer_copy_history(writer);
        struct wsdbg_snapshot snapshot = look_and_destroy(writer);
        const struct wsdbg_warp_row *row = &snapshot.warps[0];
        assert_int_equal(row->state, WSDBG_WARP_EXITED);
        assert_int_equal(row->history_count, 7);
        assert_true(row->history_whole);
        assert_int_equal(snapshot.torn_events, 0);
        const struct wsdbg_history_event *events = &snapshot.history[row->history_first];
        assert_int_equal(events[0].kind, WSDBG_EVENT_BEGIN);
        assert_int_equal(events[3].value, 3);
        assert_int_equal(events[5].kind, WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX);
        assert_int_equal(events[6].kind, WSDBG_EVENT_EXIT);
        assert_true(events[5].gpu_time_ns < events[6].gpu_time_ns);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

static void an_exit_in_the_slot_alone_after_a_full_ring_is_not_whole(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 2 * DEPTH);
    leave_in_parts(writer, 1);
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].state, WSDBG_WARP_EXITED);
    assert_int_equal(snapshot.warps[0].history_count, DEPTH + 1);
    assert_false(snapshot.warps[0].history_whole);
    wsdbg_snapshot_deinit(&snapshot);
}

/* Lane 0 writes marks; the others, which counted only BEGIN, then begin a wait. */
static void events_of_other_lanes_stand_where_their_times_say(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    struct segment_warp others = marks(writer, 0), elected = others;
    for (uint32_t i = 1; i <= 4; i++)
        segment_writer_event(writer, &elected, (struct segment_event){.kind = WSDBG_EVENT_USER_MARK, .value = i});
    segment_writer_event(writer, &others,
                         (struct segment_event){.kind = WSDBG_EVENT_MBARRIER_WAIT_BEGIN, .value = SITE(35, 31)});
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    const struct wsdbg_warp_row *row = &snapshot.warps[0];
    static const struct {
        enum wsdbg_event_kind kind;
        uint32_t value;
    } expected[] = {{WSDBG_EVENT_BEGIN, 0}, /* the first mark was overwritten */
                    {WSDBG_EVENT_USER_MARK, 2},
                    {WSDBG_EVENT_USER_MARK, 3},
                    {WSDBG_EVENT_USER_MARK, 4},
                    {WSDBG_EVENT_MBARRIER_WAIT_BEGIN, SITE(35, 31)}};
    assert_int_equal(row->state, WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(row->history_count, 5);
    assert_false(row->history_whole);
    for (uint32_t i = 0; i < row->history_count; i++) {
        assert_int_equal(snapshot.history[row->history_first + i].kind, expected[i].kind);
        assert_int_equal(snapshot.history[row->history_first + i].value, expected[i].value);
    }
    wsdbg_snapshot_deinit(&snapshot);
}

/* Lane 0 goes first, the others begin a wait with the number of its third event, and lane 0 goes on: behind the event
 * that it lost its history is as it was. */
static void an_event_that_other_lanes_wrote_over_does_not_tear_the_history(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    struct segment_warp others = marks(writer, 2), elected = others;
    for (uint32_t i = 3; i <= 4; i++)
        segment_writer_event(writer, &elected, (struct segment_event){.kind = WSDBG_EVENT_USER_MARK, .value = i});
    segment_writer_event(writer, &others,
                         (struct segment_event){.kind = WSDBG_EVENT_NAMED_SYNC_BEGIN, .barrier = 1, .value = 128});
    segment_writer_event(writer, &elected,
                         (struct segment_event){.kind = WSDBG_EVENT_NAMED_SYNC_BEGIN, .barrier = 1, .value = 128});
    segment_writer_event(writer, &elected,
                         (struct segment_event){.kind = WSDBG_EVENT_NAMED_SYNC_END, .barrier = 1, .value = 128});
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    static const enum wsdbg_event_kind expected[] = {WSDBG_EVENT_BEGIN,
                                                     WSDBG_EVENT_USER_MARK,
                                                     WSDBG_EVENT_USER_MARK,
                                                     WSDBG_EVENT_USER_MARK, /* number 4 */
                                                     WSDBG_EVENT_NAMED_SYNC_BEGIN,
                                                     WSDBG_EVENT_NAMED_SYNC_BEGIN,
                                                     WSDBG_EVENT_NAMED_SYNC_END};
    const struct wsdbg_warp_row *row = &snapshot.warps[0];
    assert_int_equal(snapshot.torn_events, 0);
    assert_int_equal(row->history_count, sizeof expected / sizeof *expected);
    assert_false(row->history_whole);
    for (uint32_t i = 0; i < row->history_count; i++)
        assert_int_equal(snapshot.history[row->history_first + i].kind, expected[i]);
    assert_int_equal(snapshot.history[row->history_first + 3].value, 4);
    wsdbg_snapshot_deinit(&snapshot);
}

/* What an earlier warp left in the ring is not of other lanes. */
static void an_earlier_warps_events_are_not_of_other_lanes(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 6);
    struct segment_warp next = the_warp();
    next.grid_id = 8;
    segment_writer_begin(writer, &next);
    arrivals(writer, &next, 2);
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].history_count, 3);
    assert_true(snapshot.warps[0].history_whole);
    wsdbg_snapshot_deinit(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exit_in_the_slot_alone_follows_the_rings_newest_event),
        cmocka_unit_test(an_exit_in_the_slot_alone_after_a_full_ring_is_not_whole),
        cmocka_unit_test(events_of_other_lanes_stand_where_their_times_say),
        cmocka_unit_test(an_event_that_other_lanes_wrote_over_does_not_tear_the_history),
        cmocka_unit_test(an_earlier_warps_events_are_not_of_other_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
