/* both_free_test.c - a ring whose two sides begin with these or those parities.
 *
 * Where both begin with a wait that ends at once, who gets ahead is a race.  No replay of the walks ends in the picture
 * that the test makes, so only the walks themselves show the defect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, STAGES = 2, ROUNDS = 6, PRODUCER = 0, FIRST = 4, GROUP = 4, WARPS = 8, BYTES = 512 };

static const struct kernel {
    const char *name;
    bool is_told;
    uint32_t producer;        /* the parity with which it begins on each stage */
    uint32_t consumer, other; /* ... and with which warp 4 begins, and the other consumers */
    bool hands_over;          /* the consumers release each slot before the first round */
    bool is_open;             /* it is not known how warp 7 goes on */
    bool fills_first;         /* the producer arrives for each slot before the first round */
    bool is_cut;              /* nothing is known of the consumers behind their first wait but their code */
    bool is_doubtful;         /* ... in which they may release slots, or may not */
} kernels[] = {
    {"the producer begins free", false, 1, 0, 0, false, false, false, false, false},
    {"both sides do", true, 1, 1, 1, false, false, false, false, false},
    {"the consumers alone do", false, 0, 1, 1, false, false, false, false, false},
    {"the producer and one consumer do", false, 1, 1, 0, false, false, false, false, false},
    {"both do, but the slots are handed over first", false, 1, 1, 1, true, false, false, false, false},
    {"both do, but one walk is not known to its end", false, 1, 1, 1, false, true, false, false, false},
    {"both do, but the slots are filled first", false, 1, 1, 1, false, false, true, false, false},
    {"both do, and more is not known of the consumers", true, 1, 1, 1, false, false, false, true, false},
    {"... and whether they release slots is not known", false, 1, 1, 1, false, false, false, true, true},
    {"the producer does not, and more is not known of the consumers", false, 0, 1, 1, false, false, false, true, false},
    {"the consumers do not, and more is not known of them", false, 1, 0, 0, false, false, false, true, false},
};

static void produce(const struct kernel *k, struct way *way)
{
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), GROUP);
    }
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 1, 32 * (GROUP + 1));
    for (uint32_t s = 0; s < STAGES && k->fills_first; s++)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, s), 1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ k->producer);
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i % STAGES), BYTES);
        way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), BYTES);
    }
}

static void consume(const struct kernel *k, bool is_first, struct way *way)
{
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 1, 32 * (GROUP + 1));
    for (uint32_t s = 0; s < STAGES && k->hands_over; s++)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, s), 1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES),
                (i / STAGES & 1) ^ (is_first ? k->consumer : k->other));
        way->is_open = k->is_cut;
        if (k->is_cut)
            return;
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1);
    }
}

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    produce(k, &ways[PRODUCER]);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        if (w >= FIRST)
            consume(k, w == FIRST, &ways[w]);
    }
    ways[WARPS - 1].is_open |= k->is_open;
    ways_put(p, ways, WARPS);
}

/* All wait on the last stage, to which a replay does not come. */
static void put_picture(struct picture *p, const struct kernel *k)
{
    const uint32_t frees =
        k->is_cut ? picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE)
                  : WSDBG_NONE;
    if (k->is_cut)
        picture_reach(p, FIRST, WARPS - 1, frees, 0, UINT8_MAX, k->is_doubtful ? 1 : 2);
    picture_name(p, FULL, "full", STAGES, 1u << PRODUCER, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1u << PRODUCER);
    uint32_t full = WSDBG_NONE, empty = WSDBG_NONE;
    for (uint32_t s = 0; s < STAGES; s++) {
        full = picture_mbarrier(p, FULL, s, 1, 1, 1, 64);
        empty = picture_mbarrier(p, EMPTY, s, 1, 3, GROUP, 0);
    }
    picture_exit(p, 1, FIRST - 1);
    picture_wait(p, PRODUCER, PRODUCER, WSDBG_WARP_WAIT_MBARRIER, empty, 1);
    picture_wait(p, FIRST, WARPS - 1, WSDBG_WARP_WAIT_MBARRIER, full, 1);
}

static void test_two_sides_that_both_begin_free_are_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        picture_init(&p, 1, WARPS, 32);
        put_picture(&p, &kernels[i]);
        put_ways(&p, &kernels[i]);
        if (kernels[i].is_told)
            ways_expect(&p, "PARITY_WRONG",
                        "Warps 4-7 begin with parity 1 to wait on \"full\", and warp 0 begins with parity 1 on "
                        "\"empty\".");
        else
            assert_false(ways_say(&p, "Such a first wait ends at once"));
        picture_deinit(&p);
    }
    (void)state;
}

/* ---- two rings between the same two sides ---- */

enum { IN_FULL = 1, IN_EMPTY, OUT_FULL, OUT_EMPTY, RINGS_END };

/* A round.  Warp 0 fills the slot "in" by a copy, takes the results from the slot "out", and fills that again by a
 * copy. Both slots are free at first, so each side begins with a wait that ends at once, as it should. */
static void there_and_back(struct way *ways, uint32_t round, uint32_t announced)
{
    struct way *loader = &ways[PRODUCER];
    way_add(loader, WSDBG_ACCESS_WAIT, MBARRIER_AT(IN_EMPTY, 0), (round & 1) ^ 1);
    way_add(loader, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(IN_FULL, 0), BYTES);
    way_add(loader, WSDBG_ACCESS_COPY, MBARRIER_AT(IN_FULL, 0), BYTES);
    way_add(loader, WSDBG_ACCESS_WAIT, MBARRIER_AT(OUT_FULL, 0), round & 1);
    way_add(loader, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(OUT_EMPTY, 0), announced);
    way_add(loader, WSDBG_ACCESS_COPY, MBARRIER_AT(OUT_EMPTY, 0), BYTES);
    for (uint32_t w = FIRST; w < WARPS; w++) {
        way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(IN_FULL, 0), round & 1);
        way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(IN_EMPTY, 0), 1);
        way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(OUT_EMPTY, 0), (round & 1) ^ 1);
        way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(OUT_FULL, 0), 1);
    }
}

/* announced: on "out_empty", in one of the rounds.  False: the kernel does not hang. */
static bool put_rings(struct picture *p, uint32_t announced)
{
    static const char *const names[RINGS_END] = {"", "in_full", "in_empty", "out_full", "out_empty"};
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    for (uint32_t id = IN_FULL; id < RINGS_END; id++) {
        const bool is_loader = id == IN_FULL || id == OUT_EMPTY;
        const uint32_t count = is_loader ? 1 : GROUP;
        picture_name(p, id, names[id], 1, is_loader ? 1 : 2, is_loader ? 2 : 1);
        picture_mbarrier(p, id, 0, 0, count, count, 0);
        way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(id, 0), count);
    }
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    for (uint32_t i = 0; i < ROUNDS; i++)
        there_and_back(ways, i, i == ROUNDS / 2 ? announced : BYTES);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void test_slots_in_both_directions_are_no_two_sides_of_one(void **state)
{
    struct picture p;
    assert_false(put_rings(&p, BYTES));
    picture_deinit(&p);
    assert_true(put_rings(&p, BYTES + 64));
    assert_false(ways_say(&p, "Such a first wait ends at once"));
    picture_deinit(&p);
    assert_true(put_rings(&p, BYTES + 64));
    ways_expect(&p, "TX_MISMATCH", "All arrivals on \"out_empty\" were made, but 64 bytes");
    picture_deinit(&p);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sides_that_both_begin_free_are_told),
        cmocka_unit_test(test_slots_in_both_directions_are_no_two_sides_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
