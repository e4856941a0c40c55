/* segment_test.c - bytes that a broken or hostile producer may leave: nothing is believed, nothing is read
 * outside the segment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "evidence/segment_reader.h"
#include "evidence/segment_snapshot.h"

static struct segment_writer *healthy(void)
{
    static const struct wsdbg_name names[] = {{.kind = WSDBG_NAME_ROLE, .id = 0, .name = "producer"}};
    struct segment_writer *writer = segment_writer_create(100);
    segment_writer_context(writer, 1, 8, 8);
    segment_writer_module(writer, 0, names, 1);
    segment_writer_function(writer, 0, "kernel", 168);
    segment_writer_launch(writer, &(struct segment_launch){.ctas = 1, .threads = 32});
    struct segment_warp warp = {.grid_id = 1, .ctas = 1, .warps = 1};
    segment_writer_begin(writer, &warp);
    segment_writer_role(writer, &warp, 0);
    return writer;
}

/* The check's message for a healthy segment cut to `byte_count` after `harm`. */
static void assert_refused(void (*harm)(struct wsdbg_segment *), size_t byte_count, const char *message)
{
    struct segment_writer *writer = healthy();
    if (harm)
        harm(segment_writer_segment(writer));
    const struct wsdbg_segment_view view = {(const unsigned char *)segment_writer_segment(writer), byte_count};
    struct wsdbg_error *error = wsdbg_segment_check(&view, "x");
    assert_non_null(error);
    assert_string_equal(wsdbg_error_message(error), message);
    wsdbg_error_destroy(error);
    segment_writer_destroy(writer);
}

static void other_magic(struct wsdbg_segment *segment)
{
    segment->magic++;
}

static void other_version(struct wsdbg_segment *segment)
{
    segment->version = 9;
}

static void foreign_truncated_and_newer_segments_are_refused(void **state)
{
    (void)state;
    const size_t whole = WSDBG_SEGMENT_FIRST_BYTES;
    char text[128];
    snprintf(text, sizeof text, "x: %zu bytes, a segment has at least %zu", whole - 1, whole);
    assert_refused(NULL, whole - 1, text);
    assert_refused(other_magic, whole, "x: offset 0: not a wsdbg segment");
    assert_refused(other_version, whole, "x: segment version 9.1, this wsdbg reads 1.1");
}

static void a_segment_from_before_the_appended_rows_is_read(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    const struct wsdbg_segment_view view = {(const unsigned char *)segment_writer_segment(writer),
                                            WSDBG_SEGMENT_FIRST_BYTES};
    segment_writer_segment(writer)->fixed_bytes = WSDBG_SEGMENT_FIRST_BYTES;
    assert_null(wsdbg_segment_check(&view, "x"));
    assert_false(WSDBG_SEGMENT_HAS(segment_writer_segment(writer)->fixed_bytes, attach));
    segment_writer_destroy(writer);
}

static void every_row_reaches_the_snapshot(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    segment_writer_thread(writer, 55, 0, "cuStreamSynchronize", 1234);
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.context_count, 1);
    assert_true(snapshot.contexts[0].alive);
    assert_string_equal(snapshot.contexts[0].device_name, "NVIDIA Test GPU");
    assert_int_equal(snapshot.contexts[0].compute_capability.value, 90);
    assert_int_equal(snapshot.module_count, 1);
    assert_false(snapshot.modules[0].image_hash.known);
    assert_string_equal(snapshot.functions[0].name, "kernel");
    assert_int_equal(snapshot.functions[0].registers.value, 168);
    assert_int_equal(snapshot.launch_count, 1);
    assert_false(snapshot.launches[0].cluster[0].known);
    assert_int_equal(snapshot.thread_count, 1);
    assert_string_equal(snapshot.threads[0].call, "cuStreamSynchronize");
    assert_false(snapshot.threads[0].stream.known);
    assert_string_equal(wsdbg_snapshot_role_name(&snapshot, &snapshot.warps[0]), "producer");
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

