/* core_test.c - GPU core dumps: what is written is read back, of every shape and row size; what is missing is said;
 * what is broken is refused in one line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/core_write.h"
#include "machine/synthetic.h"

static const struct shape small = {
    .devices = 1, .ctas_per_device = 2, .warps_per_cta = 3, .cluster_size = 1, .capability = 90, .registers = 24};

static struct wsdbg_machine *written_and_read(const struct synthetic *from, const struct core_row_bytes *row_bytes)
{
    struct wsdbg_machine *machine = NULL;
    unlink("core");
    struct wsdbg_error *error = core_write(&from->machine, &from->reads, row_bytes, "core");
    if (!error)
        error = wsdbg_machine_open_core("core", &machine);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    return machine;
}

static void close_machine(struct wsdbg_machine *machine)
{
    machine->ops->close(machine);
}

static void assert_same_u32(struct wsdbg_optional_u32 one, struct wsdbg_optional_u32 other)
{
    assert_int_equal(one.known, other.known);
    assert_int_equal(one.value, other.value);
}

static void assert_same_u64(struct wsdbg_optional_u64 one, struct wsdbg_optional_u64 other)
{
    assert_int_equal(one.known, other.known);
    assert_int_equal(one.value, other.value);
}

static void assert_same_device(const struct wsdbg_machine *machine, const struct wsdbg_machine *from, size_t i)
{
    assert_int_equal(machine->devices[i].ordinal, from->devices[i].ordinal);
    assert_string_equal(machine->devices[i].name, from->devices[i].name);
    assert_same_u32(machine->devices[i].sm_count, from->devices[i].sm_count);
    assert_same_u32(machine->devices[i].warps_per_sm, from->devices[i].warps_per_sm);
    assert_same_u32(machine->devices[i].compute_capability, from->devices[i].compute_capability);
    assert_int_equal(machine->contexts[i].device, from->contexts[i].device);
    assert_int_equal(machine->contexts[i].handle, from->contexts[i].handle);
    assert_same_u64(machine->contexts[i].shared_window, from->contexts[i].shared_window);
    assert_same_u64(machine->contexts[i].local_window, from->contexts[i].local_window);
    assert_int_equal(machine->modules[i].context, from->modules[i].context);
    assert_int_equal(machine->modules[i].handle, from->modules[i].handle);
}

static void assert_same_grid(const struct wsdbg_machine_grid *grid, const struct wsdbg_machine_grid *from)
{
    assert_int_equal(grid->device, from->device);
    assert_int_equal(grid->context, from->context);
    assert_int_equal(grid->module, from->module);
    assert_int_equal(grid->grid_id, from->grid_id);
    assert_int_equal(grid->function_entry, from->function_entry);
    assert_memory_equal(grid->grid, from->grid, sizeof grid->grid);
    assert_memory_equal(grid->block, from->block, sizeof grid->block);
    assert_same_u32(grid->cluster[0], from->cluster[0]);
    assert_same_u32(grid->cluster[2], from->cluster[2]);
    assert_same_u32(grid->registers, from->registers);
}

static void assert_same_cta(const struct wsdbg_machine_cta *cta, const struct wsdbg_machine_cta *from)
{
    assert_int_equal(cta->grid, from->grid);
    assert_int_equal(cta->sm, from->sm);
    assert_int_equal(cta->x, from->x);
    assert_int_equal(cta->y, from->y);
    assert_int_equal(cta->z, from->z);
    assert_same_u32(cta->cluster_index[0], from->cluster_index[0]);
    assert_same_u32(cta->cluster_size[0], from->cluster_size[0]);
    assert_same_u32(cta->shared_bytes, from->shared_bytes);
    assert_int_equal(cta->warp_first, from->warp_first);
    assert_int_equal(cta->warp_count, from->warp_count);
}

static void assert_same_warp(const struct wsdbg_machine_warp *warp, const struct wsdbg_machine_warp *from)
{
    assert_int_equal(warp->cta, from->cta);
    assert_int_equal(warp->slot, from->slot);
    assert_int_equal(warp->valid_lanes, from->valid_lanes);
    assert_int_equal(warp->active_lanes, from->active_lanes);
    assert_same_u64(warp->error_pc, from->error_pc);
    assert_same_u32(warp->registers, from->registers);
    assert_same_u32(warp->exited_lanes, from->exited_lanes);
    assert_int_equal(warp->barriers_known, from->barriers_known);
    assert_memory_equal(warp->barriers, from->barriers, sizeof warp->barriers);
    for (size_t i = 0; i < WSDBG_MACHINE_LANES; i++) {
        assert_int_equal(warp->lanes[i].pc, from->lanes[i].pc);
        assert_memory_equal(warp->lanes[i].thread, from->lanes[i].thread, sizeof warp->lanes[i].thread);
        assert_int_equal(warp->lanes[i].exception, from->lanes[i].exception);
        assert_same_u32(warp->lanes[i].state, from->lanes[i].state);
    }
}

static void assert_same_rows(const struct wsdbg_machine *machine, const struct wsdbg_machine *from)
{
    assert_int_equal(machine->device_count, from->device_count);
    assert_int_equal(machine->context_count, from->context_count);
    assert_int_equal(machine->module_count, from->module_count);
    assert_int_equal(machine->grid_count, from->grid_count);
    assert_int_equal(machine->cta_count, from->cta_count);
    assert_int_equal(machine->warp_count, from->warp_count);
    for (size_t i = 0; i < from->device_count; i++)
        assert_same_device(machine, from, i); /* each has one context with one module */
    for (size_t i = 0; i < from->grid_count; i++)
        assert_same_grid(&machine->grids[i], &from->grids[i]);
    for (size_t i = 0; i < from->cta_count; i++)
        assert_same_cta(&machine->ctas[i], &from->ctas[i]);
    for (size_t i = 0; i < from->warp_count; i++)
        assert_same_warp(&machine->warps[i], &from->warps[i]);
}

