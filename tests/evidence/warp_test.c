/* warp_test.c - states, sites, registers and barriers of warps; phases where they can be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "evidence/segment_snapshot.h"

enum { REGISTERS_AT_LAUNCH = 168, EMPTY = 1, FULL = 0 };

static const struct wsdbg_name names[] = {
    {.kind = WSDBG_NAME_MBARRIER, .id = FULL, .stages = 2, .name = "full"},
    {.kind = WSDBG_NAME_MBARRIER, .id = EMPTY, .stages = 2, .name = "empty"},
};

static struct segment_writer *one_launch(uint32_t warps)
{
    struct segment_writer *writer = segment_writer_create(100);
    segment_writer_context(writer, 2, 8, 16);
    segment_writer_module(writer, 0, names, 2);
    segment_writer_function(writer, 0, "kernel", REGISTERS_AT_LAUNCH);
    segment_writer_launch(writer, &(struct segment_launch){.ctas = 2, .threads = 32 * warps});
    return writer;
}

static struct segment_warp begin(struct segment_writer *writer, uint32_t cta, uint32_t warp, uint32_t warps,
                                 uint32_t cluster_size)
{
    struct segment_warp row = {.grid_id = 1,
                               .cta = cta,
                               .ctas = 2,
                               .warp = warp,
                               .warps = warps,
                               .cluster_size = cluster_size,
                               .sm = cta,
                               .sm_warp = warp};
    segment_writer_begin(writer, &row);
    return row;
}

static void event(struct segment_writer *writer, struct segment_warp *warp, enum wsdbg_event_kind kind, uint8_t barrier,
                  uint32_t value)
{
    segment_writer_event(writer, warp, (struct segment_event){.kind = kind, .barrier = barrier, .value = value});
}

static struct wsdbg_snapshot look_and_destroy(struct segment_writer *writer)
{
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    segment_writer_destroy(writer);
    return snapshot;
}

static const struct wsdbg_barrier *barrier_of(const struct wsdbg_snapshot *snapshot, uint32_t cta,
                                              enum wsdbg_barrier_kind kind, uint32_t id)
{
    for (size_t i = 0; i < snapshot->barrier_count; i++) {
        const struct wsdbg_barrier *barrier = &snapshot->barriers[i];
        if (barrier->cta == cta && barrier->kind == kind && barrier->id == id)
            return barrier;
    }
    return NULL;
}

static void every_begin_waits_and_every_other_event_runs(void **state)
{
    (void)state;
    static const struct {
        enum wsdbg_event_kind kind;
        enum wsdbg_warp_state state;
    } cases[] = {
        {WSDBG_EVENT_MBARRIER_WAIT_BEGIN, WSDBG_WARP_WAIT_MBARRIER},
        {WSDBG_EVENT_MBARRIER_WAIT_END, WSDBG_WARP_RUNNING},
        {WSDBG_EVENT_NAMED_SYNC_BEGIN, WSDBG_WARP_WAIT_NAMED},
        {WSDBG_EVENT_NAMED_ARRIVE, WSDBG_WARP_RUNNING},
        {WSDBG_EVENT_CLUSTER_WAIT_BEGIN, WSDBG_WARP_WAIT_CLUSTER},
        {WSDBG_EVENT_REGISTERS_REQUEST, WSDBG_WARP_WAIT_REGISTERS},
        {WSDBG_EVENT_REGISTERS_GRANTED, WSDBG_WARP_RUNNING},
        {WSDBG_EVENT_WGMMA_WAIT_BEGIN, WSDBG_WARP_WAIT_WGMMA},
        {WSDBG_EVENT_BULK_WAIT_BEGIN, WSDBG_WARP_WAIT_BULK},
        {WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN, WSDBG_WARP_WAIT_GRID_DEPENDENCY},
        {WSDBG_EVENT_POLL_BEGIN, WSDBG_WARP_SPIN_GLOBAL},
        {WSDBG_EVENT_POLL_END, WSDBG_WARP_RUNNING},
        {WSDBG_EVENT_EXIT, WSDBG_WARP_EXITED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct segment_writer *writer = one_launch(2);
        struct segment_warp warp = begin(writer, 0, 0, 2, 0);
        begin(writer, 0, 1, 2, 0);
        event(writer, &warp, cases[i].kind, 1, 64);
        struct wsdbg_snapshot snapshot = look_and_destroy(writer);
        assert_int_equal(snapshot.warps[0].state, cases[i].state);
        const bool waits = wsdbg_warp_state_waits(cases[i].state);
        assert_int_equal(snapshot.warps[0].barrier != WSDBG_NONE, waits);
        if (waits)
            assert_int_equal(snapshot.barriers[snapshot.warps[0].barrier].waiters, 1);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

static void a_kind_of_a_later_version_is_an_unknown_state(void **state)
{
    (void)state;
    struct segment_writer *writer = one_launch(2);
    begin(writer, 0, 0, 2, 0);
    begin(writer, 0, 1, 2, 0);
    segment_writer_slot(writer, 0, 0)->state.kind = 77;
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].state, WSDBG_WARP_UNKNOWN);
    assert_int_equal(snapshot.warps[0].barrier, WSDBG_NONE);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_wait_is_unknown_where_the_history_that_would_show_its_end_is_lost(void **state)
{
    (void)state;
    struct segment_writer *writer = one_launch(3);
    struct segment_warp waits = begin(writer, 0, 0, 3, 0), asks = begin(writer, 0, 1, 3, 0),
                        gone = begin(writer, 0, 2, 3, 0);
    event(writer, &waits, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, FULL, SITE(10, 32));
    event(writer, &asks, WSDBG_EVENT_REGISTERS_REQUEST, 0, 240);
    event(writer, &gone, WSDBG_EVENT_EXIT, 0, 0);
    struct wsdbg_snapshot snapshot = segment_snapshot(writer); /* asked, never copied */
    assert_int_equal(snapshot.warps[0].state, WSDBG_WARP_UNKNOWN);
    assert_int_equal(snapshot.warps[0].barrier, WSDBG_NONE);
    assert_int_equal(snapshot.warps[0].last.kind, WSDBG_EVENT_MBARRIER_WAIT_BEGIN);
    assert_int_equal(snapshot.warps[1].state, WSDBG_WARP_WAIT_REGISTERS);
    assert_int_equal(snapshot.warps[2].state, WSDBG_WARP_EXITED);
    wsdbg_snapshot_deinit(&snapshot);
    snapshot = segment_snapshot_light(writer);
    assert_int_equal(snapshot.warps[0].state, WSDBG_WARP_WAIT_MBARRIER);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

