/* turns_of_groups_test.c - a producer and two warpgroups of consumers, which work together or take turns at tiles, with
 * one defect at a time: loops of which one runs more often, a parity or a release that is wrong in one round of every
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

enum { FULL = 1, EMPTY, OTHER, STAGES = 2, GROUP = 4, WARPS = 12, PRODUCER = 0 };
/* Warpgroups of consumers, and named barriers: of all, for the turns of A and of B, and of the producer's end. */
enum { ALL, A, B, END, NAMED };
/* Accesses of the picture: arrivals on and waits for each ring. */
enum { ARRIVES_ON = -FULL, WAITS_ON = OTHER - FULL + 1 - FULL, MEETS = 2 * OTHER };

static struct way ways[WARPS];

/* At first all threads meet. */
static void begin(uint32_t full_count, uint32_t empty_count)
{
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w] = (struct way){.warp = w};
        for (uint32_t s = 0; s < STAGES && w == PRODUCER; s++) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), full_count);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), empty_count);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(OTHER, s), 1);
        }
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, ALL, WARPS * 32)->access = MEETS;
    }
}

static void wait_for(struct way *way, uint32_t ring, uint32_t stage, uint32_t parity)
{
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(ring, stage), parity & 1)->access = WAITS_ON + ring;
}

static void arrive(struct way *way, uint32_t ring, uint32_t stage)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(ring, stage), 1)->access = ARRIVES_ON + ring;
}

/* A warpgroup waits for its turn, and gives it to the other one.  The first turn is A's. */
static void take_turn(struct way *way)
{
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, way->warp / GROUP, 2 * GROUP * 32);
}

static void give_turn(struct way *way)
{
    way_add(way, WSDBG_ACCESS_NAMED_ARRIVE, A + B - way->warp / GROUP, 2 * GROUP * 32);
}

static void put_accesses(struct picture *p)
{
    for (uint32_t ring = FULL; ring <= OTHER; ring++)
        picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(ring, 0), STAGES, 1, WSDBG_LANES_ONE);
    for (uint32_t ring = FULL; ring <= OTHER; ring++)
        picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(ring, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_NAMED_SYNC, ALL, 1, 0, WSDBG_LANES_ALL);
}

/* Runs the walks.  False: the kernel finishes. */
static bool stand_apart(struct picture *p)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, OTHER, "other", STAGES, 1, 2);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
        picture_mbarrier(p, OTHER, s, 0, 1, 1, 0);
    }
    for (uint32_t id = 0; id < NAMED; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    put_accesses(p);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

/* Lets all meet at the end, and runs the walks. */
static bool stand(struct picture *p)
{
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, ALL, WARPS * 32)->access = MEETS;
    return stand_apart(p);
}

static void produce(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        wait_for(&ways[PRODUCER], EMPTY, i % STAGES, i / STAGES ^ 1);
        arrive(&ways[PRODUCER], FULL, i % STAGES);
    }
}

/* ---- trip counts ---- */

struct trips {
    const char *name, *says;     /* says NULL: the kernel finishes; "": nothing is said of trip counts */
    uint32_t tiles, fills, uses; /* rounds of a tile by the producer, by a consumer */
    bool takes_turns;            /* the warpgroups take every other tile; else both use each round */
    bool skips_right;            /* ... and know how many rounds of the others they pass over */
    bool drains;                 /* at the end the producer waits for all stages once more */
    bool is_late;                /* a consumer releases one of the last rounds only when the producer is done */
    bool by_tile; /* consumers release both stages at the end of a tile, and warp 1 passes that on to the second */
};

