/* polls_test.c - a warp in a loop that tests several mbarriers in turn and takes up whatever is ready: which of its
 * polls a replay takes up first, and where that ends.
 *
 * The walk of such a warp has its polls in one order, as if each succeeded at once.  A test writes the walks of this
 * warp and of another one, which brings about another order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/repair.h"
#include "ways.h"

/* One family each: what the polls wait for, and what the polling warp tells when a poll is through. */
enum { X = 1, Y, Z, TOLD_X, TOLD_Y, TOLD_Z, FAMILIES = TOLD_Z, STAGES = 3 };
/* Accesses: polls of the loop by three instructions, an arrival in it, a wait behind it, and those of another loop. */
enum { POLL_A, POLL_B, POLL_C, TELL, BEHIND, POLL_ELSEWHERE, TELL_ELSEWHERE, ACCESSES };
enum { POLLER, OTHER, WARPS };

struct kernel {
    struct picture p;
    struct way ways[WARPS];
    struct wsdbg_case c;
    struct wsdbg_replay *replay;
};

static bool is_poll(uint32_t access)
{
    return access <= POLL_C || access == POLL_ELSEWHERE;
}

/* polls: whether the code says that the loops are of this kind. */
static void put_accesses(struct picture *p, bool polls)
{
    for (uint32_t i = 0; i < ACCESSES; i++) {
        const bool waits = is_poll(i) || i == BEHIND;
        picture_access(p, waits ? WSDBG_ACCESS_WAIT : WSDBG_ACCESS_ARRIVE, 0, 0, !waits, WSDBG_LANES_ONE);
        if (polls && i != BEHIND)
            p->snapshot.accesses[i].poll_loop = i < BEHIND ? 1 : 2;
        p->snapshot.accesses[i].is_poll = polls && is_poll(i);
    }
}

