/* look_test.c - what is seen in real GPU core dumps, one of each way to wait: the states and operands of warps, the
 * barriers and what they miss, roles and names where nobody gave any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/interpret.h"
#include "machine/look_words.h"

struct seen {
    struct wsdbg_machine *machine;
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot;
};

static struct seen see(const char *dump)
{
    struct seen seen = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s.core.gz", WSDBG_DUMPS, dump);
    assert_null(wsdbg_machine_open_core(path, &seen.machine));
    assert_null(wsdbg_code_create(&seen.code));
    assert_null(wsdbg_code_prepare(seen.code, seen.machine));
    assert_null(wsdbg_look_take(seen.machine, seen.code, &seen.look));
    assert_null(wsdbg_look_snapshot(&seen.look, 1, &seen.snapshot));
    return seen;
}

static void forget(struct seen *seen)
{
    wsdbg_snapshot_deinit(&seen->snapshot);
    wsdbg_look_destroy(seen->look);
    wsdbg_code_destroy(seen->code);
    seen->machine->ops->close(seen->machine);
}

static void assert_cta(const struct seen *seen, uint32_t cta, const char *expected)
{
    char words[LOOK_WORDS_BYTES];
    look_words(&seen->snapshot, cta, words);
    assert_string_equal(words, expected);
}

static void assert_first_cta(const char *dump, const char *expected)
{
    struct seen seen = see(dump);
    assert_cta(&seen, 0, expected);
    forget(&seen);
}

/* clang-format off */
static const struct {
    const char *dump, *first_cta;
} cases[] = {
    {"gemm-arrive-missing",
     "0 producer WAIT_MBARRIER: 1 lanes WAIT_MBARRIER empty[3] parity 1: 31 lanes RECONVERGE\n"
     "1-3 producer EXITED\n"
     "4-7 consumer 0 WAIT_MBARRIER full[3] parity 0\n"
     "8-11 consumer 1 WAIT_MBARRIER full[3] parity 0\n"
     "full[3] at 0x38418: phase 0, 1 of 1 missing, 0 bytes\n"
     "empty[3] at 0x38438: phase 1, 4 of 8 missing, 0 bytes\n"},
    {"gemm-tx-mismatch",
     "0 producer WAIT_MBARRIER: 1 lanes WAIT_MBARRIER empty[0] parity 0: 31 lanes RECONVERGE\n"
     "1-3 producer EXITED\n"
     "4-7 consumer 0 WAIT_MBARRIER full[0] parity 0\n"
     "8-11 consumer 1 WAIT_MBARRIER full[0] parity 0\n"
     "full[0] at 0x38400: phase 0, 0 of 1 missing, 16384 bytes\n"
     "empty[0] at 0x38420: phase 0, 8 of 8 missing, 0 bytes\n"},
    /* The role of a warpgroup that has exited follows from the code that no other warp can reach. */
    {"gemm-waker-exited",
     "0-3 producer EXITED\n"
     "4-7 consumer 0 WAIT_MBARRIER full[0] parity 0\n"
     "8-11 consumer 1 WAIT_MBARRIER full[0] parity 0\n"
     "full[0] at 0x38400: phase 0, 1 of 1 missing, 0 bytes\n"},
    /* wgmma needs all four warps of its group. */
    {"gemm-regs-partial",
     "0 producer WAIT_MBARRIER: 1 lanes WAIT_MBARRIER empty[0] parity 0: 31 lanes RECONVERGE\n"
     "1-3 producer EXITED\n"
     "4 consumer 0 WAIT_WGMMA wgmma group 1\n"
     "5-7 consumer 0 WAIT_REGISTERS register pool 0 count 232 has 168\n"
     "8 consumer 1 WAIT_WGMMA wgmma group 2\n"
     "9-11 consumer 1 WAIT_REGISTERS register pool 0 count 232 has 168\n"
     "empty[0] at 0x38420: phase 0, 8 of 8 missing, 0 bytes\n"},
    /* Two of four warps load; those that wait for it and do something else without wgmma compute. */
    {"two_async_warps-double-arrive",
     "0-3 consumer 0 WAIT_MBARRIER full[0] parity 0\n"
     "4-7 consumer 1 WAIT_MBARRIER full[0] parity 0\n"
     "8-9 producer WAIT_MBARRIER: 1 lanes WAIT_MBARRIER empty[0] parity 0: 31 lanes RECONVERGE\n"
     "10-11 producer EXITED\n"
     "full[0] at 0x4400: phase 0, 2 of 2 missing, 0 bytes\n"
     "empty[0] at 0x4410: phase 0, 256 of 256 missing, 0 bytes\n"},
    {"waits-named-count",
     "0-1 warps 0-3 WAIT_NAMED named barrier 1 count 96\n"
     "2-3 warps 0-3 WAIT_NAMED named barrier 0 count 128\n"
     "named barrier 0: 64 of 128 missing\n"
     "named barrier 1: 32 of 96 missing\n"},
    {"waits-block-sync-in-role",
     "0-3 warps 0-3 WAIT_NAMED named barrier 0 count 256\n"
     "4-7 warps 4-7 WAIT_MBARRIER mbarrier 0x400[0] parity 0\n"
     "mbarrier 0x400[0] at 0x400: phase 0, 128 of 128 missing, 0 bytes\n"
     "named barrier 0: 128 of 256 missing\n"},
    {"waits-cluster-missing",
     "0-1 warps 0-1 WAIT_CLUSTER cluster barrier 0\n"
     "cluster barrier 0: 64 of 128 missing\n"},
    {"waits-lane-split",
     "0 warps 0-1 WAIT_NAMED named barrier 0 count 64\n"
     "1 warps 0-1 WAIT_MBARRIER: 1 lanes WAIT_MBARRIER mbarrier 0x400[0] parity 0: 31 lanes RECONVERGE\n"
     "mbarrier 0x400[0] at 0x400: phase 0, 31 of 31 missing, 0 bytes\n"
     "named barrier 0: 32 of 64 missing\n"},
    /* The barrier that is waited for holds zeros: nothing is said of its phase. */
    {"waits-not-initialised",
     "0 warps 0-1 WAIT_MBARRIER mbarrier 0x408[0] parity 0\n"
     "1 warps 0-1 WAIT_NAMED named barrier 0 count 64\n"
     "mbarrier 0x408[0] at 0x408: phase ?, ? of ? missing\n"
     "named barrier 0: 32 of 64 missing\n"},
    {"waits-two-mbarriers",
     "0 warps 0-1 WAIT_MBARRIER mbarrier 0x400[0] parity 0\n"
     "1 warps 0-1 WAIT_MBARRIER mbarrier 0x400[1] parity 0\n"
     "mbarrier 0x400[0] at 0x400: phase 0, 32 of 32 missing, 0 bytes\n"
     "mbarrier 0x400[1] at 0x408: phase 0, 32 of 32 missing, 0 bytes\n"},
    {"waits-copy-missing",
     "0 producer WAIT_NAMED named barrier 0 count 64\n"
     "1 consumer WAIT_MBARRIER full[0] parity 0\n"
     "full[0] at 0x400: phase 0, 0 of 1 missing, 1024 bytes\n"
     "named barrier 0: 32 of 64 missing\n"},
    /* The dump has no global memory: the value is the one in the register that the load fills. */
    {"waits-global-flag",
     "0-1 warps 0-1 SPIN_GLOBAL global flag 0 at 0x7fdb8fe00000 value 0\n"},
    /* The first of 1024 CTAs that shall all be there counted 132 of them. */
    {"waits-not-resident",
     "0 warps 0-1 SPIN_GLOBAL: 1 lanes SPIN_GLOBAL global flag 0 at 0x7f2b13e00000 value 132: 31 lanes RECONVERGE\n"
     "1 warps 0-1 WAIT_NAMED named barrier 0 count 64\n"
     "named barrier 0: 32 of 64 missing\n"},
    /* Triton's loop around an atomic hands its value on through shared memory and a barrier; the address is the
     * kernel's parameter, loaded again each time round. */
    {"triton-flag",
     "0 warps 0-3 SPIN_GLOBAL global flag 0 at 0x7fdbdbe00000\n"
     "1-3 warps 0-3 WAIT_NAMED named barrier 0 count 128\n"
     "named barrier 0: 32 of 128 missing\n"},
};
/* clang-format on */

