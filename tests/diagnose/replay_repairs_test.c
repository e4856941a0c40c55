/* replay_repairs_test.c - changes of the walks in a replay: which changes are possible, which of them are repairs of a
 * hang, and which warps may share the phases of a barrier, so that a change of theirs counts.
 *
 * A test writes the walks of a small kernel that hangs, and names the repairs that are found or must not be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "diagnose/repair_trial.h"
#include "replay_kernel.h"

/* ---- changes ---- */

/* In its second round warp 0 arrives `times` times before it waits for a token.  A change that leaves out the last of
 * these arrivals leaves no token if it was the only one. */
static void a_change_may_not_take_the_token_that_is_waited_for(void **state)
{
    for (uint32_t times = 1; times <= 2; times++) {
        struct kernel k;
        kernel_begin(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_wait_for_token(&k, 0, AT_B);
        for (uint32_t i = 0; i < times; i++)
            kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_wait_for_token(&k, 0, AT_B);
        kernel_run(&k);
        const struct wsdbg_replay_edit edit = {.agent = 0, .step = 2 + times, .barrier = k.replay->agents[0].target[0]};
        const struct wsdbg_replay_changes changes = {.edits = &edit, .edit_count = 1};
        wsdbg_replay_run(k.replay, WSDBG_REPLAY_FIRST_FIRST, &changes);
        assert_int_equal(k.replay->is_broken, times == 1);
        assert_int_equal(k.replay->has_ended, times == 2);
        kernel_end(&k);
    }
    (void)state;
}

/* A repair that is not tried may be the right one. */
static void a_change_of_too_many_steps_is_noted(void **state)
{
    struct wsdbg_repairs repairs = {0};
    struct wsdbg_trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->out = &repairs;
    assert_false(wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.barrier = WSDBG_NONE}));
    for (uint32_t i = 0; i < WSDBG_EDITS_MOST; i++)
        assert_true(wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.step = i}));
    assert_false(repairs.is_partial);
    assert_false(wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.step = WSDBG_EDITS_MOST}));
    assert_true(repairs.is_partial);
    free(t);
    (void)state;
}

/* ---- the cluster barrier ---- */

/* Lane 0 of warp 0 waits for a phase that nobody completes.  Its other lanes come to the cluster barrier. */
static void part_before_the_cluster_barrier(struct kernel *k)
{
    kernel_begin_split(k);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
    for (uint32_t way = 0; way < k->way_count; way++) {
        kernel_add(k, way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        kernel_add(k, way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
    }
    kernel_run(k);
}

/* A warp arrives there as a whole. */
static void lanes_of_a_warp_arrive_at_the_cluster_barrier_together(void **state)
{
    struct kernel k;
    part_before_the_cluster_barrier(&k);
    assert_int_equal(k.replay->agents[0].state, WSDBG_AGENT_WAITS);
    assert_int_equal(k.replay->agents[1].state, WSDBG_AGENT_GATHERS);
    assert_int_equal(k.replay->agents[2].state, WSDBG_AGENT_CLUSTER);
    kernel_end(&k);
    (void)state;
}

/* The simulator shows lanes that have arrived without .aligned as waiting, though others of their warp have not. */
static void lanes_may_wait_at_the_cluster_barrier_before_others_of_their_warp(void **state)
{
    struct kernel k;
    part_before_the_cluster_barrier(&k);
    ways_take_picture(&k.p, k.replay);
    for (size_t i = 0; i < k.p.snapshot.part_count; i++)
        if (k.p.snapshot.parts[i].lanes == (uint32_t)OTHER_LANES)
            k.p.snapshot.parts[i].state = WSDBG_WARP_WAIT_CLUSTER;
    picture_ready(&k.p);
    assert_non_null(wsdbg_replay_standing(&k.c));
    kernel_end(&k);
    (void)state;
}

/* ---- bytes ---- */

enum { ANNOUNCES = 1, COPIES };

/* Warp 0 announces 32 bytes on B and on C, by one instruction or by two, and copies 16.  Warp 1 waits for both. */
static void announce_too_much(struct kernel *k, bool by_one)
{
    kernel_begin(k);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_sync(k);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t address = i == 0 ? AT_B : AT_C;
        way_add(&k->ways[0], WSDBG_ACCESS_ARRIVE_EXPECT, address, 32)->access = by_one ? ANNOUNCES : ANNOUNCES + 8 * i;
        way_add(&k->ways[0], WSDBG_ACCESS_COPY, address, 16)->access = COPIES;
        kernel_add(k, 1, WSDBG_ACCESS_WAIT, address, 0);
    }
}

/* Two mistakes are no cause; one instruction makes one. */
static void bytes_that_one_instruction_announces_are_changed_together(void **state)
{
    for (uint32_t by_one = 0; by_one < 2; by_one++) {
        struct kernel k;
        struct wsdbg_repairs repairs;
        announce_too_much(&k, by_one);
        kernel_run(&k);
        ways_take_picture(&k.p, k.replay);
        picture_ready(&k.p);
        assert_null(wsdbg_repairs_find_copies(k.replay, &repairs));
        assert_int_equal(repairs.count, by_one);
        if (by_one)
            assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_BYTES);
        kernel_end(&k);
    }
    (void)state;
}

