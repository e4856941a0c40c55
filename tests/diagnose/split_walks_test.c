/* split_walks_test.c - a warp whose lanes have come apart: lane 0 waits for arrivals, and the others wait for lane 0.
 *
 * By the code they may arrive behind that.  A test adds the walks of some of them: they may show that they never do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, SPLIT = 1, WARPS = 4, LANES = 32, LANE_0 = 1, OTHERS = (int)~1u };

static const struct row {
    const char *name;
    uint32_t known; /* lanes whose walks are known, apart from lane 0 */
    uint32_t arrivals;
    bool is_open;        /* how they go on behind that is not known */
    bool is_waiter_open; /* ... nor how lane 0 does behind its wait: then no replay comes to an end */
    bool is_split;       /* it is said that the warp is in parts */
} rows[] = {
    {.name = "no walk is known", .is_split = true},
    {.name = "the others arrive", .known = (uint32_t)OTHERS, .arrivals = 1, .is_split = true},
    {.name = "they never do", .known = (uint32_t)OTHERS},
    {.name = "... and lane 0 may do so", .known = (uint32_t)OTHERS, .is_waiter_open = true},
    {.name = "they may do so later", .known = (uint32_t)OTHERS, .is_open = true, .is_split = true},
    {.name = "what some of them do is not known", .known = 0xfffe, .is_waiter_open = true, .is_split = true},
};

static void put_walks(struct picture *p, const struct row *row)
{
    static struct way ways[WARPS + 1];
    memset(ways, 0, sizeof ways);
    for (uint32_t i = 0; i <= WARPS; i++) {
        ways[i].warp = i < 2 ? i : i - 1;
        ways[i].lanes = UINT32_MAX;
    }
    ways[1].lanes = LANE_0;
    ways[2].lanes = row->known;
    ways[1].is_open = row->is_waiter_open;
    ways[2].is_open = row->is_open;
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), LANES - 1);
    for (uint32_t i = 0; i <= WARPS; i++)
        way_add(&ways[i], WSDBG_ACCESS_NAMED_SYNC, 1, 0);
    way_add(&ways[1], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 0);
    way_add(&ways[2], WSDBG_STEP_TOGETHER, 0, 0);
    if (row->arrivals)
        way_add(&ways[2], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), row->arrivals);
    ways_put(p, ways, WARPS + 1);
}

static void stand(struct picture *p, const struct row *row)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, FULL, "full", 1, 0, 0);
    const uint32_t bar = picture_mbarrier(p, FULL, 0, 0, LANES - 1, LANES - 1, 0);
    picture_object(p, WSDBG_BARRIER_NAMED, 1);
    picture_reach(p, SPLIT, SPLIT,
                  picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_UNKNOWN), 0, 0, 2);
    picture_exit(p, 0, 0);
    picture_exit(p, SPLIT + 1, WARPS - 1);
    picture_wait(p, SPLIT, SPLIT, WSDBG_WARP_WAIT_MBARRIER, bar, 0);
    p->snapshot.parts[p->snapshot.part_count - 1].lanes = LANE_0;
    picture_part(p, SPLIT, WSDBG_WARP_RECONVERGE, WSDBG_NONE, 0);
    p->snapshot.parts[p->snapshot.part_count - 1].lanes = (uint32_t)OTHERS;
    if (row->known)
        put_walks(p, row);
    picture_still(p);
}

static void lanes_that_never_arrive_split_no_warp(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        bool is_split = false;
        print_message("%s\n", rows[i].name);
        stand(&p, &rows[i]);
        picture_judge(&p, &diagnosis);
        for (size_t f = 0; f < diagnosis.finding_count; f++)
            is_split |= diagnosis.findings[f].cause == WSDBG_CAUSE_LANE_SPLIT;
        assert_int_equal(is_split, rows[i].is_split);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_never_arrive_split_no_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
