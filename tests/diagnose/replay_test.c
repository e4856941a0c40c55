/* replay_test.c - the model of barriers in which walks are replayed: what holds an agent up, when a run says nothing,
 * and when its end is the picture.
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
#include "ways.h"

enum { B = 1, C = 2, WARPS = 3, LANE_0 = 1, OTHER_LANES = (int)~1u };
#define AT_B MBARRIER_AT(B, 0)
#define AT_C MBARRIER_AT(C, 0)

struct kernel {
    struct picture p;
    struct way ways[2 * WARPS];
    uint32_t way_count;
    struct wsdbg_case c;
    struct wsdbg_replay *replay;
};

/* Warps without a way leave at once. */
static void begin(struct kernel *k)
{
    memset(k, 0, sizeof *k);
    picture_init(&k->p, 1, WARPS, 32);
    picture_name(&k->p, B, "b", 1, 0, 0);
    picture_name(&k->p, C, "c", 1, 0, 0);
    picture_mbarrier(&k->p, B, 0, 0, 1, 1, 0);
    picture_mbarrier(&k->p, C, 0, 0, 1, 1, 0);
    picture_object(&k->p, WSDBG_BARRIER_NAMED, 0);
    for (k->way_count = 0; k->way_count < WARPS; k->way_count++)
        k->ways[k->way_count].warp = k->way_count;
}

static void add(struct kernel *k, uint32_t way, uint8_t kind, uint32_t address, uint32_t number)
{
    way_add(&k->ways[way], kind, address, number);
}

/* All warps meet. */
static void sync(struct kernel *k)
{
    for (uint32_t i = 0; i < k->way_count; i++)
        add(k, i, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
}

static void wait_for_token(struct kernel *k, uint32_t way, uint32_t address)
{
    way_add(&k->ways[way], WSDBG_ACCESS_WAIT, address, 0)->number_known = false;
}

static void run(struct kernel *k)
{
    ways_put(&k->p, k->ways, k->way_count);
    k->replay = ways_replay(&k->p, &k->c);
}

static void end(struct kernel *k)
{
    wsdbg_replay_destroy(k->replay);
    wsdbg_case_deinit(&k->c);
    picture_deinit(&k->p);
}

/* ---- waits ---- */

/* What is not known of a wait is its token, and that can only come from an arrival of the thread. */
static void a_wait_for_what_is_not_known_needs_an_arrival(void **state)
{
    for (uint32_t arrives = 0; arrives < 2; arrives++) {
        struct kernel k;
        begin(&k);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        if (arrives)
            add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        wait_for_token(&k, 0, AT_B);
        run(&k);
        assert_int_equal(k.replay->has_ended, arrives);
        assert_int_equal(k.replay->has_lost, !arrives);
        end(&k);
    }
    (void)state;
}

/* In its second round warp 0 arrives `times` times before it waits for a token.  A change that leaves out the last of
 * these arrivals leaves no token if it was the only one. */
static void a_change_may_not_take_the_token_that_is_waited_for(void **state)
{
    for (uint32_t times = 1; times <= 2; times++) {
        struct kernel k;
        begin(&k);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        wait_for_token(&k, 0, AT_B);
        for (uint32_t i = 0; i < times; i++)
            add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        wait_for_token(&k, 0, AT_B);
        run(&k);
        const struct wsdbg_replay_edit edit = {.agent = 0, .step = 2 + times, .barrier = k.replay->agents[0].target[0]};
        const struct wsdbg_replay_changes changes = {.edits = &edit, .edit_count = 1};
        wsdbg_replay_run(k.replay, WSDBG_REPLAY_FIRST_FIRST, &changes);
        assert_int_equal(k.replay->is_broken, times == 1);
        assert_int_equal(k.replay->has_ended, times == 2);
        end(&k);
    }
    (void)state;
}

/* Warp 0 waits for the first and the third phase, by token.  Warp 1 then waits with parity 1, for a phase that never
 * completes. */
static void a_first_parity_is_repaired_beside_waits_for_tokens(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    begin(&k);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    for (uint32_t i = 0; i < 3; i++) {
        add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        if (i != 1)
            wait_for_token(&k, 0, AT_B);
    }
    sync(&k);
    add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 1);
    run(&k);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_FIRST);
    assert_int_equal(repairs.rows[0].value, 0);
    assert_true(wsdbg_set_has(&repairs.rows[0].warps, 1));
    assert_int_equal(wsdbg_set_count(&repairs.rows[0].warps), 1);
    end(&k);
    (void)state;
}

