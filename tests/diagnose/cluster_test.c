/* cluster_test.c - CTA 0 of a cluster stands at the cluster barrier, and CTA 1 waits for an arrival.  CLUSTER_MISSING
 * is the cause only if CTA 0 still has something to do behind the barrier.
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

enum { FULL = 1, CTAS = 2, WARPS = 2, SILENT = -1 };

static const struct kernel {
    const char *name;
    uint32_t count; /* arrivals that a phase of the barrier takes; CTA 0 makes one before the cluster barrier */
    bool is_late;   /* ... and one behind it */
    bool is_open;   /* how CTA 0 goes on behind the barrier is not known */
    int confidence; /* of CLUSTER_MISSING; SILENT: it is not said */
} kernels[] = {
    {"the arrival comes behind the barrier", 2, true, false, WSDBG_CONFIDENCE_LIKELY},
    {"nobody knows what comes behind the barrier", 2, false, true, WSDBG_CONFIDENCE_LIKELY},
    {"nothing comes behind the barrier", 2, false, false, SILENT},
};

static void meet(struct way *way)
{
    way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
    way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
}

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[CTAS * WARPS];
    memset(ways, 0, sizeof ways);
    for (uint32_t w = 0; w < CTAS * WARPS; w++) {
        const bool is_first = w < WARPS;
        ways[w].warp = w;
        ways[w].is_open = is_first && k->is_open;
        if (w % WARPS == 0)
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), k->count);
        meet(&ways[w]);
        if (w == 0)
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1)->rank = 1;
        if (!is_first)
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 0);
        meet(&ways[w]);
        if (w == 0 && k->is_late)
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1)->rank = 1;
    }
    ways_put(p, ways, CTAS * WARPS);
}

static void put_kernel(struct picture *p, const struct kernel *k)
{
    picture_init(p, CTAS, WARPS, 32);
    picture_cluster(p);
    picture_mbarrier(p, FULL, 0, 0, k->count, k->count, 0);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 1, 0, WSDBG_LANES_ONE),
                   arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE),
                   join = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ONE);
    p->snapshot.accesses[arrive].any_rank = true;
    picture_reach(p, 0, WARPS - 1, wait, 0, UINT8_MAX, 2);
    picture_reach(p, 0, WARPS - 1, arrive, 0, 0, 2);
    picture_reach(p, 0, WARPS - 1, join, 1, 1, 2);
    put_ways(p, k);
    assert_true(ways_stand(p));
}

/* Of CLUSTER_MISSING. */
static int confidence_of(struct picture *p)
{
    struct wsdbg_diagnosis diagnosis;
    int confidence = SILENT;
    picture_still(p);
    picture_judge(p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++) {
        print_message("  %s: %s\n", wsdbg_cause_name(diagnosis.findings[i].cause), diagnosis.findings[i].sentence);
        if (diagnosis.findings[i].cause == WSDBG_CAUSE_CLUSTER_MISSING)
            confidence = diagnosis.findings[i].confidence;
    }
    wsdbg_diagnosis_deinit(&diagnosis);
    return confidence;
}

static void test_a_cluster_barrier_holds_back_only_what_comes_behind_it(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i]);
        assert_int_equal(confidence_of(&p), kernels[i].confidence);
        picture_deinit(&p);
    }
    (void)state;
}

/* ---- who comes to it less often ---- */

enum sides {
    FIRST_LEFT_OUT, /* CTA 1 leaves out the first meeting and waits for bytes that CTA 0 sends behind it */
    LAST_LEFT_OUT   /* the warps of CTA 1 would leave instead of the last one, but wait for one another in a cycle */
};

static void put_asymmetry(struct picture *p, enum sides sides)
{
    static struct way ways[CTAS * WARPS];
    memset(ways, 0, sizeof ways);
    for (uint32_t w = 0; w < CTAS * WARPS; w++) {
        ways[w].warp = w;
        if (w % WARPS == 0) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), 1);
            if (sides == FIRST_LEFT_OUT)
                way_add(&ways[w], WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), 128);
            else
                way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 1), 1);
        }
        for (uint32_t i = w < WARPS ? 0 : 1; i < 2; i++)
            meet(&ways[w]);
        if (w == 0 && sides == FIRST_LEFT_OUT)
            way_add(&ways[w], WSDBG_ACCESS_COMPLETE, MBARRIER_AT(FULL, 0), 128)->rank = 1;
        if (w >= WARPS)
            way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, sides == LAST_LEFT_OUT ? w % WARPS : 0), 0);
        if (w >= WARPS && sides == LAST_LEFT_OUT)
            way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, (w + 1) % WARPS), 1);
    }
    picture_init(p, CTAS, WARPS, 32);
    picture_cluster(p);
    picture_mbarrier(p, FULL, 0, 0, 1, 1, 0);
    if (sides == LAST_LEFT_OUT)
        picture_mbarrier(p, FULL, 1, 0, 1, 1, 0);
    picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    ways_put(p, ways, CTAS * WARPS);
    assert_true(ways_stand(p));
}

static void test_who_comes_to_the_cluster_barrier_less_often_is_named(void **state)
{
    struct picture p;
    put_asymmetry(&p, FIRST_LEFT_OUT);
    ways_expect(&p, "CLUSTER_MISSING",
                "Rank 1 warps 0-1 come to the cluster barrier 1 time from the kernel's start to its end, all other "
                "warps 2.");
    picture_deinit(&p);
    (void)state;
}

static void test_who_may_leave_the_kernel_instead_is_not_named(void **state)
{
    struct picture p;
    put_asymmetry(&p, LAST_LEFT_OUT);
    assert_false(ways_say(&p, "come to the cluster barrier"));
    picture_deinit(&p);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cluster_barrier_holds_back_only_what_comes_behind_it),
        cmocka_unit_test(test_who_comes_to_the_cluster_barrier_less_often_is_named),
        cmocka_unit_test(test_who_may_leave_the_kernel_instead_is_not_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