/* ---- first parities ---- */

/* Warp 0 waits for the first and the third phase, by token.  Warp 1 then waits with parity 1, for a phase that never
 * completes. */
static void a_first_parity_is_repaired_beside_waits_for_tokens(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    kernel_begin(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    for (uint32_t i = 0; i < 3; i++) {
        kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        if (i != 1)
            kernel_wait_for_token(&k, 0, AT_B);
    }
    kernel_sync(&k);
    kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 1);
    kernel_run(&k);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_FIRST);
    assert_int_equal(repairs.rows[0].value, 0);
    assert_true(wsdbg_set_has(&repairs.rows[0].warps, 1));
    assert_int_equal(wsdbg_set_count(&repairs.rows[0].warps), 1);
    kernel_end(&k);
    (void)state;
}

/* Warp 0 waits once for each of three free stages, which nobody has used: with parity 1, but for the last `wrong` of
 * them.  It also arrives elsewhere, so it does not only wait. */
static void wait_for_free_stages(struct kernel *k, uint32_t wrong)
{
    kernel_begin(k);
    for (uint32_t s = 1; s < 3; s++)
        picture_mbarrier(&k->p, B, s, 0, 1, 1, 0);
    for (uint32_t s = 0; s < 3; s++)
        kernel_add(k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(B, s), 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_add(k, 0, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    for (uint32_t s = 0; s < 3; s++)
        kernel_add(k, 0, WSDBG_ACCESS_WAIT, MBARRIER_AT(B, s), s < 3 - wrong);
}

static void a_first_parity_unlike_those_of_other_stages_is_repaired(void **state)
{
    for (uint32_t wrong = 1; wrong < 3; wrong++) {
        struct kernel k;
        struct wsdbg_repairs repairs;
        wait_for_free_stages(&k, wrong);
        kernel_run(&k);
        assert_false(k.replay->has_ended);
        assert_null(wsdbg_repairs_find(k.replay, &repairs));
        assert_int_equal(repairs.count, wrong == 1); /* one of two is no exception */
        if (wrong == 1) {
            assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_FIRST);
            assert_int_equal(repairs.rows[0].value, 1);
            assert_true(repairs.rows[0].is_exception);
            assert_true(repairs.rows[0].is_to_end);
        }
        kernel_end(&k);
    }
    (void)state;
}

/* Nobody may know what the warp does behind these waits.  The one that is unlike the others needs no other reason. */
static void an_exceptional_first_parity_is_likely_wrong_wherever_the_walk_ends(void **state)
{
    for (uint32_t is_open = 0; is_open < 2; is_open++) {
        struct kernel k;
        wait_for_free_stages(&k, 1);
        k.ways[0].is_open = is_open;
        kernel_run(&k);
        ways_take_picture(&k.p, k.replay);
        ways_expect(&k.p, "PARITY_DRIFT", "Warp 0 begins with parity 0 to wait on \"b\"");
        kernel_end(&k);
    }
    (void)state;
}

/* ---- counts and arrivals ---- */

/* The only phase of B completes, and warp 1 waits for the next one.  With a count of 2 its wait would end, but only
 * because B would never complete a phase. */
static void a_count_with_which_no_phase_completes_is_no_repair(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    kernel_begin(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_sync(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 1);
    kernel_run(&k);
    assert_false(k.replay->has_ended);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_FIRST);
    assert_int_equal(repairs.rows[0].value, 0);
    ways_take_picture(&k.p, k.replay);
    ways_expect(&k.p, "PARITY_WRONG", NULL);
    kernel_end(&k);
    (void)state;
}

/* Warp 0 waits twice at one place, for both parities of B, which takes four arrivals.  Warp 1 makes three; after a sign
 * of warp 0 it makes one and then `more`.  True: other parities at that place are among the repairs. */
static bool repairs_place(uint32_t more)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    bool found = false;
    kernel_begin(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 4);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_sync(&k);
    for (uint32_t parity = 0; parity < 2; parity++) {
        way_add(&k.ways[0], WSDBG_ACCESS_WAIT, AT_B, parity)->access = 100;
        kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    }
    kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 3);
    kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_C, 0);
    kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    if (more)
        kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, more);
    kernel_run(&k);
    assert_false(k.replay->has_ended);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    for (uint32_t i = 0; i < repairs.count; i++)
        found |= repairs.rows[i].kind == WSDBG_REPAIR_PARITY_SITE;
    kernel_end(&k);
    return found;
}