/* Warp 0 waits once for each of three free stages, which nobody has used: with parity 1, but for the last `wrong` of
 * them.  It also arrives elsewhere, so it does not only wait. */
static void wait_for_free_stages(struct kernel *k, uint32_t wrong)
{
    begin(k);
    for (uint32_t s = 1; s < 3; s++)
        picture_mbarrier(&k->p, B, s, 0, 1, 1, 0);
    for (uint32_t s = 0; s < 3; s++)
        add(k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(B, s), 1);
    add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    add(k, 0, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    for (uint32_t s = 0; s < 3; s++)
        add(k, 0, WSDBG_ACCESS_WAIT, MBARRIER_AT(B, s), s < 3 - wrong);
}

static void a_first_parity_unlike_those_of_other_stages_is_repaired(void **state)
{
    for (uint32_t wrong = 1; wrong < 3; wrong++) {
        struct kernel k;
        struct wsdbg_repairs repairs;
        wait_for_free_stages(&k, wrong);
        run(&k);
        assert_false(k.replay->has_ended);
        assert_null(wsdbg_repairs_find(k.replay, &repairs));
        assert_int_equal(repairs.count, wrong == 1); /* one of two is no exception */
        if (wrong == 1) {
            assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_FIRST);
            assert_int_equal(repairs.rows[0].value, 1);
            assert_true(repairs.rows[0].is_exception);
            assert_true(repairs.rows[0].is_to_end);
        }
        end(&k);
    }
    (void)state;
}

/* Nobody knows what the warp does behind these waits.  The one that is unlike the others needs no other reason. */
/* Warp 0 releases stage 0 alone before its first wait.  Warp 1 waits for it with the wrong parity. */
static void a_stage_that_alone_is_released_first_is_released_no_more_often(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    begin(&k);
    picture_mbarrier(&k.p, B, 1, 0, 1, 1, 0);
    for (uint32_t s = 0; s < 2; s++)
        add(&k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(B, s), 1);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    sync(&k);
    add(&k, 0, WSDBG_ACCESS_WAIT, AT_C, 0);
    add(&k, 0, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(B, 1), 1);
    add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 1);
    add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    add(&k, 1, WSDBG_ACCESS_WAIT, MBARRIER_AT(B, 1), 0);
    run(&k);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    assert_true(repairs.count > 0);
    for (uint32_t i = 0; i < repairs.count; i++)
        assert_int_not_equal(repairs.rows[i].kind, WSDBG_REPAIR_BEGIN_LESS);
    end(&k);
    (void)state;
}

static void an_exceptional_first_parity_is_likely_wrong_wherever_the_walk_ends(void **state)
{
    for (uint32_t is_open = 0; is_open < 2; is_open++) {
        struct kernel k;
        wait_for_free_stages(&k, 1);
        k.ways[0].is_open = is_open;
        run(&k);
        ways_take_picture(&k.p, k.replay);
        ways_expect(&k.p, "PARITY_DRIFT", "Warp 0 begins with parity 0 to wait on \"b\"");
        end(&k);
    }
    (void)state;
}

/* The only phase of B completes, and warp 1 waits for the next one.  With a count of 2 its wait would end, but only
 * because B would never complete a phase. */
static void a_count_with_which_no_phase_completes_is_no_repair(void **state)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    begin(&k);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    sync(&k);
    add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 1);
    run(&k);
    assert_false(k.replay->has_ended);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_FIRST);
    assert_int_equal(repairs.rows[0].value, 0);
    ways_take_picture(&k.p, k.replay);
    ways_expect(&k.p, "PARITY_WRONG", NULL);
    end(&k);
    (void)state;
}

/* Warp 0 waits twice at one place, for both parities of B, which takes four arrivals.  Warp 1 makes three; after a sign
 * of warp 0 it makes one and then `more`.  True: other parities at that place are among the repairs. */
