/* look_moved_test.c - two looks at one machine: what stands where it stood, what went on, and what is not known when
 * there was no time to read. */
#include "machine/changed_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "machine/look_words.h"

enum { INSTRUCTION = 16, PRODUCER = 0, CONSUMER = 4 };

static void move_lanes(struct wsdbg_machine_warp *warp, int64_t bytes)
{
    for (unsigned i = 0; i < WSDBG_MACHINE_LANES; i++)
        warp->lanes[i].pc += (uint64_t)bytes;
}

/* Takes two looks, with `change` between them, and puts them into a snapshot. */
static struct wsdbg_snapshot look_twice(void (*change)(void))
{
    struct wsdbg_look *looks[2] = {changed_look(1000)};
    struct wsdbg_snapshot snapshot = {0};
    if (change)
        change();
    looks[1] = changed_look(2000);
    assert_null(wsdbg_look_snapshot(looks, 2, &snapshot));
    wsdbg_look_destroy(looks[0]);
    wsdbg_look_destroy(looks[1]);
    return snapshot;
}

static void what_stands_still_has_not_moved(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_twice(NULL);
    assert_int_equal(snapshot.look_count, 2);
    assert_false(snapshot.looks[0].barriers_changed.known);
    assert_int_equal(snapshot.looks[1].moved, 0);
    assert_true(snapshot.looks[1].barriers_changed.known);
    assert_int_equal(snapshot.looks[1].barriers_changed.value, 0);
    assert_int_equal(snapshot.looks[1].warps, 36);
    assert_int_equal(snapshot.progress_ns, 0);
    assert_int_equal(snapshot.warps[CONSUMER].state, WSDBG_WARP_WAIT_MBARRIER);
    wsdbg_snapshot_deinit(&snapshot);
}

/* From the branch of its spin loop to the test. */
static void spin(void)
{
    move_lanes(changed_warp(CONSUMER), -INSTRUCTION);
}

static void two_places_of_one_wait_are_no_movement(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_twice(spin);
    assert_int_equal(snapshot.looks[1].moved, 0);
    assert_int_equal(snapshot.warps[CONSUMER].state, WSDBG_WARP_WAIT_MBARRIER);
    wsdbg_snapshot_deinit(&snapshot);
}

/* Half of its lanes only. */
static void part(void)
{
    struct wsdbg_machine_warp *warp = changed_warp(CONSUMER);
    for (unsigned i = 0; i < WSDBG_MACHINE_LANES / 2; i++)
        warp->lanes[i].pc -= INSTRUCTION;
}

static void lanes_that_part_in_one_wait_are_no_movement(void **state)
{
    (void)state;
    changed.lanes_are_alike = true;
    struct wsdbg_snapshot snapshot = look_twice(part);
    assert_int_equal(snapshot.before->warps[CONSUMER].part_count, 1);
    assert_int_equal(snapshot.warps[CONSUMER].part_count, 2);
    assert_int_equal(snapshot.looks[1].moved, 0);
    assert_int_equal(snapshot.warps[CONSUMER].state, WSDBG_WARP_WAIT_MBARRIER);
    wsdbg_snapshot_deinit(&snapshot);
}

static void leave(void)
{
    move_lanes(changed_warp(CONSUMER), -64 * INSTRUCTION);
}

