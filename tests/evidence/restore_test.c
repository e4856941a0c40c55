/* restore_test.c - what was read of a dead context's memory: put into its segment, shown by the source, let go. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "evidence/evidence.h"
#include "evidence/lasting_sender.h"
#include "evidence/segment_map.h"
#include "evidence/segment_writer.h"
#include "segment_place.h"

/* ---- putting back ---- */

enum { SMS = 1, WARPS = 8, DEPTH = 8, SLOTS = SMS * WARPS };

struct target {
    struct segment_writer *writer;
    struct wsdbg_segment_map *map;
    struct wsdbg_context_row *row;
};

static struct target open_target(void)
{
    struct target target = {.writer = segment_writer_create_shm(session, (uint32_t)getpid())};
    char name[SEGMENT_PATH_BYTES];
    struct wsdbg_segment_view view;
    segment_writer_context(target.writer, SMS, WARPS, DEPTH);
    target.row = &segment_writer_segment(target.writer)->contexts[0];
    assert_null(wsdbg_segment_map_open(segment_place(session, (int)getpid(), name), (uint32_t)getpid(), WSDBG_SEGMENT_WATCH, &target.map));
    assert_null(wsdbg_segment_map_refresh(target.map, &view));
    return target;
}

static void close_target(struct target *target)
{
    wsdbg_segment_map_close(target->map);
    segment_writer_destroy(target->writer);
}

static struct wsdbg_slot some_slots[SLOTS];
static struct wsdbg_event some_history[SLOTS * DEPTH];

static struct wsdbg_lasting_copy some_copy(void)
{
    memset(some_slots, 0x11, sizeof some_slots);
    memset(some_history, 0x22, sizeof some_history);
    return (struct wsdbg_lasting_copy){some_slots, some_history, sizeof some_slots, sizeof some_history};
}

static void what_was_read_lies_where_living_copies_would(void **state)
{
    (void)state;
    struct target target = open_target();
    const struct wsdbg_lasting_copy copy = some_copy();
    assert_null(wsdbg_segment_map_restore(target.map, 0, &copy, 1234));
    assert_null(wsdbg_segment_map_answer(target.map, 0, 5));
    assert_memory_equal(segment_writer_slot(target.writer, 0, 0), some_slots, sizeof some_slots);
    assert_memory_equal(segment_writer_mirror(target.writer, 0, 0, 0), some_history, sizeof some_history);
    assert_int_equal(target.row->slots_copied_ns, 1234);
    assert_int_equal(target.row->history_copied, 5);
    assert_int_equal(segment_writer_segment(target.writer)->history_done, 5);
    close_target(&target);
}

/* The row and the message are the traced process's word: nothing is written where they do not agree. */
static void places_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        size_t field;
        uint64_t value;
    } lies[] = {
        {"slots behind the end", offsetof(struct wsdbg_context_row, slots_offset), UINT64_C(1) << 40},
        {"slots at the very end", offsetof(struct wsdbg_context_row, slots_offset), UINT64_MAX - 63},
        {"history behind the end", offsetof(struct wsdbg_context_row, history_offset), UINT64_C(1) << 40},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct target target = open_target();
        const struct wsdbg_lasting_copy copy = some_copy();
        const size_t bytes = segment_writer_bytes(target.writer);
        memcpy((char *)target.row + lies[i].field, &lies[i].value, sizeof lies[i].value);
        struct wsdbg_error *error = wsdbg_segment_map_restore(target.map, 0, &copy, 1234);
        if (!error)
            fail_msg("%s: restored", lies[i].what);
        assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_BAD_INPUT);
        assert_non_null(strstr(wsdbg_error_message(error), "do not fit their place"));
        wsdbg_error_destroy(error);
        assert_int_equal(target.row->slots_copied_ns, 0);
        assert_int_equal(segment_writer_bytes(target.writer), bytes);
        close_target(&target);
    }
}

static void memory_of_another_size_is_refused(void **state)
{
    (void)state;
    struct target target = open_target();
    struct wsdbg_lasting_copy slots = some_copy(), history = some_copy();
    slots.slots_bytes -= sizeof(struct wsdbg_slot);
    history.history_bytes -= sizeof(struct wsdbg_event);
    struct wsdbg_error *error = wsdbg_segment_map_restore(target.map, 0, &slots, 1);
    assert_non_null(strstr(wsdbg_error_message(error), "the slots do not fit"));
    wsdbg_error_destroy(error);
    error = wsdbg_segment_map_restore(target.map, 0, &history, 1);
    assert_non_null(strstr(wsdbg_error_message(error), "the histories do not fit"));
    wsdbg_error_destroy(error);
    close_target(&target);
}

/* ---- the whole source ---- */

/* A process with a context. */
struct traced {
    struct segment_writer *writer;
    struct wsdbg_context_row *row;
    pid_t process_id;
};

