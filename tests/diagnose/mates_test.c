/* mates_test.c - a producer and a warpgroup of consumers, of which some differ from the others: in one wait, in one
 * arrival, or in what they do beside.
 *
 * Such a kernel has a race.  No replay of its walks ends in the picture that the test makes, so only a comparison of
 * the walks shows the defect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, NEWS, STAGES = 2, ROUNDS = 6, PRODUCER = 0, FIRST = 4, GROUP = 4, WARPS = 8 };
/* Accesses of the picture. */
enum { FREES, TELLS, PEELED_WAITS, PEELED_FREES = PEELED_WAITS + 2, ACCESSES = PEELED_FREES + 2 };
enum more { NO_MORE, BY_ITS_OWN, BY_THE_RELEASE };

struct defect {
    const char *name;
    const char *cause;      /* of the finding on mates; NULL: there is none */
    uint32_t first, last;   /* consumers that are unlike the others, from 0 */
    uint32_t wait, release; /* the round, from 1, in which they ask for the other parity, or do not release */
    bool gathers;           /* their lanes wait for each other before each wait; those of the others need not */
    bool peels;     /* their first rounds are by instructions of their own, as are the last ones of the others */
    enum more more; /* they also arrive on "news": by an instruction of their own, or by that of the releases */
};

static const struct defect defects[] = {
    {.name = "one asks for the other parity at first", .cause = "PARITY_WRONG", .first = 2, .last = 2, .wait = 1},
    {.name = "... in a later round", .cause = "PARITY_DRIFT", .first = 0, .last = 0, .wait = 4},
    {.name = "two do: nobody knows which ones are right", .first = 1, .last = 2, .wait = 1},
    {.name = "one does, and its lanes also wait for each other",
     .cause = "PARITY_DRIFT",
     .first = 2,
     .last = 2,
     .wait = 4,
     .gathers = true},
    {.name = "lanes of one wait for each other: that is no difference", .first = 2, .last = 2, .gathers = true},
    {.name = "one does, and it also has to do what the others need not",
     .cause = "PARITY_WRONG",
     .first = 1,
     .last = 1,
     .wait = 1,
     .more = BY_ITS_OWN},
    {.name = "... and in a later round", .cause = "PARITY_DRIFT", .first = 1, .last = 1, .wait = 4, .more = BY_ITS_OWN},
    {.name = "one has more to do: that is no difference", .first = 1, .last = 1, .more = BY_ITS_OWN},
    {.name = "one asks for the other parity, and executes an instruction of all more often",
     .first = 1,
     .last = 1,
     .wait = 1,
     .more = BY_THE_RELEASE},
    {.name = "other rounds of one are unrolled: that is no difference", .first = 0, .last = 0, .peels = true},
    {.name = "one leaves out a release", .first = 1, .last = 1, .release = 4},
    {.name = "... and asks for the other parity, too", .first = 1, .last = 1, .wait = 2, .release = 4},
};

static void produce(struct way *way)
{
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), GROUP);
    }
    way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(NEWS, 0), ROUNDS);
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 1, 32 * (GROUP + 1));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % STAGES), 1);
    }
}

static void consume(const struct defect *d, bool is_unlike, struct way *way)
{
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 1, 32 * (GROUP + 1));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (is_unlike && d->gathers)
            way_add(way, WSDBG_STEP_TOGETHER, 0, 0);
        const bool is_peeled = d->peels && (is_unlike ? i < STAGES : i >= ROUNDS - STAGES);
        const uint32_t frees = is_peeled ? (uint32_t)(PEELED_FREES + is_unlike) : (uint32_t)FREES;
        struct wsdbg_step_row *wait = way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES),
                                              (i / STAGES & 1) ^ (is_unlike && i + 1 == d->wait));
        if (is_peeled)
            wait->access = PEELED_WAITS + is_unlike;
        if (is_unlike && d->more)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(NEWS, 0), 1)->access = d->more == BY_ITS_OWN ? TELLS : FREES;
        if (!is_unlike || i + 1 != d->release)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1)->access = frees;
    }
}

static void put_ways(struct picture *p, const struct defect *d)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    produce(&ways[PRODUCER]);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        if (w >= FIRST)
            consume(d, w - FIRST >= d->first && w - FIRST <= d->last, &ways[w]);
    }
    ways_put(p, ways, WARPS);
}

