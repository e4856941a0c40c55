/* single_wait_test.c - warps wait once for a tile that one of them loads.  Some test for the wrong parity: whoever
 * comes before the tile goes on, and whoever comes later waits forever.
 *
 * A test writes the walks of all threads, and the picture of their end, in which some warps have gone on and others
 * not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { TILE = 1, DONE, WARPS = 16, BYTES = 1024 };

/* Where the warps are that have come through the wait, or would have: 2, 4, and so on. */
enum even_warps {
    LEFT,
    BEHIND,         /* each has arrived on "done", and waits there for the others */
    AT_THE_WAIT,    /* nobody has come through */
    WITH_ITS_LOADER /* the same, and the picture is none to which a replay comes */
};

#define ONE_PHASE "The arrivals of the whole kernel complete one phase of it, which has parity 0 and is complete"

static const struct kernel {
    const char *name;
    const char *says; /* NULL: nothing is said of a single wait */
    uint32_t parity;  /* that all wait for */
    uint32_t phases;  /* that are loaded */
    bool waits_twice; /* ... and waited for */
    enum even_warps evens;
    bool is_open; /* how the walk of the last warp goes on behind its wait is not known */
} kernels[] = {
    {"parity 1 of the only phase", ONE_PHASE, 1, 1, false, LEFT, false},
    {"... and who came through waits for the others", ONE_PHASE, 1, 1, false, BEHIND, false},
    {"there are two phases", NULL, 1, 2, false, LEFT, false},
    {"two phases are waited for", NULL, 1, 2, true, LEFT, false},
    {"another arrival may come", NULL, 1, 1, false, LEFT, true},
    {"all stand: the arrival of the second phase may be missing", NULL, 1, 1, false, AT_THE_WAIT, false},
    {"... where no replay ends in the picture", NULL, 1, 1, false, WITH_ITS_LOADER, false},
};

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(TILE, 0), 1);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(DONE, 0), WARPS - 1);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        ways[w].is_open = k->is_open && w + 1 == WARPS;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    for (uint32_t i = 0; i < k->phases; i++) {
        way_add(&ways[0], WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(TILE, 0), BYTES);
        way_add(&ways[0], WSDBG_ACCESS_COPY, MBARRIER_AT(TILE, 0), BYTES);
    }
    for (uint32_t w = 1; w < WARPS; w++) {
        for (uint32_t i = 0; i <= k->waits_twice; i++)
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(TILE, 0), k->parity ^ i);
        if (k->evens == BEHIND) {
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1);
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 0);
        }
    }
    ways_put(p, ways, WARPS);
}

/* The odd warps came when the tile was there, and wait. */
static void put_picture(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, TILE, "tile", 1, 1, 1);
    picture_name(p, DONE, "done", 1, 1, 1);
    const uint32_t tile = picture_mbarrier(p, TILE, 0, k->phases & 1, 1, 1, 0);
    const uint32_t done = picture_mbarrier(p, DONE, 0, 0, k->evens == BEHIND ? WARPS / 2 : WARPS - 1, WARPS - 1, 0);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(TILE, 0), 1, 0, WSDBG_LANES_ONE);
    for (uint32_t w = 0; w < WARPS; w++)
        if (w % 2 || (w && k->evens == AT_THE_WAIT) || k->evens == WITH_ITS_LOADER)
            picture_stand(p, w, WSDBG_WARP_WAIT_MBARRIER, tile, k->parity);
        else if (w && k->evens == BEHIND)
            picture_stand(p, w, WSDBG_WARP_WAIT_MBARRIER, done, 0);
        else
            picture_leave(p, w);
    put_ways(p, k);
}

static void who_comes_late_waits_for_a_phase_that_never_comes(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const struct kernel *k = &kernels[i];
        struct picture p;
        print_message("%s\n", k->name);
        put_picture(&p, k);
        if (k->says)
            ways_expect(&p, "PARITY_WRONG", k->says);
        else
            assert_false(ways_say(&p, "complete one phase of it"));
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_comes_late_waits_for_a_phase_that_never_comes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
