/* totals_test.c - a ring of which one stage gets too few arrivals to the kernel's end, because some warps arrive only
 * on the other one, or leave the kernel before.
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

/* ---- warps that wait for one another ---- */

enum { MEETINGS = 4 };

/* In each round four warps arrive on the next stage, and each of them waits there for the others. */
static const struct meeting {
    const char *name, *cause, *says; /* cause NULL: the kernel finishes */
    uint32_t leavers;                /* the last ones meet in the first round alone, and leave */
    bool stay;                       /* ... or wait until warp 0 has met in all rounds */
    bool by_token;                   /* a wait names the token of the arrival before it, no parity */
    uint32_t missed;                 /* the round, from 1, in which nobody arrives; 0 = none */
} meetings[] = {
    {.name = "all meet"},
    {.name = "... with tokens", .by_token = true},
    {.name = "two leave behind stage 0",
     .cause = "WAKER_EXITED",
     .says =
         "Warp 0 waits on \"full\" stage 1 at kernel.cu:100, which takes 4 arrivals, but gets no more than 2: warps "
         "2-3 never arrived on it, though on other stages, and left the kernel.",
     .leavers = 2},
    {.name = "... with tokens",
     .cause = "WAKER_EXITED",
     .says = "gets no more than 2: warps 2-3 never arrived on it, though on other stages, and left the kernel.",
     .leavers = 2,
     .by_token = true},
    {.name = "two stay behind stage 0",
     .cause = "ARRIVE_MISSING",
     .says = "gets no more than 2: warps 2-3 never arrived on it, though on other stages.",
     .leavers = 2,
     .stay = true},
    {.name = "nobody arrives in one round: that is no trip count", .cause = "WAIT_CYCLE", .missed = 3},
};

static void meet(const struct meeting *m, uint32_t warp, struct way *way)
{
    const bool leaves = warp >= ARRIVERS - m->leavers;
    for (uint32_t i = 0; i < (leaves ? 1 : MEETINGS); i++) {
        if (i + 1 != m->missed)
            way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, i % STAGES), 1);
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1)->number_known = !m->by_token;
    }
    if (warp == 0)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1);
    else if (leaves && m->stay)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 0);
}

/* Runs the kernel and makes the picture of its end.  False: it does not hang. */
static bool put_meeting(struct picture *p, const struct meeting *m)
{
    static struct way ways[ARRIVERS];
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, ARRIVERS, 32);
    picture_name(p, FULL, "full", STAGES, 0xf, 0xf);
    picture_name(p, DONE, "done", 1, 1, 0xf);
    for (uint32_t stage = 0; stage < STAGES; stage++) {
        picture_mbarrier(p, FULL, stage, 0, ARRIVERS, ARRIVERS, 0);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, stage), ARRIVERS);
    }
    picture_mbarrier(p, DONE, 0, 0, 1, 1, 0);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(DONE, 0), 1);
    picture_reach(p, 0, ARRIVERS - 1,
                  picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE), 0,
                  UINT8_MAX, 2);
    for (uint32_t w = 0; w < ARRIVERS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        meet(m, w, &ways[w]);
    }
    ways_put(p, ways, ARRIVERS);
    return ways_stand(p);
}

static void test_warps_that_leave_before_a_stage_are_told(void **state)
{
    for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
        struct picture p;
        print_message("%s\n", meetings[i].name);
        assert_int_equal(put_meeting(&p, &meetings[i]), meetings[i].cause != NULL);
        if (meetings[i].cause)
            ways_expect(&p, meetings[i].cause, meetings[i].says);
        picture_deinit(&p);
    }
    (void)state;
}

/* ---- a thread waits for a phase that needs its own later arrival ---- */

/* Warps 3 to 7 arrive, and then wait for the phase that their arrivals complete.  is_late: the last one waits before it
 * arrives.  False: the kernel does not hang. */
static bool put_late(struct picture *p, bool is_late)
{
    enum { EARLIEST = FIRST - 1, COUNT = WARPS - EARLIEST };
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", 1, 0xf8, 0xf8);
    picture_mbarrier(p, FULL, 0, 0, COUNT, COUNT, 0);
    for (uint32_t code = 0; code < 2; code++) { /* that of the last warp, and that of the others */
        const uint32_t first = code ? EARLIEST : WARPS - 1, last = code ? WARPS - 2 : WARPS - 1;
        picture_reach(p, first, last,
                      picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE), 0, UINT8_MAX,
                      2);
        picture_reach(p, first, last, picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 1, 0, WSDBG_LANES_ONE),
                      0, UINT8_MAX, 2);
    }
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), COUNT);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        for (uint32_t i = 0; i < 2 && w >= EARLIEST; i++)
            if (i == (w == WARPS - 1 && is_late))
                way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1)->access = w == WARPS - 1 ? 0 : 2;
            else
                way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 0)->access = w == WARPS - 1 ? 1 : 3;
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

/* The initialisation is right. */
static void test_an_arrival_that_comes_too_late_is_none_too_few(void **state)
{
    struct picture p;
    assert_false(put_late(&p, false));
    picture_deinit(&p);
    assert_true(put_late(&p, true));
    assert_false(ways_say(&p, "all threads together make only"));
    picture_deinit(&p);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warps_that_leave_a_stage_out_are_named),
        cmocka_unit_test(test_warps_that_leave_before_a_stage_are_told),
        cmocka_unit_test(test_an_arrival_that_comes_too_late_is_none_too_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
