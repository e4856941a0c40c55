/* groups_test.c - two warpgroups of consumers take turns at the tiles of one ring: each passes over the rounds of the
 * other one, and must count them when it computes stage and phase.
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

enum { FULL = 1, EMPTY, TURN, STAGES = 4, GROUP = 4, GROUPS = 2, WARPS = (1 + GROUPS) * GROUP, PRODUCER = 0 };
enum { TILE = 6, TILES = 4, ROUNDS = TILE * TILES };

static const struct kernel {
    const char *name, *says;  /* says NULL: the kernel finishes */
    uint32_t forgets[GROUPS]; /* the group is a phase off in all its tiles */
} kernels[] = {
    {.name = "nothing is wrong"},
    {.name = "the second group does not count the phase of the tile that it passes over",
     .says = "All waits of warps 8-11 on \"full\" at kernel.cu:200 ask for the wrong parity, the first for parity 0. "
             "With the other one the kernel would finish.",
     .forgets = {0, 1}},
};

static struct way ways[WARPS];

static void produce(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % STAGES), 1);
    }
}

/* One instruction waits for the first round of a tile, another one for the rest of them. */
static void consume(struct way *way, uint32_t group, const struct kernel *k, const uint32_t waits[2])
{
    for (uint32_t tile = group; tile < TILES; tile += GROUPS) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(TURN, group), (tile / GROUPS & 1) ^ (group == 0));
        for (uint32_t i = tile * TILE; i < (tile + 1) * TILE; i++) {
            const uint32_t parity = (i / STAGES & 1) ^ k->forgets[group];
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), parity)->access = waits[i > tile * TILE];
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1);
        }
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TURN, 1 - group), 1);
    }
}

static bool stand(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    picture_name(p, TURN, "turn", GROUPS, 2, 2);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    const uint32_t waits[2] = {
        picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ALL),
        picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ALL),
    };
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    for (uint32_t g = 0; g < GROUPS; g++)
        picture_mbarrier(p, TURN, g, 0, 1, 1, 0);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w] = (struct way){.warp = w};
        for (uint32_t s = 0; s < STAGES && w == PRODUCER; s++) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), GROUP);
        }
        for (uint32_t g = 0; g < GROUPS && w == PRODUCER; g++)
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(TURN, g), GROUP);
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        if (w == PRODUCER)
            produce(&ways[w]);
        else if (w >= GROUP)
            consume(&ways[w], w / GROUP - 1, k, waits);
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void a_group_that_is_a_phase_off_is_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        ways_check(&p, stand(&p, &kernels[i]), kernels[i].says ? "PARITY_WRONG" : NULL, kernels[i].says);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_that_is_a_phase_off_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