static const struct trips trips[] = {
    {.name = "both run as often", .tiles = 2, .fills = 3, .uses = 3},
    {.name = "... and the producer drains", .tiles = 2, .fills = 3, .uses = 3, .drains = true},
    {.name = "... and a release comes too late",
     .says = "",
     .tiles = 2,
     .fills = 3,
     .uses = 3,
     .drains = true,
     .is_late = true},
    {.name = "consumers run once more per tile, and the producer drains",
     .says = "Warps 4-11 arrive on \"empty\" for 16 rounds from the kernel's start to its end, but warp 0 waits for "
             "14. The loops of the roles have different trip counts.",
     .tiles = 4,
     .fills = 3,
     .uses = 4,
     .drains = true},
    {.name = "warpgroups that take turns run as often", .tiles = 4, .fills = 3, .uses = 3, .takes_turns = true},
    {.name = "... and a release comes too late",
     .says = "",
     .tiles = 4,
     .fills = 3,
     .uses = 3,
     .takes_turns = true,
     .is_late = true},
    {.name = "... once more",
     .says = "Warp 0 arrives on \"full\" for 12 rounds from the kernel's start to its end, but warps 4-11 wait for 8 "
             "each, or 16 if they take turns.",
     .tiles = 4,
     .fills = 3,
     .uses = 4,
     .takes_turns = true},
    {.name = "... once less",
     .says = "Warp 0 arrives on \"full\" for 16 rounds from the kernel's start to its end, but warps 4-11 wait for 6 "
             "each, or 12 if they take turns.",
     .tiles = 4,
     .fills = 4,
     .uses = 3,
     .takes_turns = true,
     .skips_right = true},
    {.name = "a tile has a round of each stage",
     .tiles = 4,
     .fills = 2,
     .uses = 2,
     .takes_turns = true,
     .skips_right = true,
     .by_tile = true},
    /* Each warpgroup waits for stage 1 with one parity alone. */
    {.name = "... and warpgroups run once more",
     .says = "Warp 0 arrives on \"full\" for 8 rounds from the kernel's start to its end, but warps 4-11 wait for 6 "
             "each, or 12 if they take turns.",
     .tiles = 4,
     .fills = 2,
     .uses = 3,
     .takes_turns = true,
     .skips_right = true,
     .by_tile = true},
};

/* The producer, and the consumers that use the last round. */
static uint32_t end_threads(const struct trips *k)
{
    return 32 * (1 + (k->takes_turns ? GROUP : 2 * GROUP));
}

static void consume_tile(struct way *way, const struct trips *k, uint32_t tile)
{
    for (uint32_t b = 0; b < k->uses; b++) {
        const uint32_t i = tile * (k->skips_right ? k->fills : k->uses) + b;
        wait_for(way, FULL, i % STAGES, i / STAGES);
        if (k->is_late && i + STAGES + 1 == k->tiles * k->uses)
            way_add(way, WSDBG_ACCESS_NAMED_SYNC, END, end_threads(k));
        if (!k->by_tile)
            arrive(way, EMPTY, i % STAGES);
    }
    if (k->by_tile)
        arrive(way, EMPTY, 0);
}

static void consume_in_turn(struct way *way, const struct trips *k)
{
    if (way->warp / GROUP == B)
        give_turn(way);
    for (uint32_t t = way->warp / GROUP - A; t < k->tiles; t += 2) {
        take_turn(way);
        consume_tile(way, k, t);
        give_turn(way);
    }
}

static void make_trips(const struct trips *k)
{
    struct way *producer = &ways[PRODUCER];
    begin(1, k->takes_turns ? GROUP : 2 * GROUP);
    for (uint32_t i = 0; i < k->tiles * k->fills; i++) {
        wait_for(producer, k->by_tile && i % STAGES ? OTHER : EMPTY, i % STAGES, i / STAGES ^ 1);
        arrive(producer, FULL, i % STAGES);
    }
    for (uint32_t i = k->tiles * k->fills; i < k->tiles * k->fills + STAGES && k->drains; i++)
        wait_for(producer, EMPTY, i % STAGES, i / STAGES ^ 1);
    if (k->is_late)
        way_add(producer, WSDBG_ACCESS_NAMED_SYNC, END, end_threads(k));
    for (uint32_t t = 0; t < k->tiles && k->by_tile; t++) {
        wait_for(&ways[1], EMPTY, 0, t);
        arrive(&ways[1], OTHER, 1);
    }
    for (uint32_t w = GROUP; w < WARPS; w++)
        if (k->takes_turns)
            consume_in_turn(&ways[w], k);
        else
            for (uint32_t t = 0; t < k->tiles; t++)
                consume_tile(&ways[w], k, t);
}

static void loops_that_run_a_different_number_of_times_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
        struct picture p;
        print_message("%s\n", trips[i].name);
        make_trips(&trips[i]);
        assert_int_equal(stand(&p), trips[i].says != NULL);
        if (trips[i].says && *trips[i].says)
            ways_expect(&p, "ROLE_DISAGREE", trips[i].says);
        else if (trips[i].says)
            assert_false(ways_say(&p, "trip counts"));
        picture_deinit(&p);
    }
}

enum { LONG_TILE = 6, LONG_TILES = 8 };

