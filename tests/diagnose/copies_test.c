/* copies_test.c - kernels whose producers announce and copy bytes wrongly, or lose lanes.  Mostly
 * nobody knows how many bytes a copy brings.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 * Then it forgets the sizes of the copies, unless one warp announces and another one copies.  The diagnosis of the
 * picture must name the defect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, STAGES = 2, ROUNDS = 8, WARPS = 8, PRODUCERS = 4, CONSUMERS = WARPS - PRODUCERS, BYTES = 128 };
enum { OTHER_LANES = (int)~1u };

struct kernel {
    const char *name, *cause, *says;
    /* The defect, of producer 1. */
    uint32_t more;   /* bytes that round `round` announces too much */
    uint32_t round;  /* from 1; 0 = none */
    bool lacks_copy; /* that round issues one of its two copies */
    bool is_bare;    /* from that round on it announces without arriving */
    bool leaves;     /* its lane 0, which produces, leaves in that round, the other lanes go on */
    /* What the kernel is like. */
    bool is_alone;  /* there is one warp, which also waits for what it copies */
    bool is_apart;  /* producer 0 announces, producer 1 copies, the others do nothing; sizes are known */
    bool is_halved; /* ... and producer 0 copies half of the bytes itself */
    bool is_shared; /* ... and producer 2 copies half of them */
    bool is_open;   /* ... and what producer 1 does behind its last step is not known */
    uint32_t laps;  /* rounds that all but producer 1 make too many */
    uint32_t fewer; /* rounds that producer 0 leaves out at the end */
};

static const struct kernel kernels[] = {
    {.name = "nothing"},
    {.name = "nothing, one warp", .is_alone = true},
    {.name = "a round announces more than comes",
     .cause = "TX_MISMATCH",
     .says = "All arrivals on \"full\" stage 0 were made, but 16 bytes are missing",
     .round = 5,
     .more = 16},
    {.name = "a round lacks a copy", .cause = "TX_MISMATCH", .says = "64 bytes", .round = 6, .lacks_copy = true},
    {.name = "the only round of a stage lacks a copy",
     .cause = "TX_MISMATCH",
     .says = "64 bytes",
     .round = 2,
     .lacks_copy = true},
    {.name = "lane 0 of a producer leaves",
     .cause = "WAKER_EXITED",
     .says = "Lane 0 of warp 1 left the kernel, while warp 0, which did the same up to there, goes on and arrives on "
             "\"full\"",
     .round = 3,
     .leaves = true},
    {.name = "who waits itself announces without arriving",
     .cause = "TX_NO_ARRIVE",
     .says = "Warp 0 copies or announces bytes to \"full\" stage 0, but does not arrive there in that round",
     .round = 3,
     .is_bare = true,
     .is_alone = true},
    {.name = "a producer announces without arriving, but for the first round of each stage",
     .cause = "TX_NO_ARRIVE",
     .says = "Warp 1 copies or announces bytes to \"full\" stage 0, but does not arrive there in that round",
     .round = 3,
     .is_bare = true},
    {.name = "nothing, one warp announces and another one copies", .is_apart = true},
    {.name = "who announces goes round twice more than who copies",
     .cause = "ROLE_DISAGREE",
     .says =
         "Warp 0 announces the bytes of 5 rounds on \"full\" stage 0 from the kernel's start to its end, but warp 1 "
         "copies those of 4",
     .is_apart = true,
     .laps = STAGES},
    {.name = "a round of one stage alone lacks its copy",
     .cause = "TX_MISMATCH",
     .says = "128 bytes",
     .is_apart = true,
     .round = 5},
    {.name = "who announces goes round once less than who copies the other half",
     .cause = "ROLE_DISAGREE",
     .says = "Warp 0 announces the bytes of 7 rounds on \"full\" from the kernel's start to its end, but warp 1 copies "
             "those of 8",
     .is_apart = true,
     .is_halved = true,
     .fewer = 1},
    {.name = "... or only does not announce in the last round",
     .cause = "ARRIVE_MISSING",
     .says = "Warp 0 went through a round without arriving on \"full\" stage 1",
     .is_apart = true,
     .is_halved = true,
     .is_bare = true,
     .round = ROUNDS},
};

static void initialise(const struct kernel *k, struct way *way)
{
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), k->is_alone || k->is_apart ? 1 : PRODUCERS);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), CONSUMERS);
    }
}

static void fill(const struct kernel *k, struct way *way, uint32_t round, bool is_wrong)
{
    const bool is_now = is_wrong && round + 1 == k->round, is_bare = is_wrong && k->is_bare && round + 1 >= k->round;
    way_add(way, is_bare ? WSDBG_ACCESS_EXPECT : WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, round % STAGES),
            BYTES + (is_now ? k->more : 0));
    way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, round % STAGES), BYTES / 2);
    if (!is_now || !k->lacks_copy)
        way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, round % STAGES), BYTES / 2);
}

static void work_alone(const struct kernel *k, struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        fill(k, way, i, true);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1);
    }
}

static void produce(const struct kernel *k, struct way *way, uint32_t warp)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        if (k->leaves && warp == 1 && i + 1 == k->round)
            return;
        fill(k, way, i, warp == 1);
    }
}

