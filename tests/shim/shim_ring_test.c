/* shim_ring_test.c - the ring of probed modules: set up, copied, given back, on the fake libcuda. */
#include "harness.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_cuda/fake_cuda.h"

static void points_the_probes_at_the_ring_and_reads_the_names(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic"};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    const struct wsdbg_slot *slot = slot_zero(segment, 0);
    assert_int_equal(slot->state.kind, WSDBG_EVENT_TILE_BEGIN);
    assert_int_equal(slot->state.value, 2); /* the third launch that was not refused */
    assert_int_equal(slot->module_id, 0);
    assert_int_equal(segment->modules[0].probed, 1);
    assert_int_equal(segment->modules[0].context, 0);
    assert_int_equal(segment->ring_places[0], WSDBG_RING_IN_DEVICE);
    assert_int_equal(segment->modules[0].names_count, 2);
    const struct wsdbg_name *names = &segment->names[segment->modules[0].names_first];
    assert_string_equal(names[0].name, "producer");
    assert_string_equal(names[1].name, "consumer");
    assert_int_equal(names[1].id, 1);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void assert_copies_the_history(const char *setting, bool is_mapped)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "history", .environment = {setting}};
    struct wsdbg_segment *segment = run_and_look(&run);
    const struct wsdbg_context_row *row = &segment->contexts[0];
    assert_int_equal(row->history_depth, WSDBG_HISTORY_DEPTH_MAX);
    const struct wsdbg_event *mirror = (const void *)((const char *)segment + row->history_offset);
    assert_int_equal(mirror[4].kind, is_mapped ? WSDBG_EVENT_TILE_BEGIN : WSDBG_EVENT_NONE);
    for (uint32_t request = 1; request <= 2; request++) {
        __atomic_store_n(&segment->history_request, request, __ATOMIC_RELEASE);
        syscall(SYS_futex, &segment->history_request, FUTEX_WAKE, 1, NULL, NULL, 0);
        for (int i = 0; i < 500 && __atomic_load_n(&segment->history_done, __ATOMIC_ACQUIRE) != request; i++)
            usleep(1000);
        assert_int_equal(segment->history_done, request);
        assert_int_equal(row->history_copied, request);
    }
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(mirror[i].kind, WSDBG_EVENT_TILE_BEGIN);
        assert_int_equal(mirror[i].value, i);
    }
    assert_int_equal(mirror[5].kind, WSDBG_EVENT_NONE);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void copies_the_history_when_asked(void **state)
{
    (void)state;
    assert_copies_the_history(NULL, false);
}

/* A segment on a disk cannot be pinned: the GPU copies to other memory first. */
static void copies_into_a_segment_that_the_driver_cannot_pin(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "contexts",
                      .environment = {"FAKE_CUDA_PINS_NO_FILE=1"}};
    (void)state;
    assert_copies_the_history("FAKE_CUDA_PINS_NO_FILE=1", false);
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    segment_remove(run.pid);
}

static void makes_the_history_shorter_when_the_segment_is_small(void **state)
{
    char limit[64];
    uint64_t slot_count = FAKE_SM_COUNT * FAKE_WARPS_PER_SM;
    /* room for the tables, the slots and 16 events a warp (and a bit) */
    snprintf(
        limit, sizeof limit, "WSDBG_SEGMENT_BYTES=%llu",
        (unsigned long long)(sizeof(struct wsdbg_segment) + slot_count * 64 + 65536 + slot_count * 16 * 20 + 8192));
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic", .environment = {limit}};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->contexts[0].history_depth, 16);
    assert_int_equal(slot_zero(segment, 0)->state.value, 2);
    assert_int_equal(segment->note_count, 1);
    assert_non_null(strstr(segment->notes[0], "history is 16 events"));
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void history_can_be_switched_off(void **state)
{
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic", .environment = {"WSDBG_HISTORY=0"}};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->contexts[0].history_depth, 0);
    assert_int_equal(segment->contexts[0].history_offset, 0);
    assert_int_equal(slot_zero(segment, 0)->state.value, 2);
    assert_int_equal(segment->note_count, 0);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void gives_each_context_a_ring_of_its_own(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "library"};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->context_count, 2);
    assert_int_equal(segment->contexts[1].device_ordinal, 1);
    assert_int_equal(slot_zero(segment, 0)->state.value, 1); /* two launches in the first context */
    assert_int_equal(slot_zero(segment, 1)->state.value, 0);
    assert_int_not_equal(slot_zero(segment, 0)->module_id, slot_zero(segment, 1)->module_id);
    assert_int_equal(segment->module_count, 2);
    assert_true(segment->modules[0].handle == segment->modules[1].handle);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void follows_contexts_that_end_and_come_back(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "contexts"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->context_count, 5); /* three created, one primary twice */
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(segment->contexts[i].state, WSDBG_CONTEXT_DESTROYED);
        assert_int_equal(segment->contexts[i].slot_count, FAKE_SM_COUNT * FAKE_WARPS_PER_SM);
        assert_int_equal(launch_at(segment, i).context, i);
    }
    assert_true(segment->contexts[3].handle == segment->contexts[4].handle);
    segment_remove(run.pid);
}