static void assert_same_registers(struct wsdbg_machine *machine, uint32_t registers)
{
    for (uint32_t warp = 0; warp < machine->warp_count; warp++) {
        uint32_t values[256], known_count, mask;
        bool known;
        for (uint32_t lane = 0; lane < 31; lane++) {
            assert_null(machine->ops->registers(machine, warp, lane, 0, 256, values, &known_count));
            assert_int_equal(known_count, registers);
            assert_int_equal(values[registers - 1], synthetic_register(warp, lane, registers - 1));
            assert_null(machine->ops->predicates(machine, warp, lane, &mask, &known));
            assert_true(known);
            assert_int_equal(mask, synthetic_predicates(warp, lane));
        }
        assert_null(machine->ops->registers(machine, warp, 31, 0, 4, values, &known_count));
        assert_int_equal(known_count, 0); /* that lane has exited */
        assert_null(machine->ops->uniform_registers(machine, warp, 5, 100, values, &known_count));
        assert_int_equal(known_count, 63 - 5);
        assert_int_equal(values[0], synthetic_uniform(warp, 5));
    }
}

static void assert_same_memory(struct wsdbg_machine *machine)
{
    uint64_t word;
    uint32_t half;
    bool known;
    for (uint32_t cta = 0; cta < machine->cta_count; cta++)
        for (uint32_t at = 0; at < SYNTHETIC_SHARED_PIECE; at += 8) {
            assert_null(machine->ops->shared(machine, cta, SYNTHETIC_SHARED_SECOND + at, &word, 8, &known));
            assert_true(known);
            assert_int_equal(word, synthetic_shared(cta, SYNTHETIC_SHARED_SECOND + at));
        }
    for (uint32_t grid = 0; grid < machine->grid_count; grid++) {
        assert_null(machine->ops->constant(machine, grid, 3, 0x210, &half, 4, &known));
        assert_true(known);
        assert_int_equal(half, synthetic_constant(grid, 3, 0x210));
    }
    assert_null(machine->ops->global(machine, 0, SYNTHETIC_GLOBAL + 8, &word, 8, &known));
    assert_true(known);
    assert_int_equal(word, synthetic_global(SYNTHETIC_GLOBAL + 8));
}

static void test_what_is_written_is_read_back(void **state)
{
    (void)state;
    struct synthetic *from = synthetic_create(&small);
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    assert_string_equal(machine->source, "core");
    assert_same_rows(machine, &from->machine);
    assert_same_registers(machine, small.registers);
    assert_same_memory(machine);
    assert_int_equal(machine->modules[0].image.byte_count, strlen(synthetic_image));
    assert_memory_equal(machine->modules[0].image.bytes, synthetic_image, strlen(synthetic_image));
    assert_int_equal(machine->note_count, 0);
    close_machine(machine);
    synthetic_destroy(from);
}

static void test_two_devices_with_clusters_are_kept_apart(void **state)
{
    (void)state;
    struct shape shape = small;
    shape.devices = 2;
    shape.ctas_per_device = 4;
    shape.cluster_size = 2;
    struct synthetic *from = synthetic_create(&shape);
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    assert_same_rows(machine, &from->machine); /* grid 7 of each device among them */
    assert_same_registers(machine, shape.registers);
    assert_same_memory(machine);
    close_machine(machine);
    synthetic_destroy(from);
}

