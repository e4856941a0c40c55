/* prime_test.c - consumers of two CTAs release each slot in both of them: lane 0 in rank 0, lane 1 in rank 1.  Before
 * the first round they release all slots once, so that the producers may begin.
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

enum { FULL = 1, EMPTY, CTAS = 2, STAGES = 2, WARPS = 2, CONSUMER = 1, ROUNDS = 6, WAYS_OF_CTA = 3 };

static const struct kernel {
    const char *name, *says; /* says NULL: the kernel finishes */
    uint32_t primed;         /* ranks whose slots are released before the first round: bits */
} kernels[] = {
    {.name = "those of both ranks", .primed = 3},
    {.name = "only those of rank 0",
     .says = "Warp 1 of ranks 0-1 arrive on \"empty\" of cluster rank 1 only behind waits that others end after they "
             "passed it.",
     .primed = 1},
};

static struct way ways[CTAS * WAYS_OF_CTA];

static void meet(struct way *way)
{
    way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
    way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
}

static void produce(struct way *way)
{
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), CTAS);
    }
    meet(way);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), i / STAGES & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i % STAGES), 128);
        way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), 128);
    }
    meet(way);
}

static void consume(struct way *way, uint32_t rank, bool primes)
{
    meet(way);
    for (uint32_t s = 0; s < STAGES && primes; s++)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, s), 1)->rank = (uint8_t)rank;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1)->rank = (uint8_t)rank;
    }
    meet(way);
}

static bool stand(struct picture *p, const struct kernel *k)
{
    picture_init(p, CTAS, WARPS, 32);
    picture_cluster(p);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    for (uint32_t cta = 0; cta < CTAS; cta++) {
        struct way *own = &ways[cta * WAYS_OF_CTA];
        own[0] = (struct way){.warp = cta * WARPS};
        produce(&own[0]);
        for (uint32_t rank = 0; rank < CTAS; rank++) {
            own[1 + rank] = (struct way){.warp = cta * WARPS + CONSUMER, .lanes = 1u << rank};
            consume(&own[1 + rank], rank, k->primed >> rank & 1);
        }
    }
    ways_put(p, ways, CTAS * WAYS_OF_CTA);
    return ways_stand(p);
}

static void slots_that_nobody_releases_first_are_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        ways_check(&p, stand(&p, &kernels[i]), kernels[i].says ? "ARRIVE_MISSING" : NULL, kernels[i].says);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_that_nobody_releases_first_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
