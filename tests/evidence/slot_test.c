/* slot_test.c - slots and histories: what the walk back accepts, where it stops, how times unwrap. */
#include "evidence/slot_warp.h"

/* Values of the only warp's history, oldest first, end in ..., last. */
static void assert_values_end_at(const struct wsdbg_snapshot *snapshot, uint32_t last)
{
    const struct wsdbg_warp_row *warp = &snapshot->warps[0];
    for (uint32_t i = 0; i < warp->history_count; i++) {
        const struct wsdbg_history_event *event = &snapshot->history[warp->history_first + i];
        if (event->kind == WSDBG_EVENT_USER_MARK)
            assert_int_equal(event->value, last - (warp->history_count - 1 - i));
    }
}

static void one_event_is_a_whole_history(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 0);
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warp_count, 1);
    assert_int_equal(snapshot.warps[0].warp, 2);
    assert_int_equal(snapshot.warps[0].state, WSDBG_WARP_RUNNING);
    assert_int_equal(snapshot.warps[0].history_count, 1);
    assert_true(snapshot.warps[0].history_whole);
    assert_true(snapshot.contexts[0].history_read);
    assert_int_equal(snapshot.torn_events, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

static void exactly_the_depth_is_whole_and_one_more_is_not(void **state)
{
    (void)state;
    for (uint32_t extra = 0; extra < 2; extra++) {
        struct segment_writer *writer = one_context(DEPTH);
        marks(writer, DEPTH - 1 + extra);
        segment_writer_copy_history(writer);
        struct wsdbg_snapshot snapshot = look_and_destroy(writer);
        assert_int_equal(snapshot.warps[0].history_count, DEPTH);
        assert_int_equal(snapshot.warps[0].history_whole, extra == 0);
        assert_int_equal(snapshot.torn_events, 0);
        assert_values_end_at(&snapshot, DEPTH - 1 + extra);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

static void sequence_numbers_wrap_at_256(void **state)
{
    (void)state;
    static const uint32_t counts[] = {255, 256, 258, 515};
    for (size_t i = 0; i < 4; i++) {
        struct segment_writer *writer = one_context(DEPTH);
        marks(writer, counts[i]);
        segment_writer_copy_history(writer);
        struct wsdbg_snapshot snapshot = look_and_destroy(writer);
        assert_int_equal(snapshot.warps[0].history_count, DEPTH);
        assert_false(snapshot.warps[0].history_whole);
        assert_values_end_at(&snapshot, counts[i]);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

static void a_torn_entry_ends_the_walk(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 6);
    segment_writer_copy_history(writer);
    segment_writer_mirror(writer, 0, 19, 3)->sequence ^= 0x55; /* event 3 of 0..6 */
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].history_count, 3); /* 6, 5, 4 */
    assert_false(snapshot.warps[0].history_whole);
    assert_int_equal(snapshot.torn_events, 1);
    assert_values_end_at(&snapshot, 6);
    wsdbg_snapshot_deinit(&snapshot);
}

static void an_entry_later_than_its_successor_ends_the_walk(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 6);
    segment_writer_copy_history(writer);
    segment_writer_mirror(writer, 0, 19, 5)->time += 1000000;
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].history_count, 1);
    assert_int_equal(snapshot.torn_events, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

static void an_old_occupants_entries_are_not_taken(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 100); /* fills the ring */
    struct segment_warp next = the_warp();
    next.grid_id = 8;
    segment_writer_begin(writer, &next);
    segment_writer_event(writer, &next, (struct segment_event){.kind = WSDBG_EVENT_USER_MARK, .value = 1});
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grid_count, 1);
    assert_int_equal(snapshot.grids[0].grid_id, 8);
    assert_int_equal(snapshot.warps[0].history_count, 2);
    assert_true(snapshot.warps[0].history_whole);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_mirror_copied_before_the_warp_changed_hands_is_not_taken(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 5);
    segment_writer_copy_history(writer);
    struct segment_warp next = the_warp();
    next.grid_id = 8;
    segment_writer_begin(writer, &next);
    for (uint32_t i = 1; i <= 6; i++) /* event 6 would follow the old warp's event 5 */
        segment_writer_event(writer, &next, (struct segment_event){.kind = WSDBG_EVENT_USER_MARK, .value = 50 + i});
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].history_count, 1);
    assert_int_equal(snapshot.warps[0].last.value, 56);
    assert_false(snapshot.warps[0].history_whole);
    assert_int_equal(snapshot.torn_events, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

static void the_last_event_is_the_rings_newest(void **state)
{
    (void)state;
    /* Up to depth - 1 the slot's event still stands in the ring; 300 laps it and wraps the sequence. */
    static const uint32_t counts[] = {1, DEPTH - 1, DEPTH, 300};
    for (size_t i = 0; i < 4; i++) {
        struct segment_writer *writer = one_context(DEPTH);
        struct segment_warp warp = marks(writer, 3);
        arrivals(writer, &warp, counts[i]);
        segment_writer_copy_history(writer);
        struct wsdbg_snapshot light = segment_snapshot_light(writer);
        assert_int_equal(light.warps[0].last.kind, WSDBG_EVENT_USER_MARK);
        struct wsdbg_snapshot snapshot = look_and_destroy(writer);
        const struct wsdbg_warp_row *seen = &snapshot.warps[0];
        assert_int_equal(seen->last.kind, WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX);
        assert_int_equal(seen->last.value, counts[i]);
        assert_int_equal(seen->history_count, counts[i] == 1 ? 5 : DEPTH);
        assert_memory_equal(&snapshot.history[seen->history_count - 1], &seen->last, sizeof seen->last);
        assert_int_equal(snapshot.torn_events, 0);
        assert_in_range(seen->last.gpu_time_ns - light.warps[0].last.gpu_time_ns, 1000 * counts[i] - 32,
                        1000 * counts[i] + 32);
        wsdbg_snapshot_deinit(&light);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

static void a_wait_that_ended_is_over_though_the_slot_shows_its_begin(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    struct segment_warp warp = marks(writer, 0);
    segment_writer_event(writer, &warp,
                         (struct segment_event){.kind = WSDBG_EVENT_MBARRIER_WAIT_BEGIN, .value = SITE(10, 32)});
    segment_writer_event(writer, &warp,
                         (struct segment_event){.kind = WSDBG_EVENT_MBARRIER_WAIT_END, .value = SITE(11, 32)});
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot light = segment_snapshot_light(writer);
    assert_int_equal(light.warps[0].state, WSDBG_WARP_WAIT_MBARRIER);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].state, WSDBG_WARP_RUNNING);
    assert_int_equal(snapshot.warps[0].line.value, 11);
    assert_int_equal(snapshot.warps[0].barrier, WSDBG_NONE);
    wsdbg_snapshot_deinit(&light);
    wsdbg_snapshot_deinit(&snapshot);
}

static void events_within_one_tick_of_the_clock_keep_their_order(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    struct segment_warp warp = marks(writer, 1);
    arrivals(writer, &warp, 20); /* the slot's event is gone from the ring */
    segment_writer_copy_history(writer);
    for (uint32_t n = 0; n < DEPTH; n++)
        segment_writer_mirror(writer, 0, 19, n)->time = segment_writer_mirror(writer, 0, 19, 5)->time;
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].last.value, 20);
    assert_int_equal(snapshot.warps[0].history_count, DEPTH);
    assert_int_equal(snapshot.torn_events, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_ring_that_passed_to_the_next_warp_meanwhile_is_not_taken(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 2);
    const struct wsdbg_slot copied = *segment_writer_slot(writer, 0, 19);
    struct segment_warp next = the_warp();
    next.grid_id = 8;
    segment_writer_begin(writer, &next);
    arrivals(writer, &next, 3);
    segment_writer_copy_history(writer);
    *segment_writer_slot(writer, 0, 19) = copied;
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grids[0].grid_id, 7);
    assert_int_equal(snapshot.warps[0].last.value, 2);
    assert_int_equal(snapshot.warps[0].history_count, 1);
    assert_int_equal(snapshot.torn_events, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

/* Times repeat after 137 s: what an earlier warp wrote 100 s before looks like 37 s later. */
static void an_old_occupants_entries_are_no_news_after_half_a_wrap(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    struct segment_warp old = the_warp(), next = the_warp();
    segment_writer_set_gpu_time(writer, UINT64_C(1000000000));
    segment_writer_begin(writer, &old);
    arrivals(writer, &old, DEPTH - 1);
    segment_writer_set_gpu_time(writer, UINT64_C(101000000000));
    next.grid_id = 8;
    segment_writer_begin(writer, &next);
    arrivals(writer, &next, 2);
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].history_count, 3);
    assert_int_equal(snapshot.warps[0].last.value, 2);
    assert_true(snapshot.warps[0].history_whole);
    wsdbg_snapshot_deinit(&snapshot);
}

