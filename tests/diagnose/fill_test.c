/* fill_test.c - rings on which one thread makes all arrivals of a round: it makes fewer in some rounds, or warps take
 * turns and nobody arrives in some, or one of these has left.
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

enum { FULL = 1, EMPTY, OTHER, STAGES = 2, GROUP = 4, WARPS = 8, PRODUCER = 0, HELPER = 1 };
enum { LANE_0 = 1, OTHER_LANES = ~1, CTAS_MOST = 2, COUNT = 4, ROUNDS = 16, GROUP_THREADS = GROUP * 32 };

static struct way ways[CTAS_MOST * 2 * WARPS];
static uint32_t way_count;

/* The next way; ways of one warp are begun one after the other.  At first all threads of the CTA meet. */
static struct way *begin(uint32_t warp, int lanes, uint32_t empty_count)
{
    struct way *way = &ways[way_count++];
    *way = (struct way){.warp = warp, .lanes = (uint32_t)lanes};
    for (uint32_t s = 0; s < STAGES && warp % WARPS == PRODUCER; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), empty_count);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(OTHER, s), COUNT);
    }
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, WARPS * 32);
    return way;
}

static void wait_for(struct way *way, uint32_t ring, uint32_t round)
{
    const uint32_t parity = round / STAGES & 1;
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(ring, round % STAGES), ring == EMPTY ? parity ^ 1 : parity);
}

static void arrive(struct way *way, uint32_t ring, uint32_t round, uint32_t arrivals)
{
    if (arrivals)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(ring, round % STAGES), arrivals);
}

static void produce(struct way *way, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        wait_for(way, EMPTY, i);
        arrive(way, FULL, i, 1);
    }
}

/* A warp that waits for each round of OTHER. */
static void use(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        wait_for(way, OTHER, i);
}

static void put_barriers(struct picture *p, uint32_t ctas)
{
    picture_init(p, ctas, WARPS, 32);
    picture_cluster(p);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, OTHER, "other", STAGES, 2, 1);
    for (uint32_t i = 0; i < 3 * STAGES; i++)
        picture_mbarrier(p, FULL + i / STAGES, i % STAGES, 0, 1, 1, 0);
    for (uint32_t id = 0; id < 2; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
}

/* Warps without a way only meet the others.  False: the kernel finishes. */
static bool stand(struct picture *p, uint32_t ctas)
{
    static struct way all[CTAS_MOST * 2 * WARPS];
    uint32_t count = 0;
    put_barriers(p, ctas);
    for (uint32_t w = 0; w < ctas * WARPS; w++) {
        const uint32_t before = count;
        for (uint32_t i = 0; i < way_count; i++)
            if (ways[i].warp == w)
                all[count++] = ways[i];
        if (count > before)
            continue;
        all[count] = (struct way){.warp = w};
        way_add(&all[count++], WSDBG_ACCESS_NAMED_SYNC, 0, WARPS * 32);
    }
    way_count = 0;
    ways_put(p, all, count);
    return ways_stand(p);
}

/* ---- one thread ---- */

/* What warp 4 does in a round of which it makes the arrivals. */
struct fills {
    const char *name, *cause, *says; /* says NULL: nothing is said of rounds that one thread fills */
    uint32_t lacking, there;         /* one of so many rounds has only these arrivals */
    uint32_t count;                  /* of EMPTY */
    bool by_one;                     /* each arrival by an instruction of its own */
    bool by_two;                     /* half of them by warp 5 */
    uint32_t ctas;                   /* of the cluster: the last one, or each, lacks arrivals; 0 = 1 */
    bool in_each;
    bool late; /* they come behind the wait for the next round */
};