static void each_way_to_wait_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s\n", cases[i].dump);
        assert_first_cta(cases[i].dump, cases[i].first_cta);
    }
}

static void a_cluster_counts_the_threads_of_all_its_ctas(void **state)
{
    (void)state;
    struct seen seen = see("waits-cluster-missing");
    assert_int_equal(seen.snapshot.ctas[1].cluster_rank, 1);
    assert_cta(&seen, 1,
               "0-1 warps 0-1 WAIT_MBARRIER mbarrier 0x400[0] parity 0\n"
               "mbarrier 0x400[0] at 0x400: phase 0, 1 of 1 missing, 0 bytes\n");
    forget(&seen);
}

static void a_grid_that_may_start_early_waits_for_the_one_before(void **state)
{
    (void)state;
    struct seen seen = see("waits-grid-dependency");
    assert_int_equal(seen.snapshot.grid_count, 2);
    assert_int_equal(seen.snapshot.warps[0].state, WSDBG_WARP_SPIN_GLOBAL);
    assert_cta(&seen, 1, "0-1 warps 0-1 WAIT_GRID_DEPENDENCY grid dependency 0\n");
    forget(&seen);
}

/* Caught while it ran: arithmetic, copies under way, and a wait whose phase is over already. */
static void work_is_not_waiting(void **state)
{
    (void)state;
    struct seen seen = see("waits-long-work");
    assert_cta(&seen, 0, "0-3 warps 0-3 RUNNING\n4-7 warps 4-7 RUNNING\n");
    forget(&seen);
}

