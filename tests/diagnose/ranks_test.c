/* ranks_test.c - two CTAs of a cluster that run the same code in different branches: rank 1 sends parts to rank 0,
 * which frees their slots.  The arrival that frees a slot stands in the branch of rank 0, and names a barrier of
 * rank 1.
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

enum { FULL = 1, EMPTY, CTAS = 2, STAGES = 2, PARTS = 6 };

static const struct kernel {
    const char *name, *cause, *says; /* cause NULL: the kernel finishes */
    uint32_t empty_count;
} kernels[] = {
    {.name = "nothing is wrong", .empty_count = 1},
    {.name = "a slot takes two arrivals to be free: neither rank leaves one out",
     .cause = "ARRIVE_SHORT",
     .says = "\"empty\" is initialised for 2 arrivals, but a round brings only 1 (by warp 0 of cluster rank 0)",
     .empty_count = 2},
};

struct accesses {
    uint32_t sends, frees, waits;
};

static void step(struct way *way, uint8_t kind, uint32_t barrier, uint32_t number, uint32_t rank, uint32_t access)
{
    struct wsdbg_step_row *row = way_add(way, kind, barrier, number);
    row->rank = (uint8_t)rank;
    row->access = access;
}

static void put_ways(struct picture *p, const struct kernel *k, const struct accesses *a)
{
    static struct way ways[CTAS];
    for (uint32_t rank = 0; rank < CTAS; rank++) {
        struct way *way = &ways[rank];
        *way = (struct way){.warp = rank};
        for (uint32_t s = 0; s < STAGES; s++) {
            way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), k->empty_count);
        }
        way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
        for (uint32_t i = 0; i < PARTS; i++) {
            const uint32_t full = MBARRIER_AT(FULL, i % STAGES), empty = MBARRIER_AT(EMPTY, i % STAGES),
                           phase = i / STAGES & 1;
            step(way, WSDBG_ACCESS_WAIT, rank ? empty : full, rank ? phase ^ 1 : phase, rank, a->waits);
            step(way, WSDBG_ACCESS_ARRIVE, rank ? full : empty, 1, 1 - rank, rank ? a->sends : a->frees);
        }
        way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
    }
    ways_put(p, ways, CTAS);
}

static bool stand(struct picture *p, const struct kernel *k)
{
    picture_init(p, CTAS, 1, 32);
    picture_cluster(p);
    picture_name(p, FULL, "full", STAGES, 1, 1);
    picture_name(p, EMPTY, "empty", STAGES, 1, 1);
    picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    const struct accesses a = {
        .sends = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE),
        .frees = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE),
        .waits = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 2 * STAGES, 0, WSDBG_LANES_ALL)};
    p->snapshot.accesses[a.sends].any_rank = p->snapshot.accesses[a.frees].any_rank = true;
    picture_reach(p, 0, 0, a.sends, 0, UINT8_MAX, 1);
    picture_reach(p, 0, 0, a.frees, 0, UINT8_MAX, 1);
    picture_reach(p, 0, 0, a.waits, 0, UINT8_MAX, 2);
    put_ways(p, k, &a);
    return ways_stand(p);
}

static void an_arrival_that_the_other_rank_makes_is_not_missing(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        ways_check(&p, stand(&p, &kernels[i]), kernels[i].cause, kernels[i].says);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_that_the_other_rank_makes_is_not_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