static const struct fills fills[] = {
    {.name = "all", .lacking = ROUNDS + 1, .count = COUNT},
    {.name = "3 of 4 in every fourth round",
     .cause = "ARRIVE_MISSING",
     .says = "Warp 4 makes only 3 of the 4 arrivals on \"empty\" stage 1 in a round. In other rounds one thread makes "
             "all of them. With the missing ones the kernel would finish.",
     .lacking = 4,
     .there = 3,
     .count = COUNT},
    {.name = "... by 3 and 4 instructions",
     .cause = "ARRIVE_MISSING",
     .says = "Warp 4 makes only 3 of the 4 arrivals on \"empty\" stage 1 in a round.",
     .lacking = 4,
     .there = 3,
     .count = COUNT,
     .by_one = true},
    {.name = "... in every third round",
     .cause = "ARRIVE_MISSING",
     .says = "Warp 4 makes only 1 of the 4 arrivals on \"empty\" stage 0 in a round.",
     .lacking = 3,
     .there = 1,
     .count = COUNT},
    {.name = "... in one CTA",
     .cause = "ARRIVE_MISSING",
     .says = "Warp 4 of cluster rank 1 makes only 3 of the 4 arrivals",
     .lacking = 4,
     .there = 3,
     .count = COUNT,
     .ctas = 2},
    {.name = "... in each CTA",
     .cause = "ARRIVE_MISSING",
     .says = "makes only 3 of the 4 arrivals on \"empty\" stage 1 in a round.",
     .lacking = 4,
     .there = 3,
     .count = COUNT,
     .ctas = 2,
     .in_each = true},
    {.name = "... of which two warps make two each", .lacking = 4, .there = 1, .count = COUNT, .by_two = true},
    {.name = "... behind the wait for the next round", .lacking = 4, .there = 3, .count = COUNT, .late = true},
    {.name = "the count is one too high", .lacking = ROUNDS + 1, .count = COUNT + 1},
    {.name = "... and no round has as many", .lacking = 4, .there = 3, .count = COUNT + 1},
};

static void fill(const struct fills *k, uint32_t warp, bool lacks)
{
    struct way *way = begin(warp, LANE_0, k->count);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t arrivals = lacks && i % k->lacking + 1 == k->lacking ? k->there : COUNT;
        if (!k->late || i == 0)
            wait_for(way, FULL, i);
        if (k->late && i + 1 < ROUNDS)
            wait_for(way, FULL, i + 1);
        if (k->by_two)
            arrivals = warp == GROUP && arrivals < COUNT ? arrivals : COUNT / 2;
        for (uint32_t n = 0; n < (k->by_one ? arrivals : 1); n++)
            arrive(way, EMPTY, i, k->by_one ? 1 : arrivals);
    }
}

static void stand_filled(const struct fills *k, struct picture *p)
{
    const uint32_t ctas = k->ctas ? k->ctas : 1;
    for (uint32_t cta = 0; cta < ctas; cta++) {
        produce(begin(cta * WARPS + PRODUCER, LANE_0, k->count), ROUNDS);
        fill(k, cta * WARPS + GROUP, k->in_each || cta + 1 == ctas);
        if (k->by_two)
            fill(k, cta * WARPS + GROUP + 1, true);
    }
    assert_int_equal(stand(p, ctas), k->lacking <= ROUNDS || k->count > COUNT);
}

static void one_thread_makes_fewer_arrivals_in_some_rounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        struct picture p;
        print_message("%s\n", fills[i].name);
        stand_filled(&fills[i], &p);
        if (fills[i].says)
            ways_expect(&p, fills[i].cause, fills[i].says);
        else
            assert_false(ways_say(&p, "one thread makes"));
        picture_deinit(&p);
    }
}

/* ---- warps that take turns ---- */

/* Warps 4 to 7 all wait for each round, and take turns at releasing it. */
struct turns {
    const char *name, *cause, *says;
    uint32_t silent;      /* this warp arrives in none of its rounds; WARPS = none */
    uint32_t leaver;      /* this one leaves before its second turn; WARPS = none */
    bool alone;           /* ... its elected lane does, and the rest of the warp goes on */
    bool meets;           /* the warpgroup meets in each round */
    uint32_t silent_turn; /* `silent` leaves out only this turn, counted from its last one; 0 = all */
    uint32_t fewer;       /* rounds less than usual */
    bool is_reversed;     /* warp 7 begins */
    bool is_short;        /* warp 4 makes 3 of its 4 arrivals in its last turn */
    bool breaks_off;      /* warps do not wait for the rounds behind their last turns */
    bool on_two;          /* they also arrive on OTHER, for which another warp waits */
};