/* Behind its first release, the first warpgroup only waits: some of its waits, a tile apart, name the same parity. */
static void warpgroups_that_stop_releasing_are_not_thought_to_wait_less_often(void **state)
{
    struct picture p;
    (void)state;
    begin(1, GROUP);
    produce(LONG_TILE * LONG_TILES);
    for (uint32_t w = GROUP; w < WARPS; w++) {
        if (w / GROUP == B)
            give_turn(&ways[w]);
        for (uint32_t t = w / GROUP - A; t < LONG_TILES; t += 2) {
            take_turn(&ways[w]);
            for (uint32_t i = t * LONG_TILE; i < (t + 1) * LONG_TILE; i++) {
                wait_for(&ways[w], FULL, i % STAGES, i / STAGES);
                if (w / GROUP == B || i == 0)
                    arrive(&ways[w], EMPTY, i % STAGES);
            }
            give_turn(&ways[w]);
        }
    }
    assert_true(stand(&p));
    assert_false(ways_say(&p, "trip counts"));
    picture_deinit(&p);
}

/* The second warpgroup waits for a round more than there is, and all others have exited.  It waited only for its own
 * phases, so the phases completed were not too many. */
static void a_warpgroup_that_passes_over_the_turns_of_others_was_not_overtaken(void **state)
{
    enum { TURNS = 4, ROUNDS = 3 };
    struct picture p;
    (void)state;
    begin(1, GROUP);
    produce(TURNS * ROUNDS);
    for (uint32_t w = GROUP; w < WARPS; w++) {
        if (w / GROUP == B)
            give_turn(&ways[w]);
        for (uint32_t t = w / GROUP - A; t < TURNS; t += 2) {
            const uint32_t more = w == 2 * GROUP && t + 1 == TURNS;
            take_turn(&ways[w]);
            for (uint32_t i = t * ROUNDS; i < (t + 1) * ROUNDS + more; i++) {
                wait_for(&ways[w], FULL, i % STAGES, i / STAGES);
                arrive(&ways[w], EMPTY, i % STAGES);
            }
            give_turn(&ways[w]);
        }
    }
    assert_true(stand_apart(&p));
    assert_false(ways_say(&p, "ran ahead"));
    picture_deinit(&p);
}

/* ---- rings that are meant to have other counts ---- */

enum { SHAPED_ROUNDS = 12, LATE_ROUND = SHAPED_ROUNDS - STAGES - 1 };

/* What consumers do.  The kernel hangs because one of the last releases comes only when the producer is done. */
enum shape {
    WARPS_TAKE_TURNS, /* two warps of a warpgroup take turns at the rounds of both stages */
    RESIDENT,         /* something is brought once, and waited for in each round */
    PASSED_ON, /* each warpgroup has nothing to do with a third of the rounds, and releases them without a wait */
    LOOKS,     /* ... a look before the wait asks for the wrong phase: this is what hangs */
    SHAPES
};

static bool takes_part(const struct way *way, enum shape shape, uint32_t round)
{
    return shape == WARPS_TAKE_TURNS ? way->warp == GROUP + round / STAGES % 2 : way->warp >= GROUP;
}

static void consume_shaped(struct way *way, enum shape shape)
{
    for (uint32_t i = 0; i < SHAPED_ROUNDS; i++) {
        const uint32_t threads = 32 * (shape == WARPS_TAKE_TURNS ? 2 : 1 + 2 * GROUP);
        if (!takes_part(way, shape, i))
            continue;
        if (shape == RESIDENT)
            wait_for(way, OTHER, 0, 0);
        if (shape == LOOKS)
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), ~(i / STAGES) & 1);
        if (shape != PASSED_ON || i % 3 != way->warp / GROUP - A)
            wait_for(way, FULL, i % STAGES, i / STAGES);
        if (i == LATE_ROUND && shape != LOOKS)
            way_add(way, WSDBG_ACCESS_NAMED_SYNC, END, threads);
        arrive(way, EMPTY, i % STAGES);
    }
}

static void produce_shaped(enum shape shape)
{
    produce(SHAPED_ROUNDS);
    if (shape != LOOKS)
        way_add(&ways[PRODUCER], WSDBG_ACCESS_NAMED_SYNC, END, 32 * (shape == WARPS_TAKE_TURNS ? 2 : 1 + 2 * GROUP));
}

