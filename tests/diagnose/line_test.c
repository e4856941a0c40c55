/* line_test.c - a line of four CTAs: a warp of each tells its neighbours of every step.  The two at the ends have one
 * neighbour, so their barriers are initialised for one arrival, the others for two.
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

enum { HALO = 1, CTAS = 4, STAGES = 2, STEPS = 6 };

static const struct kernel {
    const char *name, *cause, *says; /* cause NULL: the kernel finishes */
    uint32_t count_at_ends;
    bool last_tells_first; /* rank 3 arrives on rank 0, too */
    bool first_tells_last; /* ... and rank 0 on rank 3: a ring */
    uint32_t silent;       /* a rank that does not arrive on the next one; CTAS: all do */
} kernels[] = {
    {.name = "nothing is wrong", .count_at_ends = 1, .silent = CTAS},
    {.name = "the ends wait for a neighbour that they do not have",
     .cause = "ARRIVE_SHORT",
     .says = "\"halo\" is initialised for 2 arrivals at an end of the cluster's line of CTAs, but a round brings only "
             "1",
     .count_at_ends = 2,
     .silent = CTAS},
    {.name = "the last one takes the first one for its neighbour",
     .cause = "DOUBLE_ARRIVE",
     .says = "\"halo\" is initialised for 1 arrival at an end of the cluster's line of CTAs, but a round brings as "
             "many as 2",
     .count_at_ends = 1,
     .last_tells_first = true,
     .silent = CTAS},
    {.name = "one tells only the rank before it: that is no count",
     .cause = "WAIT_CYCLE",
     .says = "wait for one another in a cycle",
     .count_at_ends = 1,
     .silent = 1},
};

static struct way ways[CTAS];

static void tell(struct way *way, uint32_t rank, uint32_t step)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(HALO, step % STAGES), 1)->rank = (uint8_t)rank;
}

static void put_way(struct way *way, uint32_t rank, const struct kernel *k)
{
    const bool is_end = rank == 0 || rank + 1 == CTAS;
    *way = (struct way){.warp = rank};
    for (uint32_t s = 0; s < STAGES; s++)
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(HALO, s), is_end ? k->count_at_ends : 2);
    way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
    way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        if (rank > 0)
            tell(way, rank - 1, i);
        else if (k->first_tells_last)
            tell(way, CTAS - 1, i);
        if (rank + 1 < CTAS && rank != k->silent)
            tell(way, rank + 1, i);
        else if (rank + 1 == CTAS && k->last_tells_first)
            tell(way, 0, i);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(HALO, i % STAGES), i / STAGES & 1);
    }
    way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
    way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
}

static bool stand(struct picture *p, const struct kernel *k)
{
    picture_init(p, CTAS, 1, 32);
    picture_cluster(p);
    picture_name(p, HALO, "halo", STAGES, 1, 1);
    picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    for (uint32_t s = 0; s < STAGES; s++)
        picture_mbarrier(p, HALO, s, 0, 2, 2, 0);
    for (uint32_t rank = 0; rank < CTAS; rank++)
        put_way(&ways[rank], rank, k);
    ways_put(p, ways, CTAS);
    return ways_stand(p);
}

static void a_count_that_does_not_fit_the_ends_of_a_line_is_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        ways_check(&p, stand(&p, &kernels[i]), kernels[i].cause, kernels[i].says);
    }
    (void)state;
}

/* Rank 0 and rank 3 are neighbours: each barrier gets two arrivals, and no rank is an end. */
static void a_ring_has_no_ends(void **state)
{
    static const struct kernel ring = {
        .count_at_ends = 1, .last_tells_first = true, .first_tells_last = true, .silent = CTAS};
    struct picture p;
    assert_true(stand(&p, &ring));
    assert_false(ways_say(&p, "line of CTAs"));
    picture_deinit(&p);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_has_no_ends),
        cmocka_unit_test(a_count_that_does_not_fit_the_ends_of_a_line_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