/* The setting by which the segment has room for one ring. */
static const char *room_for_one(void)
{
    static char limit[64];
    const uint64_t slot_count = FAKE_SM_COUNT * FAKE_WARPS_PER_SM;
    snprintf(limit, sizeof limit, "WSDBG_SEGMENT_BYTES=%llu",
             (unsigned long long)(sizeof(struct wsdbg_segment) + slot_count * (64 + 16 * 128) + 65536 + 4096));
    return limit;
}

/* The first is alive, or it faulted: then it holds what led there. */
static void a_context_whose_ring_is_of_use_keeps_its_room(void **state)
{
    static const char *const scenarios[] = {"library", "fault-and-go-on"};
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        struct run run = {
            .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenarios[i], .environment = {room_for_one()}};
        run_program(&run);
        assert_exit(&run, 0);
        const struct wsdbg_segment *segment = segment_of(run.pid);
        assert_int_equal(segment->context_count, 2);
        assert_int_equal(segment->contexts[0].slot_count, FAKE_SM_COUNT * FAKE_WARPS_PER_SM);
        assert_int_equal(segment->contexts[1].slot_count, 0);
        assert_non_null(strstr(run.errors, "no ring for context 1"));
        segment_remove(run.pid);
    }
}

static void a_module_at_an_old_address_is_a_new_one(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "module-again",
                      .environment = {"FAKE_CUDA_REUSES=1"}};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->module_count, 2);
    assert_int_equal(segment->modules[0].probed, 0);
    assert_int_equal(segment->modules[1].probed, 1);
    assert_string_equal(segment->functions[launch_at(segment, 0).function].name, "plain");
    assert_string_equal(segment->functions[launch_at(segment, 1).function].name, "probed");
    assert_int_equal(slot_zero(segment, 0)->module_id, 1);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

/* What is written does not arrive, though the driver says so. */
static void probes_stay_off_where_their_setting_does_not_arrive(void **state)
{
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic", .environment = {"FAKE_CUDA_LOSES=1"}};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_string_equal(segment->notes[0], "the GPU and this process do not see the same shared memory");
    assert_non_null(strstr(segment->notes[1], "the probes of module 0 stay off"));
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

/* Five contexts one after the other. */
static void a_destroyed_context_leaves_its_room_to_the_next(void **state)
{
    const uint64_t slot_count = FAKE_SM_COUNT * FAKE_WARPS_PER_SM;
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "contexts", .environment = {room_for_one()}};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->context_count, 5);
    assert_int_equal(segment->note_count, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(segment->contexts[i].slot_count, 0);
    assert_int_equal(segment->contexts[4].slot_count, slot_count);
    assert_int_equal(segment->contexts[4].history_depth, WSDBG_HISTORY_DEPTH_MAX);
    segment_remove(run.pid);
}

/* ---- the ring that the GPU maps ---- */

static int calls_in(const char *log, const char *name)
{
    return line_count(only_calls_of(log, name, true));
}