static struct traced trace(void)
{
    struct traced traced = {.process_id = fork()};
    if (traced.process_id == 0) {
        pause();
        _exit(0);
    }
    traced.writer = segment_writer_create_shm(session, (uint32_t)traced.process_id);
    segment_writer_context(traced.writer, SMS, WARPS, DEPTH);
    traced.row = &segment_writer_segment(traced.writer)->contexts[0];
    traced.row->slots_device_address = SLOTS_AT;
    traced.row->history_device_address = HISTORY_AT;
    return traced;
}

static void send_ring(const struct traced *traced)
{
    for (enum wsdbg_memory_kind kind = WSDBG_MEMORY_SLOTS; kind <= WSDBG_MEMORY_HISTORY; kind++) {
        struct wsdbg_memory_message message =
            message_of(kind, kind == WSDBG_MEMORY_SLOTS ? sizeof some_slots : sizeof some_history);
        message.process_id = (uint32_t)traced->process_id;
        message.context = 0;
        send_message(&message, sizeof message, 1, 0);
    }
}

static void kill_traced(const struct traced *traced)
{
    kill(traced->process_id, SIGKILL);
    waitpid(traced->process_id, NULL, 0);
}

static struct wsdbg_evidence *open_source(void)
{
    struct wsdbg_evidence *source;
    assert_null(wsdbg_evidence_open_ring(session, spool, &source));
    return source;
}

static void poll_once(struct wsdbg_evidence *source)
{
    struct wsdbg_snapshot snapshot;
    assert_null(source->ops->poll(source, 1000000, &snapshot));
    wsdbg_snapshot_deinit(&snapshot);
}

static bool inspect_once(struct wsdbg_evidence *source)
{
    struct wsdbg_snapshot snapshot;
    assert_null(source->ops->inspect(source, 2000000, 1000000, &snapshot));
    const bool read = snapshot.context_count == 1 && snapshot.contexts[0].history_read;
    assert_int_equal(snapshot.note_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    return read;
}

static void end_by_fault(const struct traced *traced)
{
    traced->row->error = 719;
    __atomic_store_n(&traced->row->state, WSDBG_CONTEXT_FAULTED, __ATOMIC_RELEASE);
}

/* How many descriptors the source holds after a poll, beyond `before`. */
static int held_after_poll(struct wsdbg_evidence *source, int before)
{
    poll_once(source);
    return count_descriptors() - before;
}

/* A source that has seen a process and got its memory. */
static struct wsdbg_evidence *open_source_on(struct traced *traced, int *before)
{
    struct wsdbg_evidence *source = open_source();
    *traced = trace();
    poll_once(source);
    *before = count_descriptors();
    send_ring(traced);
    assert_int_equal(held_after_poll(source, *before), 2);
    return source;
}

static void memory_of_a_context_that_ended_well_is_let_go(void **state)
{
    (void)state;
    struct traced traced;
    int before;
    struct wsdbg_evidence *source = open_source_on(&traced, &before);
    __atomic_store_n(&traced.row->state, WSDBG_CONTEXT_DESTROYED, __ATOMIC_RELEASE);
    assert_int_equal(held_after_poll(source, before), 0);
    kill_traced(&traced);
    source->ops->close(source);
    segment_writer_destroy(traced.writer);
}

enum { SEGMENT_DESCRIPTORS = 2 }; /* its file's, its process's */

/* Most programs end without destroying their context: their memory must not pile up here. */
static void memory_of_a_process_that_ended_is_let_go(void **state)
{
    (void)state;
    struct traced traced;
    int before;
    struct wsdbg_evidence *source = open_source_on(&traced, &before);
    kill_traced(&traced);
    assert_int_equal(held_after_poll(source, before), -SEGMENT_DESCRIPTORS);
    source->ops->close(source);
    segment_writer_destroy(traced.writer);
}

static void a_fault_is_read_once_and_stays_read(void **state)
{
    (void)state;
    struct traced traced;
    int before;
    struct wsdbg_evidence *source = open_source_on(&traced, &before);
    end_by_fault(&traced);
    assert_int_equal(held_after_poll(source, before), 2);
    kill_traced(&traced);
    assert_int_equal(held_after_poll(source, before), 2); /* nobody has looked at it yet */
    assert_true(inspect_once(source));
    assert_int_equal(held_after_poll(source, before), -SEGMENT_DESCRIPTORS);
    assert_true(inspect_once(source));
    source->ops->close(source);
    segment_writer_destroy(traced.writer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_spool, remove_spool)
    const struct CMUnitTest tests[] = {
        TEST(what_was_read_lies_where_living_copies_would),
        TEST(places_that_do_not_fit_are_refused),
        TEST(memory_of_another_size_is_refused),
        TEST(memory_of_a_context_that_ended_well_is_let_go),
        TEST(memory_of_a_process_that_ended_is_let_go),
        TEST(a_fault_is_read_once_and_stays_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