static void a_site_gives_line_and_lanes_other_events_do_not(void **state)
{
    (void)state;
    struct segment_writer *writer = one_launch(2);
    struct segment_warp first = begin(writer, 0, 0, 2, 0), second = begin(writer, 0, 1, 2, 0);
    segment_writer_event(writer, &first,
                         (struct segment_event){.kind = WSDBG_EVENT_MBARRIER_WAIT_BEGIN,
                                                .barrier = FULL,
                                                .stage = 1,
                                                .parity = 1,
                                                .iteration = 5,
                                                .value = SITE(88, 31)});
    event(writer, &second, WSDBG_EVENT_NAMED_SYNC_BEGIN, 3, 64);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    const struct wsdbg_warp_row *warp = &snapshot.warps[0];
    assert_int_equal(warp->line.value, 88);
    assert_int_equal(warp->lanes.value, 31);
    assert_int_equal(warp->last.stage, 1);
    assert_int_equal(warp->last.parity, 1);
    assert_int_equal(warp->last.iteration, 5);
    assert_int_equal(snapshot.barriers[warp->barrier].stage, 1);
    assert_string_equal(snapshot.barriers[warp->barrier].name->name, "full");
    assert_false(snapshot.warps[1].line.known);
    assert_false(snapshot.warps[1].lanes.known);
    assert_int_equal(snapshot.barriers[snapshot.warps[1].barrier].expected_arrivals.value, 64);
    wsdbg_snapshot_deinit(&snapshot);
}