static void test_rows_longer_than_known_are_stepped_over(void **state)
{
    (void)state;
    /* Warps as driver 590 writes them, lanes as 615, the rest longer than any yet. */
    const struct core_row_bytes longer = {
        .device = 96, .context = 48, .module = 16, .grid = 144, .sm = 56, .cta = 64, .warp = 80, .lane = 64};
    struct synthetic *from = synthetic_create(&small);
    struct wsdbg_machine *machine = written_and_read(from, &longer);
    assert_same_rows(machine, &from->machine);
    assert_same_registers(machine, small.registers);
    close_machine(machine);
    synthetic_destroy(from);
}

static void test_fields_that_a_driver_did_not_write_are_not_known(void **state)
{
    (void)state;
    /* The first sizes there were. */
    const struct core_row_bytes shorter = {
        .device = 80, .context = 40, .module = 8, .grid = 104, .sm = 8, .cta = 24, .warp = 32, .lane = 48};
    struct synthetic *from = synthetic_create(&small);
    struct wsdbg_machine *machine = written_and_read(from, &shorter);
    assert_false(machine->grids[0].cluster[0].known);
    assert_false(machine->ctas[0].cluster_size[0].known);
    assert_false(machine->ctas[0].shared_bytes.known);
    assert_false(machine->warps[0].registers.known);
    assert_false(machine->warps[0].exited_lanes.known);
    assert_false(machine->warps[0].lanes[0].state.known);
    assert_int_equal(machine->warps[1].lanes[4].pc, synthetic_pc(1, 4));
    assert_same_registers(machine, small.registers);
    close_machine(machine);
    synthetic_destroy(from);
}

static void test_what_the_machine_does_not_know_stays_unknown(void **state)
{
    (void)state;
    struct shape shape = small;
    shape.no_lane_states = true;
    struct synthetic *from = synthetic_create(&shape);
    struct wsdbg_machine *source = &from->machine;
    for (size_t i = 0; i < source->warp_count; i++)
        source->warps[i].registers.known = source->warps[i].exited_lanes.known = false;
    for (size_t i = 0; i < source->cta_count; i++)
        source->ctas[i].shared_bytes.known = false;
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    for (size_t i = 0; i < machine->warp_count; i++) {
        assert_false(machine->warps[i].registers.known);
        assert_false(machine->warps[i].exited_lanes.known);
        assert_false(machine->warps[i].lanes[0].state.known);
    }
    assert_false(machine->ctas[0].shared_bytes.known);
    close_machine(machine);
    synthetic_destroy(from);
}

/* Lanes of one warp are known better than those of its neighbours: the source asks where it matters. */
static void test_warps_of_one_cta_may_be_known_unequally(void **state)
{
    (void)state;
    struct synthetic *from = synthetic_create(&small);
    struct wsdbg_machine_warp *less = &from->machine.warps[0];
    less->exited_lanes = (struct wsdbg_optional_u32){0};
    less->barriers_known = false;
    memset(less->barriers, 0, sizeof less->barriers);
    for (size_t i = 0; i < WSDBG_MACHINE_LANES; i++)
        less->lanes[i].state = (struct wsdbg_optional_u32){0};
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    assert_same_rows(machine, &from->machine);
    assert_same_registers(machine, small.registers);
    close_machine(machine);
    synthetic_destroy(from);
}

/* A whole chip has more sections than an ELF header can count. */
static void test_more_sections_than_a_header_counts(void **state)
{
    (void)state;
    struct shape shape = small;
    shape.ctas_per_device = 96;
    shape.warps_per_cta = 12;
    shape.registers = 2;
    struct synthetic *from = synthetic_create(&shape);
    assert_true(96 * 12 * 31 * 2 > 0xff00);
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    assert_same_rows(machine, &from->machine);
    assert_same_registers(machine, shape.registers);
    assert_string_equal(machine->devices[0].name, "GPU number 0");
    close_machine(machine);
    synthetic_destroy(from);
}