/* The numbers as they are; indexes where they lead to rows; no more than the table has, and none of an older observer.
 */
static void refusals_reach_the_snapshot(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    struct wsdbg_refusal_row *rows = segment->refusals;
    rows[0] = (struct wsdbg_refusal_row){.result = 701, .times = 3, .context = 9, .registers = 170, .image = 5};
    rows[1] = (struct wsdbg_refusal_row){.result = 209, .function = WSDBG_UNKNOWN32, .module = 0};
    memset(rows[1].name, 'x', sizeof rows[1].name);
    segment->modules[0].image_kept = 1;
    segment->refusal_count = 2;
    segment->refusals_left_out = 4;
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    char path[64];
    snprintf(path, sizeof path, "%u-refused-5.image", segment->process_id);
    assert_int_equal(snapshot.refusal_count, 2);
    assert_int_equal(snapshot.refusals_left_out, 4);
    assert_int_equal(snapshot.refusals[0].row.registers, 170);
    assert_int_equal(snapshot.refusals[0].row.times, 3);
    assert_int_equal(snapshot.refusals[0].context, WSDBG_NONE);
    assert_int_equal(snapshot.refusals[0].function, 0);
    assert_string_equal(snapshot.refusals[0].image_path, path);
    assert_int_equal(snapshot.refusals[1].number, 1);
    assert_int_equal(snapshot.refusals[1].function, WSDBG_NONE);
    assert_int_equal(strlen(snapshot.refusals[1].row.name), WSDBG_NAME_BYTES - 1);
    assert_string_equal(snapshot.refusals[1].image_path, snapshot.modules[0].image_path);
    wsdbg_snapshot_deinit(&snapshot);
    segment->refusal_count = UINT32_MAX;
    snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.refusal_count, WSDBG_REFUSAL_ROWS);
    wsdbg_snapshot_deinit(&snapshot);
    segment->fixed_bytes = offsetof(struct wsdbg_segment, refusals);
    snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.refusal_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

/* Not while it is being written, and none of an older observer; texts are ended. */
static void the_rank_reaches_the_snapshot(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    segment->rank = (struct wsdbg_rank_row){
        .version = 3, .rank = 1, .local_rank = WSDBG_UNKNOWN32, .world_size = 2, .rank_from = "RANK"};
    memset(segment->rank.job, 'x', sizeof segment->rank.job);
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.process_count, 1);
    assert_int_equal(snapshot.processes[0].process_id, segment->process_id);
    assert_int_equal(snapshot.processes[0].pid, segment->process_id);
    assert_true(snapshot.processes[0].rank.known);
    assert_int_equal(snapshot.processes[0].rank.value, 1);
    assert_false(snapshot.processes[0].local_rank.known);
    assert_int_equal(snapshot.processes[0].world_size.value, 2);
    assert_string_equal(snapshot.processes[0].rank_from, "RANK");
    assert_int_equal(strlen(snapshot.processes[0].job), sizeof segment->rank.job - 1);
    assert_int_equal(snapshot.processes[0].end.kind, WSDBG_END_NONE);
    wsdbg_snapshot_deinit(&snapshot);
    segment->rank.version = 0;
    snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.process_count, 1);
    assert_false(snapshot.processes[0].rank.known);
    wsdbg_snapshot_deinit(&snapshot);
    segment->rank.version = 3;
    segment->fixed_bytes = offsetof(struct wsdbg_segment, rank);
    snapshot = segment_snapshot(writer);
    assert_false(snapshot.processes[0].rank.known);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