static void with_history_off_every_event_is_in_the_slot(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(0);
    struct segment_warp warp = marks(writer, 1);
    arrivals(writer, &warp, 2);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].last.kind, WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX);
    assert_int_equal(snapshot.warps[0].last.value, 2);
    wsdbg_snapshot_deinit(&snapshot);
}

static void times_unwrap_across_the_32_bit_wrap(void **state)
{
    (void)state;
    const uint64_t wrap_ns = UINT64_C(1) << (32 + WSDBG_TIME_SHIFT); /* 137 s */
    struct segment_writer *writer = one_context(DEPTH);
    segment_writer_set_gpu_time(writer, 3 * wrap_ns - 2048); /* events 1 us apart straddle the wrap */
    marks(writer, 5);
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].history_count, 6);
    for (uint32_t i = 1; i < 6; i++) {
        const uint64_t step_ns = snapshot.history[i].gpu_time_ns - snapshot.history[i - 1].gpu_time_ns;
        assert_in_range(step_ns, 1000 - 32, 1000 + 32);
    }
    assert_int_equal(snapshot.contexts[0].gpu_now_ns, snapshot.warps[0].last.gpu_time_ns);
    wsdbg_snapshot_deinit(&snapshot);
}

static void slots_on_both_sides_of_the_wrap_keep_their_order(void **state)
{
    (void)state;
    const uint64_t wrap_ns = UINT64_C(1) << (32 + WSDBG_TIME_SHIFT);
    struct segment_writer *writer = one_context(0);
    struct segment_warp early = the_warp(), late = the_warp();
    early.sm_warp = 9; /* the later event lies in the earlier slot */
    early.warp = 0;
    segment_writer_set_gpu_time(writer, wrap_ns - 3200);
    segment_writer_begin(writer, &early);
    segment_writer_set_gpu_time(writer, wrap_ns + 3200);
    segment_writer_begin(writer, &late);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warp_count, 2);
    assert_int_equal(snapshot.warps[1].last.gpu_time_ns - snapshot.warps[0].last.gpu_time_ns, 6400);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_foreign_identity_is_counted_and_left_out(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 1);
    segment_writer_slot(writer, 0, 19)->cta_x ^= 4;
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.foreign_slots, 1);
    assert_int_equal(snapshot.warp_count, 0);
    assert_int_equal(snapshot.grid_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

static void an_identity_in_the_wrong_slot_is_foreign(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(0);
    marks(writer, 1);
    memcpy(segment_writer_slot(writer, 0, 4), segment_writer_slot(writer, 0, 19), sizeof(struct wsdbg_slot));
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.foreign_slots, 1);
    assert_int_equal(snapshot.warp_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

static void without_histories_nothing_is_read(void **state)
{
    (void)state;
    struct segment_writer *writer = one_context(DEPTH);
    marks(writer, 3);
    struct wsdbg_snapshot snapshot = segment_snapshot(writer); /* never copied */
    assert_false(snapshot.contexts[0].history_read);
    assert_int_equal(snapshot.warps[0].history_count, 0);
    assert_int_equal(snapshot.torn_events, 0);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_copy_history(writer);
    snapshot = segment_snapshot_light(writer);
    assert_false(snapshot.contexts[0].history_read);
    assert_int_equal(snapshot.warps[0].history_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_event_is_a_whole_history),
        cmocka_unit_test(exactly_the_depth_is_whole_and_one_more_is_not),
        cmocka_unit_test(sequence_numbers_wrap_at_256),
        cmocka_unit_test(a_torn_entry_ends_the_walk),
        cmocka_unit_test(an_entry_later_than_its_successor_ends_the_walk),
        cmocka_unit_test(an_old_occupants_entries_are_not_taken),
        cmocka_unit_test(a_mirror_copied_before_the_warp_changed_hands_is_not_taken),
        cmocka_unit_test(the_last_event_is_the_rings_newest),
        cmocka_unit_test(a_wait_that_ended_is_over_though_the_slot_shows_its_begin),
        cmocka_unit_test(events_within_one_tick_of_the_clock_keep_their_order),
        cmocka_unit_test(a_ring_that_passed_to_the_next_warp_meanwhile_is_not_taken),
        cmocka_unit_test(an_old_occupants_entries_are_no_news_after_half_a_wrap),
        cmocka_unit_test(with_history_off_every_event_is_in_the_slot),
        cmocka_unit_test(times_unwrap_across_the_32_bit_wrap),
        cmocka_unit_test(slots_on_both_sides_of_the_wrap_keep_their_order),
        cmocka_unit_test(a_foreign_identity_is_counted_and_left_out),
        cmocka_unit_test(an_identity_in_the_wrong_slot_is_foreign),
        cmocka_unit_test(without_histories_nothing_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