static void a_warp_that_moved_is_running(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_twice(leave);
    const uint32_t before = snapshot.before->warps[CONSUMER].barrier;
    assert_int_equal(snapshot.looks[1].moved, 1);
    assert_int_equal(snapshot.progress_ns, 2000);
    assert_int_equal(snapshot.warps[CONSUMER].state, WSDBG_WARP_RUNNING);
    assert_int_equal(snapshot.warps[CONSUMER].barrier, WSDBG_NONE);
    assert_int_equal(snapshot.warps[CONSUMER + 1].state, WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(snapshot.barriers[snapshot.warps[CONSUMER + 1].barrier].waiters, 7);
    assert_int_equal(snapshot.before->warps[CONSUMER].state, WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(snapshot.before->barriers[before].waiters, 8);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The consumer is outside of any wait, and its registers can be read. */
static void stand_outside(void)
{
    leave();
    changed.all_are_known = true;
}

static void what_does_not_move_outside_of_any_wait_is_unknown_not_running(void **state)
{
    (void)state;
    stand_outside();
    struct wsdbg_snapshot snapshot = look_twice(NULL);
    const struct wsdbg_warp_row *warp = &snapshot.warps[CONSUMER];
    assert_int_equal(snapshot.looks[1].moved, 0);
    assert_int_equal(warp->state, WSDBG_WARP_UNKNOWN);
    assert_true(warp->unmoved);
    assert_true(warp->stands != 0);
    assert_int_equal(snapshot.parts[warp->part_first].state, WSDBG_WARP_UNKNOWN);
    assert_int_equal(snapshot.before->warps[CONSUMER].state, WSDBG_WARP_UNKNOWN);
    wsdbg_snapshot_deinit(&snapshot);
}

static void count_in_a_register(void)
{
    changed.general++;
}

static void count_in_a_uniform_register(void)
{
    changed.uniform++;
}

/* It has come round its loop to the place where it was. */
static void other_registers_at_one_place_are_movement(void **state)
{
    (void)state;
    void (*const counts[])(void) = {count_in_a_register, count_in_a_uniform_register};
    stand_outside();
    for (size_t i = 0; i < 2; i++) {
        struct wsdbg_snapshot snapshot = look_twice(counts[i]);
        assert_int_equal(snapshot.warps[CONSUMER].state, WSDBG_WARP_RUNNING);
        assert_false(snapshot.warps[CONSUMER].unmoved);
        assert_int_equal(snapshot.warps[CONSUMER].stands, 0);
        assert_int_equal(snapshot.progress_ns, 2000);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

/* That it stands cannot be told then, nor that it runs. */
static void without_registers_a_place_alone_is_no_standstill(void **state)
{
    (void)state;
    leave();
    changed.lacking = changed_warp(CONSUMER);
    struct wsdbg_snapshot snapshot = look_twice(NULL);
    assert_int_equal(snapshot.looks[1].moved, 0);
    assert_int_equal(snapshot.warps[CONSUMER].state, WSDBG_WARP_UNKNOWN);
    assert_int_equal(snapshot.warps[CONSUMER].stands, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

static void one_look_tells_neither_of_movement_nor_of_a_standstill(void **state)
{
    (void)state;
    stand_outside();
    struct wsdbg_look *look = changed_look(1);
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.warps[CONSUMER].state, WSDBG_WARP_RUNNING); /* outside of any wait, no more */
    assert_false(snapshot.warps[CONSUMER].unmoved);
    assert_int_equal(snapshot.warps[CONSUMER].stands, 0);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

/* The consumer of every CTA is at one place: one of them is read, and stands for the others. */
static void warps_at_one_place_are_told_by_one_of_them(void **state)
{
    (void)state;
    stand_outside();
    for (size_t i = 0; i < changed.machine->warp_count; i++) {
        struct wsdbg_machine_warp *warp = &changed.machine->warps[i];
        if (warp->cta != 0 && wsdbg_machine_warp_index(changed.machine, warp) == CONSUMER)
            move_lanes(warp, -64 * INSTRUCTION);
    }
    struct wsdbg_snapshot snapshot = look_twice(NULL);
    for (size_t i = 0; i < snapshot.warp_count; i++)
        if (snapshot.warps[i].warp == CONSUMER)
            assert_true(snapshot.warps[i].stands != 0);
    wsdbg_snapshot_deinit(&snapshot);
}

/* Three more of the eight arrivals that the producer waits for. */
static void arrive(void)
{
    changed.word_at = 0x38438;
    changed.word = 0xfffff800001ffff0;
}

static void an_arrival_changes_a_barrier(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_twice(arrive);
    assert_int_equal(snapshot.looks[1].moved, 0);
    assert_int_equal(snapshot.looks[1].barriers_changed.value, 1);
    assert_int_equal(snapshot.progress_ns, 2000);
    assert_int_equal(snapshot.barriers[snapshot.warps[PRODUCER].barrier].pending_arrivals.value, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The phase waited for is over: the producer is about to go on. */
static void complete(void)
{
    changed.word_at = 0x38438;
    changed.word = 0x7fffc000001ffff0;
}

static void a_wait_whose_phase_is_over_is_none(void **state)
{
    (void)state;
    complete();
    struct wsdbg_look *look = changed_look(1);
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.warps[PRODUCER].state, WSDBG_WARP_RUNNING);
    assert_int_equal(snapshot.warps[PRODUCER].barrier, WSDBG_NONE);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

static void without_time_to_read_nothing_is_guessed(void **state)
{
    (void)state;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_take_within(changed.machine, changed.code, (struct wsdbg_look_budget){0}, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.looks[0].warps_read, 0);
    assert_int_equal(snapshot.note_count, 1);
    assert_string_equal(snapshot.notes[0],
                        "the time to read registers was over before 3 of 3 groups of like warps were reached: what "
                        "those wait for may not be known");
    for (size_t i = 0; i < snapshot.warp_count; i++)
        assert_true(snapshot.warps[i].state == WSDBG_WARP_UNKNOWN || snapshot.warps[i].state == WSDBG_WARP_EXITED);
    for (size_t i = 0; i < snapshot.part_count; i++)
        assert_false(snapshot.parts[i].parity.known);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

/* Time for half of the 36 warps, in three states: each state is read once, the others are taken to be like it. */
static void a_warp_that_was_not_read_is_like_one_in_its_state(void **state)
{
    enum { EACH_NS = 10000000, WARPS = 36 };
    (void)state;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    size_t taken_over = 0;
    changed.register_read_ns = EACH_NS;
    const uint64_t half_ns = WARPS / 2 * (uint64_t)EACH_NS;
    assert_null(wsdbg_look_take_within(
        changed.machine, changed.code,
        (struct wsdbg_look_budget){.states_ns = half_ns, .rest_ns = half_ns, .walks_ns = half_ns}, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_in_range(snapshot.looks[0].warps_read, 3, WARPS - 1);
    for (size_t i = 0; i < snapshot.part_count; i++) {
        const struct wsdbg_part *part = &snapshot.parts[i];
        taken_over += !part->seen && part->state == WSDBG_WARP_WAIT_MBARRIER;
        if (part->state == WSDBG_WARP_RECONVERGE)
            continue;
        assert_int_equal(part->state, WSDBG_WARP_WAIT_MBARRIER);
        assert_true(part->parity.known);
        assert_int_equal(snapshot.barriers[part->barrier].cta, snapshot.warps[part->warp].cta);
    }
    assert_true(taken_over > 0);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

/* Producers, and the consumers of either group: no time for others, all there could be for one of each. */
static void one_warp_of_each_state_is_read_when_the_time_of_the_rest_is_over(void **state)
{
    (void)state;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_take_within(changed.machine, changed.code,
                                       (struct wsdbg_look_budget){.states_ns = UINT64_C(600000000000)}, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.looks[0].warps_read, 3);
    assert_int_equal(snapshot.note_count, 0);
    for (size_t i = 0; i < snapshot.warp_count; i++)
        assert_true(snapshot.warps[i].state == WSDBG_WARP_WAIT_MBARRIER ||
                    snapshot.warps[i].state == WSDBG_WARP_EXITED);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

/* A look that was kept has the registers of one warp of each state only. */
static void lose_registers(void)
{
    changed.lacking = changed_warp(CONSUMER);
}

static void a_warp_whose_registers_are_not_there_is_like_one_in_its_state(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot = look_twice(lose_registers);
    const struct wsdbg_warp_row *lacking = &snapshot.warps[CONSUMER], *other = &snapshot.warps[CONSUMER + 1];
    assert_false(snapshot.parts[lacking->part_first].seen);
    assert_true(snapshot.parts[other->part_first].seen);
    assert_int_equal(snapshot.looks[1].warps_read, snapshot.looks[0].warps_read - 1);
    assert_int_equal(snapshot.looks[1].moved, 0);
    assert_int_equal(lacking->state, WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(lacking->barrier, other->barrier);
    assert_int_equal(lacking->parity.value, other->parity.value);
    assert_true(lacking->parity.known);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The lane that waits is read from another warp, the lanes that need no registers are seen all the same. */
static void a_producer_whose_registers_are_not_there_is_like_another(void **state)
{
    (void)state;
    changed.lacking = changed_warp(PRODUCER);
    struct wsdbg_look *look = changed_look(1);
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.warps[PRODUCER].part_count, 2);
    assert_int_equal(snapshot.warps[PRODUCER].state, WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(snapshot.barriers[snapshot.warps[PRODUCER].barrier].cta, 0);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

static void a_state_of_which_no_registers_are_there_is_said(void **state)
{
    (void)state;
    changed.lacking = changed_warp(PRODUCER);
    changed.lacking_everywhere = true;
    struct wsdbg_look *look = changed_look(1);
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.warps[PRODUCER].state, WSDBG_WARP_UNKNOWN);
    assert_int_equal(snapshot.warps[CONSUMER].state, WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(snapshot.note_count, 1);
    assert_string_equal(snapshot.notes[0],
                        "the registers of 1 of 3 groups of like warps are not there: what those wait for may not be "
                        "known");
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

/* Which of the CTA's warps it is that has no lanes is not known: it may be any that seems to be gone. */
static void a_warp_without_lanes_lets_none_of_its_cta_count_as_exited(void **state)
{
    enum { WARPS_PER_CTA = 12 };
    (void)state;
    changed.machine->warps[0].valid_lanes = 0;
    struct wsdbg_look *look = changed_look(1);
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.warps[PRODUCER].state, WSDBG_WARP_UNKNOWN);
    assert_int_equal(snapshot.warps[PRODUCER + 1].state, WSDBG_WARP_UNKNOWN);
    assert_int_equal(snapshot.warps[WARPS_PER_CTA + PRODUCER + 1].state, WSDBG_WARP_EXITED);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

static void code_that_is_not_there_is_said_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < changed.machine->module_count; i++)
        changed.machine->modules[i].image.byte_count = 0;
    struct wsdbg_look *look = changed_look(1);
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.note_count, 1);
    assert_string_equal(snapshot.notes[0],
                        "the code of grid 2 is not known, its image is not there: what its warps wait "
                        "for is not seen");
    assert_int_equal(snapshot.warps[PRODUCER].state, WSDBG_WARP_UNKNOWN);
    assert_int_equal(snapshot.warps[PRODUCER + 1].state, WSDBG_WARP_EXITED);
    assert_int_equal(snapshot.warps[CONSUMER].registers_held.value, 232);
    assert_int_equal(snapshot.barrier_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

/* Tables that the snapshot has already are found again: the names of an author stay, with their ids. */
static void the_authors_names_stay(void **state)
{
    (void)state;
    struct wsdbg_look *look = changed_look(1);
    struct wsdbg_snapshot snapshot = {0};
    snapshot.contexts = calloc(1, sizeof *snapshot.contexts);
    snapshot.modules = calloc(1, sizeof *snapshot.modules);
    snapshot.functions = calloc(1, sizeof *snapshot.functions);
    snapshot.names = calloc(2, sizeof *snapshot.names);
    snapshot.context_count = snapshot.module_count = snapshot.function_count = 1;
    snapshot.name_count = 2;
    snapshot.contexts[0] = (struct wsdbg_context){.handle = changed.machine->contexts[0].handle, .alive = true};
    snapshot.modules[0] = (struct wsdbg_module){.probed = true, .names_count = 2};
    snapshot.functions[0] = (struct wsdbg_function){.name = "gemm_cooperative"};
    snapshot.names[0] = (struct wsdbg_name){.kind = WSDBG_NAME_ROLE, .id = 7, .name = "producer"};
    snapshot.names[1] = (struct wsdbg_name){.kind = WSDBG_NAME_MBARRIER, .id = 5, .stages = 4, .name = "empty"};
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.context_count, 1);
    assert_int_equal(snapshot.module_count, 1);
    assert_int_equal(snapshot.function_count, 1);
    assert_int_equal(snapshot.warps[PRODUCER].role.value, 7);
    assert_string_equal(wsdbg_snapshot_role_name(&snapshot, &snapshot.warps[PRODUCER]), "producer");
    assert_int_equal(snapshot.barriers[snapshot.warps[PRODUCER].barrier].id, 5);
    assert_string_equal(wsdbg_snapshot_role_name(&snapshot, &snapshot.warps[CONSUMER]), "consumer 0");
    assert_true(snapshot.names_inferred);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

/* Ids have eight bits.  Where an author has given them all away, what was inferred has no name, not somebody else's. */
static void without_an_id_left_nothing_gets_a_wrong_name(void **state)
{
    (void)state;
    enum { IDS = 256 };
    struct wsdbg_look *look = changed_look(1);
    struct wsdbg_snapshot snapshot = {0};
    snapshot.contexts = calloc(1, sizeof *snapshot.contexts);
    snapshot.modules = calloc(1, sizeof *snapshot.modules);
    snapshot.functions = calloc(1, sizeof *snapshot.functions);
    snapshot.names = calloc(2 * IDS, sizeof *snapshot.names);
    snapshot.context_count = snapshot.module_count = snapshot.function_count = 1;
    snapshot.name_count = 2 * IDS;
    snapshot.contexts[0] = (struct wsdbg_context){.handle = changed.machine->contexts[0].handle, .alive = true};
    snapshot.modules[0] = (struct wsdbg_module){.probed = true, .names_count = 2 * IDS};
    snapshot.functions[0] = (struct wsdbg_function){.name = "gemm_cooperative"};
    for (int i = 0; i < IDS; i++) {
        snapshot.names[i] = (struct wsdbg_name){.kind = WSDBG_NAME_ROLE, .id = (uint8_t)i, .name = "author's"};
        snapshot.names[IDS + i] =
            (struct wsdbg_name){.kind = WSDBG_NAME_MBARRIER, .id = (uint8_t)i, .stages = 4, .name = "author's"};
    }
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.name_count, 2 * IDS);
    assert_false(snapshot.warps[PRODUCER].role.known);
    assert_null(snapshot.barriers[snapshot.warps[PRODUCER].barrier].name);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
}

static void a_source_that_fails_at_any_read_is_an_error(void **state)
{
    (void)state;
    struct wsdbg_look *look = changed_look(1);
    const unsigned reads = changed.reads;
    wsdbg_look_destroy(look);
    assert_true(reads > 40);
    for (unsigned i = 1; i <= reads; i += i < 8 ? 1 : 7) {
        wsdbg_code_destroy(changed.code);
        assert_null(wsdbg_code_create(&changed.code));
        changed.reads = 0;
        changed.fails_at = i;
        struct wsdbg_error *error = wsdbg_look_take(changed.machine, changed.code, &look);
        assert_non_null(error);
        assert_string_equal(wsdbg_error_message(error), "the source broke");
        wsdbg_error_destroy(error);
    }
}

int main(void)
{
#define ON_DUMP(test) cmocka_unit_test_setup_teardown(test, changed_open_dump, changed_close_dump)
    const struct CMUnitTest tests[] = {
        ON_DUMP(what_stands_still_has_not_moved),
        ON_DUMP(two_places_of_one_wait_are_no_movement),
        ON_DUMP(lanes_that_part_in_one_wait_are_no_movement),
        ON_DUMP(a_warp_that_moved_is_running),
        ON_DUMP(what_does_not_move_outside_of_any_wait_is_unknown_not_running),
        ON_DUMP(other_registers_at_one_place_are_movement),
        ON_DUMP(without_registers_a_place_alone_is_no_standstill),
        ON_DUMP(one_look_tells_neither_of_movement_nor_of_a_standstill),
        ON_DUMP(warps_at_one_place_are_told_by_one_of_them),
        ON_DUMP(an_arrival_changes_a_barrier),
        ON_DUMP(a_wait_whose_phase_is_over_is_none),
        ON_DUMP(without_time_to_read_nothing_is_guessed),
        ON_DUMP(a_warp_that_was_not_read_is_like_one_in_its_state),
        ON_DUMP(a_warp_whose_registers_are_not_there_is_like_one_in_its_state),
        ON_DUMP(a_producer_whose_registers_are_not_there_is_like_another),
        ON_DUMP(one_warp_of_each_state_is_read_when_the_time_of_the_rest_is_over),
        ON_DUMP(a_state_of_which_no_registers_are_there_is_said),
        ON_DUMP(a_warp_without_lanes_lets_none_of_its_cta_count_as_exited),
        ON_DUMP(code_that_is_not_there_is_said_once),
        ON_DUMP(the_authors_names_stay),
        ON_DUMP(without_an_id_left_nothing_gets_a_wrong_name),
        ON_DUMP(a_source_that_fails_at_any_read_is_an_error),
    };
#undef ON_DUMP
    return cmocka_run_group_tests(tests, NULL, NULL);
}