/* But for rows that are being written; no more than the table has, and none of an older observer. */
static void memory_reaches_the_snapshot(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    struct wsdbg_allocation_row *rows = segment->allocations;
    rows[0] = (struct wsdbg_allocation_row){.number = 7, .address = 0x1000, .bytes = 64, .context = 9};
    rows[2] = (struct wsdbg_allocation_row){.number = 6, .address = 0x2000, .flags = WSDBG_ALLOCATION_EXPORTED};
    memset(rows[2].call, 'x', sizeof rows[2].call);
    segment->allocation_count = 3;
    segment->allocations_left_out = 5;
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.allocation_count, 2);
    assert_int_equal(snapshot.allocations_left_out, 5);
    assert_int_equal(snapshot.allocations[0].row.bytes, 64);
    assert_int_equal(snapshot.allocations[0].process_id, segment->process_id);
    assert_int_equal(snapshot.allocations[0].context, WSDBG_NONE);
    assert_int_equal(snapshot.allocations[1].context, 0);
    assert_int_equal(snapshot.allocations[1].row.flags, WSDBG_ALLOCATION_EXPORTED);
    assert_int_equal(strlen(snapshot.allocations[1].row.call), sizeof rows->call - 1);
    wsdbg_snapshot_deinit(&snapshot);
    segment->allocation_count = UINT32_MAX;
    snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.allocation_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
    segment->fixed_bytes = offsetof(struct wsdbg_segment, given);
    snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.allocation_count, 0);
    assert_int_equal(snapshot.allocations_left_out, 0);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

/* Zero of an older observer is not known; kernels and graphs are, while the launch table has all. */
static void what_contexts_were_given_reaches_the_snapshot(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    const uint64_t launches = segment->launch_count;
    segment->given[0] = (struct wsdbg_given_row){.given_ns = 500, .copies = 3, .memsets = 2, .others = 1};
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    const struct wsdbg_context *context = &snapshot.contexts[0];
    assert_int_equal(context->given_ns.value, 500);
    assert_true(context->given_ns.known);
    assert_false(context->done_given_ns.known);
    assert_int_equal(context->copies.value, 3);
    assert_true(context->kernels.known && context->graphs.known);
    assert_int_equal(context->kernels.value, launches);
    assert_int_equal(context->graphs.value, 0);
    wsdbg_snapshot_deinit(&snapshot);
    segment->launch_count = WSDBG_LAUNCH_ROWS + 1;
    snapshot = segment_snapshot(writer);
    assert_false(snapshot.contexts[0].kernels.known);
    assert_int_equal(snapshot.contexts[0].kernels.value, 0);
    wsdbg_snapshot_deinit(&snapshot);
    segment->launch_count = launches;
    segment->fixed_bytes = offsetof(struct wsdbg_segment, given);
    snapshot = segment_snapshot(writer);
    assert_false(snapshot.contexts[0].given_ns.known);
    assert_false(snapshot.contexts[0].kernels.known);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

static enum wsdbg_host_state host_state(struct segment_writer *writer)
{
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.thread_count, 1);
    const enum wsdbg_host_state state = snapshot.threads[0].host_state;
    wsdbg_snapshot_deinit(&snapshot);
    return state;
}

static void whether_other_threads_go_on_stands_beside_one_that_waits(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    segment_writer_thread(writer, 55, 0, "cuStreamSynchronize", 1234);
    assert_int_equal(host_state(writer), WSDBG_HOST_NOT_KNOWN);
    segment->host_state = WSDBG_HOST_ALL_BLOCKED;
    assert_int_equal(host_state(writer), WSDBG_HOST_ALL_BLOCKED);
    segment->host_state = WSDBG_HOST_ALL_BLOCKED + 1;
    assert_int_equal(host_state(writer), WSDBG_HOST_NOT_KNOWN);
    segment->host_state = WSDBG_HOST_ALL_BLOCKED;
    segment->fixed_bytes = offsetof(struct wsdbg_segment, host_state); /* of an older observer */
    assert_int_equal(host_state(writer), WSDBG_HOST_NOT_KNOWN);
    segment_writer_destroy(writer);
}

static bool no_card(struct segment_writer *writer)
{
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    const bool none = snapshot.contexts[0].no_network_card;
    assert_false(snapshot.contexts[0].process_ended);
    wsdbg_snapshot_deinit(&snapshot);
    return none;
}