/* The last ones are those of stage 0. */
static void put_barriers(struct picture *p, uint32_t *full, uint32_t *empty)
{
    picture_name(p, FULL, "full", STAGES, 1u << PRODUCER, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1u << PRODUCER);
    for (uint32_t s = STAGES; s-- > 0;) {
        *full = picture_mbarrier(p, FULL, s, 1, 1, 1, 64);
        *empty = picture_mbarrier(p, EMPTY, s, 1, 3, GROUP, 0);
    }
}

/* All wait for the same in a phase that the walks do not lead to. */
static void put_picture(struct picture *p)
{
    uint32_t full, empty;
    put_barriers(p, &full, &empty);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(NEWS, 0), 1, 1, WSDBG_LANES_ONE);
    for (uint32_t a = PEELED_WAITS; a < ACCESSES; a++)
        picture_access(p, a < PEELED_FREES ? WSDBG_ACCESS_WAIT : WSDBG_ACCESS_ARRIVE,
                       MBARRIER_AT(a < PEELED_FREES ? FULL : EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_exit(p, 1, FIRST - 1);
    picture_wait(p, PRODUCER, PRODUCER, WSDBG_WARP_WAIT_MBARRIER, empty, 1);
    picture_wait(p, FIRST, WARPS - 1, WSDBG_WARP_WAIT_MBARRIER, full, 1);
}

/* The cause of the finding that compares a warp with its warpgroup; NULL = there is none. */
static const char *cause_told(struct picture *p)
{
    struct wsdbg_diagnosis diagnosis;
    const char *cause = NULL;
    picture_still(p);
    picture_judge(p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        if (strstr(diagnosis.findings[i].sentence, "The three other warps of its warpgroup")) {
            assert_null(cause);
            assert_int_equal(diagnosis.findings[i].confidence, WSDBG_CONFIDENCE_LIKELY);
            cause = wsdbg_cause_name(diagnosis.findings[i].cause);
        }
    wsdbg_diagnosis_deinit(&diagnosis);
    return cause;
}

static void test_a_warp_is_compared_with_its_warpgroup(void **state)
{
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        struct picture p;
        print_message("%s\n", defects[i].name);
        picture_init(&p, 1, WARPS, 32);
        put_picture(&p);
        put_ways(&p, &defects[i]);
        const char *cause = cause_told(&p);
        if ((cause != NULL) != (defects[i].cause != NULL))
            fail_msg("%s", cause ? cause : "nothing is told");
        if (cause)
            assert_string_equal(cause, defects[i].cause);
        picture_deinit(&p);
    }
    (void)state;
}

/* ---- two sides of one mbarrier ---- */

enum { TURN = 1, MATES = GROUP - 1, MEETING = 2 };
enum { WAITS, LEADS, FOLLOWS, MEETS };

/* Warp 4 waits for the phase that the three others complete, and completes the next one.  They wait for that by the
 * same instruction, so with the other parity. */
static void put_turns(struct picture *p)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(TURN, 0), MATES);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        for (uint32_t i = 0; i < ROUNDS && w == FIRST; i++) {
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(TURN, 0), 0)->access = WAITS;
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TURN, 0), MATES)->access = LEADS;
        }
        for (uint32_t i = 0; i < ROUNDS && w > FIRST; i++) {
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TURN, 0), 1)->access = FOLLOWS;
            way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, MEETING, 32 * MATES)->access = MEETS;
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(TURN, 0), 1)->access = WAITS;
        }
    }
    ways_put(p, ways, WARPS);
}

/* The row of the barrier. */
static uint32_t put_sides(struct picture *p)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, TURN, "turn", 1, 2, 2);
    const uint32_t turn = picture_mbarrier(p, TURN, 0, 0, 1, MATES, 0);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_object(p, WSDBG_BARRIER_NAMED, MEETING);
    picture_reach(p, FIRST, WARPS - 1,
                  picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(TURN, 0), 1, 0, WSDBG_LANES_ONE), 0, UINT8_MAX, 2);
    picture_reach(p, FIRST, FIRST,
                  picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TURN, 0), 1, MATES, WSDBG_LANES_ONE), 0, UINT8_MAX,
                  2);
    picture_reach(p, FIRST + 1, WARPS - 1,
                  picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TURN, 0), 1, 1, WSDBG_LANES_ONE), 0, UINT8_MAX, 2);
    picture_reach(p, FIRST + 1, WARPS - 1,
                  picture_access(p, WSDBG_ACCESS_NAMED_SYNC, MEETING, 1, 32 * MATES, WSDBG_LANES_ALL), 0, UINT8_MAX, 2);
    put_turns(p);
    return turn;
}

