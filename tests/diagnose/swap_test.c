/* swap_test.c - two groups hand the turn to each other by two mbarriers, and arrive on the wrong one.
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

enum { TURN_OF_0 = 1, TURN_OF_1, GROUP = 4, WARPS = 2 * GROUP, ROUNDS = 6, MEETING = 1 };

static const struct kernel {
    const char *name, *says; /* says NULL: the kernel finishes */
    bool is_swapped;         /* each group arrives on its own mbarrier, not on that of the other one */
    uint32_t more;           /* arrivals that the second mbarrier expects beyond those of the first */
    bool is_told;            /* that the arrivals go to the wrong mbarrier */
} kernels[] = {
    {.name = "nothing is wrong"},
    {.name = "each group arrives on its own mbarrier",
     .says = " arrive on the wrong mbarrier: first on \"turn of 0\", and nobody arrives on \"turn of 1\". With these "
             "arrivals the kernel would finish.",
     .is_swapped = true,
     .is_told = true},
    {.name = "... which differ in their counts: so the arrivals are not meant for each other's",
     .says = " arrive on the wrong mbarrier",
     .is_swapped = true,
     .more = GROUP},
};

static struct way ways[WARPS];

static void put_way(struct way *way, uint32_t warp, const struct kernel *k)
{
    const uint32_t own = warp < GROUP ? TURN_OF_0 : TURN_OF_1, other = warp < GROUP ? TURN_OF_1 : TURN_OF_0;
    *way = (struct way){.warp = warp};
    if (warp == 0) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(TURN_OF_0, 0), GROUP);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(TURN_OF_1, 0), GROUP + k->more);
    }
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    if (warp < GROUP) /* it begins */
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(TURN_OF_0, 0), 1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(own, 0), i & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(k->is_swapped ? own : other, 0), 1);
    }
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, MEETING, WARPS * 32);
}

static bool stand(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, TURN_OF_0, "turn of 0", 1, 2, 1);
    picture_name(p, TURN_OF_1, "turn of 1", 1, 1, 2);
    for (uint32_t id = 0; id <= MEETING; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    picture_mbarrier(p, TURN_OF_0, 0, 0, GROUP, GROUP, 0);
    picture_mbarrier(p, TURN_OF_1, 0, 0, GROUP + k->more, GROUP + k->more, 0);
    for (uint32_t w = 0; w < WARPS; w++)
        put_way(&ways[w], w, k);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void arrivals_on_the_wrong_one_of_two_mbarriers_are_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        assert_int_equal(stand(&p, &kernels[i]), kernels[i].says != NULL);
        if (kernels[i].says)
            assert_int_equal(ways_say(&p, kernels[i].says), kernels[i].is_told);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_on_the_wrong_one_of_two_mbarriers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