static void test_pieces_of_shared_memory_do_not_flow_together(void **state)
{
    (void)state;
    struct synthetic *from = synthetic_create(&small);
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    unsigned char bytes[SYNTHETIC_SHARED_PIECE + 8];
    bool known;
    assert_null(machine->ops->shared(machine, 0, SYNTHETIC_SHARED_FIRST, bytes, SYNTHETIC_SHARED_PIECE, &known));
    assert_true(known);
    assert_null(machine->ops->shared(machine, 0, SYNTHETIC_SHARED_FIRST, bytes, SYNTHETIC_SHARED_PIECE + 8, &known));
    assert_false(known); /* beyond what was kept */
    assert_null(machine->ops->shared(machine, 0, SYNTHETIC_SHARED_FIRST - 8, bytes, 16, &known));
    assert_false(known);
    assert_null(machine->ops->shared(machine, 99, SYNTHETIC_SHARED_FIRST, bytes, 8, &known));
    assert_false(known); /* no such CTA */
    close_machine(machine);
    synthetic_destroy(from);
}

static void assert_noted(const struct wsdbg_machine *machine, const char *words)
{
    size_t found = 0;
    for (size_t i = 0; i < machine->note_count; i++)
        found += strstr(machine->notes[i], words) != NULL;
    assert_int_equal(found, 1); /* once */
}

static void test_what_a_dump_lacks_is_said_once(void **state)
{
    (void)state;
    struct shape shape = small;
    shape.devices = 2;
    shape.registers = 0;
    shape.no_shared = true;
    struct synthetic *from = synthetic_create(&shape);
    from->machine.modules[0].image.byte_count = 0;
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    assert_noted(machine, "no registers");
    assert_noted(machine, "no shared memory");
    assert_noted(machine, "machine code of 1 of 2 kernels");
    close_machine(machine);
    synthetic_destroy(from);
}

static void test_a_dump_without_a_running_kernel_says_so(void **state)
{
    (void)state;
    struct shape shape = small;
    shape.ctas_per_device = 0;
    struct synthetic *from = synthetic_create(&shape);
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    assert_int_equal(machine->warp_count, 0);
    assert_noted(machine, "no running kernel");
    close_machine(machine);
    synthetic_destroy(from);
}

static void test_warps_are_ordered_by_their_threads(void **state)
{
    (void)state;
    struct synthetic *from = synthetic_create(&small);
    struct wsdbg_machine *source = &from->machine;
    const struct wsdbg_machine_warp first = source->warps[0];
    source->warps[0] = source->warps[2]; /* the order of hardware slots */
    source->warps[2] = first;
    struct wsdbg_machine *machine = written_and_read(from, &core_row_bytes_580);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(wsdbg_machine_warp_index(machine, &machine->warps[i]), i);
    uint32_t value, known_count;
    assert_null(machine->ops->registers(machine, 0, 0, 1, 1, &value, &known_count));
    assert_int_equal(value, synthetic_register(2, 0, 1)); /* read as row 2's: the registers went with the row */
    close_machine(machine);
    synthetic_destroy(from);
}

static void test_a_recorder_keeps_what_passes(void **state)
{
    (void)state;
    struct synthetic *from = synthetic_create(&small);
    struct wsdbg_machine *recorder;
    struct wsdbg_machine_reads reads = {0};
    assert_null(wsdbg_machine_recorder(written_and_read(from, &core_row_bytes_580), &reads, &recorder));
    uint32_t values[8], known_count, mask;
    uint64_t word;
    bool known;
    assert_null(recorder->ops->registers(recorder, 4, 2, 3, 8, values, &known_count));
    assert_null(recorder->ops->uniform_registers(recorder, 4, 0, 8, values, &known_count));
    assert_null(recorder->ops->predicates(recorder, 4, 2, &mask, &known));
    assert_null(recorder->ops->shared(recorder, 1, SYNTHETIC_SHARED_FIRST, &word, 8, &known));
    assert_null(recorder->ops->shared(recorder, 1, 0, &word, 8, &known)); /* not known: not kept */
    assert_null(recorder->ops->constant(recorder, 0, 0, 0x210, values, 4, &known));
    assert_null(recorder->ops->global(recorder, 0, SYNTHETIC_GLOBAL, &word, 8, &known));
    unlink("kept");
    assert_null(wsdbg_machine_write_core(recorder, &reads, "kept"));
    close_machine(recorder);
    struct wsdbg_machine *machine;
    assert_null(wsdbg_machine_open_core("kept", &machine));
    assert_same_rows(machine, &from->machine);
    assert_null(machine->ops->registers(machine, 4, 2, 3, 8, values, &known_count));
    assert_int_equal(known_count, 8);
    assert_int_equal(values[0], synthetic_register(4, 2, 3));
    assert_null(machine->ops->registers(machine, 4, 2, 0, 8, values, &known_count));
    assert_int_equal(known_count, 0); /* R0 was not read */
    assert_null(machine->ops->registers(machine, 4, 1, 3, 8, values, &known_count));
    assert_int_equal(known_count, 0); /* of that lane nothing was read */
    assert_null(machine->ops->shared(machine, 1, SYNTHETIC_SHARED_FIRST, &word, 8, &known));
    assert_true(known);
    assert_null(machine->ops->shared(machine, 1, 0, &word, 8, &known));
    assert_false(known);
    close_machine(machine);
    wsdbg_reads_deinit(&reads);
    synthetic_destroy(from);
}