static void only_none_is_no_network_card(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    assert_false(no_card(writer));
    segment->network_cards = WSDBG_NETWORK_CARDS_OPEN;
    assert_false(no_card(writer));
    segment->network_cards = WSDBG_NETWORK_CARDS_NONE;
    assert_true(no_card(writer));
    segment->fixed_bytes = offsetof(struct wsdbg_segment, network_cards); /* of an older observer */
    assert_false(no_card(writer));
    segment_writer_destroy(writer);
}

/* The path comes in parts between the author's names; parts out of order say nothing. */
static void a_module_names_its_source_file(void **state)
{
    static const char first[] = "a/folder/of/some/length/to/fill/the/whole/part/";
    static const struct wsdbg_name names[] = {
        {.kind = WSDBG_NAME_SOURCE, .id = 0, .name = "a/folder/of/some/length/to/fill/the/whole/part/"},
        {.kind = WSDBG_NAME_ROLE, .id = 3, .name = "scaler"},
        {.kind = WSDBG_NAME_SOURCE, .id = 1, .name = "kernel.cu"},
        {.kind = WSDBG_NAME_SOURCE, .id = 3, .name = "no part of it"},
        {.kind = WSDBG_NAME_SOURCE, .id = 200, .name = "nor this"}};
    (void)state;
    assert_int_equal(sizeof first - 1, WSDBG_SOURCE_PART);
    struct segment_writer *writer = healthy();
    segment_writer_module(writer, 0, names, sizeof names / sizeof *names);
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_string_equal(snapshot.modules[0].source_path, "");
    assert_string_equal(snapshot.modules[1].source_path, "a/folder/of/some/length/to/fill/the/whole/part/kernel.cu");
    assert_int_equal(snapshot.modules[1].names_count, 1);
    assert_string_equal(snapshot.names[snapshot.modules[1].names_first].name, "scaler");
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

static void hostile_counts_are_cut_to_their_tables(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    segment->context_count = segment->module_count = segment->function_count = UINT32_MAX;
    segment->name_count = segment->thread_count = segment->note_count = UINT32_MAX;
    segment->launch_count = UINT64_MAX;
    segment->activity_count = UINT64_MAX;
    segment->modules[0].names_first = WSDBG_NAME_ROWS - 1;
    segment->modules[0].names_count = UINT32_MAX;
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.context_count, WSDBG_CONTEXT_ROWS);
    assert_int_equal(snapshot.module_count, WSDBG_MODULE_ROWS);
    assert_int_equal(snapshot.function_count, WSDBG_FUNCTION_ROWS);
    assert_int_equal(snapshot.modules[0].names_count, 1);
    assert_int_equal(snapshot.launch_count, 0);
    assert_int_equal(snapshot.grids[0].launch, WSDBG_NONE);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

static void slots_outside_the_segment_are_not_read(void **state)
{
    (void)state;
    static const struct {
        uint64_t offset;
        uint32_t count;
    } hostile[] = {{UINT64_MAX, 8}, {UINT64_MAX - 511, 8},
                   {0, 8},          {sizeof(struct wsdbg_segment) + 1, 8},
                   {1u << 30, 8},   {sizeof(struct wsdbg_segment), UINT32_MAX}};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct segment_writer *writer = healthy();
        struct wsdbg_context_row *row = &segment_writer_segment(writer)->contexts[0];
        row->slots_offset = hostile[i].offset;
        row->slot_count = hostile[i].count;
        struct wsdbg_snapshot snapshot = segment_snapshot(writer);
        assert_int_equal(snapshot.warp_count, 0);
        wsdbg_snapshot_deinit(&snapshot);
        segment_writer_destroy(writer);
    }
}

