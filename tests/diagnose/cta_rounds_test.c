/* cta_rounds_test.c - the CTAs of a cluster pass a sign round a ring in each round, and one of them makes fewer rounds
 * than the others.
 *
 * In each round warp 0 of a CTA gives the sign to the CTA of the next rank and waits for the one from the rank before.
 * At the end all meet at the cluster barrier.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "ways.h"

enum { SIGN = 1, OWN, CTAS = 3, WARPS = 2, ROUNDS = 3, SHORT = 1 };

enum kernel_kind {
    FEWER_ROUNDS,  /* rank 1 makes a round less */
    NO_ARRIVAL,    /* it only leaves out the last arrival */
    TWO_OF_THREE,  /* rank 2 makes a round less, too */
    HAS_WORK_LEFT, /* warp 1 of each CTA has rounds of its own, which rank 1 makes all */
    OPEN           /* nobody knows how warp 1 of rank 1 ends */
};

static void give(struct way *way, uint32_t cta)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(SIGN, 0), 1)->rank = (uint8_t)((cta + 1) % CTAS);
}

static void put_rounds(struct way *way, uint32_t cta, enum kernel_kind kind)
{
    const bool is_short = (cta == SHORT && kind != NO_ARRIVAL) || (kind == TWO_OF_THREE && cta == SHORT + 1);
    for (uint32_t i = 0; i < ROUNDS - (is_short ? 1u : 0u); i++) {
        if (kind != NO_ARRIVAL || cta != SHORT || i + 1 < ROUNDS)
            give(way, cta);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(SIGN, 0), i & 1);
    }
}

/* Warp 1 gives itself a sign and waits for it. */
static void put_other_rounds(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(OWN, 0), 1);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(OWN, 0), i & 1);
    }
}

static void meet(struct way *way)
{
    way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
    way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
}

static void put(struct picture *p, enum kernel_kind kind)
{
    static struct way ways[CTAS * WARPS];
    memset(ways, 0, sizeof ways);
    for (uint32_t w = 0; w < CTAS * WARPS; w++) {
        const uint32_t cta = w / WARPS;
        const bool is_first = w % WARPS == 0;
        ways[w].warp = w;
        ways[w].is_open = kind == OPEN && cta == SHORT && !is_first;
        if (is_first) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(SIGN, 0), 1);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(OWN, 0), 1);
        }
        meet(&ways[w]);
        if (is_first)
            put_rounds(&ways[w], cta, kind);
        else if (kind == HAS_WORK_LEFT)
            put_other_rounds(&ways[w]);
        meet(&ways[w]);
    }
    picture_init(p, CTAS, WARPS, 32);
    picture_cluster(p);
    picture_mbarrier(p, SIGN, 0, 0, 1, 1, 0);
    picture_mbarrier(p, OWN, 0, 0, 1, 1, 0);
    picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    ways_put(p, ways, CTAS * WARPS);
    assert_true(ways_stand(p));
}

static void a_cta_that_makes_fewer_rounds_is_named(void **state)
{
    struct picture p;
    put(&p, FEWER_ROUNDS);
    ways_expect(
        &p, "ROLE_DISAGREE",
        "The CTA of cluster rank 1 goes through 2 rounds of its loops, the other CTAs of the cluster through 3. "
        "So warp 0 of cluster rank 2 waits forever at kernel.cu:104 for what only that CTA does.");
    picture_deinit(&p);
    (void)state;
}

static void a_cta_that_differs_otherwise_is_not(void **state)
{
    for (enum kernel_kind kind = NO_ARRIVAL; kind <= OPEN; kind++) {
        struct picture p;
        print_message("kind %d\n", kind);
        put(&p, kind);
        assert_false(ways_say(&p, "rounds of its loops"));
        picture_deinit(&p);
    }
    (void)state;
}

/* If the arrivals stayed in their CTAs, these would finish, however many rounds each makes. */
static void arrivals_that_would_hide_other_rounds_are_doubtful(void **state)
{
    static const enum kernel_kind kinds[] = {FEWER_ROUNDS, TWO_OF_THREE, HAS_WORK_LEFT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct picture p;
        put(&p, kinds[i]);
        picture_still(&p);
        assert_true(picture_confidence_of(&p, WSDBG_CAUSE_ARRIVE_MISSING) < (int)WSDBG_CONFIDENCE_LIKELY);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cta_that_makes_fewer_rounds_is_named),
        cmocka_unit_test(a_cta_that_differs_otherwise_is_not),
        cmocka_unit_test(arrivals_that_would_hide_other_rounds_are_doubtful),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