static void a_half_done_phase_lacks_arrivals_and_no_parity(void **state)
{
    (void)state;
    assert_true(repairs_place(0));
    assert_false(repairs_place(1));
    assert_false(repairs_place(3));
}

/* Warp 1 makes both arrivals of stage 0, but a phase takes a third.  It begins with stage 1 and nobody knows how it
 * goes on: the count is still what holds up warp 0, which waits for stage 0. */
static void a_stage_of_which_not_all_arrivals_are_known_speaks_against_no_count(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    kernel_begin(&k);
    picture_mbarrier(&k.p, B, 1, 0, 1, 1, 0);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 3);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(B, 1), 3);
    kernel_sync(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
    kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 2);
    kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(B, 1), 1);
    k.ways[1].is_open = true;
    kernel_run(&k);
    assert_false(k.replay->has_ended);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_COUNT);
    assert_int_equal(repairs.rows[0].value, 2);
    kernel_end(&k);
    (void)state;
}

/* Warp 1 makes one of two arrivals.  How warp 2 goes on is known or not: it may be the one that lacks. */
static void a_count_is_not_lowered_for_arrivals_that_nobody_knows_of(void **state)
{
    for (uint32_t is_open = 0; is_open < 2; is_open++) {
        struct kernel k;
        struct wsdbg_repairs repairs;
        bool lowers = false;
        kernel_begin(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 2);
        kernel_sync(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
        kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        k.ways[2].is_open = is_open;
        const uint32_t arrive = picture_access(&k.p, WSDBG_ACCESS_ARRIVE, AT_B, 1, 1, WSDBG_LANES_ONE);
        picture_reach(&k.p, 2, 2, arrive, 0, UINT8_MAX, 2);
        picture_ready(&k.p);
        kernel_run(&k);
        assert_false(k.replay->has_ended);
        assert_null(wsdbg_repairs_find(k.replay, &repairs));
        for (uint32_t i = 0; i < repairs.count; i++)
            lowers |= repairs.rows[i].kind == WSDBG_REPAIR_COUNT;
        assert_int_equal(lowers, !is_open);
        kernel_end(&k);
    }
    (void)state;
}

/* Warps 0 and 1 answer each other on B and C.  Both barriers have twice the count that they need. */
static void a_count_is_repaired_for_all_that_one_instruction_gave_it_else_for_all_that_have_it(void **state)
{
    enum { ONE = 100, OTHER };
    static const struct {
        const char *name;
        uint32_t access_of_b, access_of_c, count_of_c;
        bool is_of_instruction, is_of_count;
    } rows[] = {
        {"one instruction initialised both", ONE, ONE, 2, true, false},
        {"... with different counts", ONE, ONE, 3, false, false},
        {"two instructions did", ONE, OTHER, 2, false, true},
        {"... with different counts", ONE, OTHER, 3, false, false},
        {"nobody knows which ones did", WSDBG_NONE, WSDBG_NONE, 2, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kernel k;
        struct wsdbg_repairs repairs;
        uint32_t of_instruction = 0, of_count = 0;
        print_message("%s\n", rows[i].name);
        kernel_begin(&k);
        way_add(&k.ways[0], WSDBG_ACCESS_INIT, AT_B, 2)->access = rows[i].access_of_b;
        way_add(&k.ways[0], WSDBG_ACCESS_INIT, AT_C, rows[i].count_of_c)->access = rows[i].access_of_c;
        kernel_sync(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 0);
        kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        kernel_add(&k, 0, WSDBG_ACCESS_WAIT, AT_C, 0);
        kernel_run(&k);
        assert_false(k.replay->has_ended);
        assert_null(wsdbg_repairs_find(k.replay, &repairs));
        for (uint32_t r = 0; r < repairs.count; r++) {
            const bool is_right = repairs.rows[r].kind == WSDBG_REPAIR_COUNT && repairs.rows[r].value == 1;
            of_instruction += is_right && repairs.rows[r].is_of_instruction;
            of_count += is_right && repairs.rows[r].is_of_count;
        }
        assert_int_equal(of_instruction > 0, rows[i].is_of_instruction);
        assert_int_equal(of_count > 0, rows[i].is_of_count);
        kernel_end(&k);
    }
    (void)state;
}

/* Warp 0 releases stage 0 alone before its first wait.  Warp 1 waits for it with the wrong parity. */
static void a_stage_that_alone_is_released_first_is_released_no_more_often(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    kernel_begin(&k);
    picture_mbarrier(&k.p, B, 1, 0, 1, 1, 0);
    for (uint32_t s = 0; s < 2; s++)
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(B, s), 1);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_sync(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_WAIT, AT_C, 0);
    kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(B, 1), 1);
    kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 1);
    kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    kernel_add(&k, 1, WSDBG_ACCESS_WAIT, MBARRIER_AT(B, 1), 0);
    kernel_run(&k);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    assert_true(repairs.count > 0);
    for (uint32_t i = 0; i < repairs.count; i++)
        assert_int_not_equal(repairs.rows[i].kind, WSDBG_REPAIR_BEGIN_LESS);
    kernel_end(&k);
    (void)state;
}

