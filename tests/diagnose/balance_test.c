/* balance_test.c - producers of which one makes all arrivals of a round, in several steps, and then another one: that
 * is no double arrival.  And threads that wait for the tokens of some of their arrivals.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, WARPS = 8, FIRST = 4, PRODUCERS = WARPS - FIRST, ROUNDS = 4 };

/* Warp 0 waits for two rounds more than the producers fill, from warp 4 on.  A phase takes as many arrivals as there
 * are producers. */
static const struct kernel {
    const char *name;
    uint32_t producers;
    uint32_t arrivals; /* that a producer makes in its round; 0 = one in each, and the first one two in round 1 */
    bool is_double;
} kernels[] = {
    {"each makes all arrivals of every fourth round", PRODUCERS, PRODUCERS, false},
    {"... one too many", PRODUCERS, PRODUCERS + 1, true},
    {"one of two makes all arrivals of one round, and the other one its own", 2, 0, true},
};

static uint32_t arrivals_of(const struct kernel *k, uint32_t producer, uint32_t round)
{
    if (k->arrivals)
        return round % k->producers == producer ? k->arrivals : 0;
    return producer == 0 && round == 1 ? 2 : 1;
}

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), k->producers);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), 1);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    for (uint32_t i = 0; i < ROUNDS + 2; i++) {
        for (uint32_t a = 0; a < k->producers && i < ROUNDS; a++) {
            struct way *way = &ways[FIRST + a];
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), (i & 1) ^ 1);
            for (uint32_t n = 0; n < arrivals_of(k, a, i); n++)
                way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
        }
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1);
        way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
    }
    ways_put(p, ways, WARPS);
}

static void put_kernel(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", 1, 0xf0, 1);
    picture_mbarrier(p, FULL, 0, 0, PRODUCERS, PRODUCERS, 0);
    picture_name(p, EMPTY, "empty", 1, 1, 0xf0);
    picture_mbarrier(p, EMPTY, 0, 0, 1, 1, 0);
    put_ways(p, k);
    assert_true(ways_stand(p));
}

static void arrivals_of_a_whole_round_are_no_double_arrival(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i]);
        assert_int_equal(ways_say(&p, "twice on \"full\" without waiting between"), kernels[i].is_double);
        picture_deinit(&p);
    }
    (void)state;
}

/* The first warpgroup waits for every second round; and so does the other one, for the rounds between; or the first one
 * waits for every round, and the other one arrives again when all have met. */
enum { WAITS_FOR_SOME, BOTH_DO, ARRIVES_AGAIN, HABITS };

/* All threads arrive in each round, and meet.  They wait by the token of their arrival.  Warp 7 is held up in the last
 * round. */
static void who_waits_for_some_of_its_tokens_gets_no_arrivals_too_many(void **state)
{
    static struct way ways[WARPS];
    (void)state;
    for (uint32_t habit = 0; habit < HABITS; habit++) {
        struct picture p;
        picture_init(&p, 1, WARPS, 32);
        picture_name(&p, FULL, "full", 1, 0xff, 0xff);
        picture_mbarrier(&p, FULL, 0, 0, WARPS * 32, WARPS * 32, 0);
        picture_name(&p, EMPTY, "empty", 1, 1, 0x80);
        picture_mbarrier(&p, EMPTY, 0, 0, 1, 1, 0);
        picture_object(&p, WSDBG_BARRIER_NAMED, 0);
        for (uint32_t w = 0; w < WARPS; w++) {
            ways[w] = (struct way){.warp = w, .lanes = UINT32_MAX};
            if (w == 0)
                way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), WARPS * 32);
            if (w == 0)
                way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), 1);
            for (uint32_t i = 0; i < 2 * ROUNDS + 1; i++) {
                way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
                if (w + 1 == WARPS && i == 2 * ROUNDS)
                    way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), 0);
                way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
                if (w < FIRST ? i % 2 == 0 || habit == ARRIVES_AGAIN : i % 2 == 1 && habit == BOTH_DO)
                    way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 0)->number_known = false;
                if (habit == ARRIVES_AGAIN)
                    way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
                if (habit == ARRIVES_AGAIN && w >= FIRST)
                    way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
            }
        }
        ways_put(&p, ways, WARPS);
        assert_true(ways_stand(&p));
        assert_int_equal(ways_say(&p, "more arrivals than its phases take"), habit == ARRIVES_AGAIN);
        picture_deinit(&p);
    }
}

/* ---- stages that the two sides count differently ---- */

enum { STAGES = 2, TILE_ROUNDS = 3, TILES = 3 };

/* How warp 1 gets out of step. */
enum slip {
    RELEASES_TWICE, /* it releases stage 0 twice in a row */
    RESTARTS,       /* it begins each tile with stage 0 */
    RELEASES_OTHER, /* it waits for the right stages, and releases as if each tile began with stage 0 */
    SLIPS
};

/* Warp 0 fills a ring for tiles of three rounds, warp 1 empties it. */
static void put_ring(struct picture *p, enum slip slip)
{
    static struct way ways[2];
    picture_init(p, 1, 2, 32);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    memset(ways, 0, sizeof ways);
    ways[1].warp = 1;
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
    }
    for (uint32_t w = 0; w < 2; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < TILES * TILE_ROUNDS; i++) {
        const uint32_t stage = i % STAGES, parity = i / STAGES & 1, of_tile = i % TILE_ROUNDS % STAGES;
        const uint32_t released = slip == RELEASES_TWICE ? stage : of_tile;
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, stage), parity ^ 1);
        way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, stage), 1);
        way_add(&ways[1], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, slip == RESTARTS ? of_tile : stage), parity);
        way_add(&ways[1], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, released), 1);
        if (slip == RELEASES_TWICE && stage == 0)
            way_add(&ways[1], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
    }
    for (uint32_t s = 0; s < STAGES && slip == RELEASES_TWICE; s++) /* so that somebody waits in the end */
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, s), 1);
    ways_put(p, ways, 2);
    assert_true(ways_stand(p));
}

static void a_stage_that_gets_the_arrivals_of_others_is_no_double_arrival(void **state)
{
    static const char *const says[SLIPS] = {
        [RELEASES_TWICE] = "twice on \"empty\" stage 0",
        [RESTARTS] = "warp 1 and those who wait count the stages differently",
        [RELEASES_OTHER] = "warp 1 arrives on the wrong stages",
    };
    for (enum slip slip = 0; slip < SLIPS; slip++) {
        struct picture p;
        put_ring(&p, slip);
        assert_true(ways_say(&p, says[slip]));
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_of_a_whole_round_are_no_double_arrival),
        cmocka_unit_test(who_waits_for_some_of_its_tokens_gets_no_arrivals_too_many),
        cmocka_unit_test(a_stage_that_gets_the_arrivals_of_others_is_no_double_arrival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
