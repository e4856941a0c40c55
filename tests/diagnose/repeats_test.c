/* repeats_test.c - a thread may wait twice for one phase of a barrier: which waits are such repeats.
 *
 * A test writes the walks of a warpgroup.  Walks with the same waits may show of each other what the waits are for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, TILE, STAGES = 2, WARPS = 4, TEXT = 32 };

static struct way ways[WARPS];

static void begin(void)
{
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w};
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
    }
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(TILE, 0), 1);
}

static void wait_for(uint32_t warp, uint32_t ring, uint32_t stage, uint32_t parity)
{
    way_add(&ways[warp], WSDBG_ACCESS_WAIT, MBARRIER_AT(ring, stage), parity & 1);
}

static void arrive(uint32_t warp, uint32_t ring, uint32_t stage)
{
    way_add(&ways[warp], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(ring, stage), 1);
}

static void put_barriers(struct picture *p)
{
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    picture_mbarrier(p, TILE, 0, 0, 1, 1, 0);
}

/* By wait of the warp: '1' if it repeats the one before it on the barrier, else '0'. */
static void expect(uint32_t warp, const char *repeats)
{
    struct picture p;
    struct wsdbg_case c;
    char text[TEXT] = "";
    picture_init(&p, 1, WARPS, 32);
    put_barriers(&p);
    ways_put(&p, ways, WARPS);
    struct wsdbg_replay *replay = ways_replay(&p, &c);
    const struct wsdbg_replay_agent *agent = &replay->agents[warp];
    for (uint32_t i = 0, count = 0; i < agent->step_count; i++)
        if (agent->steps[i].kind == WSDBG_ACCESS_WAIT && count + 1 < TEXT)
            text[count++] = agent->repeats[i] ? '1' : '0';
    assert_string_equal(text, repeats);
    wsdbg_replay_destroy(replay);
    wsdbg_case_deinit(&c);
    picture_deinit(&p);
}

/* A look at a barrier before the wait for it. */
static void a_wait_for_the_same_parity_repeats_another_one(void **state)
{
    begin();
    for (uint32_t i = 0; i < 4; i++) {
        wait_for(1, FULL, i % STAGES, i / STAGES);
        wait_for(1, FULL, i % STAGES, i / STAGES);
        arrive(1, EMPTY, i % STAGES);
    }
    expect(1, "01010101");
    (void)state;
}

/* A producer fills both slots twice.  At the end of a tile it waits until all are empty, and the next tile begins with
 * the same waits. */
static void a_tile_begins_with_the_waits_of_the_drain_before_it(void **state)
{
    begin();
    for (uint32_t tile = 0; tile < 2; tile++) {
        for (uint32_t i = 0; i < 4; i++) {
            wait_for(1, EMPTY, i % STAGES, i / STAGES ^ 1);
            arrive(1, FULL, i % STAGES);
        }
        for (uint32_t s = 0; s < STAGES; s++)
            wait_for(1, EMPTY, s, 1);
    }
    expect(1, "000000"
              "110000");
    (void)state;
}

/* The same, but it drains one slot alone, and then tells that elsewhere.  It fills slots, so that this is what it waits
 * for, and not what it tells. */
static void what_is_told_at_the_end_of_a_tile_is_not_what_the_drain_was_for(void **state)
{
    begin();
    for (uint32_t tile = 0; tile < 2; tile++) {
        for (uint32_t i = 0; i < 4; i++) {
            wait_for(1, EMPTY, i % STAGES, i / STAGES ^ 1);
            arrive(1, FULL, i % STAGES);
        }
        wait_for(1, EMPTY, 1, 1);
        arrive(1, TILE, 0);
    }
    expect(1, "00000"
              "01000");
    (void)state;
}

/* Warpgroups that take turns at tiles of a round of each stage: each asks for the same parity in all its tiles.  This
 * one releases both slots with an arrival on stage 0. */
static void a_wait_behind_all_other_stages_is_a_new_one(void **state)
{
    begin();
    for (uint32_t tile = 0; tile < 3; tile++) {
        wait_for(1, FULL, 0, 0);
        wait_for(1, FULL, 1, 0);
        arrive(1, EMPTY, 0);
    }
    expect(1, "000000");
    (void)state;
}

/* An arrival on the same stage of another ring is what a wait was for.  If that ring is of another length, the numbers
 * of its stages say nothing. */