/* Nobody has asked for anything: what the kernels wrote lies in the segment. */
static void a_mapped_ring_is_the_segment_itself(void **state)
{
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "history", .environment = {"WSDBG_RING=mapped"}};
    (void)state;
    char *log = run_logged(&run);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    const struct wsdbg_context_row *row = &segment->contexts[0];
    const struct wsdbg_event *history = (const void *)((const char *)segment + row->history_offset);
    assert_exit(&run, 0);
    assert_int_equal(segment->ring_places[0], WSDBG_RING_IN_HOST);
    assert_int_equal(row->slots_device_address, 0);
    assert_int_equal(row->history_depth, WSDBG_HISTORY_DEPTH_MAX);
    assert_int_equal(slot_zero(segment, 0)->state.value, 4);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(history[i].value, i);
    assert_int_equal(history[5].kind, WSDBG_EVENT_NONE);
    assert_int_equal(segment->note_count, 0);
    assert_int_equal(calls_in(log, "cuMemAlloc_v2\n") + calls_in(log, "cuMemCreate\n"), 0);
    segment_remove(run.pid);
}

/* An older wsdbg asks and waits. */
static void requests_for_a_mapped_ring_are_answered(void **state)
{
    (void)state;
    assert_copies_the_history("WSDBG_RING=mapped", true);
}

static void a_mapped_ring_without_history_has_slots(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "basic",
                      .environment = {"WSDBG_RING=mapped", "WSDBG_HISTORY=0"}};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->ring_places[0], WSDBG_RING_IN_HOST);
    assert_int_equal(segment->contexts[0].history_depth, 0);
    assert_int_equal(slot_zero(segment, 0)->state.value, 2);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

/* Then the ring is as without the request, and a note says why. */
static void where_the_driver_maps_nothing_the_ring_is_in_device_memory(void **state)
{
    static const struct {
        const char *setting, *note;
    } cases[] = {{"FAKE_CUDA_MAPS_NOTHING=1", "not mapped: the driver cannot map the segment's memory (error 801)"},
                 {"FAKE_CUDA_PINS_NO_FILE=1", "not mapped: the driver cannot register the segment's memory"},
                 {"FAKE_CUDA_MAPS_ELSEWHERE=1", "what the GPU writes into the segment does not arrive (error 0)"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = {.program = SHIM_APP_DYNAMIC,
                          .mode = "dlsym",
                          .scenario = "basic",
                          .environment = {"WSDBG_RING=mapped", cases[i].setting}};
        const struct wsdbg_segment *segment = run_and_look(&run);
        assert_int_equal(segment->ring_places[0], WSDBG_RING_IN_DEVICE);
        assert_int_not_equal(segment->contexts[0].slots_device_address, 0);
        assert_int_equal(segment->contexts[0].history_depth, WSDBG_HISTORY_DEPTH_MAX);
        assert_int_equal(slot_zero(segment, 0)->state.value, 2);
        assert_int_equal(segment->note_count, 1);
        assert_non_null(strstr(segment->notes[0], cases[i].note));
        run_finish(&run);
        assert_exit(&run, 0);
        assert_string_equal(run.errors, "");
        segment_remove(run.pid);
    }
}

static void any_driver_call_of_a_mapped_ring_may_fail(void **state)
{
    (void)state;
    assert_any_call_may_fail("basic", "WSDBG_RING=mapped");
    assert_any_call_may_fail("contexts", "WSDBG_RING=mapped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_the_probes_at_the_ring_and_reads_the_names),
        cmocka_unit_test(copies_the_history_when_asked),
        cmocka_unit_test(copies_into_a_segment_that_the_driver_cannot_pin),
        cmocka_unit_test(makes_the_history_shorter_when_the_segment_is_small),
        cmocka_unit_test(history_can_be_switched_off),
        cmocka_unit_test(gives_each_context_a_ring_of_its_own),
        cmocka_unit_test(follows_contexts_that_end_and_come_back),
        cmocka_unit_test(a_destroyed_context_leaves_its_room_to_the_next),
        cmocka_unit_test(a_context_whose_ring_is_of_use_keeps_its_room),
        cmocka_unit_test(a_module_at_an_old_address_is_a_new_one),
        cmocka_unit_test(probes_stay_off_where_their_setting_does_not_arrive),
        cmocka_unit_test(a_mapped_ring_is_the_segment_itself),
        cmocka_unit_test(requests_for_a_mapped_ring_are_answered),
        cmocka_unit_test(a_mapped_ring_without_history_has_slots),
        cmocka_unit_test(where_the_driver_maps_nothing_the_ring_is_in_device_memory),
        cmocka_unit_test(any_driver_call_of_a_mapped_ring_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
