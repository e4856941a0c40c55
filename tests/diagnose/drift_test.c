/* drift_test.c - a consumer that holds the phase of two barriers in one variable, and lets it begin anew with each
 * tile.
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

enum { FULL = 1, SCALES, EMPTY, RINGS = 3, CTAS_MOST = 2, PRODUCER = 0, CONSUMER, SECOND_PRODUCER, WARPS };
enum { TILE = 3, TILES = 4, ROUNDS = TILE * TILES, ALL = 0, AHEAD, TURN, SECOND_TURN, IDS, TWO_WARPS = 64 };

struct kernel {
    const char *name;
    bool meets;               /* behind a tile the consumer lets the producer fill the first round of the next tile */
    bool turns;               /* two producers take turns: each waits for every second phase of "empty" */
    uint32_t ctas;            /* the consumers of the last one alone are wrong; 0 = 1 */
    const char *cause, *says; /* NULL: the kernel is right, and finishes */
};

static const struct kernel kernels[] = {
    {.name = "a phase that goes on"},
    {.name = "a phase that begins anew, and both waits are passed too early",
     .cause = "PARITY_DRIFT",
     .says = "Warp 1 waited on \"full\" with parities that do not alternate: wait number 4 asked for parity 0"},
    {.name = "... and the first of two waits does not end",
     .meets = true,
     .cause = "PARITY_DRIFT",
     .says = "Warp 1 waited on \"full\" with parities that do not alternate: wait number 4 asked for parity 0"},
    {.name = "two producers take turns", .turns = true},
    {.name = "... and the phase begins anew",
     .turns = true,
     .cause = "PARITY_DRIFT",
     .says = "Warp 1 waited on \"full\" with parities that do not alternate: wait number 4 asked for parity 0"},
    {.name = "a phase that begins anew in one CTA of a cluster",

     .meets = true,
     .ctas = 2,
     .cause = "PARITY_DRIFT",
     .says = "Warp 1 of cluster rank 1 waited on \"full\" with parities that do not alternate: wait number 4 asked for "
             "parity 0"},
};

static struct way ways[CTAS_MOST * WARPS];

/* At first all threads of a CTA meet. */
static struct way *begin(uint32_t cta, uint32_t warp)
{
    struct way *way = &ways[cta * WARPS + warp];
    *way = (struct way){.warp = cta * WARPS + warp};
    for (uint32_t ring = FULL; ring <= RINGS && warp == PRODUCER; ring++)
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(ring, 0), 1);
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, ALL, WARPS * 32);
    return way;
}

static void wait_for(struct way *way, uint32_t ring, uint32_t phase)
{
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(ring, 0), phase & 1);
}

static void arrive(struct way *way, uint32_t ring)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(ring, 0), 1);
}

static void produce(const struct kernel *k, struct way *way, bool is_second)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (k->turns ? (i & 1) != is_second : is_second)
            continue;
        if (k->turns && i > 0)
            way_add(way, WSDBG_ACCESS_NAMED_SYNC, is_second ? SECOND_TURN : TURN, TWO_WARPS);
        wait_for(way, EMPTY, i ^ 1);
        arrive(way, FULL);
        arrive(way, SCALES);
        if (k->turns && i + 1 < ROUNDS)
            way_add(way, WSDBG_ACCESS_NAMED_ARRIVE, is_second ? TURN : SECOND_TURN, TWO_WARPS);
        if (k->meets && i > 0 && i % TILE == 0)
            way_add(way, WSDBG_ACCESS_NAMED_ARRIVE, AHEAD, TWO_WARPS);
    }
}

static void consume(const struct kernel *k, struct way *way, bool is_wrong)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t phase = is_wrong ? i % TILE : i;
        if (k->meets && i > 0 && i % TILE == 0)
            way_add(way, WSDBG_ACCESS_NAMED_SYNC, AHEAD, TWO_WARPS);
        wait_for(way, FULL, phase);
        wait_for(way, SCALES, phase);
        arrive(way, EMPTY);
    }
}

/* False: the kernel finishes. */
static bool stand(struct picture *p, const struct kernel *k)
{
    const uint32_t ctas = k->ctas ? k->ctas : 1;
    picture_init(p, ctas, WARPS, 32);
    for (uint32_t cta = 0; cta < ctas; cta++) {
        const bool is_wrong = k->says && cta + 1 == ctas;
        p->snapshot.ctas[cta].cluster_id = 0;
        p->snapshot.ctas[cta].cluster_rank = cta;
        p->snapshot.ctas[cta].cluster_size = ctas;
        produce(k, begin(cta, PRODUCER), false);
        consume(k, begin(cta, CONSUMER), is_wrong);
        produce(k, begin(cta, SECOND_PRODUCER), true);
    }
    picture_name(p, FULL, "full", 1, 1, 2);
    picture_name(p, SCALES, "scales", 1, 1, 2);
    picture_name(p, EMPTY, "empty", 1, 2, 1);
    for (uint32_t ring = FULL; ring <= RINGS; ring++)
        picture_mbarrier(p, ring, 0, 0, 1, 1, 0);
    for (uint32_t id = 0; id < IDS; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    ways_put(p, ways, ctas * WARPS);
    return ways_stand(p);
}

static void a_variable_that_holds_the_phase_of_two_barriers_is_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        assert_int_equal(stand(&p, &kernels[i]), kernels[i].says != NULL);
        if (kernels[i].says)
            ways_expect(&p, kernels[i].cause, kernels[i].says);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_variable_that_holds_the_phase_of_two_barriers_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