/* Producer 0 announces, producer 1 copies. */
static void produce_apart(const struct kernel *k, struct way *way, uint32_t warp)
{
    const uint32_t last = k->is_shared ? 2 : 1;
    for (uint32_t i = 0; i < ROUNDS + (warp == 0 ? k->laps - k->fewer : 0) && warp <= last; i++) {
        const uint32_t full = MBARRIER_AT(FULL, i % STAGES);
        const bool is_wrong = i + 1 == k->round;
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        if (warp == 0 && !(is_wrong && k->is_bare))
            way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, full, BYTES);
        if (k->is_halved)
            way_add(way, WSDBG_ACCESS_COPY, full, BYTES / 2);
        else if (warp > 0 && !is_wrong)
            way_add(way, WSDBG_ACCESS_COPY, full, BYTES / last);
    }
}

static void consume(const struct kernel *k, struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS + k->laps; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1);
    }
}

/* The lanes of a producer that copy nothing wait for the slots, too. */
static void look_on(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
}

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS + PRODUCERS];
    uint32_t count = 0;
    memset(ways, 0, sizeof ways);
    for (uint32_t w = 0; w < p->warps; w++) {
        struct way *way = &ways[count++];
        way->warp = w;
        way->is_open = k->is_open && w == 1;
        if (w == 0)
            initialise(k, way);
        way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        if (k->is_alone)
            work_alone(k, way);
        else if (w < PRODUCERS && k->is_apart)
            produce_apart(k, way, w);
        else if (w < PRODUCERS)
            produce(k, way, w);
        else
            consume(k, way);
        if (!k->is_alone && !k->is_apart && w < PRODUCERS) {
            ways[count].warp = w;
            ways[count].lanes = (uint32_t)OTHER_LANES;
            way_add(&ways[count], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
            look_on(&ways[count++]);
        }
    }
    ways_put(p, ways, count);
}

static void forget_sizes(struct picture *p)
{
    for (size_t i = 0; i < p->snapshot.step_count; i++)
        if (p->snapshot.steps[i].kind == WSDBG_ACCESS_COPY)
            p->snapshot.steps[i].number_known = false;
}

static void put_barriers(struct picture *p)
{
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
}

/* Runs the kernel and makes the picture of its end.  False: it does not hang. */
static bool stand_still(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, k->is_alone ? 1 : WARPS, 32);
    put_barriers(p);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    put_ways(p, k);
    const bool stands = ways_stand(p);
    if (!k->is_apart)
        forget_sizes(p);
    return stands;
}

static void what_copies_do_wrong_is_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        assert_int_equal(stand_still(&p, &kernels[i]), kernels[i].cause != NULL);
        if (kernels[i].cause)
            ways_expect(&p, kernels[i].cause, kernels[i].says);
        picture_deinit(&p);
    }
    (void)state;
}

/* Several warps copy, or one that may go on behind what is known of it. */
static void rounds_are_only_compared_with_those_of_one_copier_that_is_known(void **state)
{
    static const struct kernel others[] = {
        {.name = "two warps copy", .is_apart = true, .is_shared = true, .laps = STAGES},
        {.name = "the copier may go on", .is_apart = true, .is_open = true, .laps = STAGES},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct picture p;
        print_message("%s\n", others[i].name);
        stand_still(&p, &others[i]);
        assert_false(ways_say(&p, "trip counts"));
        picture_deinit(&p);
    }
    (void)state;
}

/* ---- a cluster ---- */

enum { CTAS = 2, CONSUMER = 1, WARPS_OF_CTA, SHARE = BYTES / 4, TO_BOTH = 3 };

static void consume_in_cluster(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1);
        for (uint32_t rank = 0; rank < CTAS; rank++)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1)->rank = rank;
    }
}

/* Rank 0 copies three quarters of each round to both CTAs, and each should copy the rest to itself: rank 1 does not. */
static void produce_in_cluster(struct way *way, uint32_t rank)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t full = MBARRIER_AT(FULL, i % STAGES);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, full, BYTES);
        if (rank == 0) {
            way_add(way, WSDBG_ACCESS_COPY, full, BYTES - SHARE)->mask = TO_BOTH;
            way_add(way, WSDBG_ACCESS_COPY, full, SHARE);
        }
    }
}

static void put_cluster(struct picture *p)
{
    static struct way ways[CTAS * WARPS_OF_CTA];
    for (uint32_t w = 0; w < CTAS * WARPS_OF_CTA; w++) {
        const bool is_producer = w % WARPS_OF_CTA != CONSUMER;
        ways[w] = (struct way){.warp = w};
        for (uint32_t s = 0; s < STAGES && is_producer; s++) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), CTAS);
        }
        way_add(&ways[w], WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        way_add(&ways[w], WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
        if (is_producer)
            produce_in_cluster(&ways[w], w / WARPS_OF_CTA);
        else
            consume_in_cluster(&ways[w]);
    }
    ways_put(p, ways, CTAS * WARPS_OF_CTA);
}

/* What rank 1 leaves out of the four rounds of a stage is as much as a round. */
static void copies_that_one_of_two_ctas_leaves_out_are_no_rounds(void **state)
{
    struct picture p;
    (void)state;
    picture_init(&p, CTAS, WARPS_OF_CTA, 32);
    picture_cluster(&p);
    put_barriers(&p);
    picture_object(&p, WSDBG_BARRIER_CLUSTER, 0);
    put_cluster(&p);
    assert_true(ways_stand(&p));
    ways_expect(&p, "TX_MISMATCH", "32 bytes");
    picture_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_copies_do_wrong_is_told),
        cmocka_unit_test(rounds_are_only_compared_with_those_of_one_copier_that_is_known),
        cmocka_unit_test(copies_that_one_of_two_ctas_leaves_out_are_no_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
