/* gave_ahead_test.c - two warpgroups of consumers that meet three times in each round.  One of them arrives once more
 * than the other one, ahead of its rounds, and leaves in its last round.
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

enum { FULL = 1, EMPTY, MEETING, STAGES = 2, MEETINGS = 3, ROUNDS = 6 };
enum { GROUP = 4, A = 1, B, WARPS = 3 * GROUP, WARP = 32, GROUPS_OF_TWO = 2 * GROUP * WARP };

static const struct kernel {
    const char *name, *cause, *says; /* cause NULL: the kernel finishes */
    uint32_t gift, stage;            /* the family and the stage on which B arrives ahead; 0 = it does not */
    uint32_t leaves_behind;          /* meetings of its last round that B comes to; MEETINGS = it does not leave */
} kernels[] = {
    {.name = "nobody leaves", .leaves_behind = MEETINGS},
    {.name = "B gives an arrival on a meeting ahead, and leaves",
     .cause = "WAKER_EXITED",
     .says = "Warps 8-11 left the kernel",
     .gift = MEETING,
     .stage = 1,
     .leaves_behind = 1},
    {.name = "... on a later one",
     .cause = "WAKER_EXITED",
     .says = "Warps 8-11 left the kernel",
     .gift = MEETING,
     .stage = 2,
     .leaves_behind = 1},
    {.name = "... on a slot", .cause = "WAKER_EXITED", .says = "Warps 8-11 left the kernel", .gift = EMPTY, .stage = 1},
};

static struct way ways[WARPS];

static void arrive(struct way *way, uint32_t family, uint32_t stage)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(family, stage), 1);
}

static void wait_for(struct way *way, uint32_t family, uint32_t stage, uint32_t phase)
{
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(family, stage), phase & 1);
}

static void produce(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait_for(way, EMPTY, i % STAGES, i / STAGES + 1);
        arrive(way, FULL, i % STAGES);
    }
}

static void consume(const struct kernel *k, struct way *way, bool is_b)
{
    if (is_b && k->gift)
        arrive(way, k->gift, k->stage);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait_for(way, FULL, i % STAGES, i / STAGES);
        for (uint32_t m = 0; m < MEETINGS; m++) {
            if (is_b && i + 1 == ROUNDS && m == k->leaves_behind)
                return;
            arrive(way, MEETING, m);
            wait_for(way, MEETING, m, i);
        }
        arrive(way, EMPTY, i % STAGES);
    }
}

static void put_mbarriers(struct picture *p, uint32_t family, const char *name, uint32_t stages, uint32_t count)
{
    picture_name(p, family, name, stages, 0, 0);
    for (uint32_t s = 0; s < stages; s++) {
        picture_mbarrier(p, family, s, 0, count, count, 0);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(family, s), count);
    }
}

/* False: it finishes. */
static bool stand_still(struct picture *p, const struct kernel *k)
{
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    put_mbarriers(p, FULL, "full", STAGES, WARP);
    put_mbarriers(p, EMPTY, "empty", STAGES, GROUPS_OF_TWO);
    put_mbarriers(p, MEETING, "meeting", MEETINGS, GROUPS_OF_TWO);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        ways[w].lanes = UINT32_MAX;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        if (w == 0)
            produce(&ways[w]);
        else if (w >= GROUP)
            consume(k, &ways[w], w / GROUP == B);
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void who_gave_an_arrival_ahead_still_owes_those_of_its_rounds(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        ways_check(&p, stand_still(&p, &kernels[i]), kernels[i].cause, kernels[i].says);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_gave_an_arrival_ahead_still_owes_those_of_its_rounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