static void rings_that_are_meant_to_have_other_counts_are_not_blamed(void **state)
{
    (void)state;
    for (enum shape shape = 0; shape < SHAPES; shape++) {
        struct picture p;
        print_message("shape %d\n", (int)shape);
        begin(1, shape == WARPS_TAKE_TURNS ? 1 : 2 * GROUP);
        produce_shaped(shape);
        if (shape == RESIDENT) {
            wait_for(&ways[1], FULL, 0, 0);
            arrive(&ways[1], OTHER, 0);
        }
        for (uint32_t w = GROUP; w < WARPS; w++)
            consume_shaped(&ways[w], shape);
        assert_true(stand(&p));
        assert_false(ways_say(&p, "trip counts"));
        picture_deinit(&p);
    }
}

/* ---- a wait that is wrong in every warpgroup ---- */

enum { TILES = 6 };

struct wrong_wait {
    const char *name, *cause, *says;
    uint32_t number; /* of the wait that names the other parity, from 1 */
    bool is_held;    /* the producer begins when A has begun */
};

static const struct wrong_wait wrong_waits[] = {
    {"the first one", "PARITY_WRONG",
     "Warps 4-11 ask for parity 1 in wait number 1 on \"full\" stage 0 at kernel.cu:203. With the other parity in this "
     "wait the kernel would finish.",
     1, false},
    {"the fourth one", "PARITY_DRIFT", "Warps 4-11 ask for parity 1 in wait number 2 on \"full\" stage 1", 4, false},
    {"the first one, behind which the first warpgroup hangs", "PARITY_WRONG",
     "Warps 4-11 ask for parity 1 in wait number 1 on \"full\" stage 0", 1, true},
};

static void consume_with_wrong_wait(struct way *way, const struct wrong_wait *k)
{
    uint32_t number = 0;
    if (way->warp / GROUP == B)
        give_turn(way);
    for (uint32_t t = way->warp / GROUP - A; t < TILES; t += 2) {
        take_turn(way);
        if (t == 0 && k->is_held && way->warp == GROUP)
            arrive(way, OTHER, 1);
        for (uint32_t s = 0; s < STAGES; s++) {
            wait_for(way, FULL, s, t ^ (++number == k->number));
            arrive(way, EMPTY, s);
        }
        give_turn(way);
    }
}

static void the_same_wait_of_all_warps_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_waits / sizeof *wrong_waits; i++) {
        struct picture p;
        const struct wrong_wait *k = &wrong_waits[i];
        print_message("%s\n", k->name);
        begin(1, GROUP);
        if (k->is_held)
            wait_for(&ways[PRODUCER], OTHER, 1, 0);
        produce(TILES * STAGES);
        for (uint32_t w = GROUP; w < WARPS; w++)
            consume_with_wrong_wait(&ways[w], k);
        assert_true(stand(&p));
        ways_expect(&p, k->cause, k->says);
        picture_deinit(&p);
    }
}

/* ---- releases that some turns leave out ---- */

enum { TILE_ROUNDS = 8 };

/* They leave out a round of each stage, so that the order of stages does not show it. */
static bool releases(uint32_t round)
{
    return round % TILE_ROUNDS / STAGES != 1;
}

/* Each warpgroup leaves out releases of its tile.  The second one has not begun when the first one hangs. */
static void releases_that_are_left_out_in_turns_still_to_come_are_told(void **state)
{
    struct picture p;
    (void)state;
    begin(1, GROUP);
    produce(2 * TILE_ROUNDS);
    for (uint32_t w = GROUP; w < WARPS; w++) {
        const uint32_t tile = w / GROUP - A;
        if (tile == 1)
            take_turn(&ways[w]);
        for (uint32_t i = tile * TILE_ROUNDS; i < (tile + 1) * TILE_ROUNDS; i++) {
            wait_for(&ways[w], FULL, i % STAGES, i / STAGES);
            if (releases(i))
                arrive(&ways[w], EMPTY, i % STAGES);
        }
        if (tile == 0)
            give_turn(&ways[w]);
    }
    assert_true(stand(&p));
    ways_expect(&p, "ARRIVE_MISSING", "Warps 4-11 went through a round without arriving on \"empty\" stage 0");
    picture_deinit(&p);
}

/* A warp multiplies with three others, which also wait for what warp 8 makes of the round.  Warp 4 releases a round for
 * all of them when it has issued the next one: then all have come through the waits of that round. */