/* In the second picture one of the three has not arrived, which the walks do not lead to. */
static void test_the_two_sides_of_a_barrier_are_no_mates(void **state)
{
    struct picture p;
    put_sides(&p);
    assert_false(ways_stand(&p));
    picture_deinit(&p);
    const uint32_t turn = put_sides(&p);
    picture_exit(&p, 0, FIRST - 1);
    picture_wait(&p, FIRST, FIRST, WSDBG_WARP_WAIT_MBARRIER, turn, 0);
    picture_wait(&p, FIRST + 1, WARPS - 1, WSDBG_WARP_WAIT_MBARRIER, turn, 1);
    assert_null(cause_told(&p));
    picture_deinit(&p);
    (void)state;
}

/* ---- warps that are no warpgroup ---- */

enum { LOADER, FIRST_OF_FOUR, LAST_OF_FOUR = FIRST_OF_FOUR + GROUP - 1, ALL_WARPS };

/* How the odd warp differs beside: not at all; it waits by an instruction of its own; or such a one comes before its
 * waits, so that it may be meant to begin later. */
enum odd_way { LIKE_ALL, WAITS_BY_ITS_OWN, BEGINS_LATER };
enum { WAITS_OF_ALL, OWN_WAITS, OWN_SYNC };

/* Warps 1 to 4 take what warp 0 loads, by the same instructions.  Warp `odd` asks for the other parity in the round
 * `round`, from 1, and is followed no further; 0 = none does. */
static bool is_four_told(uint32_t odd, uint32_t round, enum odd_way odd_way)
{
    static struct way ways[ALL_WARPS];
    struct picture p;
    memset(ways, 0, sizeof ways);
    uint32_t full, empty;
    picture_init(&p, 1, ALL_WARPS, 32);
    put_barriers(&p, &full, &empty);
    for (uint32_t a = WAITS_OF_ALL; a <= OWN_WAITS; a++)
        picture_access(&p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ALL);
    picture_access(&p, WSDBG_ACCESS_NAMED_SYNC, 2, 1, 32, WSDBG_LANES_ALL);
    produce(&ways[LOADER]);
    for (uint32_t w = FIRST_OF_FOUR; w < ALL_WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 1, 32 * (GROUP + 1));
        if (w == odd && odd_way == BEGINS_LATER)
            way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 2, 32)->access = OWN_SYNC;
        for (uint32_t i = 0; i < ROUNDS && !ways[w].is_open; i++) {
            ways[w].is_open = w == odd && i + 1 == round;
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), (i / STAGES & 1) ^ ways[w].is_open)
                ->access = w == odd && odd_way == WAITS_BY_ITS_OWN ? OWN_WAITS : WAITS_OF_ALL;
            if (!ways[w].is_open)
                way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1);
        }
    }
    ways_put(&p, ways, ALL_WARPS);
    picture_wait(&p, LOADER, LOADER, WSDBG_WARP_WAIT_MBARRIER, empty, 1);
    picture_wait(&p, FIRST_OF_FOUR, LAST_OF_FOUR, WSDBG_WARP_WAIT_MBARRIER, full, 1);
    const bool is_told = ways_say(
        &p, round == 1 ? "Warp 2 asks for parity 1 in its wait number 1 on \"full\" stage 0. Warps 1, 3-4, which "
                         "wait by the same instructions, ask for parity 0 there."
                       : "which wait by the same instructions, ask for parity");
    picture_deinit(&p);
    return is_told;
}

static void test_a_warp_is_compared_with_those_of_its_instructions(void **state)
{
    (void)state;
    assert_true(is_four_told(2, 1, LIKE_ALL));
    assert_true(is_four_told(3, 4, LIKE_ALL));
    assert_false(is_four_told(2, 0, LIKE_ALL));
    assert_false(is_four_told(2, 1, WAITS_BY_ITS_OWN));
    assert_false(is_four_told(2, 1, BEGINS_LATER));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_warp_is_compared_with_its_warpgroup),
        cmocka_unit_test(test_the_two_sides_of_a_barrier_are_no_mates),
        cmocka_unit_test(test_a_warp_is_compared_with_those_of_its_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