static const struct wsdbg_access_row *access_at(const struct wsdbg_snapshot *snapshot, uint32_t offset)
{
    for (size_t i = 0; i < snapshot->access_count; i++)
        if (snapshot->sites[snapshot->accesses[i].site].offset_bytes.value == offset)
            return &snapshot->accesses[i];
    fail_msg("no access at 0x%x", offset);
    return NULL;
}

static const struct wsdbg_reach *reach_of(const struct wsdbg_snapshot *snapshot, uint32_t warp, uint32_t offset)
{
    const uint32_t access = (uint32_t)(access_at(snapshot, offset) - snapshot->accesses);
    for (size_t i = 0; i < snapshot->reach_count; i++)
        if (snapshot->reaches[i].warp == warp && snapshot->reaches[i].access == access)
            return &snapshot->reaches[i];
    return NULL;
}

/* arrive.expect_tx lies behind the producer's wait; the release of a slot behind the consumers'. */
static void who_can_still_signal_is_told(void **state)
{
    enum { EXPECT = 0x22f0, RELEASE = 0xf60, PRODUCER = 0, EXITED = 1, FORGETS = 4, CONSUMER = 8 };
    (void)state;
    struct seen seen = see("gemm-arrive-missing");
    const struct wsdbg_snapshot *snapshot = &seen.snapshot;
    assert_int_equal(access_at(snapshot, EXPECT)->kind, WSDBG_ACCESS_ARRIVE_EXPECT);
    assert_int_equal(access_at(snapshot, EXPECT)->address.value, 0x38400);
    assert_int_equal(access_at(snapshot, EXPECT)->places, 4);
    assert_int_equal(access_at(snapshot, RELEASE)->kind, WSDBG_ACCESS_ARRIVE);
    assert_int_equal(reach_of(snapshot, PRODUCER, EXPECT)->after, 2);
    assert_int_equal(reach_of(snapshot, PRODUCER, RELEASE)->after, 0);
    assert_int_equal(reach_of(snapshot, CONSUMER, EXPECT)->after, 0);
    assert_int_equal(reach_of(snapshot, CONSUMER, EXPECT)->before_most, 0);
    assert_int_equal(reach_of(snapshot, CONSUMER, RELEASE)->after, 2);
    /* Its elected lane waits.  The other lanes stand behind its loop. */
    assert_int_equal(reach_of(snapshot, PRODUCER, EXPECT)->after_apart, 0);
    /* A condition on the thread index lets only the other consumer reach the release. */
    assert_int_equal(reach_of(snapshot, FORGETS, RELEASE)->after, 0);
    assert_int_equal(reach_of(snapshot, FORGETS, RELEASE)->before_most, 0);
    assert_true(reach_of(snapshot, EXITED, EXPECT)->before_known);
    assert_int_equal(reach_of(snapshot, EXITED, EXPECT)->before_most, 0);
    assert_int_equal(reach_of(snapshot, EXITED, EXPECT)->after, 0);
    forget(&seen);
}