static const struct turns turns[] = {
    {.name = "all take part", .silent = WARPS, .leaver = WARPS},
    {.name = "one does not arrive in its turns",
     .cause = "ARRIVE_MISSING",
     .says = "No thread arrives on \"empty\" stage 0 in a round in which warp 6 should. In other rounds one thread "
             "makes all 4 arrivals, and warps may take turns. With these arrivals the kernel would finish.",
     .silent = 6,
     .leaver = WARPS},
    {.name = "one has left",
     .cause = "WAKER_EXITED",
     .says = "Warp 6 left the kernel. The warps of that warpgroup take turns at arriving on \"empty\", and nobody "
             "arrives in its turns. Had it stayed, the kernel would finish.",
     .silent = WARPS,
     .leaver = 6},
    {.name = "... its elected lane alone",
     .cause = "WAKER_EXITED",
     .says = "Lane 0 of warp 6 left the kernel. The warps of that warpgroup take turns at arriving on \"empty\"",
     .silent = WARPS,
     .leaver = 6,
     .alone = true},
    {.name = "... and the others meet in each round",
     .cause = "WAKER_EXITED",
     .says = "Warp 6 left the kernel. The warps of that warpgroup take turns at arriving on \"empty\"",
     .silent = WARPS,
     .leaver = 6,
     .meets = true},
    {.name = "one that arrives on two rings has left",
     .cause = "WAKER_EXITED",
     .says = "Warp 6 left the kernel. The warps of that warpgroup take turns at arriving on",
     .silent = WARPS,
     .leaver = 6,
     .on_two = true},
    /* Warp 4 is through when warp 7 leaves out its turn. */
    {.name = "one leaves out a turn, and each leaves behind its last one",
     .cause = "ARRIVE_MISSING",
     .says = "No thread arrives on \"empty\" stage 1 in a round in which warp 7 should.",
     .silent = 7,
     .leaver = WARPS,
     .silent_turn = 2,
     .breaks_off = true},
    /* So it is when warp 5 leaves out its last turn. */
    {.name = "one leaves out its last turn",
     .cause = "ARRIVE_MISSING",
     .says = "in a round in which warp 5 should.",
     .silent = 5,
     .leaver = WARPS,
     .silent_turn = 1,
     .breaks_off = true},
    /* Each of them makes three arrivals then. */
    {.name = "the one with the most turns leaves out one",
     .cause = "ARRIVE_MISSING",
     .says = "in a round in which warp 7 should.",
     .silent = 7,
     .leaver = WARPS,
     .silent_turn = 3,
     .fewer = 3,
     .is_reversed = true},
    {.name = "one has left, and another one makes too few arrivals later",
     .cause = "WAIT_CYCLE",
     .silent = WARPS,
     .leaver = 6,
     .is_short = true},
};

static uint32_t rounds_of(const struct turns *k)
{
    return ROUNDS - k->fewer;
}

static bool is_turn_of(const struct turns *k, uint32_t warp, uint32_t round)
{
    return round % GROUP == (k->is_reversed ? WARPS - 1 - warp : warp - GROUP);
}

/* How many arrivals a warp makes in a turn of its own. */
static uint32_t arrivals_in(const struct turns *k, uint32_t warp, uint32_t round)
{
    const uint32_t turn = (rounds_of(k) - 1 - round) / GROUP + 1; /* from its last one */
    if (warp == k->silent && (k->silent_turn == 0 || k->silent_turn == turn))
        return 0;
    return COUNT - (k->is_short && warp == GROUP && turn == 1);
}

static void take_turns(const struct turns *k, uint32_t warp, int lanes)
{
    struct way *way = begin(warp, lanes, COUNT);
    for (uint32_t i = 0; i < rounds_of(k); i++) {
        const bool is_turn = is_turn_of(k, warp, i);
        if (warp == k->leaver && (lanes & LANE_0) && is_turn && i >= GROUP)
            return;
        wait_for(way, FULL, i);
        if (k->meets)
            way_add(way, WSDBG_ACCESS_NAMED_SYNC, 1, GROUP_THREADS);
        if (is_turn && (lanes & LANE_0))
            arrive(way, EMPTY, i, arrivals_in(k, warp, i));
        if (is_turn && (lanes & LANE_0) && k->on_two)
            arrive(way, OTHER, i, COUNT);
        if (k->breaks_off && is_turn && i + GROUP >= rounds_of(k))
            return;
    }
}

static void warps_take_turns_and_one_fails_to_take_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        const struct turns *k = &turns[i];
        struct picture p;
        print_message("%s\n", k->name);
        produce(begin(PRODUCER, LANE_0, COUNT), rounds_of(k));
        if (k->on_two)
            use(begin(HELPER, LANE_0, COUNT));
        for (uint32_t w = GROUP; w < WARPS; w++) {
            take_turns(k, w, LANE_0);
            if (k->alone)
                take_turns(k, w, OTHER_LANES);
        }
        assert_int_equal(stand(&p, 1), k->cause != NULL);
        if (k->cause)
            ways_expect(&p, k->cause, k->says);
        picture_deinit(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_makes_fewer_arrivals_in_some_rounds),
        cmocka_unit_test(warps_take_turns_and_one_fails_to_take_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
