/* stuck_phase_test.c - a producer that waits for the same parity in every round.
 *
 * A test writes the walks of all threads, and a picture in which both wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, BESIDE, PRODUCER = 0, CONSUMER, OTHER, WARPS };

struct kernel {
    const char *name;
    const char *says; /* NULL: nothing of parities that stay the same */
    uint32_t rounds;
    uint32_t waits_every; /* the producer waits in one round of so many */
    bool flips;
    bool is_open;   /* what the consumer does behind its last step is not known */
    bool is_anew;   /* the barrier is initialised for each round, so that each wait is for its first phase */
    bool is_beside; /* both wait for a third barrier, which nobody serves */
};

static const struct kernel kernels[] = {
    {.name = "the phase bit never flips",
     .says = "Warp 0 waits 6 times on \"empty\" from the kernel's start to its end, each time for parity 1, though the "
             "barrier goes through 6 phases",
     .rounds = 6,
     .waits_every = 1},
    {.name = "... but the rounds are too few to tell", .rounds = 3, .waits_every = 1},
    {.name = "... and it waits for every second phase", .rounds = 12, .waits_every = 2},
    {.name = "... and nobody knows how many phases there are", .rounds = 6, .waits_every = 1, .is_open = true},
    {.name = "it flips", .rounds = 6, .waits_every = 1, .flips = true},
    {.name = "the barrier is initialised for each round", .rounds = 6, .waits_every = 1, .is_anew = true},
    {.name = "the hang is elsewhere", .rounds = 6, .waits_every = 1, .is_beside = true},
};

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w].warp = w;
    ways[CONSUMER].is_open = k->is_open;
    way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), 1);
    way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), 1);
    for (uint32_t i = 0; i < k->rounds; i++) {
        if (k->is_anew && i > 0)
            way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), 1);
        if (i % k->waits_every == 0)
            way_add(&ways[PRODUCER], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), k->flips ? (i & 1) ^ 1 : 1);
        way_add(&ways[PRODUCER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1);
        way_add(&ways[CONSUMER], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), i & 1);
        way_add(&ways[CONSUMER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1);
    }
    if (k->is_beside)
        way_add(&ways[OTHER], WSDBG_ACCESS_WAIT, MBARRIER_AT(BESIDE, 0), 0);
    ways_put(p, ways, WARPS);
}

/* Producer and consumer wait for each other; or another warp waits where they have left. */
static void put_picture(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", 1, 1, 2);
    picture_name(p, EMPTY, "empty", 1, 2, 1);
    const uint32_t full = picture_mbarrier(p, FULL, 0, 1, 1, 1, 0), empty = picture_mbarrier(p, EMPTY, 0, 1, 1, 1, 0),
                   beside = picture_mbarrier(p, BESIDE, 0, 0, 1, 1, 0);
    if (k->is_beside) {
        picture_exit(p, PRODUCER, CONSUMER);
        picture_stand(p, OTHER, WSDBG_WARP_WAIT_MBARRIER, beside, 0);
    } else {
        picture_stand(p, PRODUCER, WSDBG_WARP_WAIT_MBARRIER, empty, 1);
        picture_stand(p, CONSUMER, WSDBG_WARP_WAIT_MBARRIER, full, 1);
        picture_exit(p, OTHER, OTHER);
    }
}

static void waits_for_one_parity_alone_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        put_picture(&p, &kernels[i]);
        put_ways(&p, &kernels[i]);
        if (kernels[i].says)
            ways_expect(&p, "PARITY_DRIFT", kernels[i].says);
        else
            assert_false(ways_say(&p, "each time for parity"));
        picture_deinit(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_for_one_parity_alone_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