/* ---- phases that warps share ---- */

/* Each phase is waited for by warp 1 or by warp 2, which tell it to C. */
static void share_phases(struct kernel *k, const char *waiters)
{
    for (uint32_t i = 0; waiters[i]; i++) {
        const uint32_t warp = (uint32_t)(waiters[i] - '0');
        kernel_add(k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_add(k, warp, WSDBG_ACCESS_WAIT, AT_B, i & 1);
        kernel_add(k, warp, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        kernel_sync(k);
    }
}

/* Of two phases, each warp knows only one.  In the last row both wait for four phases, whose numbers have the same
 * sum. */
static const char *const shared[] = {"12", "1212", "12211221"};

static void warps_may_share_phases(void **state)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        struct kernel k;
        print_message("%s\n", shared[i]);
        kernel_begin(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
        kernel_sync(&k);
        share_phases(&k, shared[i]);
        kernel_run(&k);
        assert_true(k.replay->has_ended);
        assert_false(wsdbg_replay_has_slipped(k.replay));
        kernel_end(&k);
    }
    (void)state;
}

/* The kernel hangs at its end: warp 0 waits for a second phase of C. */
static void a_repair_lets_warps_share_phases(void **state)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        struct kernel k;
        struct wsdbg_repairs repairs;
        print_message("%s\n", shared[i]);
        kernel_begin(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_C, (uint32_t)strlen(shared[i]));
        kernel_sync(&k);
        share_phases(&k, shared[i]);
        kernel_add(&k, 0, WSDBG_ACCESS_WAIT, AT_C, 1);
        kernel_run(&k);
        assert_false(k.replay->has_ended);
        assert_null(wsdbg_repairs_find(k.replay, &repairs));
        assert_int_equal(repairs.count, 1);
        assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_FIRST);
        assert_true(repairs.rows[0].is_to_end);
        kernel_end(&k);
    }
    (void)state;
}

