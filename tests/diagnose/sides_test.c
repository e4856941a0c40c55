/* sides_test.c - a chain of roles: a loader fills the slots of a first ring, a worker reads them and fills those of a
 * second one, and a reader empties these.  Some of them begin with a wrong parity.
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

enum { FULL_1 = 1, EMPTY_1, FULL_2, EMPTY_2, GIVEN, NEXT, DONE, FAMILIES, STAGES = 2, ROUNDS = 6 };
enum { LOADER, WORKER, READER, HELPER, WARPS };

static const struct kernel {
    const char *name, *cause, *says; /* cause NULL: the kernel finishes */
    uint32_t first[FAMILIES];        /* by family: the parity with which waits on it begin */
    bool is_alone;                   /* there is no first ring, and no loader */
    bool gives;                      /* the reader gives a slot of its own to the helper before it begins */
    bool helps;                      /* the helper waits on the second ring's slots, too, and begins as it should */
    bool asks;                       /* there are no rings: the helper waits for two answers, and the reader for it */
    bool is_open;                    /* how the reader goes on behind its last round is not known */
} kernels[] = {
    {.name = "slots begin free", .first = {[EMPTY_1] = 1, [EMPTY_2] = 1}},
    {.name = "the worker waits for free slots",
     .cause = "PARITY_WRONG",
     .says =
         "Warp 2 begins with parity 0 to wait on \"full 2\", and warp 1 to wait on \"empty 2\": each side waits for "
         "the other one first.",
     .first = {[EMPTY_1] = 1}},
    {.name = "the loader does",
     .cause = "PARITY_WRONG",
     .says = "Warp 1 begins with parity 0 to wait on \"full 1\", and warp 0 to wait on \"empty 1\"",
     .first = {[EMPTY_2] = 1}},
    {.name = "there is no other ring", .cause = "WAIT_CYCLE", .is_alone = true},
    {.name = "slots are also given away at the beginning",
     .cause = "WAIT_CYCLE",
     .first = {[EMPTY_1] = 1},
     .gives = true},
    {.name = "the worker has all parities the wrong way round",
     .cause = "PARITY_WRONG",
     .says = "Warp 1 begins with the wrong parity on all mbarriers on which it waits: with parity 1 on \"full 1\".",
     .first = {[FULL_1] = 1, [EMPTY_1] = 1}},
    {.name = "... and others wait there, too",
     .cause = "WAIT_CYCLE",
     .first = {[FULL_1] = 1, [EMPTY_1] = 1},
     .helps = true},
    {.name = "... and it is not known what follows",
     .cause = "WAIT_CYCLE",
     .first = {[FULL_1] = 1, [EMPTY_1] = 1},
     .is_open = true},
    {.name = "the worker waits for free slots, and it is not known what follows",
     .cause = "WAIT_CYCLE",
     .first = {[EMPTY_1] = 1},
     .is_open = true},
    {.name = "two answers are waited for before they are asked for", .cause = "WAIT_CYCLE", .asks = true},
};

static struct way ways[WARPS];

static void wait_for(const struct kernel *k, struct way *way, uint32_t family, uint32_t round)
{
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(family, round % STAGES), (k->first[family] + round / STAGES) & 1);
}

static void arrive(struct way *way, uint32_t family, uint32_t round)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(family, round % STAGES), 1);
}

static void ask(uint32_t round)
{
    for (uint32_t family = GIVEN; family <= NEXT; family++)
        way_add(&ways[HELPER], WSDBG_ACCESS_WAIT, MBARRIER_AT(family, 0), round & 1);
    way_add(&ways[HELPER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1);
    way_add(&ways[READER], WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), round & 1);
    for (uint32_t family = GIVEN; family <= NEXT; family++)
        way_add(&ways[READER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(family, 0), 1);
}

static void go_round(const struct kernel *k, uint32_t round)
{
    if (!k->is_alone) {
        wait_for(k, &ways[LOADER], EMPTY_1, round);
        arrive(&ways[LOADER], FULL_1, round);
        wait_for(k, &ways[WORKER], FULL_1, round);
    }
    wait_for(k, &ways[WORKER], EMPTY_2, round);
    if (!k->is_alone)
        arrive(&ways[WORKER], EMPTY_1, round);
    arrive(&ways[WORKER], FULL_2, round);
    wait_for(k, &ways[READER], FULL_2, round);
    arrive(&ways[READER], EMPTY_2, round);
    if (k->helps)
        way_add(&ways[HELPER], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL_1, round % STAGES), round / STAGES & 1);
}

/* False: it finishes. */
static bool stand_still(struct picture *p, const struct kernel *k)
{
    static const char *const names[] = {
        [FULL_1] = "full 1", [EMPTY_1] = "empty 1", [FULL_2] = "full 2", [EMPTY_2] = "empty 2",
        [GIVEN] = "given",   [NEXT] = "next",       [DONE] = "done"};
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    for (uint32_t family = FULL_1; family < FAMILIES; family++) {
        picture_name(p, family, names[family], STAGES, 0, 0);
        for (uint32_t s = 0; s < STAGES; s++) {
            picture_mbarrier(p, family, s, 0, 1, 1, 0);
            way_add(&ways[LOADER], WSDBG_ACCESS_INIT, MBARRIER_AT(family, s), 1);
        }
    }
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    if (k->gives) {
        arrive(&ways[READER], GIVEN, 0);
        way_add(&ways[HELPER], WSDBG_ACCESS_WAIT, MBARRIER_AT(GIVEN, 0), 0);
    }
    for (uint32_t i = 0; i < ROUNDS; i++)
        if (k->asks)
            ask(i);
        else
            go_round(k, i);
    ways[READER].is_open = k->is_open;
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void sides_that_begin_with_a_wrong_parity_are_told(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(sides_that_begin_with_a_wrong_parity_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
