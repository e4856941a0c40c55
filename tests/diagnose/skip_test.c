/* skip_test.c - a group of consumers that leaves out some rounds, and the releases in them.
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

enum {
    FULL = 1,
    EMPTY,
    DONE,
    STAGES = 2,
    GROUP = 4,
    WARPS = 3 * GROUP,
    PRODUCER = 0,
    MEETING = 1,
    ROUNDS = 10,
    BYTES = 128
};

/* Rounds that warps 8-11 leave out, [first, end). */
struct kernel {
    const char *name, *says; /* says NULL: the kernel finishes, or nothing is said of rounds that are left out */
    uint32_t first, end;
    bool is_one;   /* ... warp 8 alone */
    bool is_other; /* warps 8-11 do something else behind the rounds */
    bool hangs;
};

static const struct kernel kernels[] = {
    {.name = "nothing"},
    {.name = "the last rounds",
     .says = "Warps 8-11 do the same as warp 4, but leave out rounds of it: 4 waits, and the arrivals on \"empty\" "
             "behind them. With these arrivals the kernel would finish.",
     .first = 6,
     .end = ROUNDS,
     .hangs = true},
    {.name = "all rounds but the first one",
     .says = "Warps 8-11 do the same as warp 4, but leave out rounds of it: 9 waits, and",
     .first = 1,
     .end = ROUNDS,
     .hangs = true},
    {.name = "one warp of the group leaves out the last rounds",
     .says =
         "Warp 8 does the same as warp 4, but leaves out rounds of it: 4 waits, and the arrivals on \"empty\" behind",
     .first = 6,
     .end = ROUNDS,
     .is_one = true,
     .hangs = true},
    {.name = "... but not to do what the others do", .first = 6, .end = ROUNDS, .is_other = true, .hangs = true},
};

static struct way ways[WARPS];

static void consume(struct way *way, const struct kernel *k)
{
    const bool skips = k->is_one ? way->warp == 2 * GROUP : way->warp >= 2 * GROUP;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (skips && i >= k->first && i < k->end)
            continue;
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1);
    }
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1);
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, MEETING, 2 * GROUP * 32);
    if (skips && k->is_other)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 0);
}

static void produce(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i % STAGES), BYTES);
        way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), BYTES);
    }
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 0);
}

static bool stand(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, DONE, "done", 1, 2, 1);
    picture_mbarrier(p, DONE, 0, 0, 1, 1, 0);
    for (uint32_t id = 0; id <= MEETING; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w] = (struct way){.warp = w};
        for (uint32_t s = 0; s < STAGES && w == PRODUCER; s++) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 2 * GROUP);
        }
        if (w == PRODUCER)
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(DONE, 0), 2 * GROUP);
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        if (w == PRODUCER)
            produce(&ways[w]);
        else if (w >= GROUP)
            consume(&ways[w], k);
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void a_group_that_leaves_out_rounds_is_told_from_the_other_one(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        assert_int_equal(stand(&p, &kernels[i]), kernels[i].hangs);
        if (kernels[i].says)
            ways_expect(&p, "ARRIVE_MISSING", kernels[i].says);
        else if (kernels[i].hangs)
            assert_false(ways_say(&p, "leave out rounds"));
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_that_leaves_out_rounds_is_told_from_the_other_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