static void assert_executions(const struct seen *seen, uint32_t warp, uint32_t offset, uint32_t times)
{
    const struct wsdbg_reach *reach = reach_of(&seen->snapshot, warp, offset);
    assert_non_null(reach);
    assert_true(reach->before_known);
    assert_int_equal(reach->before_least, times);
    assert_int_equal(reach->before_most, times);
}

/* Each of two syncs may lie behind any warp; which one does is decided by its index. */
static void how_often_a_warp_was_at_a_named_barrier_is_told_by_its_index(void **state)
{
    enum { OF_TWO_WARPS = 80, OF_ALL = 96 };
    (void)state;
    struct seen seen = see("waits-named-count");
    for (uint32_t warp = 0; warp < 4; warp++) {
        assert_executions(&seen, warp, OF_TWO_WARPS, warp < 2);
        assert_executions(&seen, warp, OF_ALL, warp >= 2);
    }
    forget(&seen);
}

/* Five of eight warps reached a sync; one is there, the others have left the kernel. */
static void so_it_is_of_warps_that_have_left(void **state)
{
    (void)state;
    struct seen seen = see("zoo-named-count");
    const struct wsdbg_snapshot *snapshot = &seen.snapshot;
    uint32_t offset = 0;
    for (size_t i = 0; i < snapshot->access_count; i++)
        if (snapshot->accesses[i].kind == WSDBG_ACCESS_NAMED_SYNC && snapshot->accesses[i].grid == 0)
            offset = snapshot->sites[snapshot->accesses[i].site].offset_bytes.value;
    for (uint32_t warp = 0; warp < 8; warp++) {
        assert_int_equal(snapshot->warps[warp].state, warp == 2 ? WSDBG_WARP_WAIT_NAMED : WSDBG_WARP_EXITED);
        assert_executions(&seen, warp, offset, warp < 5);
    }
    forget(&seen);
}

static void what_was_read_is_kept(void **state)
{
    (void)state;
    struct seen seen = see("waits-two-mbarriers");
    size_t general = 0, words = 0;
    for (size_t i = 0; i < seen.snapshot.excerpt_count; i++) {
        const struct wsdbg_excerpt *row = &seen.snapshot.excerpts[i];
        general += row->kind == WSDBG_EXCERPT_REGISTERS;
        if (row->kind != WSDBG_EXCERPT_SHARED)
            continue;
        words++;
        assert_int_equal(row->first, 0x400);
        assert_int_equal(row->words[1], 0x7fff0000);
    }
    assert_int_equal(general, 2);
    assert_int_equal(words, 1);
    forget(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_to_wait_is_seen),
        cmocka_unit_test(a_cluster_counts_the_threads_of_all_its_ctas),
        cmocka_unit_test(a_grid_that_may_start_early_waits_for_the_one_before),
        cmocka_unit_test(work_is_not_waiting),
        cmocka_unit_test(who_can_still_signal_is_told),
        cmocka_unit_test(how_often_a_warp_was_at_a_named_barrier_is_told_by_its_index),
        cmocka_unit_test(so_it_is_of_warps_that_have_left),
        cmocka_unit_test(what_was_read_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
