/* kept_look_test.c - less of a machine shows the same: real dumps, each interpreted once whole and once from only that
 * part of it that the first interpretation read, as a kept look has it, or that the live source reads.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/interpret.h"
#include "machine/reads.h"

static const char *const dumps[] = {"gemm-arrive-missing", "gemm-regs-partial",     "gemm-healthy-cluster",
                                    "waits-lane-split",    "waits-cluster-missing", "waits-named-count"};

static void check(struct wsdbg_error *error)
{
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
}

static struct wsdbg_snapshot interpret(struct wsdbg_machine *machine)
{
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    check(wsdbg_code_create(&code));
    check(wsdbg_code_prepare(code, machine));
    check(wsdbg_look_take(machine, code, &look));
    check(wsdbg_look_snapshot(&look, 1, &snapshot));
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    return snapshot;
}

/* The whole dump's picture; what it was read from is in the file "kept". */
static struct wsdbg_snapshot interpret_and_keep(const char *path)
{
    struct wsdbg_machine *dump, *recorder;
    struct wsdbg_machine_reads reads = {0};
    check(wsdbg_machine_open_core(path, &dump));
    check(wsdbg_machine_recorder(dump, &reads, &recorder));
    struct wsdbg_snapshot snapshot = interpret(recorder);
    unlink("kept");
    check(wsdbg_machine_write_core(recorder, &reads, "kept"));
    recorder->ops->close(recorder);
    wsdbg_reads_deinit(&reads);
    return snapshot;
}

static void assert_same_warps(const struct wsdbg_snapshot *kept, const struct wsdbg_snapshot *whole)
{
    assert_int_equal(kept->warp_count, whole->warp_count);
    for (size_t i = 0; i < whole->warp_count; i++) {
        assert_int_equal(kept->warps[i].warp, whole->warps[i].warp);
        assert_int_equal(kept->warps[i].state, whole->warps[i].state);
        assert_int_equal(kept->warps[i].barrier, whole->warps[i].barrier);
        assert_int_equal(kept->warps[i].parity.known, whole->warps[i].parity.known);
        assert_int_equal(kept->warps[i].parity.value, whole->warps[i].parity.value);
        assert_int_equal(kept->warps[i].registers_held.value, whole->warps[i].registers_held.value);
        assert_int_equal(kept->warps[i].part_count, whole->warps[i].part_count);
    }
    assert_int_equal(kept->part_count, whole->part_count);
    for (size_t i = 0; i < whole->part_count; i++) {
        assert_int_equal(kept->parts[i].lanes, whole->parts[i].lanes);
        assert_int_equal(kept->parts[i].state, whole->parts[i].state);
        assert_int_equal(kept->sites[kept->parts[i].site].pc, whole->sites[whole->parts[i].site].pc);
    }
}

static void assert_same_barriers(const struct wsdbg_snapshot *kept, const struct wsdbg_snapshot *whole)
{
    assert_int_equal(kept->barrier_count, whole->barrier_count);
    for (size_t i = 0; i < whole->barrier_count; i++) {
        assert_int_equal(kept->barriers[i].kind, whole->barriers[i].kind);
        assert_int_equal(kept->barriers[i].id, whole->barriers[i].id);
        assert_int_equal(kept->barriers[i].word.known, whole->barriers[i].word.known);
        assert_int_equal(kept->barriers[i].word.value, whole->barriers[i].word.value);
        assert_int_equal(kept->barriers[i].waiters, whole->barriers[i].waiters);
    }
    assert_int_equal(kept->access_count, whole->access_count);
    assert_int_equal(kept->reach_count, whole->reach_count);
}

static void a_kept_look_shows_what_was_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof dumps / sizeof dumps[0]; i++) {
        char path[4096];
        struct wsdbg_machine *machine;
        snprintf(path, sizeof path, "%s/%s.core.gz", WSDBG_DUMPS, dumps[i]);
        struct wsdbg_snapshot whole = interpret_and_keep(path);
        check(wsdbg_machine_open_core("kept", &machine));
        struct wsdbg_snapshot kept = interpret(machine);
        assert_true(whole.warp_count > 0);
        assert_same_warps(&kept, &whole);
        assert_same_barriers(&kept, &whole);
        machine->ops->close(machine);
        wsdbg_snapshot_deinit(&kept);
        wsdbg_snapshot_deinit(&whole);
    }
}

static bool all_lanes_are_active(const struct wsdbg_machine_warp *warp)
{
    return warp->valid_lanes == warp->active_lanes;
}

static void forget_convergence(struct wsdbg_machine_warp *warp)
{
    warp->exited_lanes.known = warp->barriers_known = false;
    for (size_t i = 0; i < WSDBG_MACHINE_LANES; i++)
        warp->lanes[i].state.known = false;
}

/* Then the live source does not ask for more than where they stand. */
static void what_is_not_asked_of_warps_whose_lanes_are_all_active_changes_nothing(void **state)
{
    (void)state;
    glob_t dumps_found;
    size_t forgotten = 0;
    assert_int_equal(glob(WSDBG_DUMPS "/*.core.gz", 0, NULL, &dumps_found), 0);
    for (size_t i = 0; i < dumps_found.gl_pathc; i++) {
        struct wsdbg_machine *machine;
        check(wsdbg_machine_open_core(dumps_found.gl_pathv[i], &machine));
        struct wsdbg_snapshot whole = interpret(machine);
        for (size_t w = 0; w < machine->warp_count; w++)
            if (all_lanes_are_active(&machine->warps[w])) {
                forget_convergence(&machine->warps[w]);
                forgotten++;
            }
        struct wsdbg_snapshot less = interpret(machine);
        assert_same_warps(&less, &whole);
        assert_same_barriers(&less, &whole);
        machine->ops->close(machine);
        wsdbg_snapshot_deinit(&less);
        wsdbg_snapshot_deinit(&whole);
    }
    assert_true(forgotten > 0);
    globfree(&dumps_found);
}

static int enter_folder(void **state)
{
    static char folder[] = P_tmpdir "/wsdbg-kept-XXXXXX";
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    unlink("kept");
    return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_look_shows_what_was_seen),
        cmocka_unit_test(what_is_not_asked_of_warps_whose_lanes_are_all_active_changes_nothing),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
