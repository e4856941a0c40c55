/* replay_test.c - the model of barriers in which walks are replayed: what holds an agent up, when a run says nothing,
 * and when its end is the picture.  replay_repairs_test.c has what is found with changed walks.
 *
 * A test writes the walks of a small kernel, and says where its threads stand in the end.
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
#include "diagnose/rules.h"
#include "replay_kernel.h"

/* ---- waits ---- */

/* What is not known of a wait is its token, and that can only come from an arrival of the thread. */
static void a_wait_for_what_is_not_known_needs_an_arrival(void **state)
{
    for (uint32_t arrives = 0; arrives < 2; arrives++) {
        struct kernel k;
        kernel_begin(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        if (arrives)
            kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_wait_for_token(&k, 0, AT_B);
        kernel_run(&k);
        assert_int_equal(k.replay->has_ended, arrives);
        assert_int_equal(k.replay->has_lost, !arrives);
        kernel_end(&k);
    }
    (void)state;
}

/* ---- other barriers ---- */

/* Measured on an H100: a thread that arrived and left stands for no other thread. */
static void the_cluster_waits_for_all_who_are_left(void **state)
{
    for (uint32_t stays_away = 0; stays_away < 2; stays_away++) {
        struct kernel k;
        kernel_begin(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        kernel_sync(&k);
        kernel_add(&k, 0, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        kernel_add(&k, 1, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        kernel_add(&k, 1, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
        if (stays_away)
            kernel_add(&k, 2, WSDBG_ACCESS_WAIT, AT_B, 0);
        kernel_run(&k);
        assert_int_equal(k.replay->agents[0].state, WSDBG_AGENT_ENDED);
        assert_int_equal(k.replay->agents[1].state, stays_away ? WSDBG_AGENT_CLUSTER : WSDBG_AGENT_ENDED);
        kernel_end(&k);
    }
    (void)state;
}

static void bytes_are_announced_only_where_a_barrier_is(void **state)
{
    for (uint32_t is_there = 0; is_there < 2; is_there++) {
        struct kernel k;
        kernel_begin(&k);
        if (is_there)
            kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        kernel_add(&k, 0, WSDBG_ACCESS_EXPECT, AT_B, 128);
        kernel_run(&k);
        assert_int_equal(k.replay->is_broken, !is_there);
        kernel_end(&k);
    }
    (void)state;
}

/* The mask of a copy has a bit for each rank below 32. */
static void a_copy_goes_only_to_ranks_of_its_mask(void **state)
{
    static const struct {
        uint32_t rank;
        int64_t bytes;
    } rows[] = {{8, -128}, {9, 0}, {40, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kernel k;
        kernel_begin(&k);
        k.p.snapshot.ctas[0].cluster_rank = rows[i].rank;
        kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        way_add(&k.ways[0], WSDBG_ACCESS_COPY, AT_B, 128)->mask = 1 << 8;
        kernel_run(&k);
        assert_int_equal(k.replay->barriers[0].bytes, rows[i].bytes);
        kernel_end(&k);
    }
    (void)state;
}

/* ---- how a replay ends ---- */

static void a_run_takes_no_more_steps_than_it_may(void **state)
{
    struct kernel k;
    kernel_begin(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_run(&k);
    assert_false(k.replay->is_broken);
    k.replay->steps_left = 2;
    wsdbg_replay_run(k.replay, WSDBG_REPLAY_FIRST_FIRST, NULL);
    assert_true(k.replay->is_broken);
    kernel_end(&k);
    (void)state;
}

/* Two arrivals are needed, and one is made. */
static void hang(struct kernel *k)
{
    kernel_begin(k);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 2);
    kernel_add(k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_sync(k);
    kernel_add(k, 1, WSDBG_ACCESS_WAIT, AT_B, 0);
    kernel_run(k);
    ways_take_picture(&k->p, k->replay);
    picture_ready(&k->p);
}

enum { UNSEEN = 3 };
#define AT_UNSEEN MBARRIER_AT(UNSEEN, 0)

/* Warp 1 arrived on B and left, and B lacks an arrival.  Walks let warp 2 wait for C, but it was seen at another
 * barrier: so nobody knows what else it does. */
static void stop_elsewhere(struct kernel *k)
{
    kernel_begin(k);
    picture_mbarrier(&k->p, UNSEEN, 0, 0, 1, 1, 0);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 2);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_UNSEEN, 1);
    kernel_sync(k);
    kernel_add(k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
    kernel_add(k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_add(k, 2, WSDBG_ACCESS_WAIT, AT_C, 0);
}

static void a_replay_that_never_ends_is_kept_wherever_it_stops(void **state)
{
    struct kernel k;
    stop_elsewhere(&k);
    kernel_run(&k);
    ways_take_picture(&k.p, k.replay);
    picture_stand(&k.p, 2, WSDBG_WARP_WAIT_MBARRIER, 3 /* row of UNSEEN */, 0);
    picture_ready(&k.p);
    assert_null(wsdbg_replay_standing(&k.c));
    assert_non_null(wsdbg_replay_failing(&k.c));
    assert_true(wsdbg_replay_failing(&k.c)->is_unlike);
    assert_int_equal(wsdbg_replay_failing(&k.c)->ended_runs, 0);
    kernel_end(&k);
    (void)state;
}

/* What some walk found at an atomic was guessed.  If only the turns of CTAs at a counter were, the replay is kept. */
static void a_replay_that_rests_on_turns_is_kept(void **state)
{
    for (uint32_t in_turn = 0; in_turn < 2; in_turn++) {
        struct kernel k;
        stop_elsewhere(&k);
        kernel_run(&k);
        ways_take_picture(&k.p, k.replay);
        picture_stand(&k.p, 2, WSDBG_WARP_WAIT_MBARRIER, 3 /* row of UNSEEN */, 0);
        k.p.snapshot.walks[0].is_guessed = true;
        k.p.snapshot.walks[0].is_in_turn = in_turn;
        picture_ready(&k.p);
        assert_null(wsdbg_replay_standing(&k.c));
        assert_int_equal(wsdbg_replay_failing(&k.c) != NULL, in_turn);
        if (in_turn)
            assert_true(wsdbg_replay_failing(&k.c)->is_guessed);
        kernel_end(&k);
    }
    (void)state;
}

static void a_replay_that_stops_elsewhere_shows_nothing_of_who_left(void **state)
{
    struct kernel k;
    stop_elsewhere(&k);
    picture_role(&k.p, 1, "consumer", 0, 0);
    picture_role(&k.p, 2, "producer", 1, 2);
    ways_put(&k.p, k.ways, k.way_count);
    assert_true(ways_stand(&k.p));
    picture_stand(&k.p, 2, WSDBG_WARP_WAIT_MBARRIER, 3 /* row of UNSEEN */, 0);
    assert_false(ways_say(&k.p, "left the kernel"));
    picture_deinit(&k.p);
    (void)state;
}

static void the_replay_that_stands_is_kept_as_it_was(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    hang(&k);
    struct wsdbg_replay *standing = wsdbg_replay_standing(&k.c);
    assert_non_null(standing);
    assert_null(wsdbg_repairs_find(standing, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_COUNT);
    assert_int_equal(repairs.rows[0].was, 2);
    assert_true(repairs.rows[0].is_to_end);
    assert_ptr_equal(wsdbg_replay_standing(&k.c), standing);
    assert_true(wsdbg_replay_is_picture(standing));
    kernel_end(&k);
    (void)state;
}

static void the_word_that_is_waited_on_must_be_known(void **state)
{
    for (uint32_t knows = 0; knows < 2; knows++) {
        struct kernel k;
        hang(&k);
        for (size_t b = 0; b < k.p.snapshot.barrier_count; b++)
            if (k.p.snapshot.barriers[b].id == B)
                k.p.snapshot.barriers[b].pending_arrivals.known = knows;
        assert_int_equal(wsdbg_replay_standing(&k.c) != NULL, knows);
        kernel_end(&k);
    }
    (void)state;
}

/* ---- lanes that wait for others of their warp ---- */

/* Lane 0 waits on B for ever.  The others go on to a wait on C, which the picture shows as waiting for lane 0; before
 * that they make the step `deed` on the barrier `on`.  The word of UNSEEN is not known. */
static void split(struct kernel *k, uint8_t deed, uint32_t on, bool all_gather)
{
    kernel_begin_split(k);
    picture_mbarrier(&k->p, UNSEEN, 0, 0, 64, 64, 0);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 32);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_UNSEEN, 64);
    for (uint32_t i = 0; i < 2; i++)
        kernel_add(k, i, WSDBG_STEP_TOGETHER, 0, 0);
    kernel_add(k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
    if (deed)
        kernel_add(k, 1, deed, on, 1);
    kernel_add(k, 1, WSDBG_ACCESS_WAIT, AT_C, 0);
    kernel_run(k);
    ways_take_picture(&k->p, k->replay);
    for (size_t b = 0; b < k->p.snapshot.barrier_count; b++)
        if (k->p.snapshot.barriers[b].id == UNSEEN)
            k->p.snapshot.barriers[b].pending_arrivals.known = false;
    for (size_t i = all_gather ? 0 : 1; i < k->p.snapshot.part_count; i++)
        k->p.snapshot.parts[i].state = WSDBG_WARP_RECONVERGE;
    picture_ready(&k->p);
}

static void lanes_that_gather_did_nothing_unseen(void **state)
{
    static const struct {
        const char *name;
        uint8_t deed;
        uint32_t on;
        bool all_gather, is_explained;
    } rows[] = {
        {"they did nothing", 0, 0, false, true},
        {"they arrived, and the word shows it", WSDBG_ACCESS_ARRIVE, AT_C, false, true},
        {"they arrived where nothing shows it", WSDBG_ACCESS_ARRIVE, AT_UNSEEN, false, false},
        {"they come to the cluster barrier, where warps arrive as a whole", WSDBG_ACCESS_CLUSTER_ARRIVE, 0, false,
         true},
        {"nobody holds them up", 0, 0, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kernel k;
        print_message("%s\n", rows[i].name);
        split(&k, rows[i].deed, rows[i].on, rows[i].all_gather);
        assert_int_equal(wsdbg_replay_is_picture(k.replay), rows[i].is_explained);
        kernel_end(&k);
    }
    (void)state;
}

/* The lanes of a warp arrive one by one.  The barrier takes one arrival less: the 32nd is the first of the next phase.
 * A changed kernel that does so is no repair. */
static void who_arrives_behind_a_phase_arrives_in_the_next(void **state)
{
    struct kernel k;
    const struct wsdbg_replay_changes changes = {.early_ids = 0};
    kernel_begin(&k);
    k.ways[0].lanes = 0xffffffff;
    kernel_add(&k, 2, WSDBG_ACCESS_INIT, AT_B, 31);
    kernel_sync(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_run(&k);
    assert_true(k.replay->has_ended);
    assert_int_equal(k.replay->barriers[0].phase, 1);
    assert_int_equal(k.replay->barriers[0].pending, 30);
    wsdbg_replay_run(k.replay, WSDBG_REPLAY_FIRST_FIRST, &changes);
    assert_true(k.replay->overflows);
    kernel_end(&k);
    (void)state;
}

/* Warp 1 lets both parts of warp 0 go on twice, the second time as soon as lane 0 has come through its wait.  The other
 * lanes are at that wait, too: they do not come to it only when the second phase is over.  Where lane 0 is the last one
 * at the cluster barrier, it goes on from there before they have their next turn. */
static void lanes_come_through_a_wait_together(void **state)
{
    struct kernel k;
    kernel_begin_split(&k);
    kernel_add(&k, 2, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(&k, 2, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    kernel_sync(&k);
    for (uint32_t i = 0; i < k.way_count; i++) {
        kernel_add(&k, i, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        kernel_add(&k, i, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
    }
    for (uint32_t i = 0; i < 2; i++)
        kernel_add(&k, i, WSDBG_ACCESS_WAIT, AT_C, 0);
    kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_add(&k, 2, WSDBG_ACCESS_WAIT, AT_B, 0);
    kernel_add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    kernel_run(&k);
    for (enum wsdbg_replay_order order = 0; order < WSDBG_REPLAY_ORDERS; order++) {
        wsdbg_replay_run(k.replay, order, NULL);
        assert_true(k.replay->has_ended);
    }
    kernel_end(&k);
    (void)state;
}

/* Lane 0 also does something that its mates do not, so the warp has two walks.  Both meet, and then each arrives and
 * waits for the phase of its own arrival: lane 0 comes first, and the last lane slips into the next phase. */
static void lanes_that_came_together_go_on_in_their_order(void **state)
{
    struct kernel k;
    kernel_begin_split(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 31);
    for (uint32_t i = 0; i < 2; i++) {
        kernel_add(&k, i, WSDBG_STEP_TOGETHER, 0, 0);
        kernel_add(&k, i, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        kernel_wait_for_token(&k, i, AT_B);
    }
    kernel_run(&k);
    assert_int_equal(k.replay->agents[0].state, WSDBG_AGENT_ENDED);
    assert_int_equal(k.replay->agents[1].state, WSDBG_AGENT_WAITS);
    kernel_end(&k);
    (void)state;
}

/* ---- orders that depend on the picture ---- */

/* Warp 0 waits for the first phase of B, and so does warp 2, which then plays a game of many turns with warp 1.  Behind
 * it warp 1 completes the second phase.  Warp 0 was seen to wait still: it came to its wait only then. */
static void who_was_seen_to_wait_may_have_come_late(void **state)
{
    enum { D = 3, TURNS = 20 };
    struct kernel k;
    kernel_begin(&k);
    picture_name(&k.p, D, "d", 1, 0, 0);
    picture_mbarrier(&k.p, D, 0, 0, 1, 1, 0);
    kernel_add(&k, 1, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(&k, 1, WSDBG_ACCESS_INIT, AT_C, 1);
    kernel_add(&k, 1, WSDBG_ACCESS_INIT, MBARRIER_AT(D, 0), 1);
    kernel_sync(&k);
    kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_add(&k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
    kernel_add(&k, 2, WSDBG_ACCESS_WAIT, AT_B, 0);
    for (uint32_t i = 0; i < TURNS; i++) {
        kernel_add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_C, i & 1);
        kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(D, 0), 1);
        kernel_add(&k, 2, WSDBG_ACCESS_WAIT, MBARRIER_AT(D, 0), i & 1);
    }
    kernel_add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    picture_wait(&k.p, 0, 0, WSDBG_WARP_WAIT_MBARRIER, 0, 0);
    picture_exit(&k.p, 1, 2);
    kernel_run(&k);
    picture_ready(&k.p);
    for (enum wsdbg_replay_order order = 0; order < WSDBG_REPLAY_ALL_ORDERS; order++) {
        wsdbg_replay_run(k.replay, order, NULL);
        const bool as_seen = order == WSDBG_REPLAY_AS_SEEN || order == WSDBG_REPLAY_AS_SEEN_LAST;
        assert_int_equal(wsdbg_replay_is_picture(k.replay), as_seen);
        assert_int_equal(k.replay->has_ended, !as_seen);
    }
    assert_non_null(wsdbg_replay_standing(&k.c));
    kernel_end(&k);
    (void)state;
}

/* ---- copies that take their time ---- */

/* Warp 0 copies, arrives, and then arrives once more with the bytes of its copy.  Only if these come late, the first
 * arrival completes a phase: else the second one would be too many.  Warp 1 waits for one more phase than there are. */
static void an_arrival_may_come_between_a_copy_and_its_bytes(void **state)
{
    enum { BYTES = 4096 };
    struct kernel k;
    kernel_begin(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_sync(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_COPY, AT_B, BYTES);
    kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE_EXPECT, AT_B, BYTES);
    for (uint32_t phase = 0; phase < 3; phase++)
        kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, phase & 1);
    picture_wait(&k.p, 1, 1, WSDBG_WARP_WAIT_MBARRIER, 0, 0);
    picture_exit(&k.p, 0, 0);
    picture_exit(&k.p, 2, 2);
    kernel_run(&k);
    picture_ready(&k.p);
    for (enum wsdbg_replay_order order = 0; order < WSDBG_REPLAY_ALL_ORDERS; order++) {
        wsdbg_replay_run(k.replay, order, NULL);
        assert_int_equal(k.replay->is_broken, order < WSDBG_REPLAY_SLOW);
        assert_int_equal(wsdbg_replay_is_picture(k.replay), order >= WSDBG_REPLAY_SLOW);
    }
    assert_non_null(wsdbg_replay_standing(&k.c));
    kernel_end(&k);
    (void)state;
}

/* ---- arrivals from the start to the end ---- */

/* Warp 1 came through a phase of the barrier.  It was then initialised for two arrivals, and none is made. */
static void arrivals_before_a_second_initialisation_do_not_count(void **state)
{
    struct kernel k;
    struct wsdbg_diagnosis diagnosis;
    kernel_begin(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    kernel_sync(&k);
    kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 0);
    kernel_sync(&k);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 2);
    kernel_sync(&k);
    kernel_add(&k, 2, WSDBG_ACCESS_WAIT, AT_B, 0);
    kernel_run(&k);
    ways_take_picture(&k.p, k.replay);
    const uint32_t arrival = picture_access(&k.p, WSDBG_ACCESS_ARRIVE, AT_B, 1, 1, WSDBG_LANES_ONE);
    picture_reach(&k.p, 0, 0, arrival, 1, 1, 0);
    picture_still(&k.p);
    picture_judge(&k.p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        if (strstr(diagnosis.findings[i].sentence, "all threads together make"))
            fail_msg("%s", diagnosis.findings[i].sentence);
    wsdbg_diagnosis_deinit(&diagnosis);
    kernel_end(&k);
    (void)state;
}

/* A warp whose walk is not known to its end has left the kernel.  If it did more with mbarriers than initialise them,
 * it may have done anything behind that. */
static void who_left_before_it_did_anything_holds_up_nobody(void **state)
{
    static const uint8_t deeds[] = {WSDBG_ACCESS_INIT, WSDBG_ACCESS_ARRIVE};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct kernel k;
        kernel_begin(&k);
        kernel_add(&k, 1, WSDBG_ACCESS_INIT, AT_B, 1);
        kernel_add(&k, 1, WSDBG_ACCESS_INIT, AT_C, 1);
        kernel_add(&k, 0, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        kernel_add(&k, 1, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        kernel_add(&k, 2, deeds[i], AT_C, 1);
        k.ways[2].is_open = true;
        k.p.snapshot.warps[2].state = WSDBG_WARP_EXITED;
        kernel_run(&k);
        assert_int_equal(k.replay->has_ended, i == 0);
        assert_int_equal(k.replay->has_lost, i == 1);
        assert_true(k.replay->assumes_idle);
        kernel_end(&k);
    }
}

/* Lane 0 has left the kernel when the others of its warp multiply. */
static void lanes_that_left_do_not_multiply(void **state)
{
    struct kernel k;
    kernel_begin_split(&k);
    kernel_add(&k, 1, WSDBG_ACCESS_WGMMA, 0, 1);
    kernel_add(&k, 1, WSDBG_ACCESS_WGMMA_WAIT, 0, 1);
    kernel_run(&k);
    assert_true(k.replay->has_ended);
    for (uint32_t i = 0; i < k.replay->agent_count; i++)
        assert_int_equal(k.replay->agents[i].at, k.replay->agents[i].step_count);
    kernel_end(&k);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_what_is_not_known_needs_an_arrival),
        cmocka_unit_test(the_cluster_waits_for_all_who_are_left),
        cmocka_unit_test(bytes_are_announced_only_where_a_barrier_is),
        cmocka_unit_test(a_copy_goes_only_to_ranks_of_its_mask),
        cmocka_unit_test(a_run_takes_no_more_steps_than_it_may),
        cmocka_unit_test(a_replay_that_never_ends_is_kept_wherever_it_stops),
        cmocka_unit_test(a_replay_that_rests_on_turns_is_kept),
        cmocka_unit_test(a_replay_that_stops_elsewhere_shows_nothing_of_who_left),
        cmocka_unit_test(the_replay_that_stands_is_kept_as_it_was),
        cmocka_unit_test(the_word_that_is_waited_on_must_be_known),
        cmocka_unit_test(lanes_that_gather_did_nothing_unseen),
        cmocka_unit_test(who_arrives_behind_a_phase_arrives_in_the_next),
        cmocka_unit_test(lanes_that_came_together_go_on_in_their_order),
        cmocka_unit_test(lanes_come_through_a_wait_together),
        cmocka_unit_test(who_was_seen_to_wait_may_have_come_late),
        cmocka_unit_test(an_arrival_may_come_between_a_copy_and_its_bytes),
        cmocka_unit_test(arrivals_before_a_second_initialisation_do_not_count),
        cmocka_unit_test(who_left_before_it_did_anything_holds_up_nobody),
        cmocka_unit_test(lanes_that_left_do_not_multiply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
