/* balance_test.c - producers of which one makes all arrivals of a round, in several steps, and then another one: that
 * is no double arrival.
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

enum { FULL = 1, EMPTY, WARPS = 8, FIRST = 4, PRODUCERS = WARPS - FIRST, ROUNDS = 4 };

/* Warp 0 waits for two rounds more than warps 4 to 7 fill.  A phase takes as many arrivals as there are producers. */
static const struct kernel {
    const char *name;
    uint32_t arrivals; /* that a producer makes in its round */
    bool is_double;
} kernels[] = {
    {"each makes all arrivals of every fourth round", PRODUCERS, false},
    {"... one too many", PRODUCERS + 1, true},
};

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), PRODUCERS);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), 1);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    for (uint32_t i = 0; i < ROUNDS + 2; i++) {
        for (uint32_t a = 0; a < PRODUCERS && i < ROUNDS; a++) {
            struct way *way = &ways[FIRST + a];
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), (i & 1) ^ 1);
            for (uint32_t n = 0; n < k->arrivals && i % PRODUCERS == a; n++)
                way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
        }
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1);
        way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
    }
    ways_put(p, ways, WARPS);
}

static void put_kernel(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", 1, 0xf0, 1);
    picture_mbarrier(p, FULL, 0, 0, PRODUCERS, PRODUCERS, 0);
    picture_name(p, EMPTY, "empty", 1, 1, 0xf0);
    picture_mbarrier(p, EMPTY, 0, 0, 1, 1, 0);
    put_ways(p, k);
    assert_true(ways_stand(p));
}

static void arrivals_of_a_whole_round_are_no_double_arrival(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i]);
        assert_int_equal(ways_say(&p, "arrive twice on \"full\" without waiting between"), kernels[i].is_double);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrivals_of_a_whole_round_are_no_double_arrival)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
