/* named_rounds_test.c - a warp that leaves out a named barrier in one of its rounds: it gets an arrival there.
 *
 * A test writes the walks of a small kernel that hangs, and says whether such a round is found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "diagnose/repair.h"
#include "replay_kernel.h"

enum { EMPTY = 4, FULL = 5, TWO_WARPS = 64 };

/* Warp 0 waits for warp 1 at EMPTY and arrives at FULL, or on B, three times.  Warp 1 arrives at EMPTY before it begins
 * and in each round, but for one. */
static void hand_over(struct kernel *k, uint32_t left_out, bool by_mbarrier)
{
    kernel_begin(k);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_sync(k);
    kernel_add(k, 1, WSDBG_ACCESS_NAMED_ARRIVE, EMPTY, TWO_WARPS);
    for (uint32_t round = 0; round < 3; round++) {
        kernel_add(k, 0, WSDBG_ACCESS_NAMED_SYNC, EMPTY, TWO_WARPS);
        if (by_mbarrier) {
            kernel_add(k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
            kernel_add(k, 1, WSDBG_ACCESS_WAIT, AT_B, round & 1);
        } else {
            kernel_add(k, 0, WSDBG_ACCESS_NAMED_ARRIVE, FULL, TWO_WARPS);
            kernel_add(k, 1, WSDBG_ACCESS_NAMED_SYNC, FULL, TWO_WARPS);
        }
        if (round != left_out)
            kernel_add(k, 1, WSDBG_ACCESS_NAMED_ARRIVE, EMPTY, TWO_WARPS);
    }
}

static void a_round_without_a_named_barrier_gets_an_arrival(void **state)
{
    for (uint32_t i = 0; i < 4; i++) {
        struct kernel k;
        struct wsdbg_repairs repairs;
        hand_over(&k, i % 2, i >= 2);
        kernel_run(&k);
        assert_int_equal(k.replay->agents[0].state, WSDBG_AGENT_NAMED);
        assert_null(wsdbg_repairs_find_named_rounds(k.replay, &repairs));
        assert_int_equal(repairs.count, 1);
        assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_NAMED_ROUND);
        assert_int_equal(repairs.rows[0].named, EMPTY);
        assert_true(repairs.rows[0].is_to_end);
        assert_true(wsdbg_set_has(&repairs.rows[0].warps, 1));
        assert_int_equal(wsdbg_set_count(&repairs.rows[0].warps), 1);
        kernel_end(&k);
    }
    (void)state;
}

/* ---- where in its round the arrival is made ---- */

/* Warp 1 meets warp 2 at EMPTY, waits for two stages of B, and then arrives at FULL.  Warp 0 waits there only when the
 * two have met for the next round.  So an arrival before the stages is there would be the second one for this wait. */
static void arrive_behind_two_stages(struct kernel *k, uint32_t left_out)
{
    const uint32_t stages[] = {AT_B, MBARRIER_AT(B, 1)};
    kernel_begin(k);
    picture_mbarrier(&k->p, B, 1, 0, 1, 1, 0);
    for (uint32_t s = 0; s < 2; s++)
        kernel_add(k, 0, WSDBG_ACCESS_INIT, stages[s], 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_sync(k);
    for (uint32_t warp = 1; warp < WARPS; warp++)
        kernel_add(k, warp, WSDBG_ACCESS_NAMED_SYNC, EMPTY, TWO_WARPS);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t s = 0; s < 2; s++) {
            kernel_add(k, 0, WSDBG_ACCESS_ARRIVE, stages[s], 1);
            kernel_add(k, 1, WSDBG_ACCESS_WAIT, stages[s], round & 1);
        }
        if (round != left_out)
            kernel_add(k, 1, WSDBG_ACCESS_NAMED_ARRIVE, FULL, TWO_WARPS);
        if (round < 2) {
            for (uint32_t warp = 1; warp < WARPS; warp++)
                kernel_add(k, warp, WSDBG_ACCESS_NAMED_SYNC, EMPTY, TWO_WARPS);
            kernel_add(k, 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
            kernel_add(k, 0, WSDBG_ACCESS_WAIT, AT_C, round & 1);
        }
        kernel_add(k, 0, WSDBG_ACCESS_NAMED_SYNC, FULL, TWO_WARPS);
    }
}

static void the_arrival_is_made_behind_the_waits_of_other_rounds(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    arrive_behind_two_stages(&k, 1);
    kernel_run(&k);
    assert_int_equal(k.replay->agents[0].state, WSDBG_AGENT_NAMED);
    assert_null(wsdbg_repairs_find_named_rounds(k.replay, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].named, FULL);
    assert_int_equal(k.ways[1].steps[repairs.rows[0].edit.step].kind, WSDBG_ACCESS_NAMED_SYNC);
    kernel_end(&k);
    (void)state;
}

/* ---- whose rounds count ---- */

/* Of warp 1 it is not known how it goes on behind the beginning of its last round.  It may leave out another round. */
static void a_round_that_is_not_known_to_its_end_leaves_nothing_out(void **state)
{
    for (uint32_t left_out = 1; left_out < 3; left_out++) {
        struct kernel k;
        struct wsdbg_repairs repairs;
        hand_over(&k, left_out, false);
        k.ways[1].is_open = true;
        k.ways[1].count -= left_out < 2;
        kernel_add(&k, 0, WSDBG_ACCESS_NAMED_SYNC, EMPTY, TWO_WARPS);
        kernel_run(&k);
        assert_int_equal(k.replay->agents[0].state, WSDBG_AGENT_NAMED);
        assert_null(wsdbg_repairs_find_named_rounds(k.replay, &repairs));
        assert_int_equal(repairs.count, left_out < 2);
        if (left_out < 2)
            assert_int_equal(repairs.rows[0].edit_count, 1);
        kernel_end(&k);
    }
    (void)state;
}

/* Warp 0 waits for B and arrives at FULL, but for the second round.  Its lane 0 counts on C besides. */
static void lanes_that_went_apart_arrive_once_for_their_warp(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    kernel_begin_split(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_sync(&k);
    for (uint32_t round = 0; round < 3; round++) {
        kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        for (uint32_t way = 0; way < 2; way++) {
            kernel_add(&k, way, WSDBG_ACCESS_WAIT, AT_B, round & 1);
            if (round != 1)
                kernel_add(&k, way, WSDBG_ACCESS_NAMED_ARRIVE, FULL, TWO_WARPS);
        }
        kernel_add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_add(&k, 2, WSDBG_ACCESS_NAMED_SYNC, FULL, TWO_WARPS);
    }
    kernel_run(&k);
    assert_null(wsdbg_repairs_find_named_rounds(k.replay, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].edit_count, 1);
    kernel_end(&k);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_without_a_named_barrier_gets_an_arrival),
        cmocka_unit_test(the_arrival_is_made_behind_the_waits_of_other_rounds),
        cmocka_unit_test(a_round_that_is_not_known_to_its_end_leaves_nothing_out),
        cmocka_unit_test(lanes_that_went_apart_arrive_once_for_their_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
