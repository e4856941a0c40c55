/* deserted_test.c - a cluster of two CTAs in which the threads of one CTA make fewer rounds and leave.  They are to
 * blame only if the other CTA waits for what they would have done there.
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

enum { FULL = 1, EMPTY, CTAS = 2, WARPS = 2, PRODUCER = 0, CONSUMER = 1, ROUNDS = 4, BYTES = 2048 };

static const struct kernel {
    const char *name, *cause, *says; /* cause NULL: the kernel finishes */
    uint32_t rounds;                 /* of CTA 1 */
    uint32_t more;                   /* bytes that CTA 0 announces too much in its third round */
    bool is_shared;                  /* each producer copies one half of the bytes to both CTAs */
    bool stays;                      /* some warp of CTA 1 waits at the cluster barrier */
    bool leaves;                     /* CTA 1 leaves before it does anything else */
} kernels[] = {
    {.name = "nothing", .rounds = ROUNDS},
    {.name = "nothing: each CTA frees its own slots, and one has fewer rounds", .rounds = ROUNDS - 2},
    {.name = "nothing: each producer copies one half for both CTAs", .rounds = ROUNDS, .is_shared = true},
    {.name = "CTA 0 announces too much, and CTA 1 has done its two rounds",
     .cause = "TX_MISMATCH",
     .says = "2048 bytes",
     .rounds = 2,
     .more = BYTES},
    {.name = "... and a warp of it waits for the cluster",
     .cause = "TX_MISMATCH",
     .says = "2048 bytes",
     .rounds = 2,
     .more = BYTES,
     .stays = true},
    {.name = "CTA 1 left, and CTA 0 needs its half",
     .cause = "PEER_EXITED",
     .says = "left the kernel, while warp 0 of cluster rank 0, which did the same up to there, goes on and serves it",
     .rounds = 2,
     .is_shared = true},
    {.name = "... and a warp of it waits for the cluster",
     .cause = "WAKER_EXITED",
     .says = "left the kernel, while warp 0 of cluster rank 0, which did the same up to there, goes on and serves it",
     .rounds = 2,
     .is_shared = true,
     .stays = true},
    {.name = "CTA 1 leaves at once, and CTA 0 needs its half",
     .cause = "PEER_EXITED",
     .says = "rank 1 warps 0-1 left the kernel, while",
     .is_shared = true,
     .leaves = true},
    {.name = "nothing: CTA 1 leaves at once, and CTA 0 does not need it", .leaves = true},
};

static struct way ways[CTAS * (WARPS + 1)];

static void initialise(struct way *way)
{
    way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), 1);
    way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), 1);
}

static void meet(struct way *way)
{
    way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
    way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
}

static void produce(const struct kernel *k, uint32_t cta, struct way *way)
{
    for (uint32_t i = 0; i < (cta ? k->rounds : ROUNDS); i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), (i & 1) ^ 1);
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), BYTES + (cta == 0 && i == 2 ? k->more : 0));
        way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), k->is_shared ? BYTES / CTAS : BYTES)->mask =
            k->is_shared ? 3 : 0;
    }
}

static void consume(const struct kernel *k, uint32_t cta, struct way *way)
{
    for (uint32_t i = 0; i < (cta ? k->rounds : ROUNDS); i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
    }
}

static uint32_t put_cta(const struct kernel *k, uint32_t cta, struct way *way)
{
    const bool leaves = cta && k->leaves;
    *way = (struct way){.warp = cta * WARPS + PRODUCER};
    initialise(way);
    if (!leaves)
        meet(way);
    produce(k, cta, way++);
    *way = (struct way){.warp = cta * WARPS + CONSUMER};
    if (!leaves)
        meet(way);
    consume(k, cta, way);
    return WARPS;
}

static bool stand(struct picture *p, const struct kernel *k)
{
    uint32_t count = 0;
    picture_init(p, CTAS, WARPS + k->stays, 32);
    picture_cluster(p);
    picture_name(p, FULL, "full", 1, 1, 2);
    picture_name(p, EMPTY, "empty", 1, 2, 1);
    picture_mbarrier(p, FULL, 0, 0, 1, 1, 0);
    picture_mbarrier(p, EMPTY, 0, 0, 1, 1, 0);
    for (uint32_t cta = 0; cta < CTAS; cta++) {
        const uint32_t first = count;
        count += put_cta(k, cta, &ways[count]);
        for (uint32_t i = first; i < count; i++)
            ways[i].warp = cta * (WARPS + k->stays) + ways[i].warp % WARPS;
        if (!k->stays)
            continue;
        ways[count] = (struct way){.warp = cta * (WARPS + 1) + WARPS};
        meet(&ways[count]);
        meet(&ways[count++]);
    }
    ways_put(p, ways, count);
    return ways_stand(p);
}

static void a_cta_that_left_is_blamed_only_for_what_it_would_have_done(void **state)
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
        cmocka_unit_test(a_cta_that_left_is_blamed_only_for_what_it_would_have_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
