/* shim_memory_test.c - the memory that a program got and the work that it gave the GPU, as the shim records them, on
 * the fake libcuda. */
#include "harness.h"

#include <string.h>

#include "fake_cuda/fake_cuda.h"

static const struct wsdbg_segment *record(const char *scenario, const char *setting)
{
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenario, .environment = {setting, NULL}};
    struct run bare = run;
    bare.without_shim = true;
    run_program(&run);
    run_program(&bare);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    assert_string_equal(run.output, bare.output);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_non_null(segment);
    segment_remove(run.pid);
    return segment;
}

/* "cuMemAlloc #2"; it must be there once. */
static const struct wsdbg_allocation_row *row_of(const struct wsdbg_segment *segment, const char *call, uint32_t number)
{
    const struct wsdbg_allocation_row *found = NULL;
    for (uint32_t i = 0; i < segment->allocation_count; i++) {
        const struct wsdbg_allocation_row *row = &segment->allocations[i];
        if (strcmp(row->call, call) != 0 || row->call_number != number)
            continue;
        assert_null(found);
        found = row;
    }
    if (!found)
        fail_msg("no row %s #%u", call, number);
    return found;
}

static void assert_kind(const struct wsdbg_allocation_row *row, uint32_t kind, uint64_t bytes)
{
    assert_int_equal(row->kind, kind);
    assert_int_equal(row->bytes, bytes);
    assert_int_not_equal(row->address, 0);
    assert_int_not_equal(row->number, 0);
    assert_int_not_equal(row->time_ns, 0);
}

static void records_memory_of_every_kind(void **state)
{
    (void)state;
    const struct wsdbg_segment *segment = record("memory", NULL);
    assert_int_equal(segment->allocation_count, 14);
    assert_int_equal(segment->allocations_left_out, 0);
    assert_kind(row_of(segment, "cuMemAlloc", 2), WSDBG_ALLOCATION_DEVICE, 4096);
    assert_kind(row_of(segment, "cuMemAllocPitch", 1), WSDBG_ALLOCATION_PITCHED, 4 * 512);
    assert_kind(row_of(segment, "cuMemAllocAsync", 1), WSDBG_ALLOCATION_POOL, 4096);
    assert_kind(row_of(segment, "cuMemAllocManaged", 2), WSDBG_ALLOCATION_MANAGED, 4096);
    assert_kind(row_of(segment, "cuMemHostAlloc", 1), WSDBG_ALLOCATION_HOST, 4096);
    assert_kind(row_of(segment, "cuMemAllocHost", 1), WSDBG_ALLOCATION_HOST, 4096);
    assert_kind(row_of(segment, "cuMemHostRegister", 1), WSDBG_ALLOCATION_REGISTERED, 4096);
    assert_int_not_equal(row_of(segment, "cuMemAlloc", 3)->freed_ns, 0);
    assert_int_not_equal(row_of(segment, "cuMemAllocAsync", 2)->freed_ns, 0);
    assert_int_equal(row_of(segment, "cuMemAlloc", 4)->freed_ns, 0);
    assert_int_equal(row_of(segment, "cuMemHostAlloc", 1)->device, WSDBG_UNKNOWN32);
}

static void records_who_else_may_write_it(void **state)
{
    (void)state;
    const struct wsdbg_segment *segment = record("memory", NULL);
    const struct wsdbg_allocation_row *other = row_of(segment, "cuMemAlloc", 1),
                                      *first = row_of(segment, "cuMemAlloc", 2);
    const struct wsdbg_allocation_row *later = row_of(segment, "cuMemAlloc", 4);
    /* Opened by the process that exported it, which the driver refuses: the fake gives the same address. */
    const struct wsdbg_allocation_row *imported = row_of(segment, "cuIpcOpenMemHandle", 1);
    assert_int_equal(first->device, 0);
    assert_int_equal(first->peer_devices, 1 << 1);
    assert_int_equal(first->flags, WSDBG_ALLOCATION_EXPORTED);
    assert_int_equal(later->peer_devices, 1 << 1);
    assert_int_equal(later->flags, 0);
    assert_int_equal(other->device, 1);
    assert_int_equal(other->peer_devices, 0);
    assert_int_equal(row_of(segment, "cuMemAllocAsync", 1)->peer_devices, 0); /* pools have rights of their own */
    assert_kind(imported, WSDBG_ALLOCATION_IMPORTED, 256);
    assert_kind(row_of(segment, "cuExternalMemoryGetMappedBuffer", 1), WSDBG_ALLOCATION_IMPORTED, 2048);
    assert_kind(row_of(segment, "cuGraphicsResourceGetMappedPointer", 1), WSDBG_ALLOCATION_IMPORTED, 512);
    assert_int_not_equal(first->freed_ns, 0); /* what is at the same address is not there any more */
}

static void what_is_given_back_is_freed(void **state)
{
    (void)state;
    const struct wsdbg_segment *segment = record("memory", "APP_CLOSES=1");
    assert_int_not_equal(row_of(segment, "cuIpcOpenMemHandle", 1)->freed_ns, 0);
    assert_int_not_equal(row_of(segment, "cuMemHostAlloc", 1)->freed_ns, 0);
    assert_int_not_equal(row_of(segment, "cuMemHostRegister", 1)->freed_ns, 0);
    assert_int_not_equal(row_of(segment, "cuMemAlloc", 1)->freed_ns, 0); /* with its context */
    assert_int_equal(row_of(segment, "cuMemAllocHost", 1)->freed_ns, 0);
}

