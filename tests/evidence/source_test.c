/* source_test.c - the sources themselves: live segments in /dev/shm, what a recording keeps of them, nothing. */
#include "evidence/source_rig.h"
#include "segment_place.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void progress_is_the_time_at_which_a_slot_changed(void **state)
{
    (void)state;
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    assert_int_equal(snapshot.context_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    static const struct {
        uint64_t now_ns;
        bool event_before;
        uint64_t progress_ns;
    } polls[] = {
        {20 * MS, false, 20 * MS}, {40 * MS, false, 20 * MS}, {60 * MS, true, 60 * MS}, {80 * MS, false, 60 * MS}};
    for (size_t i = 0; i < 4; i++) {
        if (polls[i].event_before)
            segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_TILE_BEGIN});
        snapshot = poll_at(source, polls[i].now_ns);
        assert_true(snapshot.grids[0].running);
        assert_int_equal(snapshot.progress_ns, polls[i].progress_ns);
        assert_int_equal(snapshot.warps[0].changed_ns, polls[i].progress_ns);
        assert_int_equal(snapshot.warps[0].history_count, 0);
        wsdbg_snapshot_deinit(&snapshot);
    }
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void slots_that_are_not_copied_say_nothing_of_a_standstill(void **state)
{
    (void)state;
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    struct wsdbg_context_row *row = &segment_writer_segment(writer)->contexts[0];
    row->slots_device_address = 0xd000;
    struct wsdbg_evidence *source = open_ring();
    static const struct {
        uint64_t now_ns, copied_ns, progress_ns;
    } polls[] = {{1000 * MS, 990 * MS, 1000 * MS},   /* fresh: first seen */
                 {2000 * MS, 1990 * MS, 1000 * MS},  /* fresh: stands still */
                 {4000 * MS, 1990 * MS, 4000 * MS},  /* 2 s old: not known */
                 {5000 * MS, 4990 * MS, 4000 * MS}}; /* fresh again */
    for (size_t i = 0; i < 4; i++) {
        const uint32_t looks = segment_writer_segment(writer)->slots_request;
        row->slots_copied_ns = polls[i].copied_ns;
        struct wsdbg_snapshot snapshot = poll_at(source, polls[i].now_ns);
        assert_int_equal(snapshot.progress_ns, polls[i].progress_ns);
        assert_int_equal(segment_writer_segment(writer)->slots_request, looks + 1);
        wsdbg_snapshot_deinit(&snapshot);
    }
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void a_wait_longer_than_the_clocks_wrap_keeps_time_rising(void **state)
{
    (void)state;
    const uint64_t minutes_ns = 300 * 1000 * MS;
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot before = poll_at(source, 10 * MS);
    segment_writer_set_gpu_time(writer, UINT64_C(1000000000) + minutes_ns);
    segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_TILE_BEGIN});
    struct wsdbg_snapshot after = poll_at(source, 10 * MS + minutes_ns);
    assert_int_equal(after.contexts[0].gpu_now_ns - before.contexts[0].gpu_now_ns, minutes_ns);
    wsdbg_snapshot_deinit(&before);
    wsdbg_snapshot_deinit(&after);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void a_segment_may_grow_while_it_is_watched(void **state)
{
    (void)state;
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    wsdbg_snapshot_deinit(&snapshot);
    const uint32_t context = segment_writer_context(writer, 132, 64, 64); /* 9 MB more */
    const uint32_t module = segment_writer_module(writer, context, NULL, 0);
    struct segment_warp second = {
        .context = context, .module = module, .grid_id = 5, .ctas = 1, .warps = 1, .sm = 131, .sm_warp = 63};
    segment_writer_begin(writer, &second);
    snapshot = poll_at(source, 20 * MS);
    assert_int_equal(snapshot.context_count, 2);
    assert_int_equal(snapshot.grid_count, 2);
    assert_int_equal(snapshot.warp_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void two_processes_stay_apart(void **state)
{
    (void)state;
    struct segment_warp warp;
    struct segment_writer *first = one_warp((uint32_t)getpid(), &warp);
    struct segment_writer *second = one_warp((uint32_t)getppid(), &warp);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    assert_int_equal(snapshot.context_count, 2);
    assert_int_equal(snapshot.grid_count, 2);
    assert_int_equal(snapshot.grids[1].context, 1);
    assert_int_equal(snapshot.grids[1].module, 1);
    assert_int_equal(snapshot.grids[1].launch, 1);
    assert_int_equal(snapshot.launches[1].function, 1);
    assert_int_not_equal(snapshot.contexts[0].process_id, snapshot.contexts[1].process_id);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(first);
    segment_writer_destroy(second);
}

static void a_dead_process_runs_nothing(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0)
        pause();
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)child, &warp);
    segment_writer_thread(writer, 9, 0, "cuCtxSynchronize", 5);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    assert_true(snapshot.grids[0].running);
    assert_int_equal(snapshot.thread_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
    kill(child, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT); /* dead, but not yet waited for */
    snapshot = poll_at(source, 20 * MS);
    assert_false(snapshot.contexts[0].alive);
    assert_false(snapshot.grids[0].running);
    assert_int_equal(snapshot.thread_count, 0);
    assert_int_equal(snapshot.warp_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
    waitpid(child, NULL, 0);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void a_foreign_file_becomes_a_note(void **state)
{
    (void)state;
    char path[SEGMENT_PATH_BYTES];
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    FILE *file = fopen(segment_place(session, 4242, path), "w");
    assert_non_null(file);
    fputs("this is no segment", file);
    fclose(file);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    assert_int_equal(snapshot.grid_count, 1);
    assert_int_equal(snapshot.note_count, 1);
    assert_non_null(strstr(snapshot.notes[0], "18 bytes, a segment has at least"));
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(writer);
    assert_int_equal(access(path, F_OK), 0);
    wsdbg_ring_unlink(session, NULL);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void *answer_one_request(void *argument)
{
    struct segment_writer *writer = argument;
    const struct wsdbg_segment *segment = segment_writer_segment(writer);
    while (__atomic_load_n(&segment->history_request, __ATOMIC_ACQUIRE) == segment->history_done)
        usleep(100);
    segment_writer_copy_history(writer);
    return NULL;
}

static void inspect_asks_for_the_histories(void **state)
{
    (void)state;
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_TILE_BEGIN});
    struct wsdbg_evidence *source = open_ring();
    pthread_t shim;
    assert_int_equal(pthread_create(&shim, NULL, answer_one_request, writer), 0);
    struct wsdbg_snapshot snapshot;
    assert_null(source->ops->inspect(source, 10 * MS, 5000 * MS, &snapshot));
    pthread_join(shim, NULL);
    assert_true(snapshot.contexts[0].history_read);
    assert_int_equal(snapshot.warps[0].history_count, 2);
    assert_true(snapshot.warps[0].history_whole);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void histories_that_nobody_copies_are_not_read(void **state)
{
    (void)state;
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    segment_writer_copy_history(writer); /* of an earlier request: of no use now */
    segment_writer_segment(writer)->history_request = 1;
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot;
    assert_null(source->ops->inspect(source, 10 * MS, 20 * MS, &snapshot));
    assert_false(snapshot.contexts[0].history_read);
    assert_int_equal(snapshot.warps[0].history_count, 0);
    assert_int_equal(snapshot.warp_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static struct wsdbg_snapshot inspect_at(struct wsdbg_evidence *source, struct segment_writer *writer, uint64_t now_ns)
{
    pthread_t shim;
    struct wsdbg_snapshot snapshot;
    assert_int_equal(pthread_create(&shim, NULL, answer_one_request, writer), 0);
    assert_null(source->ops->inspect(source, now_ns, 5000 * MS, &snapshot));
    pthread_join(shim, NULL);
    return snapshot;
}

/* An event that leaves the slot alone before some looks; the time of the last change each look then knows. */
static const struct {
    uint64_t now_ns;
    bool moves;
    uint64_t changed_ns;
} quiet_looks[] = {
    {20 * MS, true, 10 * MS}, /* nobody knows when: there is no earlier history to compare with */
    {30 * MS, false, 10 * MS},
    {40 * MS, true, 40 * MS},
    {50 * MS, false, 40 * MS},
};
enum { QUIET_LOOKS = sizeof quiet_looks / sizeof *quiet_looks };

static void make_quiet_recording(void)
{
    struct segment_warp warp;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot poll = poll_at(source, 10 * MS);
    wsdbg_snapshot_deinit(&poll);
    assert_null(wsdbg_evidence_record(source, recording, 10 * MS));
    for (size_t i = 0; i < QUIET_LOOKS; i++) {
        if (quiet_looks[i].moves)
            segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_WGMMA_COMMIT});
        struct wsdbg_snapshot snapshot = inspect_at(source, writer, quiet_looks[i].now_ns);
        assert_int_equal(snapshot.progress_ns, quiet_looks[i].changed_ns);
        assert_int_equal(snapshot.warps[0].changed_ns, quiet_looks[i].changed_ns);
        assert_int_equal(snapshot.warps[0].last.kind, WSDBG_EVENT_WGMMA_COMMIT);
        wsdbg_snapshot_deinit(&snapshot);
        assert_null(wsdbg_evidence_record(source, recording, quiet_looks[i].now_ns));
    }
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void events_that_leave_the_slot_alone_are_progress_live_and_replayed(void **state)
{
    (void)state;
    make_quiet_recording();
    struct wsdbg_evidence *source;
    uint64_t first_ns, last_ns;
    assert_null(wsdbg_evidence_open_recorded(recording, &first_ns, &last_ns, &source));
    for (size_t i = 0; i < QUIET_LOOKS; i++) {
        struct wsdbg_snapshot snapshot = poll_at(source, quiet_looks[i].now_ns);
        assert_int_equal(snapshot.progress_ns, quiet_looks[i].changed_ns);
        wsdbg_snapshot_deinit(&snapshot);
    }
    source->ops->close(source);
}

static void null_evidence_sees_nothing(void **state)
{
    (void)state;
    struct wsdbg_evidence *source;
    assert_null(wsdbg_evidence_open_null(&source));
    struct wsdbg_snapshot snapshot = poll_at(source, 7);
    assert_int_equal(snapshot.grid_count, 0);
    assert_int_equal(snapshot.time_ns, 7);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
}

static void a_session_name_that_is_a_path_is_refused(void **state)
{
    (void)state;
    struct wsdbg_evidence *source;
    struct wsdbg_error *error = wsdbg_evidence_open_ring("../x", NULL, &source);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_BAD_INPUT);
    wsdbg_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(progress_is_the_time_at_which_a_slot_changed),
        CASE(slots_that_are_not_copied_say_nothing_of_a_standstill),
        CASE(a_wait_longer_than_the_clocks_wrap_keeps_time_rising),
        CASE(a_segment_may_grow_while_it_is_watched),
        CASE(two_processes_stay_apart),
        CASE(a_dead_process_runs_nothing),
        CASE(a_foreign_file_becomes_a_note),
        CASE(inspect_asks_for_the_histories),
        CASE(events_that_leave_the_slot_alone_are_progress_live_and_replayed),
        CASE(histories_that_nobody_copies_are_not_read),
        CASE(null_evidence_sees_nothing),
        CASE(a_session_name_that_is_a_path_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