/* Two warps that wait only once or twice, each time for a phase that is long over: they share nothing. */
static void warps_that_slip_share_no_phases(void **state)
{
    for (uint32_t more = 0; more < 2; more++) {
        const uint32_t phases = 3 + more, waits = 2 + more;
        struct kernel k;
        kernel_begin(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_C, waits);
        for (uint32_t i = 0; i < phases; i++)
            kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_sync(&k);
        for (uint32_t i = 0; i < waits; i++) {
            kernel_add(&k, 1 + i % 2, WSDBG_ACCESS_WAIT, AT_B, (phases & 1) ^ 1);
            kernel_add(&k, 1 + i % 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        }
        kernel_run(&k);
        assert_true(k.replay->has_ended);
        assert_true(wsdbg_replay_has_slipped(k.replay));
        kernel_end(&k);
    }
    (void)state;
}

/* Three phases, of which two end no wait.  Warp 1 waits for the last one, and before the first one for a free slot;
 * warp 2 waits for the last one, too.  These are as many waits as phases, and their numbers have the same sum. */
static void a_wait_that_no_phase_ended_shares_none(void **state)
{
    struct kernel k;
    kernel_begin(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_sync(&k);
    kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 1);
    kernel_sync(&k);
    for (uint32_t i = 0; i < 3; i++)
        kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_sync(&k);
    for (uint32_t w = 1; w < WARPS; w++) {
        kernel_add(&k, w, WSDBG_ACCESS_WAIT, AT_B, 0);
        kernel_add(&k, w, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    }
    kernel_run(&k);
    assert_true(k.replay->has_ended);
    assert_true(wsdbg_replay_has_slipped(k.replay));
    kernel_end(&k);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_may_not_take_the_token_that_is_waited_for),
        cmocka_unit_test(lanes_of_a_warp_arrive_at_the_cluster_barrier_together),
        cmocka_unit_test(lanes_may_wait_at_the_cluster_barrier_before_others_of_their_warp),
        cmocka_unit_test(bytes_that_one_instruction_announces_are_changed_together),
        cmocka_unit_test(a_first_parity_is_repaired_beside_waits_for_tokens),
        cmocka_unit_test(a_first_parity_unlike_those_of_other_stages_is_repaired),
        cmocka_unit_test(a_stage_that_alone_is_released_first_is_released_no_more_often),
        cmocka_unit_test(an_exceptional_first_parity_is_likely_wrong_wherever_the_walk_ends),
        cmocka_unit_test(a_count_with_which_no_phase_completes_is_no_repair),
        cmocka_unit_test(a_half_done_phase_lacks_arrivals_and_no_parity),
        cmocka_unit_test(a_stage_of_which_not_all_arrivals_are_known_speaks_against_no_count),
        cmocka_unit_test(a_count_is_not_lowered_for_arrivals_that_nobody_knows_of),
        cmocka_unit_test(a_count_is_repaired_for_all_that_one_instruction_gave_it_else_for_all_that_have_it),
        cmocka_unit_test(warps_may_share_phases),
        cmocka_unit_test(a_repair_lets_warps_share_phases),
        cmocka_unit_test(warps_that_slip_share_no_phases),
        cmocka_unit_test(a_wait_that_no_phase_ended_shares_none),
        cmocka_unit_test(a_change_of_too_many_steps_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