static bool repairs_place(uint32_t more)
{
    struct kernel k;
    struct wsdbg_repairs repairs;
    bool found = false;
    begin(&k);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 4);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    sync(&k);
    for (uint32_t parity = 0; parity < 2; parity++) {
        way_add(&k.ways[0], WSDBG_ACCESS_WAIT, AT_B, parity)->access = 100;
        add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    }
    add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 3);
    add(&k, 1, WSDBG_ACCESS_WAIT, AT_C, 0);
    add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    if (more)
        add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, more);
    run(&k);
    assert_false(k.replay->has_ended);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    for (uint32_t i = 0; i < repairs.count; i++)
        found |= repairs.rows[i].kind == WSDBG_REPAIR_PARITY_SITE;
    end(&k);
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
    begin(&k);
    picture_mbarrier(&k.p, B, 1, 0, 1, 1, 0);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 3);
    add(&k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(B, 1), 3);
    sync(&k);
    add(&k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
    add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 2);
    add(&k, 1, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(B, 1), 1);
    k.ways[1].is_open = true;
    run(&k);
    assert_false(k.replay->has_ended);
    assert_null(wsdbg_repairs_find(k.replay, &repairs));
    assert_int_equal(repairs.count, 1);
    assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_COUNT);
    assert_int_equal(repairs.rows[0].value, 2);
    end(&k);
    (void)state;
}

