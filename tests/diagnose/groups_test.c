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
    const char *name, *cause, *says; /* says NULL: the kernel finishes */
    uint32_t forgets[GROUPS];        /* the group is a phase off in all its tiles */
    uint32_t begins_early[GROUPS];   /* so many rounds before its first one */
    bool is_alone;                   /* the first group takes all tiles, and passes over a late round */
    uint32_t passes_less[GROUPS];    /* so many rounds of each tile of the other group count as none */
} kernels[] = {
    {.name = "nothing is wrong"},
    {.name = "the second group does not count the phase of the tile that it passes over",
     .cause = "PARITY_WRONG",
     .says = "Warps 8-11 begin to wait on \"full\" stage 2 at kernel.cu:200, some rounds too early or too late for the "
             "turns that warpgroups take there. With parity 1 of \"full\" stage 2 first, and the rounds that follow, "
             "the kernel would finish.",
     .forgets = {0, 1}},
    {.name = "the second group begins with the first round of all",
     .cause = "PARITY_WRONG",
     .says = "Warps 8-11 begin to wait on \"full\" stage 0 at kernel.cu:200, some rounds too early or too late for the "
             "turns that warpgroups take there. With parity 1 of \"full\" stage 2 first, and the rounds that follow, "
             "the kernel would finish.",
     .begins_early = {0, TILE}},
    {.name = "the second group passes over a round less than the tile has",
     .cause = "PARITY_DRIFT",
     .says = "Warps 8-11 pass over rounds of other warpgroups, too few or too many, and then wait on \"full\" stage 1 "
             "at kernel.cu:200. With parity 0 of \"full\" stage 2 there, and as many rounds on or back each time, the "
             "kernel would finish.",
     .passes_less = {0, 1}},
    {.name = "both groups do",
     .cause = "PARITY_DRIFT",
     .says = "Warps 4-11 pass over rounds of other warpgroups, too few or too many, and then wait on \"full\" stage 3 "
             "at kernel.cu:200. With parity 1 of \"full\" stage 0 there, and as many rounds on or back each time, the "
             "kernel would finish.",
     .passes_less = {1, 1}},
    {.name = "the only group advances twice in one of its last rounds",
     .cause = "PARITY_DRIFT",
     .says = "Warps 4-7 pass over rounds that nobody takes, too few or too many, and then wait on \"full\" stage 2 at "
             "kernel.cu:201. With parity 1 of \"full\" stage 1 there, and as many rounds on or back each time, the "
             "kernel would finish.",
     .is_alone = true},
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
            const uint32_t at = i - k->begins_early[group] - tile / GROUPS * k->passes_less[group];
            const uint32_t parity = (at / STAGES & 1) ^ k->forgets[group];
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, at % STAGES), parity)->access = waits[i > tile * TILE];
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, at % STAGES), 1);
        }
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TURN, 1 - group), 1);
    }
}

static void consume_alone(struct way *way, const uint32_t waits[2])
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t at = i + (i + 1) / (ROUNDS - 2);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, at % STAGES), at / STAGES & 1)->access = waits[i % TILE > 0];
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, at % STAGES), 1);
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
        else if (k->is_alone && w / GROUP == 1)
            consume_alone(&ways[w], waits);
        else if (w >= GROUP && !k->is_alone)
            consume(&ways[w], w / GROUP - 1, k, waits);
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void a_group_in_rounds_of_the_other_one_is_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        ways_check(&p, stand(&p, &kernels[i]), kernels[i].cause, kernels[i].says);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_in_rounds_of_the_other_one_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