static void registers_follow_launch_release_and_grant(void **state)
{
    (void)state;
    struct segment_writer *writer = one_launch(4);
    struct segment_warp released = begin(writer, 0, 0, 4, 0), granted = begin(writer, 0, 1, 4, 0);
    struct segment_warp asking = begin(writer, 0, 2, 4, 0), untouched = begin(writer, 0, 3, 4, 0);
    event(writer, &released, WSDBG_EVENT_REGISTERS_RELEASE, 0, 40);
    event(writer, &granted, WSDBG_EVENT_REGISTERS_REQUEST, 0, 232);
    event(writer, &granted, WSDBG_EVENT_REGISTERS_GRANTED, 0, 232);
    event(writer, &granted, WSDBG_EVENT_TILE_BEGIN, 0, 0);
    event(writer, &asking, WSDBG_EVENT_REGISTERS_REQUEST, 0, 240);
    event(writer, &untouched, WSDBG_EVENT_TILE_BEGIN, 0, 0);
    segment_writer_copy_history(writer);
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    static const uint32_t held[] = {40, 232, REGISTERS_AT_LAUNCH, REGISTERS_AT_LAUNCH};
    for (size_t i = 0; i < 4; i++) {
        assert_true(snapshot.warps[i].registers_held.known);
        assert_int_equal(snapshot.warps[i].registers_held.value, held[i]);
        assert_int_equal(snapshot.warps[i].registers_asked.known, i == 2);
    }
    assert_int_equal(snapshot.warps[2].registers_asked.value, 240);
    wsdbg_snapshot_deinit(&snapshot);

    /* Without histories only the slot's own event counts: what came before may have changed them. */
    snapshot = segment_snapshot_light(writer);
    assert_int_equal(snapshot.warps[0].registers_held.value, 40);
    for (size_t i = 1; i < 4; i++)
        assert_false(snapshot.warps[i].registers_held.known);
    assert_int_equal(snapshot.warps[2].registers_asked.value, 240);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

static void registers_of_a_cut_history_without_a_change_are_unknown(void **state)
{
    (void)state;
    struct segment_writer *writer = one_launch(1);
    struct segment_warp warp = begin(writer, 0, 0, 1, 0);
    for (int i = 0; i < 40; i++)
        event(writer, &warp, WSDBG_EVENT_TILE_BEGIN, 0, 0);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.warps[0].history_count, 16);
    assert_false(snapshot.warps[0].registers_held.known);
    wsdbg_snapshot_deinit(&snapshot);
}

/* A CTA of two warps; "empty" is initialised for 2 and gets `arrivals` single-lane arrivals. */
static struct segment_writer *counted(uint32_t arrivals, uint32_t warps_begun)
{
    struct segment_writer *writer = one_launch(2);
    struct segment_warp warp = begin(writer, 0, 0, 2, 0);
    if (warps_begun == 2)
        begin(writer, 0, 1, 2, 0);
    event(writer, &warp, WSDBG_EVENT_MBARRIER_INIT, EMPTY, 2);
    for (uint32_t i = 0; i < arrivals; i++)
        event(writer, &warp, WSDBG_EVENT_MBARRIER_ARRIVE, EMPTY, SITE(9, 1));
    return writer;
}