/* Each phase is waited for by warp 1 or by warp 2, which tell it to C. */
static void share_phases(struct kernel *k, const char *waiters)
{
    for (uint32_t i = 0; waiters[i]; i++) {
        const uint32_t warp = (uint32_t)(waiters[i] - '0');
        add(k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        add(k, warp, WSDBG_ACCESS_WAIT, AT_B, i & 1);
        add(k, warp, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        sync(k);
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
        begin(&k);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
        sync(&k);
        share_phases(&k, shared[i]);
        run(&k);
        assert_true(k.replay->has_ended);
        assert_false(wsdbg_replay_has_slipped(k.replay));
        end(&k);
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
        begin(&k);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_C, (uint32_t)strlen(shared[i]));
        sync(&k);
        share_phases(&k, shared[i]);
        add(&k, 0, WSDBG_ACCESS_WAIT, AT_C, 1);
        run(&k);
        assert_false(k.replay->has_ended);
        assert_null(wsdbg_repairs_find(k.replay, &repairs));
        assert_int_equal(repairs.count, 1);
        assert_int_equal(repairs.rows[0].kind, WSDBG_REPAIR_PARITY_FIRST);
        assert_true(repairs.rows[0].is_to_end);
        end(&k);
    }
    (void)state;
}

/* Two warps that wait only once or twice, each time for a phase that is long over: they share nothing. */
static void warps_that_slip_share_no_phases(void **state)
{
    for (uint32_t more = 0; more < 2; more++) {
        const uint32_t phases = 3 + more, waits = 2 + more;
        struct kernel k;
        begin(&k);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_C, waits);
        for (uint32_t i = 0; i < phases; i++)
            add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        sync(&k);
        for (uint32_t i = 0; i < waits; i++) {
            add(&k, 1 + i % 2, WSDBG_ACCESS_WAIT, AT_B, (phases & 1) ^ 1);
            add(&k, 1 + i % 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        }
        run(&k);
        assert_true(k.replay->has_ended);
        assert_true(wsdbg_replay_has_slipped(k.replay));
        end(&k);
    }
    (void)state;
}

/* Three phases, of which two end no wait.  Warp 1 waits for the last one, and before the first one for a free slot;
 * warp 2 waits for the last one, too.  These are as many waits as phases, and their numbers have the same sum. */
static void a_wait_that_no_phase_ended_shares_none(void **state)
{
    struct kernel k;
    begin(&k);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    sync(&k);
    add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 1);
    sync(&k);
    for (uint32_t i = 0; i < 3; i++)
        add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    sync(&k);
    for (uint32_t w = 1; w < WARPS; w++) {
        add(&k, w, WSDBG_ACCESS_WAIT, AT_B, 0);
        add(&k, w, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    }
    run(&k);
    assert_true(k.replay->has_ended);
    assert_true(wsdbg_replay_has_slipped(k.replay));
    end(&k);
    (void)state;
}

/* ---- other barriers ---- */

/* Measured on an H100: a thread that arrived and left stands for no other thread. */
static void the_cluster_waits_for_all_who_are_left(void **state)
{
    for (uint32_t stays_away = 0; stays_away < 2; stays_away++) {
        struct kernel k;
        begin(&k);
        add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        sync(&k);
        add(&k, 0, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        add(&k, 1, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        add(&k, 1, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
        if (stays_away)
            add(&k, 2, WSDBG_ACCESS_WAIT, AT_B, 0);
        run(&k);
        assert_int_equal(k.replay->agents[0].state, WSDBG_AGENT_ENDED);
        assert_int_equal(k.replay->agents[1].state, stays_away ? WSDBG_AGENT_CLUSTER : WSDBG_AGENT_ENDED);
        end(&k);
    }
    (void)state;
}

static void bytes_are_announced_only_where_a_barrier_is(void **state)
{
    for (uint32_t is_there = 0; is_there < 2; is_there++) {
        struct kernel k;
        begin(&k);
        if (is_there)
            add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        add(&k, 0, WSDBG_ACCESS_EXPECT, AT_B, 128);
        run(&k);
        assert_int_equal(k.replay->is_broken, !is_there);
        end(&k);
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
        begin(&k);
        k.p.snapshot.ctas[0].cluster_rank = rows[i].rank;
        add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
        way_add(&k.ways[0], WSDBG_ACCESS_COPY, AT_B, 128)->mask = 1 << 8;
        run(&k);
        assert_int_equal(k.replay->barriers[0].bytes, rows[i].bytes);
        end(&k);
    }
    (void)state;
}

/* ---- how a replay ends ---- */

static void a_run_takes_no_more_steps_than_it_may(void **state)
{
    struct kernel k;
    begin(&k);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    run(&k);
    assert_false(k.replay->is_broken);
    k.replay->steps_left = 2;
    wsdbg_replay_run(k.replay, WSDBG_REPLAY_FIRST_FIRST, NULL);
    assert_true(k.replay->is_broken);
    end(&k);
    (void)state;
}

/* Two arrivals are needed, and one is made. */
static void hang(struct kernel *k)
{
    begin(k);
    add(k, 0, WSDBG_ACCESS_INIT, AT_B, 2);
    add(k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    sync(k);
    add(k, 1, WSDBG_ACCESS_WAIT, AT_B, 0);
    run(k);
    ways_take_picture(&k->p, k->replay);
    picture_ready(&k->p);
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
    end(&k);
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
        end(&k);
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

/* ---- lanes that wait for others of their warp ---- */

/* Lane 0 waits on B for ever.  The others go on to a wait on C, which the picture shows as waiting for lane 0; before
 * that they do what `deed` says. */
static void split(struct kernel *k, uint8_t deed, bool all_gather)
{
    begin(k);
    k->ways[0].lanes = LANE_0;
    k->ways[1] = (struct way){.warp = 0, .lanes = (uint32_t)OTHER_LANES};
    k->ways[2].warp = 1;
    k->ways[3].warp = 2;
    k->way_count = 4;
    add(k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    add(k, 0, WSDBG_ACCESS_INIT, AT_C, 32);
    for (uint32_t i = 0; i < 2; i++)
        add(k, i, WSDBG_STEP_TOGETHER, 0, 0);
    add(k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
    if (deed)
        add(k, 1, deed, AT_C, 1);
    add(k, 1, WSDBG_ACCESS_WAIT, AT_C, 0);
    run(k);
    ways_take_picture(&k->p, k->replay);
    for (size_t i = all_gather ? 0 : 1; i < k->p.snapshot.part_count; i++)
        k->p.snapshot.parts[i].state = WSDBG_WARP_RECONVERGE;
    picture_ready(&k->p);
}

static void lanes_that_gather_did_nothing_unseen(void **state)
{
    static const struct {
        const char *name;
        uint8_t deed;
        bool all_gather, is_explained;
    } rows[] = {
        {"they did nothing", 0, false, true},
        {"they arrived, and the word shows it", WSDBG_ACCESS_ARRIVE, false, true},
        {"they arrived where nothing shows it", WSDBG_ACCESS_CLUSTER_ARRIVE, false, false},
        {"nobody holds them up", 0, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kernel k;
        print_message("%s\n", rows[i].name);
        split(&k, rows[i].deed, rows[i].all_gather);
        assert_int_equal(wsdbg_replay_is_picture(k.replay), rows[i].is_explained);
        end(&k);
    }
    (void)state;
}

/* The lanes of a warp arrive one by one.  The barrier takes one arrival less: the 32nd is the first of the next phase.
 * A changed kernel that does so is no repair. */
static void who_arrives_behind_a_phase_arrives_in_the_next(void **state)
{
    struct kernel k;
    const struct wsdbg_replay_changes changes = {.early_id = 0};
    begin(&k);
    k.ways[0].lanes = 0xffffffff;
    add(&k, 2, WSDBG_ACCESS_INIT, AT_B, 31);
    sync(&k);
    add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    run(&k);
    assert_true(k.replay->has_ended);
    assert_int_equal(k.replay->barriers[0].phase, 1);
    assert_int_equal(k.replay->barriers[0].pending, 30);
    wsdbg_replay_run(k.replay, WSDBG_REPLAY_FIRST_FIRST, &changes);
    assert_true(k.replay->overflows);
    end(&k);
    (void)state;
}

/* Warp 1 lets both parts of warp 0 go on twice, the second time as soon as lane 0 has come through its wait.  The other
 * lanes are at that wait, too: they do not come to it only when the second phase is over. */
static void lanes_come_through_a_wait_together(void **state)
{
    struct kernel k;
    begin(&k);
    k.ways[0].lanes = LANE_0;
    k.ways[1] = (struct way){.warp = 0, .lanes = (uint32_t)OTHER_LANES};
    k.ways[2].warp = 1;
    k.ways[3].warp = 2;
    k.way_count = 4;
    add(&k, 2, WSDBG_ACCESS_INIT, AT_B, 1);
    add(&k, 2, WSDBG_ACCESS_INIT, AT_C, 1);
    add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    sync(&k);
    for (uint32_t i = 0; i < 2; i++)
        add(&k, i, WSDBG_ACCESS_WAIT, AT_C, 0);
    add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    add(&k, 2, WSDBG_ACCESS_WAIT, AT_B, 0);
    add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
    run(&k);
    for (enum wsdbg_replay_order order = 0; order < WSDBG_REPLAY_ORDERS; order++) {
        wsdbg_replay_run(k.replay, order, NULL);
        assert_true(k.replay->has_ended);
    }
    end(&k);
    (void)state;
}

/* Lane 0 also does something that its mates do not, so the warp has two walks.  Both meet, and then each arrives and
 * waits for the phase of its own arrival: lane 0 comes first, and the last lane slips into the next phase. */
static void lanes_that_came_together_go_on_in_their_order(void **state)
{
    struct kernel k;
    begin(&k);
    k.way_count = WARPS + 1;
    for (uint32_t i = 1; i < k.way_count; i++)
        k.ways[i].warp = i - 1;
    k.ways[1].lanes = (uint32_t)OTHER_LANES;
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 31);
    for (uint32_t i = 0; i < 2; i++) {
        add(&k, i, WSDBG_STEP_TOGETHER, 0, 0);
        add(&k, i, WSDBG_ACCESS_ARRIVE, AT_B, 1);
        wait_for_token(&k, i, AT_B);
    }
    run(&k);
    assert_int_equal(k.replay->agents[0].state, WSDBG_AGENT_ENDED);
    assert_int_equal(k.replay->agents[1].state, WSDBG_AGENT_WAITS);
    end(&k);
    (void)state;
}

/* ---- orders that depend on the picture ---- */

/* Warp 0 waits for the first phase of B, and so does warp 2, which then plays a game of many turns with warp 1.  Behind
 * it warp 1 completes the second phase.  Warp 0 was seen to wait still: it came to its wait only then. */
static void who_was_seen_to_wait_may_have_come_late(void **state)
{
    enum { D = 3, TURNS = 20 };
    struct kernel k;
    begin(&k);
    picture_name(&k.p, D, "d", 1, 0, 0);
    picture_mbarrier(&k.p, D, 0, 0, 1, 1, 0);
    add(&k, 1, WSDBG_ACCESS_INIT, AT_B, 1);
    add(&k, 1, WSDBG_ACCESS_INIT, AT_C, 1);
    add(&k, 1, WSDBG_ACCESS_INIT, MBARRIER_AT(D, 0), 1);
    sync(&k);
    add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    add(&k, 0, WSDBG_ACCESS_WAIT, AT_B, 0);
    add(&k, 2, WSDBG_ACCESS_WAIT, AT_B, 0);
    for (uint32_t i = 0; i < TURNS; i++) {
        add(&k, 2, WSDBG_ACCESS_ARRIVE, AT_C, 1);
        add(&k, 1, WSDBG_ACCESS_WAIT, AT_C, i & 1);
        add(&k, 1, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(D, 0), 1);
        add(&k, 2, WSDBG_ACCESS_WAIT, MBARRIER_AT(D, 0), i & 1);
    }
    add(&k, 1, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    picture_wait(&k.p, 0, 0, WSDBG_WARP_WAIT_MBARRIER, 0, 0);
    picture_exit(&k.p, 1, 2);
    run(&k);
    picture_ready(&k.p);
    for (enum wsdbg_replay_order order = 0; order < WSDBG_REPLAY_ALL_ORDERS; order++) {
        wsdbg_replay_run(k.replay, order, NULL);
        assert_int_equal(wsdbg_replay_is_picture(k.replay), order >= WSDBG_REPLAY_AS_SEEN);
        assert_int_equal(k.replay->has_ended, order < WSDBG_REPLAY_AS_SEEN);
    }
    assert_non_null(wsdbg_replay_standing(&k.c));
    end(&k);
    (void)state;
}

/* ---- arrivals from the start to the end ---- */

/* Warp 1 came through a phase of the barrier.  It was then initialised for two arrivals, and none is made. */
static void arrivals_before_a_second_initialisation_do_not_count(void **state)
{
    struct kernel k;
    struct wsdbg_diagnosis diagnosis;
    begin(&k);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    add(&k, 0, WSDBG_ACCESS_ARRIVE, AT_B, 1);
    sync(&k);
    add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, 0);
    sync(&k);
    add(&k, 0, WSDBG_ACCESS_INIT, AT_B, 2);
    sync(&k);
    add(&k, 2, WSDBG_ACCESS_WAIT, AT_B, 0);
    run(&k);
    ways_take_picture(&k.p, k.replay);
    const uint32_t arrival = picture_access(&k.p, WSDBG_ACCESS_ARRIVE, AT_B, 1, 1, WSDBG_LANES_ONE);
    picture_reach(&k.p, 0, 0, arrival, 1, 1, 0);
    picture_still(&k.p);
    picture_judge(&k.p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        if (strstr(diagnosis.findings[i].sentence, "all threads together make"))
            fail_msg("%s", diagnosis.findings[i].sentence);
    wsdbg_diagnosis_deinit(&diagnosis);
    end(&k);
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
        begin(&k);
        add(&k, 1, WSDBG_ACCESS_INIT, AT_B, 1);
        add(&k, 1, WSDBG_ACCESS_INIT, AT_C, 1);
        add(&k, 0, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        add(&k, 1, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        add(&k, 2, deeds[i], AT_C, 1);
        k.ways[2].is_open = true;
        k.p.snapshot.warps[2].state = WSDBG_WARP_EXITED;
        run(&k);
        assert_int_equal(k.replay->has_ended, i == 0);
        assert_int_equal(k.replay->has_lost, i == 1);
        assert_true(k.replay->assumes_idle);
        end(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_what_is_not_known_needs_an_arrival),
        cmocka_unit_test(a_change_may_not_take_the_token_that_is_waited_for),
        cmocka_unit_test(a_first_parity_is_repaired_beside_waits_for_tokens),
        cmocka_unit_test(a_first_parity_unlike_those_of_other_stages_is_repaired),
        cmocka_unit_test(a_stage_that_alone_is_released_first_is_released_no_more_often),
        cmocka_unit_test(an_exceptional_first_parity_is_likely_wrong_wherever_the_walk_ends),
        cmocka_unit_test(a_count_with_which_no_phase_completes_is_no_repair),
        cmocka_unit_test(a_half_done_phase_lacks_arrivals_and_no_parity),
        cmocka_unit_test(a_stage_of_which_not_all_arrivals_are_known_speaks_against_no_count),
        cmocka_unit_test(warps_may_share_phases),
        cmocka_unit_test(a_repair_lets_warps_share_phases),
        cmocka_unit_test(warps_that_slip_share_no_phases),
        cmocka_unit_test(a_wait_that_no_phase_ended_shares_none),
        cmocka_unit_test(the_cluster_waits_for_all_who_are_left),
        cmocka_unit_test(bytes_are_announced_only_where_a_barrier_is),
        cmocka_unit_test(a_copy_goes_only_to_ranks_of_its_mask),
        cmocka_unit_test(a_run_takes_no_more_steps_than_it_may),
        cmocka_unit_test(the_replay_that_stands_is_kept_as_it_was),
        cmocka_unit_test(the_word_that_is_waited_on_must_be_known),
        cmocka_unit_test(a_change_of_too_many_steps_is_noted),
        cmocka_unit_test(lanes_that_gather_did_nothing_unseen),
        cmocka_unit_test(who_arrives_behind_a_phase_arrives_in_the_next),
        cmocka_unit_test(lanes_that_came_together_go_on_in_their_order),
        cmocka_unit_test(lanes_come_through_a_wait_together),
        cmocka_unit_test(who_was_seen_to_wait_may_have_come_late),
        cmocka_unit_test(arrivals_before_a_second_initialisation_do_not_count),
        cmocka_unit_test(who_left_before_it_did_anything_holds_up_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