static void multiply(struct way *way)
{
    for (uint32_t i = 0; i < TILE_ROUNDS; i++) {
        if (way->warp != GROUP)
            wait_for(way, OTHER, i % STAGES, i / STAGES);
        wait_for(way, FULL, i % STAGES, i / STAGES);
        way_add(way, WSDBG_ACCESS_WGMMA, 0, i + 1);
        way_add(way, WSDBG_ACCESS_WGMMA_WAIT, 0, i);
        if (way->warp == GROUP && i > 0 && releases(i - 1))
            arrive(way, EMPTY, (i - 1) % STAGES);
    }
    way_add(way, WSDBG_ACCESS_WGMMA_WAIT, 0, TILE_ROUNDS);
    if (way->warp == GROUP)
        arrive(way, EMPTY, (TILE_ROUNDS - 1) % STAGES);
}

/* With a release before the next round is issued, the kernel would hang in some orders. */
static void releases_that_are_left_out_behind_multiplications_are_told(void **state)
{
    struct picture p;
    (void)state;
    begin(1, 1);
    produce(TILE_ROUNDS);
    for (uint32_t i = 0; i < TILE_ROUNDS; i++) {
        wait_for(&ways[2 * GROUP], FULL, i % STAGES, i / STAGES);
        arrive(&ways[2 * GROUP], OTHER, i % STAGES);
    }
    for (uint32_t w = GROUP; w < 2 * GROUP; w++)
        multiply(&ways[w]);
    assert_true(stand(&p));
    ways_expect(&p, "ARRIVE_MISSING", "Warp 4 went through a round without arriving on \"empty\" stage 0");
    picture_deinit(&p);
}

/* Warp 4 releases each round, and warp 8 looks on behind it.  The producer waits for two releases of a round, which
 * warp 8 could make up for. */
static void who_is_not_needed_for_a_round_lacks_no_arrival(void **state)
{
    struct picture p;
    (void)state;
    begin(1, 1);
    for (uint32_t i = 0; i < 2 * STAGES; i++) {
        wait_for(&ways[PRODUCER], EMPTY, i % STAGES, 1);
        arrive(&ways[PRODUCER], FULL, i % STAGES);
        wait_for(&ways[PRODUCER], EMPTY, i % STAGES, 0);
        wait_for(&ways[GROUP], FULL, i % STAGES, i / STAGES);
        arrive(&ways[GROUP], EMPTY, i % STAGES);
        arrive(&ways[GROUP], OTHER, i % STAGES);
        wait_for(&ways[2 * GROUP], OTHER, i % STAGES, i / STAGES);
        wait_for(&ways[2 * GROUP], FULL, i % STAGES, i / STAGES);
    }
    assert_true(stand(&p));
    assert_false(ways_say(&p, "never arrive"));
    picture_deinit(&p);
}

/* Each warpgroup releases the stage of its own, though both wait for all rounds.  Warp 8 leaves out one release. */
static void a_warpgroup_that_serves_one_stage_is_told(void **state)
{
    struct picture p;
    (void)state;
    begin(1, GROUP);
    produce(TILE_ROUNDS);
    for (uint32_t w = GROUP; w < WARPS; w++)
        for (uint32_t i = 0; i < TILE_ROUNDS; i++) {
            wait_for(&ways[w], FULL, i % STAGES, i / STAGES);
            if (i % STAGES == w / GROUP - A && !(w == 2 * GROUP && i == 3))
                arrive(&ways[w], EMPTY, i % STAGES);
        }
    assert_true(stand(&p));
    ways_expect(&p, "ARRIVE_MISSING", "Warp 8 went through a round without arriving on \"empty\" stage 1");
    picture_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_that_run_a_different_number_of_times_are_told),
        cmocka_unit_test(warpgroups_that_stop_releasing_are_not_thought_to_wait_less_often),
        cmocka_unit_test(a_warpgroup_that_passes_over_the_turns_of_others_was_not_overtaken),
        cmocka_unit_test(rings_that_are_meant_to_have_other_counts_are_not_blamed),
        cmocka_unit_test(the_same_wait_of_all_warps_is_told),
        cmocka_unit_test(releases_that_are_left_out_in_turns_still_to_come_are_told),
        cmocka_unit_test(releases_that_are_left_out_behind_multiplications_are_told),
        cmocka_unit_test(a_warpgroup_that_serves_one_stage_is_told),
        cmocka_unit_test(who_is_not_needed_for_a_round_lacks_no_arrival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