static void what_a_wait_was_for_has_its_stage_or_is_of_another_ring(void **state)
{
    static const struct {
        uint32_t ring, stage;
        const char *repeats;
    } rows[] = {{EMPTY, 1, "00"}, {EMPTY, 0, "01"}, {TILE, 0, "00"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        wait_for(1, FULL, 1, 0);
        arrive(1, rows[i].ring, rows[i].stage);
        wait_for(1, FULL, 1, 0);
        expect(1, rows[i].repeats);
    }
    (void)state;
}

/* All warps of a warpgroup wait for stage 1.  One of them releases it; another one does something else, which alone
 * would show nothing.  A warp with other waits shows nothing of these. */
static void warps_of_a_warpgroup_agree(void **state)
{
    for (uint32_t other = 0; other < 2; other++) {
        begin();
        for (uint32_t i = 0; i < 2; i++) {
            wait_for(1, FULL, 1, 0);
            arrive(1, EMPTY, 1);
            wait_for(2, FULL, 1, 0);
            arrive(2, EMPTY, 0);
        }
        if (other)
            wait_for(1, FULL, 0, 0);
        expect(1, other ? "000" : "00");
        expect(2, other ? "01" : "00");
    }
    (void)state;
}

/* A consumer, warp 1, waits twice in each round for what the producer, warp 2, announces by TILE.  The first of these
 * waits names the wrong parity in round 0.  Without `twice` the other rounds have only one wait, by the second
 * instruction. */
static void wait_twice(struct picture *p, bool twice)
{
    enum { ROUNDS = 4, FIRST = 100, SECOND, CONSUMER = 1, PRODUCER };
    begin();
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, WARPS * 32);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait_for(PRODUCER, EMPTY, 0, i ^ 1);
        arrive(PRODUCER, FULL, 0);
        arrive(PRODUCER, TILE, 0);
        wait_for(CONSUMER, TILE, 0, i);
        if (twice || i == 0)
            way_add(&ways[CONSUMER], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), (i & 1) ^ (i == 0))->access = FIRST;
        way_add(&ways[CONSUMER], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1)->access = SECOND;
        arrive(CONSUMER, EMPTY, 0);
    }
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    put_barriers(p);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    ways_put(p, ways, WARPS);
}

/* Had the first wait the other parity, the second one would repeat it, as in all other rounds. */
static void a_changed_wait_may_be_one_that_the_next_repeats(void **state)
{
    static const char says[] = "asks for parity 1 in wait number 1 on \"full\" stage 0";
    struct picture p;
    wait_twice(&p, true);
    assert_true(ways_stand(&p));
    ways_expect(&p, "PARITY_WRONG", says);
    picture_deinit(&p);
    wait_twice(&p, false);
    assert_true(ways_stand(&p));
    assert_false(ways_say(&p, says));
    picture_deinit(&p);
    (void)state;
}

enum { BEFORE_USE = 100, BEHIND_USE };

/* Warp 1 waits for a free buffer, tells that it is filled, and waits until it is free again, in each of three rounds.
 * `phases`: warp 2 frees it so often. */
static void wait_around(uint32_t first, uint32_t second, uint32_t phases)
{
    begin();
    for (uint32_t i = 0; i < 3; i++) {
        way_add(&ways[1], WSDBG_ACCESS_WAIT, MBARRIER_AT(TILE, 0), (first + i) & 1)->access = BEFORE_USE;
        arrive(1, FULL, 0);
        way_add(&ways[1], WSDBG_ACCESS_WAIT, MBARRIER_AT(TILE, 0), (second + i) & 1)->access = BEHIND_USE;
        arrive(1, FULL, 1);
    }
    for (uint32_t i = 0; i < phases; i++)
        arrive(2, TILE, 0);
}

static void a_thread_may_wait_twice_a_round_for_a_phase_a_round(void **state)
{
    wait_around(1, 0, 3);
    expect(1, "001010");
    wait_around(0, 0, 3);
    expect(1, "010101");
    (void)state;
}

/* There is a phase for each wait: their parities drift. */
static void with_a_phase_for_each_wait_none_repeats_another_one(void **state)
{
    wait_around(1, 0, 6);
    expect(1, "000000");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_the_same_parity_repeats_another_one),
        cmocka_unit_test(a_tile_begins_with_the_waits_of_the_drain_before_it),
        cmocka_unit_test(what_is_told_at_the_end_of_a_tile_is_not_what_the_drain_was_for),
        cmocka_unit_test(a_wait_behind_all_other_stages_is_a_new_one),
        cmocka_unit_test(what_a_wait_was_for_has_its_stage_or_is_of_another_ring),
        cmocka_unit_test(warps_of_a_warpgroup_agree),
        cmocka_unit_test(a_changed_wait_may_be_one_that_the_next_repeats),
        cmocka_unit_test(a_thread_may_wait_twice_a_round_for_a_phase_a_round),
        cmocka_unit_test(with_a_phase_for_each_wait_none_repeats_another_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
