/* totals_test.c - a ring of which one stage gets too few arrivals to the kernel's end, because some warps arrive only
 * on the other one.
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

enum { FULL = 1, DONE, STAGES = 2, WARPS = 8, FIRST = 4, ARRIVERS = WARPS - FIRST };

/* Warps 4 to 7 arrive, warp 0 waits for one phase of each stage.  At the end it lets them go. */
static const struct kernel {
    const char *name;
    const char *says;           /* words of the sentence; NULL: nothing is said of warps that are absent */
    uint32_t count;             /* arrivals that a phase takes */
    uint32_t rounds[ARRIVERS];  /* how often each arrives on stage 0 */
    uint32_t arrives[ARRIVERS]; /* ... and on stage 1 */
} kernels[] = {
    {"two of them leave stage 1 out",
     "but gets no more than 2: warps 6-7 never arrived",
     ARRIVERS,
     {1, 1, 1, 1},
     {1, 1, 0, 0}},
    {"... and make several rounds of stage 0",
     "warps 6-7 never arrived on it, though on other stages",
     ARRIVERS,
     {3, 3, 3, 3},
     {1, 1, 0, 0}},
    {"those of stage 0 are not as many as stage 1 lacks", NULL, ARRIVERS, {2, 2, 2, 0}, {1, 1, 0, 0}},
    {"nobody arrives on both", NULL, ARRIVERS, {0, 0, 2, 2}, {1, 1, 0, 0}},
};

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    for (uint32_t stage = 0; stage < STAGES; stage++)
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, stage), k->count);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(DONE, 0), 1);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    for (uint32_t stage = 0; stage < STAGES; stage++) {
        way_add(&ways[0], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, stage), 0);
        for (uint32_t a = 0; a < ARRIVERS; a++)
            for (uint32_t i = 0; i < (stage ? k->arrives : k->rounds)[a]; i++)
                way_add(&ways[FIRST + a], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, stage), 1);
    }
    way_add(&ways[0], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1);
    for (uint32_t a = 0; a < ARRIVERS; a++)
        way_add(&ways[FIRST + a], WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 0);
    ways_put(p, ways, WARPS);
}

static void put_kernel(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", STAGES, 0xf0, 1);
    for (uint32_t stage = 0; stage < STAGES; stage++)
        picture_mbarrier(p, FULL, stage, 0, k->count, k->count, 0);
    picture_name(p, DONE, "done", 1, 1, 0xf0);
    picture_mbarrier(p, DONE, 0, 0, 1, 1, 0);
    const uint32_t fills = picture_access(p, WSDBG_ACCESS_ARRIVE, 0, 0, 1, WSDBG_LANES_UNKNOWN),
                   full = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE),
                   ends = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1, 1, WSDBG_LANES_ONE),
                   done = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 1, 0, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, full, 0, UINT8_MAX, 2);
    picture_reach(p, 0, 0, ends, 0, UINT8_MAX, 2);
    picture_reach(p, FIRST, WARPS - 1, fills, 0, UINT8_MAX, 2);
    picture_reach(p, FIRST, WARPS - 1, done, 0, UINT8_MAX, 2);
    put_ways(p, k);
    assert_true(ways_stand(p));
}

static void test_warps_that_leave_a_stage_out_are_named(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const struct kernel *k = &kernels[i];
        struct picture p;
        print_message("%s\n", k->name);
        put_kernel(&p, k);
        assert_int_equal(ways_say(&p, k->says ? k->says : "never arrived on it"), k->says != NULL);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_warps_that_leave_a_stage_out_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
