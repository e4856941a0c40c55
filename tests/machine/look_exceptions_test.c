/* look_exceptions_test.c - what is seen of an error that the GPU reported: the instruction, and what that was to work
 * on. Real dumps of arrivals on a phase whose count was spent, and a dump of a hang with an error put in by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/interpret.h"

static struct wsdbg_machine *open_dump(const char *name)
{
    char path[512];
    struct wsdbg_machine *machine;
    snprintf(path, sizeof path, WSDBG_DUMPS "/%s.core.gz", name);
    assert_null(wsdbg_machine_open_core(path, &machine));
    return machine;
}

/* Closes the machine. */
static struct wsdbg_snapshot look_within(struct wsdbg_machine *machine, struct wsdbg_look_budget budget)
{
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_code_create(&code));
    assert_null(wsdbg_look_take_within(machine, code, budget, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    machine->ops->close(machine);
    return snapshot;
}

static struct wsdbg_snapshot look_at(struct wsdbg_machine *machine)
{
    return look_within(machine, (struct wsdbg_look_budget){UINT64_C(10000000000), UINT64_C(10000000000), WSDBG_WALKS_COUNTED});
}

static void an_arrival_that_ended_the_kernel_is_seen_with_its_mbarrier(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_at(open_dump("waits-spent-phase"));
    assert_int_equal(snapshot.exception_count, 1);
    const struct wsdbg_exception *row = &snapshot.exceptions[0];
    assert_int_equal(row->code, 4);
    assert_int_equal(snapshot.warps[row->warp].warp, 1);
    assert_int_equal(row->lanes, UINT32_MAX); /* the hardware tells of the warp, the guard of the thread */
    assert_true(row->thread_known);
    assert_int_equal(row->thread[0], 32);
    assert_true(row->exact);
    assert_int_equal(row->access, WSDBG_ACCESS_ARRIVE);
    assert_int_equal(snapshot.barriers[row->barrier].shared_offset.value, 0x400);
    assert_false(row->address.known);
    assert_string_equal(wsdbg_snapshot_site(&snapshot, row->site)->instruction,
                        "@!P1 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0+URZ], RZ");
    assert_int_equal(snapshot.contexts[0].error, -4);
    assert_false(snapshot.contexts[0].alive);
    assert_false(snapshot.grids[0].running);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The same arrival, as if it had named a place where nobody knows of an mbarrier. */
static void an_arrival_elsewhere_is_seen_with_its_place(void **state)
{
    (void)state;
    struct wsdbg_machine *machine = open_dump("waits-spent-phase");
    for (size_t i = 0; i < machine->warp_count; i++)
        if (machine->warps[i].error_pc.known) {
            machine->warps[i].error_lanes = 1;
            machine->warps[i].error_address = wsdbg_known_u64(0x500);
        }
    struct wsdbg_snapshot snapshot = look_at(machine);
    assert_int_equal(snapshot.exception_count, 1);
    const struct wsdbg_exception *row = &snapshot.exceptions[0];
    assert_int_equal(row->access, WSDBG_ACCESS_ARRIVE);
    assert_int_equal(row->barrier, WSDBG_NONE);
    assert_true(row->address.known && row->in_shared);
    assert_int_equal(row->address.value, 0x500);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The loop went on and wrote the register with the stage before the warp was stopped. */
static void a_register_that_was_written_since_tells_nothing(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_at(open_dump("two_async_warps-fault-shared-full"));
    assert_int_equal(snapshot.exception_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(snapshot.exceptions[i].access, WSDBG_ACCESS_ARRIVE_EXPECT);
        assert_int_equal(snapshot.exceptions[i].barrier, WSDBG_NONE);
        assert_false(snapshot.exceptions[i].thread_known);
        assert_int_equal(snapshot.warps[snapshot.exceptions[i].warp].cta, i);
    }
    wsdbg_snapshot_deinit(&snapshot);
}

/* The polling load of the first lane, as if its address were bad; `passed`: instructions that the lane is further. */
static struct wsdbg_snapshot look_at_bad_load(bool exact, uint64_t passed)
{
    struct wsdbg_machine *machine = open_dump("waits-global-flag");
    struct wsdbg_snapshot before = look_at(open_dump("waits-global-flag"));
    const uint64_t load = wsdbg_snapshot_site(&before, before.parts[0].site)->pc;
    struct wsdbg_machine_warp *warp = &machine->warps[0];
    warp->lanes[0].exception = 14;
    warp->active_lanes = 1;
    warp->lanes[0].pc = load + 16 * passed;
    warp->error_pc = exact ? wsdbg_known_u64(load) : (struct wsdbg_optional_u64){0};
    assert_int_equal(before.parts[0].address.value, 0x7fdb8fe00000);
    wsdbg_snapshot_deinit(&before);
    return look_at(machine);
}

static void a_bad_address_is_seen(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_at_bad_load(true, 0);
    assert_int_equal(snapshot.exception_count, 1);
    const struct wsdbg_exception *row = &snapshot.exceptions[0];
    assert_int_equal(row->code, 14);
    assert_true(row->exact);
    assert_int_equal(row->access, 0);
    assert_true(row->address.known);
    assert_int_equal(row->address.value, 0x7fdb8fe00000);
    wsdbg_snapshot_deinit(&snapshot);
}

/* Without an error PC only the program counter is known: it says where the thread is, not where the error was. */
static void a_place_that_is_not_exact_has_no_address(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_at_bad_load(false, 0);
    assert_int_equal(snapshot.exception_count, 1);
    assert_false(snapshot.exceptions[0].exact);
    assert_false(snapshot.exceptions[0].address.known);
    assert_int_not_equal(snapshot.exceptions[0].site, WSDBG_NONE);
    wsdbg_snapshot_deinit(&snapshot);
}

/* A lane that stands before the instruction came round to it again. */
static void a_lane_that_is_not_behind_the_instruction_has_no_address(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_at_bad_load(true, (uint64_t)-1);
    assert_int_equal(snapshot.exception_count, 1);
    assert_false(snapshot.exceptions[0].address.known);
    wsdbg_snapshot_deinit(&snapshot);
    snapshot = look_at_bad_load(true, 1000);
    assert_false(snapshot.exceptions[0].address.known);
    wsdbg_snapshot_deinit(&snapshot);
}

static const struct wsdbg_machine_ops *ops_of_dump;
static uint32_t rank_in_registers;

static struct wsdbg_error *registers_with_rank(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane,
                                               uint32_t first, uint32_t count, uint32_t *out, uint32_t *known_count)
{
    struct wsdbg_error *error = ops_of_dump->registers(machine, warp, lane, first, count, out, known_count);
    if (!error && first == 0 && *known_count > 0)
        out[0] |= rank_in_registers << 24;
    return error;
}

/* The same arrival, R0 with the rank of another CTA, as if that CTA's cluster had two. */
static struct wsdbg_snapshot look_at_arrival_in(uint32_t rank)
{
    struct wsdbg_machine *machine = open_dump("waits-spent-phase");
    struct wsdbg_machine_ops ops = *machine->ops;
    ops_of_dump = machine->ops;
    ops.registers = registers_with_rank;
    machine->ops = &ops;
    rank_in_registers = rank;
    machine->ctas[0].cluster_size[0] = wsdbg_known_u32(2);
    return look_at(machine);
}

static void an_arrival_in_a_cta_that_left_is_told_from_one_that_names_none(void **state)
{
    (void)state;
    struct wsdbg_snapshot left = look_at_arrival_in(1), none = look_at_arrival_in(2);
    assert_int_equal(left.exceptions[0].access, WSDBG_ACCESS_ARRIVE);
    assert_true(left.exceptions[0].remote);
    assert_int_equal(left.exceptions[0].barrier, WSDBG_NONE);
    assert_int_equal(none.exceptions[0].access, 0);
    assert_false(none.exceptions[0].remote);
    assert_int_equal(none.exceptions[0].barrier, WSDBG_NONE);
    wsdbg_snapshot_deinit(&left);
    wsdbg_snapshot_deinit(&none);
}

/* The warp and the instruction need no registers. */
static void without_time_an_error_is_told_without_its_registers(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot =
        look_within(open_dump("waits-spent-phase"), (struct wsdbg_look_budget){.states_ns = 10000000000, .rest_ns = 0});
    assert_int_equal(snapshot.exception_count, 1);
    assert_int_equal(snapshot.exceptions[0].code, 4);
    assert_int_equal(snapshot.exceptions[0].access, WSDBG_ACCESS_ARRIVE);
    assert_false(snapshot.exceptions[0].thread_known);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The debug interface and a core dump need not mark the same lanes. */
static void an_error_of_a_warp_is_the_same_whichever_lane_tells_of_it(void **state)
{
    (void)state;
    struct wsdbg_snapshot all = look_at(open_dump("waits-spent-phase"));
    for (uint32_t lane = 0; lane < 32; lane += 31) {
        struct wsdbg_machine *machine = open_dump("waits-spent-phase");
        for (uint32_t i = 0; i < 32; i++)
            if (i != lane)
                machine->warps[1].lanes[i].exception = 0;
        assert_int_equal(machine->warps[1].lanes[lane].exception, 4);
        struct wsdbg_snapshot one = look_at(machine);
        assert_int_equal(one.exception_count, 1);
        assert_int_equal(one.exceptions[0].lanes, all.exceptions[0].lanes);
        assert_int_equal(one.exceptions[0].at_lanes, 1);
        assert_int_equal(one.exceptions[0].thread[0], 32);
        assert_int_equal(one.exceptions[0].barrier, all.exceptions[0].barrier);
        wsdbg_snapshot_deinit(&one);
    }
    wsdbg_snapshot_deinit(&all);
}

/* Each lane has what lane 0 has, and an address of its own. */
static uint32_t address_step;

static struct wsdbg_error *registers_apart(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                           uint32_t count, uint32_t *out, uint32_t *known_count)
{
    struct wsdbg_error *error = ops_of_dump->registers(machine, warp, 0, first, count, out, known_count);
    for (uint32_t i = 0; !error && i < *known_count; i++)
        if (out[i] == 0x8fe00000)
            out[i] += lane * address_step;
    return error;
}

/* The polling load in the first four lanes; their addresses are `step` apart. */
static struct wsdbg_snapshot look_at_four_lanes(uint32_t code, uint32_t step)
{
    struct wsdbg_machine *machine = open_dump("waits-global-flag");
    struct wsdbg_snapshot before = look_at(open_dump("waits-global-flag"));
    struct wsdbg_machine_warp *warp = &machine->warps[0];
    struct wsdbg_machine_ops ops = *machine->ops;
    ops_of_dump = machine->ops;
    ops.registers = registers_apart;
    machine->ops = &ops;
    address_step = step;
    warp->error_pc = wsdbg_known_u64(wsdbg_snapshot_site(&before, before.parts[0].site)->pc);
    warp->active_lanes = 0xf;
    for (int i = 0; i < 4; i++) {
        warp->lanes[i].exception = code;
        warp->lanes[i].pc = warp->error_pc.value;
    }
    wsdbg_snapshot_deinit(&before);
    return look_at(machine);
}

static void the_addresses_of_all_lanes_are_seen(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_at_four_lanes(14, 8);
    const struct wsdbg_exception *row = &snapshot.exceptions[0];
    assert_int_equal(row->at_lanes, 0xf);
    assert_false(row->thread_known || row->in_shared || row->misaligned_bytes);
    assert_int_equal(row->address.value, 0x7fdb8fe00000);
    assert_int_equal(row->last_address, 0x7fdb8fe00018);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The load is of four bytes: lane 1's address is the first that is no multiple of them. */
static void a_misaligned_address_shows_its_thread(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_at_four_lanes(6, 1);
    const struct wsdbg_exception *row = &snapshot.exceptions[0];
    assert_true(row->thread_known);
    assert_int_equal(row->thread[0], 1);
    assert_int_equal(row->address.value, 0x7fdb8fe00001);
    assert_int_equal(row->misaligned_bytes, 4);
    wsdbg_snapshot_deinit(&snapshot);
    snapshot = look_at_four_lanes(6, 4); /* registers that show nothing wrong */
    assert_false(snapshot.exceptions[0].thread_known);
    assert_int_equal(snapshot.exceptions[0].misaligned_bytes, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

/* An error of a thread is told of that thread alone. */
static void an_error_of_a_lane_is_that_lanes(void **state)
{
    (void)state;
    struct wsdbg_machine *machine = open_dump("waits-global-flag");
    machine->warps[0].lanes[3].exception = 1;
    struct wsdbg_snapshot snapshot = look_at(machine);
    assert_int_equal(snapshot.exceptions[0].lanes, 8);
    assert_true(snapshot.exceptions[0].thread_known);
    assert_int_equal(snapshot.exceptions[0].thread[0], 3);
    wsdbg_snapshot_deinit(&snapshot);
}

/* A trap where the loads are. */
static void a_trap_is_told_from_other_instructions(void **state)
{
    static const unsigned char load[8] = {0x80, 0x79, 0x00, 0x02, 0x04}; /* LD R0, [R2.64] */
    static const uint64_t trap[2] = {UINT64_C(0x000000040000795c), UINT64_C(0x001fe20000300000)};
    (void)state;
    struct wsdbg_machine *machine = open_dump("waits-global-flag");
    struct wsdbg_snapshot before = look_at(open_dump("waits-global-flag"));
    struct wsdbg_machine_module *module = &machine->modules[machine->grids[0].module];
    unsigned char *image = malloc(module->image.byte_count);
    assert_non_null(image);
    memcpy(image, module->image.bytes, module->image.byte_count);
    for (size_t at = 0; at + sizeof trap <= module->image.byte_count; at++)
        if (memcmp(image + at, load, sizeof load) == 0)
            memcpy(image + at, trap, sizeof trap);
    module->image.bytes = image;
    machine->warps[0].error_pc = wsdbg_known_u64(wsdbg_snapshot_site(&before, before.parts[0].site)->pc);
    machine->warps[0].lanes[0].exception = 4;
    wsdbg_snapshot_deinit(&before);
    struct wsdbg_snapshot snapshot = look_at(machine);
    assert_true(snapshot.exceptions[0].trapped);
    assert_non_null(strstr(wsdbg_snapshot_site(&snapshot, snapshot.exceptions[0].site)->instruction, "BPT.TRAP"));
    wsdbg_snapshot_deinit(&snapshot);
    free(image);
    snapshot = look_at_four_lanes(4, 0);
    assert_false(snapshot.exceptions[0].trapped);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_hang_has_no_error(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_at(open_dump("waits-global-flag"));
    assert_int_equal(snapshot.exception_count, 0);
    assert_int_equal(snapshot.contexts[0].error, 0);
    assert_true(snapshot.contexts[0].alive);
    wsdbg_snapshot_deinit(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_that_ended_the_kernel_is_seen_with_its_mbarrier),
        cmocka_unit_test(an_arrival_elsewhere_is_seen_with_its_place),
        cmocka_unit_test(a_register_that_was_written_since_tells_nothing),
        cmocka_unit_test(a_bad_address_is_seen),
        cmocka_unit_test(a_place_that_is_not_exact_has_no_address),
        cmocka_unit_test(a_lane_that_is_not_behind_the_instruction_has_no_address),
        cmocka_unit_test(an_arrival_in_a_cta_that_left_is_told_from_one_that_names_none),
        cmocka_unit_test(without_time_an_error_is_told_without_its_registers),
        cmocka_unit_test(an_error_of_a_warp_is_the_same_whichever_lane_tells_of_it),
        cmocka_unit_test(the_addresses_of_all_lanes_are_seen),
        cmocka_unit_test(a_misaligned_address_shows_its_thread),
        cmocka_unit_test(an_error_of_a_lane_is_that_lanes),
        cmocka_unit_test(a_trap_is_told_from_other_instructions),
        cmocka_unit_test(a_hang_has_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