static void a_mirror_outside_the_segment_or_of_odd_depth_is_not_read(void **state)
{
    (void)state;
    static const struct {
        uint64_t offset;
        uint32_t depth;
    } hostile[] = {{UINT64_MAX - 15, 8},
                   {1u << 30, 8},
                   {0, 8},
                   {sizeof(struct wsdbg_segment) + 512, 7},
                   {sizeof(struct wsdbg_segment) + 512, 256},
                   {sizeof(struct wsdbg_segment) + 512, 64}};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct segment_writer *writer = healthy();
        segment_writer_copy_history(writer);
        struct wsdbg_context_row *row = &segment_writer_segment(writer)->contexts[0];
        row->history_offset = hostile[i].offset;
        row->history_depth = hostile[i].depth;
        struct wsdbg_snapshot snapshot = segment_snapshot(writer);
        assert_false(snapshot.contexts[0].history_read);
        assert_int_equal(snapshot.warp_count, 1);
        assert_int_equal(snapshot.warps[0].history_count, 0);
        wsdbg_snapshot_deinit(&snapshot);
        segment_writer_destroy(writer);
    }
}

static void strings_without_an_end_are_ended(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    memset(segment->functions[0].name, 'f', sizeof segment->functions[0].name);
    memset(segment->names[0].name, 'n', sizeof segment->names[0].name);
    memset(segment->off_reason, 'r', sizeof segment->off_reason);
    memset(segment->contexts[0].device_name, 'd', sizeof segment->contexts[0].device_name);
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_int_equal(strlen(snapshot.functions[0].name), 255);
    assert_int_equal(strlen(snapshot.names[0].name), 47);
    assert_int_equal(strlen(snapshot.contexts[0].device_name), 95);
    assert_int_equal(snapshot.note_count, 1);
    assert_int_equal(strlen(snapshot.notes[0]), 255);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

static void rows_that_point_nowhere_become_none(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    segment->modules[0].context = 77;
    segment->functions[0].module = 77;
    segment->launches[0].context = 77;
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.modules[0].context, WSDBG_NONE);
    assert_int_equal(snapshot.functions[0].module, WSDBG_NONE);
    assert_int_equal(snapshot.launches[0].context, WSDBG_NONE);
    assert_int_equal(snapshot.grids[0].launch, WSDBG_NONE);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

static void the_launch_ring_keeps_the_newest(void **state)
{
    (void)state;
    struct segment_writer *writer = healthy();
    for (uint32_t i = 1; i < WSDBG_LAUNCH_ROWS + 10; i++)
        segment_writer_launch(writer, &(struct segment_launch){.ctas = 1, .threads = 32});
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_int_equal(snapshot.launches_total, WSDBG_LAUNCH_ROWS + 10);
    assert_int_equal(snapshot.launch_count, WSDBG_LAUNCH_ROWS);
    assert_int_equal(snapshot.launches[0].sequence, 10);
    assert_int_equal(snapshot.launches[WSDBG_LAUNCH_ROWS - 1].sequence, WSDBG_LAUNCH_ROWS + 9);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_truncated_and_newer_segments_are_refused),
        cmocka_unit_test(a_segment_from_before_the_appended_rows_is_read),
        cmocka_unit_test(every_row_reaches_the_snapshot),
        cmocka_unit_test(refusals_reach_the_snapshot),
        cmocka_unit_test(the_rank_reaches_the_snapshot),
        cmocka_unit_test(memory_reaches_the_snapshot),
        cmocka_unit_test(what_contexts_were_given_reaches_the_snapshot),
        cmocka_unit_test(whether_other_threads_go_on_stands_beside_one_that_waits),
        cmocka_unit_test(only_none_is_no_network_card),
        cmocka_unit_test(a_module_names_its_source_file),
        cmocka_unit_test(hostile_counts_are_cut_to_their_tables),
        cmocka_unit_test(slots_outside_the_segment_are_not_read),
        cmocka_unit_test(a_mirror_outside_the_segment_or_of_odd_depth_is_not_read),
        cmocka_unit_test(strings_without_an_end_are_ended),
        cmocka_unit_test(rows_that_point_nowhere_become_none),
        cmocka_unit_test(the_launch_ring_keeps_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
