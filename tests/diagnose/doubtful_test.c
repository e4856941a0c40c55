/* doubtful_test.c - repairs that would work and yet are no likely cause, because something else shows that the blamed
 * warp was right.
 *
 * A test writes the walks of a small kernel that hangs, and says which of its repairs are doubtful.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "diagnose/repair.h"
#include "replay_kernel.h"

enum { MEETING = 5, TWO_WARPS = 64 };

/* ---- arrivals beyond a warp's share ---- */

enum { PHASES_OF_C = 4 };

/* Warp 1 waits for the phases of C, which warp 0 completes one by one, and may arrive on B behind each but the second.
 */
static void pass(struct kernel *k, uint32_t count_of_b, bool arrives)
{
    kernel_begin(k);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, count_of_b);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_sync(k);
    for (uint32_t i = 0; i < PHASES_OF_C; i++) {
        kernel_add(k, 0, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        kernel_add(k, 1, WSDBG_ACCESS_WAIT, AT_C, i & 1);
        if (arrives && i != 1)
            kernel_add(k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        if (arrives)
            kernel_add(k, 0, WSDBG_ACCESS_WAIT, AT_B, i & 1);
        for (uint32_t warp = 0; warp < 2 && i + 1 < PHASES_OF_C; warp++)
            kernel_add(k, warp, WSDBG_ACCESS_NAMED_SYNC, MEETING, TWO_WARPS);
    }
}

static void expect_arrivals_added(struct kernel *k, bool beyond_share)
{
    struct wsdbg_repairs repairs;
    kernel_run(k);
    assert_null(wsdbg_repairs_find(k->replay, &repairs));
    assert_true(repairs.count > 0);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_ADD);
    assert_int_equal(repairs.rows[0].edit.agent, 1);
    assert_int_equal(repairs.rows[0].is_doubtful, beyond_share);
    kernel_end(k);
}

static void who_leaves_out_an_arrival_has_not_made_its_share(void **state)
{
    struct kernel k;
    pass(&k, 1, true);
    expect_arrivals_added(&k, false);
    (void)state;
}

/* Behind the last phase of C, warp 1 meets a partner on B that never comes.  Arrivals behind the earlier phases would
 * make up for that. */
static void who_has_arrived_in_each_phase_has_made_its_share(void **state)
{
    struct kernel k;
    pass(&k, PHASES_OF_C, false);
    kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 0);
    expect_arrivals_added(&k, true);
    (void)state;
}

/* ---- parities that are right elsewhere ---- */

enum { FREE_2 = 3, FILLED = 4, WAITS_FREE = 1, WAITS_FILLED };
#define AT_FREE_2 MBARRIER_AT(FREE_2, 0)

/* Warps 1 and 2 each fill a slot when it is free: warp 1 waits for C, warp 2 for FREE_2, by one instruction.  Warp 0
 * empties both, but waits for the second one with the wrong parity. */
static void fill_two_slots(struct kernel *k)
{
    kernel_begin(k);
    picture_name(&k->p, FREE_2, "free 2", 1, 0, 0);
    picture_name(&k->p, FILLED, "filled", 2, 0, 0);
    picture_mbarrier(&k->p, FREE_2, 0, 0, 1, 1, 0);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_FREE_2, 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    for (uint32_t s = 0; s < 2; s++) {
        picture_mbarrier(&k->p, FILLED, s, 0, 1, 1, 0);
        kernel_add(k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(FILLED, s), 1);
    }
    kernel_sync(k);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t s = 0; s < 2; s++) {
            const uint32_t free = s ? AT_FREE_2 : AT_C, filled = MBARRIER_AT(FILLED, s);
            way_add(&k->ways[1 + s], WSDBG_ACCESS_WAIT, free, (i & 1) ^ 1)->access = WAITS_FREE;
            kernel_add(k, 1 + s, WSDBG_ACCESS_ARRIVE, filled, 1);
            way_add(&k->ways[0], WSDBG_ACCESS_WAIT, filled, (i + s) & 1)->access = WAITS_FILLED;
            kernel_add(k, 0, WSDBG_ACCESS_ARRIVE, free, 1);
        }
}

/* Another first parity of warp 2 would make up for that, and is tried first. */
static void a_parity_that_its_instruction_rightly_names_elsewhere_is_doubtful(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    bool doubtful = false, certain = false;
    fill_two_slots(&k);
    kernel_run(&k);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    for (uint32_t i = 0; i < repairs.count; i++) {
        const struct wsdbg_repair *repair = &repairs.rows[i];
        doubtful |= wsdbg_set_has(&repair->warps, 2) && repair->is_doubtful;
        certain |= wsdbg_set_has(&repair->warps, 0) && !repair->is_doubtful;
        assert_false(wsdbg_set_has(&repair->warps, 2) && !repair->is_doubtful);
    }
    assert_true(doubtful && certain);
    ways_take_picture(&k.p, k.replay);
    ways_expect(&k.p, "PARITY_DRIFT", "Warp 0 begins with parity 1");
    kernel_end(&k);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_leaves_out_an_arrival_has_not_made_its_share),
        cmocka_unit_test(who_has_arrived_in_each_phase_has_made_its_share),
        cmocka_unit_test(a_parity_that_its_instruction_rightly_names_elsewhere_is_doubtful),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
