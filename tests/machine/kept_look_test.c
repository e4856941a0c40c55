/* kept_look_test.c - the file that a look is kept in shows what the look saw: of real dumps, each interpreted once
 * whole and once from only that part of it that the first interpretation read.
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_kept_look_shows_what_was_seen)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