/* Of a lane's stack frame only the words that were asked for are there. */
static void test_words_of_local_memory_are_kept(void **state)
{
    enum { WARP = 3, LANE = 2, AT = 0xfff5a8 };
    struct synthetic *from = synthetic_create(&small);
    const uint32_t written[2] = {0x1234, 0x7f12};
    uint32_t read[2];
    bool known;
    assert_null(wsdbg_reads_add(
        &from->reads,
        (struct wsdbg_machine_read){
            .kind = WSDBG_READ_LOCAL, .subject = WARP, .part = LANE, .first = AT, .byte_count = sizeof written},
        written));
    struct wsdbg_machine_reads reads = {0};
    struct wsdbg_machine *machine;
    assert_null(wsdbg_machine_recorder(written_and_read(from, &core_row_bytes_580), &reads, &machine));
    assert_null(machine->ops->local(machine, WARP, LANE, AT, read, sizeof read, &known));
    assert_true(known);
    assert_memory_equal(read, written, sizeof written);
    assert_null(machine->ops->local(machine, WARP, LANE, AT + 8, read, 4, &known));
    assert_false(known);
    assert_null(machine->ops->local(machine, WARP, LANE + 1, AT, read, 4, &known));
    assert_false(known);
    assert_int_equal(reads.count, 1);
    close_machine(machine);
    wsdbg_reads_deinit(&reads);
    synthetic_destroy(from);
    (void)state;
}

static void test_no_file_is_overwritten(void **state)
{
    (void)state;
    struct synthetic *from = synthetic_create(&small);
    close_machine(written_and_read(from, &core_row_bytes_580));
    struct wsdbg_error *error = wsdbg_machine_write_core(&from->machine, &from->reads, "core");
    assert_non_null(error);
    assert_string_equal(wsdbg_error_message(error), "write core: File exists");
    wsdbg_error_destroy(error);
    struct wsdbg_machine *machine;
    assert_null(wsdbg_machine_open_core("core", &machine));
    close_machine(machine);
    synthetic_destroy(from);
}

/* Nothing else tells two looks at a program that stands still apart. */
static void test_a_look_says_when_it_was_taken(void **state)
{
    (void)state;
    struct synthetic *from = synthetic_create(&small);
    static const uint64_t times_ns[] = {12345678901ull, 12405678901ull};
    static const char *const files[] = {"core", "kept"};
    bool same = true;
    for (int i = 0; i < 2; i++) {
        struct wsdbg_machine *machine;
        from->machine.time_ns = times_ns[i];
        unlink(files[i]);
        assert_null(wsdbg_machine_write_core(&from->machine, &from->reads, files[i]));
        assert_null(wsdbg_machine_open_core(files[i], &machine));
        assert_int_equal(machine->time_ns, times_ns[i]);
        close_machine(machine);
    }
    assert_null(wsdbg_machine_same_core(files[0], files[1], &same));
    assert_false(same);
    synthetic_destroy(from);
}

static int enter_folder(void **state)
{
    static char folder[] = P_tmpdir "/wsdbg-core-XXXXXX";
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    unlink("core");
    unlink("kept");
    return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read_back),
        cmocka_unit_test(test_a_look_says_when_it_was_taken),
        cmocka_unit_test(test_two_devices_with_clusters_are_kept_apart),
        cmocka_unit_test(test_rows_longer_than_known_are_stepped_over),
        cmocka_unit_test(test_fields_that_a_driver_did_not_write_are_not_known),
        cmocka_unit_test(test_what_the_machine_does_not_know_stays_unknown),
        cmocka_unit_test(test_warps_of_one_cta_may_be_known_unequally),
        cmocka_unit_test(test_more_sections_than_a_header_counts),
        cmocka_unit_test(test_pieces_of_shared_memory_do_not_flow_together),
        cmocka_unit_test(test_what_a_dump_lacks_is_said_once),
        cmocka_unit_test(test_a_dump_without_a_running_kernel_says_so),
        cmocka_unit_test(test_warps_are_ordered_by_their_threads),
        cmocka_unit_test(test_a_recorder_keeps_what_passes),
        cmocka_unit_test(test_words_of_local_memory_are_kept),
        cmocka_unit_test(test_no_file_is_overwritten),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