static void arrivals_that_are_all_seen_give_the_phase(void **state)
{
    (void)state;
    static const struct {
        uint32_t arrivals, completed, phase, pending;
    } cases[] = {{0, 0, 0, 2}, {1, 0, 0, 1}, {2, 1, 1, 2}, {5, 2, 0, 1}};
    for (size_t i = 0; i < 4; i++) {
        struct wsdbg_snapshot snapshot = look_and_destroy(counted(cases[i].arrivals, 2));
        const struct wsdbg_barrier *barrier = barrier_of(&snapshot, 0, WSDBG_BARRIER_MBARRIER, EMPTY);
        assert_int_equal(barrier->expected_arrivals.value, 2);
        assert_true(barrier->completed_phases.known);
        assert_int_equal(barrier->completed_phases.value, cases[i].completed);
        assert_int_equal(barrier->phase.value, cases[i].phase);
        assert_int_equal(barrier->pending_arrivals.value, cases[i].pending);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

static void a_warp_not_seen_or_cut_leaves_the_phase_unknown(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_and_destroy(counted(2, 1));
    assert_false(barrier_of(&snapshot, 0, WSDBG_BARRIER_MBARRIER, EMPTY)->phase.known);
    wsdbg_snapshot_deinit(&snapshot);
    snapshot = look_and_destroy(counted(15, 2)); /* BEGIN, INIT and 15 arrivals: one more than the depth */
    assert_false(barrier_of(&snapshot, 0, WSDBG_BARRIER_MBARRIER, EMPTY)->phase.known);
    wsdbg_snapshot_deinit(&snapshot);
}

static void bytes_on_a_barrier_leave_its_phase_unknown(void **state)
{
    (void)state;
    struct segment_writer *writer = counted(2, 2);
    struct segment_warp other = begin(writer, 0, 1, 2, 0);
    event(writer, &other, WSDBG_EVENT_MBARRIER_EXPECT_TX, EMPTY, 4096);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    const struct wsdbg_barrier *barrier = barrier_of(&snapshot, 0, WSDBG_BARRIER_MBARRIER, EMPTY);
    assert_true(barrier->expected_arrivals.known);
    assert_false(barrier->phase.known);
    assert_false(barrier->pending_tx_bytes.known);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_remote_arrival_counts_in_the_peer(void **state)
{
    (void)state;
    struct segment_writer *writer = one_launch(1);
    struct segment_warp first = begin(writer, 0, 0, 1, 2), second = begin(writer, 1, 0, 1, 2);
    event(writer, &first, WSDBG_EVENT_MBARRIER_INIT, EMPTY, 1);
    event(writer, &second, WSDBG_EVENT_MBARRIER_ARRIVE, EMPTY, SITE_REMOTE(12, 1, 0));
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.cta_count, 2);
    assert_int_equal(snapshot.ctas[1].cluster_rank, 1);
    const struct wsdbg_barrier *barrier = barrier_of(&snapshot, 0, WSDBG_BARRIER_MBARRIER, EMPTY);
    assert_int_equal(barrier->completed_phases.value, 1);
    assert_null(barrier_of(&snapshot, 1, WSDBG_BARRIER_MBARRIER, EMPTY));
    wsdbg_snapshot_deinit(&snapshot);
}

static void named_counts_that_disagree_are_unknown(void **state)
{
    (void)state;
    struct segment_writer *writer = one_launch(2);
    struct segment_warp first = begin(writer, 0, 0, 2, 0), second = begin(writer, 0, 1, 2, 0);
    event(writer, &first, WSDBG_EVENT_NAMED_SYNC_BEGIN, 3, 64);
    event(writer, &second, WSDBG_EVENT_NAMED_SYNC_BEGIN, 3, 96);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    const struct wsdbg_barrier *barrier = barrier_of(&snapshot, 0, WSDBG_BARRIER_NAMED, 3);
    assert_false(barrier->expected_arrivals.known);
    assert_int_equal(barrier->waiters, 2);
    wsdbg_snapshot_deinit(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_begin_waits_and_every_other_event_runs),
        cmocka_unit_test(a_kind_of_a_later_version_is_an_unknown_state),
        cmocka_unit_test(a_wait_is_unknown_where_the_history_that_would_show_its_end_is_lost),
        cmocka_unit_test(a_site_gives_line_and_lanes_other_events_do_not),
        cmocka_unit_test(registers_follow_launch_release_and_grant),
        cmocka_unit_test(registers_of_a_cut_history_without_a_change_are_unknown),
        cmocka_unit_test(arrivals_that_are_all_seen_give_the_phase),
        cmocka_unit_test(a_warp_not_seen_or_cut_leaves_the_phase_unknown),
        cmocka_unit_test(bytes_on_a_barrier_leave_its_phase_unknown),
        cmocka_unit_test(a_remote_arrival_counts_in_the_peer),
        cmocka_unit_test(named_counts_that_disagree_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
