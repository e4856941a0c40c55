/* mapped_test.c - a ring that the GPU writes into the segment: read at any time, whatever becomes of the process. */
#include "evidence/source_rig.h"
#include "segment_place.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "evidence/segment_reader.h"

enum { LONG_MS = 20000 };

static pid_t start_process(void)
{
    const pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    return child;
}

static void end_process(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* One warp of that process, which begins, and writes one event more than its slot shows. */
static struct segment_writer *two_events(pid_t process, struct segment_warp *warp)
{
    struct segment_writer *writer = one_warp((uint32_t)process, warp);
    segment_writer_map_ring(writer, 0);
    segment_writer_begin(writer, warp);
    segment_writer_event(writer, warp, (struct segment_event){.kind = WSDBG_EVENT_WGMMA_COMMIT});
    return writer;
}

static struct wsdbg_snapshot inspect_at(struct wsdbg_evidence *source, uint64_t now_ns)
{
    struct wsdbg_snapshot snapshot;
    const time_t began = time(NULL);
    assert_null(source->ops->inspect(source, now_ns, LONG_MS * MS, &snapshot));
    assert_true(time(NULL) - began < LONG_MS / 1000); /* nobody was waited for */
    return snapshot;
}

static void assert_whole(struct wsdbg_snapshot *snapshot)
{
    assert_int_equal(snapshot->contexts[0].ring, WSDBG_RING_IN_HOST);
    assert_true(snapshot->contexts[0].history_read);
    assert_int_equal(snapshot->warp_count, 1);
    assert_int_equal(snapshot->warps[0].history_count, 2);
    assert_true(snapshot->warps[0].history_whole);
    assert_int_equal(snapshot->warps[0].last.kind, WSDBG_EVENT_WGMMA_COMMIT);
    wsdbg_snapshot_deinit(snapshot);
}

static void nobody_needs_to_answer(void **state)
{
    (void)state;
    struct segment_warp warp;
    const pid_t process = start_process();
    struct segment_writer *writer = two_events(process, &warp);
    struct wsdbg_evidence *source = open_ring();
    kill(process, SIGSTOP);
    struct wsdbg_snapshot snapshot = inspect_at(source, 10 * MS);
    assert_whole(&snapshot);
    snapshot = poll_at(source, 60000 * MS); /* the slots are as of now, too */
    assert_false(snapshot.contexts[0].slots_silent);
    assert_int_equal(snapshot.progress_ns, 10 * MS);
    wsdbg_snapshot_deinit(&snapshot);
    end_process(process);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void a_fault_leaves_it_as_it_was(void **state)
{
    (void)state;
    struct segment_warp warp;
    const pid_t process = start_process();
    struct segment_writer *writer = two_events(process, &warp);
    struct wsdbg_context_row *row = &segment_writer_segment(writer)->contexts[0];
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    wsdbg_snapshot_deinit(&snapshot);
    row->error = 719;
    __atomic_store_n(&row->state, WSDBG_CONTEXT_FAULTED, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++) { /* the process lives, and is gone */
        snapshot = inspect_at(source, (20 + (uint64_t)i) * MS);
        assert_true(snapshot.contexts[0].state_age_ns.known);
        assert_int_equal(snapshot.contexts[0].state_age_ns.value, 0);
        assert_whole(&snapshot);
        if (i == 0)
            end_process(process);
    }
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void a_killed_process_leaves_it_as_it_was(void **state)
{
    (void)state;
    struct segment_warp warp;
    const pid_t process = start_process();
    struct segment_writer *writer = two_events(process, &warp);
    struct wsdbg_evidence *source = open_ring();
    source->ops->hold_record(source);
    struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
    wsdbg_snapshot_deinit(&snapshot);
    end_process(process);
    snapshot = poll_at(source, 20 * MS);
    wsdbg_snapshot_deinit(&snapshot);
    snapshot = inspect_at(source, 30 * MS);
    assert_whole(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

/* Events, one after the other and without a pause, which count up. */
struct moving {
    struct segment_writer *writer;
    struct segment_warp *warp;
    atomic_bool ends;
};

static void *move(void *argument)
{
    struct moving *moving = argument;
    for (uint32_t i = 0; !atomic_load(&moving->ends); i++)
        segment_writer_event(moving->writer, moving->warp,
                             (struct segment_event){.kind = i % 4 ? WSDBG_EVENT_WGMMA_COMMIT : WSDBG_EVENT_TILE_BEGIN,
                                                    .iteration = i,
                                                    .value = ~i});
    return NULL;
}

/* Of those that move() writes; the warp's first events have no value. */
static bool is_counted(const struct wsdbg_history_event *event)
{
    return event->kind != WSDBG_EVENT_BEGIN && event->value != 0;
}

/* Returns how many of them there are.  The slot's event alone is not looked at: this writer may be interrupted between
 * its two words for long, which no second read notices. */
static uint32_t assert_in_order(const struct wsdbg_snapshot *snapshot)
{
    const struct wsdbg_warp_row *warp = snapshot->warp_count ? &snapshot->warps[0] : NULL;
    uint32_t counted = 0;
    for (uint32_t i = 0; warp && warp->history_count > 1 && i < warp->history_count; i++) {
        const struct wsdbg_history_event *event = &snapshot->history[warp->history_first + i];
        if (!is_counted(event))
            continue;
        assert_int_equal(event->value, (uint32_t)~event->iteration);
        if (counted++)
            assert_int_equal(event->iteration - event[-1].iteration, 1);
    }
    return counted;
}

/* What is read of a warp that writes meanwhile may be short, never wrong. */
static void it_is_read_while_it_is_written(void **state)
{
    (void)state;
    struct segment_warp warp;
    struct segment_writer *writer = two_events(getpid(), &warp);
    struct wsdbg_evidence *source = open_ring();
    struct moving moving = {.writer = writer, .warp = &warp};
    pthread_t thread;
    uint32_t counted = 0;
    assert_int_equal(pthread_create(&thread, NULL, move, &moving), 0);
    for (uint64_t look = 0; look < 1000; look++) {
        struct wsdbg_snapshot snapshot = inspect_at(source, (10 + 1000 * look) * MS);
        counted += assert_in_order(&snapshot);
        wsdbg_snapshot_deinit(&snapshot);
    }
    atomic_store(&moving.ends, true);
    pthread_join(thread, NULL);
    assert_true(counted > 0);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

/* Inspected three times: nothing to compare with, an event that leaves the slot alone, nothing new. */
static void a_recording_shows_the_same(void **state)
{
    (void)state;
    static const uint64_t changed_ns[] = {20 * MS, 30 * MS, 30 * MS};
    struct segment_warp warp;
    struct segment_writer *writer = two_events(getpid(), &warp);
    struct wsdbg_evidence *source = open_ring();
    uint64_t first_ns, last_ns;
    for (uint64_t i = 0; i < 3; i++) {
        if (i == 1)
            segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_WGMMA_COMMIT});
        struct wsdbg_snapshot snapshot = inspect_at(source, (20 + 10 * i) * MS);
        assert_int_equal(snapshot.progress_ns, changed_ns[i]);
        wsdbg_snapshot_deinit(&snapshot);
        assert_null(wsdbg_evidence_record(source, recording, (20 + 10 * i) * MS));
    }
    source->ops->close(source);
    assert_null(wsdbg_evidence_open_recorded(recording, &first_ns, &last_ns, &source));
    for (uint64_t i = 0; i < 3; i++) {
        struct wsdbg_snapshot snapshot = poll_at(source, (20 + 10 * i) * MS);
        assert_int_equal(snapshot.progress_ns, changed_ns[i]);
        wsdbg_snapshot_deinit(&snapshot);
    }
    source->ops->close(source);
    segment_writer_destroy(writer);
}

/* An observer of before has no such word, and one of later may know other places. */
static void what_is_not_known_is_no_mapped_ring(void **state)
{
    (void)state;
    struct segment_warp warp;
    struct segment_writer *writer = two_events(getpid(), &warp);
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    const struct wsdbg_segment_view view = {(const unsigned char *)segment, segment_writer_bytes(writer)};
    assert_int_equal(wsdbg_segment_read_ring_place(&view, 0), WSDBG_RING_IN_HOST);
    segment->ring_places[0] = WSDBG_RING_IN_HOST + 1;
    assert_int_equal(wsdbg_segment_read_ring_place(&view, 0), WSDBG_RING_NOT_KNOWN);
    segment->ring_places[0] = WSDBG_RING_IN_HOST;
    segment->fixed_bytes = offsetof(struct wsdbg_segment, ring_places);
    assert_int_equal(wsdbg_segment_read_ring_place(&view, 0), WSDBG_RING_NOT_KNOWN);
    segment_writer_destroy(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(nobody_needs_to_answer),
        CASE(a_fault_leaves_it_as_it_was),
        CASE(a_killed_process_leaves_it_as_it_was),
        CASE(it_is_read_while_it_is_written),
        CASE(a_recording_shows_the_same),
        CASE(what_is_not_known_is_no_mapped_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