static void begin(struct kernel *k, bool polls)
{
    static const char *const names[] = {"x", "y", "z", "told_x", "told_y", "told_z"};
    memset(k, 0, sizeof *k);
    picture_init(&k->p, 1, WARPS, 32);
    for (uint32_t family = X; family <= FAMILIES; family++)
        picture_name(&k->p, family, names[family - X], STAGES, 1, 1);
    for (uint32_t i = 0; i < FAMILIES * STAGES; i++)
        picture_mbarrier(&k->p, X + i / STAGES, i % STAGES, 0, 1, 1, 0);
    picture_object(&k->p, WSDBG_BARRIER_NAMED, 0);
    put_accesses(&k->p, polls);
    for (uint32_t w = 0; w < WARPS; w++) {
        k->ways[w].warp = w;
        for (uint32_t i = 0; i < FAMILIES * STAGES && w == POLLER; i++)
            way_add(&k->ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(X + i / STAGES, i % STAGES), 1);
        way_add(&k->ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
}

static void end(struct kernel *k)
{
    wsdbg_replay_destroy(k->replay);
    wsdbg_case_deinit(&k->c);
    picture_deinit(&k->p);
}

static void run(struct kernel *k)
{
    ways_put(&k->p, k->ways, WARPS);
    k->replay = ways_replay(&k->p, &k->c);
}

/* A poll of a stage of a family by one of the instructions, and what the warp does when it is through. */
static void poll(struct kernel *k, uint32_t access, uint32_t family, uint32_t stage, uint32_t parity)
{
    const uint32_t tell = access == POLL_ELSEWHERE ? TELL_ELSEWHERE : TELL;
    way_add(&k->ways[POLLER], WSDBG_ACCESS_WAIT, MBARRIER_AT(family, stage), parity)->access = access;
    way_add(&k->ways[POLLER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(family + TOLD_X - X, stage), 1)->access = tell;
}

/* The other warp lets the poll through, and waits until it is told so. */
static void serve(struct kernel *k, uint32_t family, uint32_t stage, uint32_t parity)
{
    way_add(&k->ways[OTHER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(family, stage), 1);
    way_add(&k->ways[OTHER], WSDBG_ACCESS_WAIT, MBARRIER_AT(family + TOLD_X - X, stage), parity);
}

/* Whether the kernel finishes in every order of its warps. */
static bool finishes(struct kernel *k)
{
    uint32_t ended = 0;
    run(k);
    for (uint32_t order = 0; order < WSDBG_REPLAY_ORDERS; order++) {
        wsdbg_replay_run(k->replay, order, NULL);
        assert_false(k->replay->is_broken);
        ended += k->replay->has_ended;
    }
    assert_true(ended == 0 || ended == WSDBG_REPLAY_ORDERS);
    end(k);
    return ended > 0;
}

/* ---- which poll is taken up ---- */

/* Waits that are no polls keep the order of the walk. */
static void a_poll_that_is_ready_is_taken_up_before_one_that_is_not(void **state)
{
    (void)state;
    for (int polls = 0; polls < 2; polls++) {
        struct kernel k;
        begin(&k, polls);
        for (uint32_t round = 0; round < 2; round++) {
            poll(&k, POLL_A, X, 0, round);
            poll(&k, POLL_B, Y, 0, round);
            serve(&k, Y, 0, round);
            serve(&k, X, 0, round);
        }
        assert_int_equal(finishes(&k), polls);
    }
}

struct order {
    const char *name;
    uint32_t second, second_family, second_stage; /* the second poll; the first one is POLL_A of X */
    bool finishes;                                /* if the second one is served first */
};

static const struct order orders[] = {
    {"of another instruction and family", POLL_B, Y, 0, true},
    {"of the same instruction", POLL_A, Y, 0, false},
    {"of the same family", POLL_B, X, 1, false},
    {"of another loop", POLL_ELSEWHERE, Y, 0, false},
    {"behind the loop", BEHIND, Y, 0, false},
};

static void polls_of_one_instruction_or_family_keep_their_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const struct order *o = &orders[i];
        struct kernel k;
        print_message("%s\n", o->name);
        begin(&k, true);
        poll(&k, POLL_A, X, 0, 0);
        poll(&k, o->second, o->second_family, o->second_stage, 0);
        serve(&k, o->second_family, o->second_stage, 0);
        serve(&k, X, 0, 0);
        assert_int_equal(finishes(&k), o->finishes);
    }
}

/* Two rounds of Y go ahead of one of X.  The second one must not go ahead of the first. */
static void several_polls_may_go_ahead_one_after_the_other(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        struct kernel k;
        begin(&k, true);
        poll(&k, POLL_A, X, 0, 0);
        poll(&k, POLL_B, Y, 0, 0);
        poll(&k, POLL_B, Y, 1, 0);
        serve(&k, Y, first, 0);
        serve(&k, Y, !first, 0);
        serve(&k, X, 0, 0);
        assert_int_equal(finishes(&k), first == 0);
    }
}

/* Nobody may test in the loop what lies behind something else. */
static void a_poll_behind_another_part_of_the_kernel_is_not_taken_up(void **state)
{
    (void)state;
    for (int leaves = 0; leaves < 2; leaves++) {
        struct kernel k;
        begin(&k, true);
        poll(&k, POLL_A, X, 0, 0);
        if (leaves)
            way_add(&k.ways[POLLER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(Z, 0), 1)->access = TELL_ELSEWHERE;
        poll(&k, POLL_B, Y, 0, 0);
        serve(&k, Y, 0, 0);
        serve(&k, X, 0, 0);
        assert_int_equal(finishes(&k), !leaves);
    }
}

/* ---- how far it goes ahead ---- */

/* Behind Y comes a third poll, or the wait behind the loop.  It lets X through only when that is over. */
static void what_is_taken_up_ends_at_the_next_poll_or_behind_the_loop(void **state)
{
    static const uint32_t next[] = {POLL_C, BEHIND};
    (void)state;
    for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
        struct kernel k;
        begin(&k, true);
        poll(&k, POLL_A, X, 0, 0);
        poll(&k, POLL_B, Y, 0, 0);
        poll(&k, next[i], Z, 0, 0);
        serve(&k, Y, 0, 0);
        serve(&k, X, 0, 0);
        serve(&k, Z, 0, 0);
        assert_true(finishes(&k));
    }
}

/* Behind Y the warp waits for Z before it polls again.  It does not test X meanwhile. */
static void what_is_taken_up_is_done_to_its_end_first(void **state)
{
    (void)state;
    for (uint32_t early = 0; early < 2; early++) {
        struct kernel k;
        begin(&k, true);
        poll(&k, POLL_A, X, 0, 0);
        poll(&k, POLL_B, Y, 0, 0);
        way_add(&k.ways[POLLER], WSDBG_ACCESS_WAIT, MBARRIER_AT(Z, 0), 0)->access = TELL;
        serve(&k, Y, 0, 0);
        if (early)
            way_add(&k.ways[OTHER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(Z, 0), 1);
        serve(&k, X, 0, 0);
        if (!early)
            way_add(&k.ways[OTHER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(Z, 0), 1);
        assert_int_equal(finishes(&k), early);
    }
}

/* ---- a poll that is tested again ---- */

static uint32_t barrier_at(const struct kernel *k, uint32_t family)
{
    return wsdbg_replay_barrier_at(k->replay, 0, MBARRIER_AT(family, 0));
}

/* While the warp tests X, Y is through twice.  That is still one wait for X. */
static void tests_of_one_wait_are_one_wait(void **state)
{
    struct kernel k;
    (void)state;
    begin(&k, true);
    poll(&k, POLL_A, X, 0, 0);
    poll(&k, POLL_B, Y, 0, 0);
    poll(&k, POLL_B, Y, 1, 0);
    poll(&k, POLL_A, X, 0, 1);
    serve(&k, Y, 0, 0);
    serve(&k, Y, 1, 0);
    serve(&k, X, 0, 0);
    serve(&k, X, 0, 1);
    run(&k);
    assert_true(k.replay->has_ended);
    const struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(k.replay, POLLER, barrier_at(&k, X));
    assert_int_equal(waits->passed, 2);
    assert_true(waits->alternates);
    assert_false(wsdbg_replay_has_slipped(k.replay));
    end(&k);
}

/* An arrival that a repair adds comes once, however often a poll is tested, and whatever is taken up ahead: before each
 * step of the loop, and behind the last one. */
static void a_change_is_made_once(void **state)
{
    enum { LOOP_STEPS = 6 };
    (void)state;
    for (uint32_t step = 0; step <= LOOP_STEPS; step++) {
        struct kernel k;
        begin(&k, true);
        poll(&k, POLL_A, X, 0, 0);
        poll(&k, POLL_B, Y, 0, 0);
        poll(&k, POLL_C, Z, 0, 0);
        serve(&k, Y, 0, 0);
        serve(&k, X, 0, 0);
        serve(&k, Z, 0, 0);
        run(&k);
        /* Nobody else arrives there: its phase shows how often the change was made. */
        const uint32_t barrier = wsdbg_replay_barrier_at(k.replay, 0, MBARRIER_AT(TOLD_Z, 1));
        const struct wsdbg_replay_edit edit = {
            .agent = POLLER, .step = k.ways[POLLER].count - LOOP_STEPS + step, .barrier = barrier, .arrivals = 1};
        wsdbg_replay_run(k.replay, WSDBG_REPLAY_FIRST_FIRST,
                         &(struct wsdbg_replay_changes){.edits = &edit, .edit_count = 1});
        assert_true(k.replay->has_ended);
        assert_int_equal(k.replay->barriers[barrier].phase, 1);
        end(&k);
    }
}

/* ---- the picture ---- */

/* Nobody serves the warp.  Whether a picture that shows it at this barrier is that of the replay. */
static bool may_be_seen_at(bool polls, uint32_t family, uint32_t stage, uint32_t parity)
{
    struct kernel k;
    begin(&k, polls);
    poll(&k, POLL_A, X, 0, 0);
    poll(&k, POLL_B, Y, 0, 0);
    poll(&k, POLL_B, Y, 1, 0);
    poll(&k, BEHIND, Z, 0, 0);
    run(&k);
    ways_take_picture(&k.p, k.replay);
    picture_ready(&k.p);
    struct wsdbg_part *part = &k.p.snapshot.parts[0];
    assert_int_equal(part->warp, POLLER);
    part->barrier = k.replay->barriers[wsdbg_replay_barrier_at(k.replay, 0, MBARRIER_AT(family, stage))].row;
    part->parity = wsdbg_known_u32(parity);
    const bool is_picture = wsdbg_replay_is_picture(k.replay);
    end(&k);
    return is_picture;
}

static void a_warp_may_be_seen_at_each_barrier_that_it_polls(void **state)
{
    (void)state;
    assert_true(may_be_seen_at(true, X, 0, 0));
    assert_true(may_be_seen_at(true, Y, 0, 0));
    assert_false(may_be_seen_at(true, Y, 0, 1));
    assert_false(may_be_seen_at(true, Y, 1, 0)); /* it tests this stage when the one before it is through */
    assert_false(may_be_seen_at(true, Z, 0, 0)); /* behind the loop */
    assert_true(may_be_seen_at(false, X, 0, 0));
    assert_false(may_be_seen_at(false, Y, 0, 0));
}

/* ---- a verdict ---- */

enum { ROUNDS = 6, RING = 2, LEFT_OUT = 2 };

/* The warp fills free stages (X is free, Y is filled) and stores what is done (Z is done).  The other one uses a stage,
 * tells that, and leaves out one release. */
static void a_release_that_is_left_out_is_told(void **state)
{
    struct kernel k;
    (void)state;
    begin(&k, true);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(&k.ways[POLLER], WSDBG_ACCESS_WAIT, MBARRIER_AT(X, i % RING), (i / RING & 1) ^ 1)->access = POLL_A;
        way_add(&k.ways[POLLER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(Y, i % RING), 1)->access = TELL;
        way_add(&k.ways[POLLER], WSDBG_ACCESS_WAIT, MBARRIER_AT(Z, i % RING), i / RING & 1)->access = POLL_B;
        way_add(&k.ways[POLLER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TOLD_Z, i % RING), 1)->access = TELL;
        way_add(&k.ways[OTHER], WSDBG_ACCESS_WAIT, MBARRIER_AT(Y, i % RING), i / RING & 1);
        if (i != LEFT_OUT)
            way_add(&k.ways[OTHER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(X, i % RING), 1);
        way_add(&k.ways[OTHER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(Z, i % RING), 1);
    }
    ways_put(&k.p, k.ways, WARPS);
    assert_true(ways_stand(&k.p));
    ways_expect(&k.p, "ARRIVE_MISSING", "Warp 1 went through a round without arriving on \"x\" stage 0");
    picture_deinit(&k.p);
}

/* The warp leaves out to tell that it has stored something, in a part that it takes up ahead: X lags behind Z. */
static void an_arrival_that_the_warp_itself_leaves_out_is_told(void **state)
{
    struct kernel k;
    (void)state;
    begin(&k, true);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(&k.ways[POLLER], WSDBG_ACCESS_WAIT, MBARRIER_AT(X, i % RING), i / RING & 1)->access = POLL_A;
        way_add(&k.ways[POLLER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TOLD_X, i % RING), 1)->access = TELL;
        way_add(&k.ways[POLLER], WSDBG_ACCESS_WAIT, MBARRIER_AT(Z, i % RING), i / RING & 1)->access = POLL_B;
        if (i != LEFT_OUT)
            way_add(&k.ways[POLLER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TOLD_Z, i % RING), 1)->access = TELL;
        serve(&k, Z, i % RING, i / RING & 1);
        serve(&k, X, i % RING, i / RING & 1);
    }
    ways_put(&k.p, k.ways, WARPS);
    assert_true(ways_stand(&k.p));
    ways_expect(&k.p, "ARRIVE_MISSING",
                "No thread arrives on \"told_z\" stage 0 in a round in which warp 0 should. In other rounds one thread "
                "makes the arrival, and warps may take turns. With it the kernel would finish.");
    picture_deinit(&k.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_poll_that_is_ready_is_taken_up_before_one_that_is_not),
        cmocka_unit_test(polls_of_one_instruction_or_family_keep_their_order),
        cmocka_unit_test(several_polls_may_go_ahead_one_after_the_other),
        cmocka_unit_test(a_poll_behind_another_part_of_the_kernel_is_not_taken_up),
        cmocka_unit_test(what_is_taken_up_ends_at_the_next_poll_or_behind_the_loop),
        cmocka_unit_test(what_is_taken_up_is_done_to_its_end_first),
        cmocka_unit_test(tests_of_one_wait_are_one_wait),
        cmocka_unit_test(a_change_is_made_once),
        cmocka_unit_test(a_warp_may_be_seen_at_each_barrier_that_it_polls),
        cmocka_unit_test(a_release_that_is_left_out_is_told),
        cmocka_unit_test(an_arrival_that_the_warp_itself_leaves_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
