/* never_arrive_test.c - a producer and warpgroups of consumers that all wait for its rounds.  Some never release one:
 * they forgot it, or the barrier is initialised for more arrivals than are meant to come.
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

enum { FULL = 1, EMPTY, OTHER, STAGES = 2, GROUP = 4, WARPS = 12, CTAS = 2, PRODUCER = 0, ROUNDS = 9 };
enum { A = GROUP, B = 2 * GROUP }; /* the first warps of the consumers */

static struct way ways[CTAS * WARPS];

/* At first all threads of a CTA meet.  Then its producer fills all rounds. */
static void begin(uint32_t empty_count)
{
    for (uint32_t w = 0; w < CTAS * WARPS; w++) {
        ways[w] = (struct way){.warp = w};
        for (uint32_t s = 0; s < STAGES && w % WARPS == PRODUCER; s++) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), empty_count);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(OTHER, s), WARPS * ROUNDS);
        }
        way_add(&ways[w], WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        way_add(&ways[w], WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
        for (uint32_t i = 0; i < ROUNDS && w % WARPS == PRODUCER; i++) {
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % STAGES), 1);
        }
    }
}

static void wait_for_round(uint32_t warp, uint32_t round)
{
    way_add(&ways[warp], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, round % STAGES), round / STAGES & 1);
}

static struct wsdbg_step_row *arrive(uint32_t warp, uint32_t ring, uint32_t round)
{
    return way_add(&ways[warp], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(ring, round % STAGES), 1);
}

/* A warp that does something with each round, but does not release it. */
static void look_on(uint32_t warp, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        wait_for_round(warp, i);
        arrive(warp, OTHER, i);
    }
}

/* False: the kernel finishes. */
static bool stand(struct picture *p, uint32_t ctas)
{
    picture_init(p, ctas, WARPS, 32);
    picture_cluster(p);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, OTHER, "other", STAGES, 2, 1);
    for (uint32_t i = 0; i < 3 * STAGES; i++)
        picture_mbarrier(p, FULL + i / STAGES, i % STAGES, 0, 1, 1, 0);
    ways_put(p, ways, ctas * WARPS);
    return ways_stand(p);
}

/* The first warpgroup releases a round at once, or when it has waited for the next one, and then never the last. */
static void a_warpgroup_that_never_releases_is_told(void **state)
{
    for (uint32_t lag = 0; lag < 2; lag++) {
        struct picture p;
        begin(2 * GROUP);
        for (uint32_t w = A; w < B; w++)
            for (uint32_t i = 0; i < ROUNDS; i++) {
                wait_for_round(w, i);
                if (i >= lag)
                    arrive(w, EMPTY, i - lag);
            }
        for (uint32_t w = B; w < WARPS; w++)
            look_on(w, ROUNDS);
        assert_true(stand(&p, 1));
        ways_expect(&p, "ARRIVE_MISSING", "Warps 8-11 never arrive on \"empty\"");
        picture_deinit(&p);
    }
    (void)state;
}

/* One warp releases all rounds.  Another one looks on, but not at the last round: it does not do the same. */
static void who_waits_for_fewer_rounds_need_not_arrive(void **state)
{
    struct picture p;
    begin(2);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait_for_round(A, i);
        arrive(A, EMPTY, i);
    }
    look_on(B, ROUNDS - 1);
    assert_true(stand(&p, 1));
    ways_expect(&p, "ARRIVE_SHORT", "\"empty\" is initialised for 2 arrivals, but a round brings only 1 (by warp 4)");
    picture_deinit(&p);
    (void)state;
}

/* The consumer of each CTA releases the slots of the other one.  A count that is too high does not make it one that
 * never arrives. */
static void who_arrives_in_another_cta_arrives(void **state)
{
    struct picture p;
    begin(2);
    for (uint32_t cta = 0; cta < CTAS; cta++)
        for (uint32_t i = 0; i < ROUNDS; i++) {
            wait_for_round(cta * WARPS + A, i);
            arrive(cta * WARPS + A, EMPTY, i)->rank = (uint8_t)(1 - cta);
        }
    assert_true(stand(&p, CTAS));
    assert_false(ways_say(&p, "never arrive"));
    picture_deinit(&p);
    (void)state;
}

/* What lanes of a warpgroup do whose lane 0 also fills the slots: at first all of them, then each one that is free. */
static void multiply_and_fill(struct way *way, bool fills, bool releases)
{
    for (uint32_t i = 0; i < STAGES && fills; i++)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i), 1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1);
        way_add(way, WSDBG_ACCESS_WGMMA, 0, i + 1);
        way_add(way, WSDBG_ACCESS_WGMMA_WAIT, 0, i + 1);
        if (releases)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1);
        if (!fills || i + STAGES >= ROUNDS)
            continue;
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), i / STAGES & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % STAGES), 1);
    }
}

/* The first way is that of lanes 1 to 31 of warp 0, the second one that of its lane 0. */
static void begin_group(bool first_releases)
{
    static const uint32_t ALL = 0xffffffff;
    for (uint32_t i = 0; i <= GROUP; i++) {
        struct way *way = &ways[i];
        const bool fills = i == 1, is_first = i <= 1;
        *way = (struct way){.warp = is_first ? 0 : i - 1, .lanes = fills ? 1 : is_first ? ALL & ~1u : ALL};
        for (uint32_t s = 0; s < STAGES && fills; s++) {
            way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 32 * GROUP);
        }
        way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
        multiply_and_fill(way, fills, !is_first || first_releases);
    }
}

/* Lane 0 of the first warp waits for a free slot, and its other lanes wait for lane 0, as a whole warp multiplies. The
 * warp should arrive as the others of its warpgroup do: lane 0 once, and the 31 others once each. */
static void a_warp_that_came_apart_and_never_releases_is_told(void **state)
{
    for (uint32_t releases = 0; releases < 2; releases++) {
        struct picture p;
        begin_group(releases);
        picture_init(&p, 1, GROUP, 32);
        picture_name(&p, FULL, "full", STAGES, 1, 2);
        picture_name(&p, EMPTY, "empty", STAGES, 2, 1);
        for (uint32_t i = 0; i < 2 * STAGES; i++)
            picture_mbarrier(&p, FULL + i / STAGES, i % STAGES, 0, 1, 1, 0);
        picture_reach(&p, 0, GROUP - 1, picture_access(&p, WSDBG_ACCESS_WGMMA, 0, 1, 0, WSDBG_LANES_ALL), 0, 255, 0);
        ways_put(&p, ways, GROUP + 1);
        assert_int_equal(ways_stand(&p), !releases);
        if (!releases)
            ways_expect(&p, "ARRIVE_MISSING", "Warp 0 never arrives on \"empty\"");
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warpgroup_that_never_releases_is_told),
        cmocka_unit_test(a_warp_that_came_apart_and_never_releases_is_told),
        cmocka_unit_test(who_waits_for_fewer_rounds_need_not_arrive),
        cmocka_unit_test(who_arrives_in_another_cta_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