/* The n-th mapping of all. */
static const struct wsdbg_allocation_row *mapping(const struct wsdbg_segment *segment, uint32_t number)
{
    assert_true(number <= segment->allocation_count);
    assert_int_equal(segment->allocations[number - 1].number, number);
    return &segment->allocations[number - 1];
}

static void mappings_know_whose_memory_they_show(void **state)
{
    (void)state;
    const struct wsdbg_segment *segment = record("mappings", NULL);
    assert_int_equal(segment->allocation_count, 5);
    for (uint32_t number = 1; number <= 4; number++) {
        assert_kind(mapping(segment, number), WSDBG_ALLOCATION_VMM, 65536);
        assert_string_equal(mapping(segment, number)->call, "cuMemCreate");
        assert_int_equal(mapping(segment, number)->call_number, number < 3 ? 1 : number - 1);
    }
    for (uint32_t number = 1; number <= 2; number++) { /* the same memory: what goes for one goes for both */
        assert_int_equal(mapping(segment, number)->peer_devices, 1 << 1);
        assert_int_equal(mapping(segment, number)->flags, WSDBG_ALLOCATION_EXPORTED);
    }
    assert_int_equal(mapping(segment, 3)->flags, WSDBG_ALLOCATION_EXPORTED);
    assert_int_equal(mapping(segment, 3)->peer_devices, 0);
    assert_int_equal(mapping(segment, 4)->flags, WSDBG_ALLOCATION_EXPORTED | WSDBG_ALLOCATION_CARDS);
    assert_int_not_equal(mapping(segment, 4)->freed_ns, 0);
    assert_kind(mapping(segment, 5), WSDBG_ALLOCATION_VMM_IMPORTED, 65536);
    assert_string_equal(mapping(segment, 5)->call, "cuMemImportFromShareableHandle");
    assert_int_equal(mapping(segment, 5)->freed_ns, 0);
}

static void a_full_table_counts_what_it_leaves_out_and_uses_freed_rows_again(void **state)
{
    (void)state;
    const struct wsdbg_segment *segment = record("many-allocations", NULL);
    assert_int_equal(segment->allocation_count, WSDBG_ALLOCATION_ROWS);
    assert_int_equal(segment->allocations_left_out, 1100 - WSDBG_ALLOCATION_ROWS);
    assert_int_equal(segment->note_count, 1);
    assert_non_null(strstr(segment->notes[0], "more than 1024 allocations"));
    uint32_t living = 0;
    for (uint32_t i = 0; i < WSDBG_ALLOCATION_ROWS; i++)
        living += !segment->allocations[i].freed_ns;
    assert_int_equal(living, 1);
    assert_int_equal(row_of(segment, "cuMemAlloc", 1101)->bytes, 32);
    assert_int_equal(row_of(segment, "cuMemAlloc", 1101)->number, 1101);
}

/* A free never ends the row of the next one who got the address. */
static void threads_that_allocate_at_once_lose_no_row(void **state)
{
    (void)state;
    const struct wsdbg_segment *segment = record("racing-allocations", NULL);
    assert_int_equal(segment->allocations_left_out, 0);
    for (uint32_t i = 0; i < segment->allocation_count; i++)
        assert_int_not_equal(segment->allocations[i].freed_ns, 0);
}

static void counts_what_contexts_are_given(void **state)
{
    (void)state;
    const struct wsdbg_segment *segment = record("stream-work", NULL);
    assert_int_equal(segment->given[0].copies, 2);
    assert_int_equal(segment->given[0].memsets, 1);
    assert_int_equal(segment->given[0].others, 2);
    assert_true(segment->given[0].given_ns > segment->contexts[0].created_ns);
    assert_int_equal(segment->given[1].given_ns, 0);
}

static void a_launch_is_given_too_and_what_is_captured_is_not(void **state)
{
    (void)state;
    const struct wsdbg_segment *launches = record("plain", NULL), *capture = record("capture", NULL);
    assert_int_equal(launches->given[0].given_ns, launch_at(launches, 3).time_ns);
    assert_int_equal(capture->given[0].given_ns, launch_at(capture, 4).time_ns); /* of the last graph */
}

static void nothing_breaks_when_any_driver_call_fails(void **state)
{
    (void)state;
    assert_any_call_may_fail("memory", "APP_CLOSES=1");
    assert_any_call_may_fail("mappings", NULL);
    assert_any_call_may_fail("stream-work", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_memory_of_every_kind),
        cmocka_unit_test(records_who_else_may_write_it),
        cmocka_unit_test(what_is_given_back_is_freed),
        cmocka_unit_test(mappings_know_whose_memory_they_show),
        cmocka_unit_test(a_full_table_counts_what_it_leaves_out_and_uses_freed_rows_again),
        cmocka_unit_test(threads_that_allocate_at_once_lose_no_row),
        cmocka_unit_test(counts_what_contexts_are_given),
        cmocka_unit_test(a_launch_is_given_too_and_what_is_captured_is_not),
        cmocka_unit_test(nothing_breaks_when_any_driver_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
