/* registers_test.c - the arithmetic of the register pool; the rows marked "measured" were observed on an H200. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

#define HANGS true
#define RUNS false

/* `warps` warps at `launch` registers; the first `releasing` of the first `group` warps release to `release`,
 * the rest of the group does nothing, all others ask for `request`. */
struct row {
    const char *what;
    uint32_t warps, launch, group, releasing, release, request;
    bool hangs;
    enum wsdbg_cause cause;
    uint32_t fits; /* the request the fix must name; 0 = none */
};

static const struct row rows[] = {
    {"measured: 40/232 fits 168 x 384 exactly", 12, 168, 4, 4, 40, 232, RUNS, 0, 0},
    {"measured: 40/240 does not", 12, 168, 4, 4, 40, 240, HANGS, WSDBG_CAUSE_REGS_EXHAUSTED, 232},
    {"measured: one warp of four releases", 12, 168, 4, 1, 40, 232, HANGS, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP, 0},
    {"three of four release", 12, 168, 4, 3, 40, 232, HANGS, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP, 0},
    {"nobody releases", 12, 168, 4, 0, 0, 232, HANGS, WSDBG_CAUSE_REGS_EXHAUSTED, 168},
    {"nobody releases, nothing more asked", 12, 168, 4, 0, 0, 168, RUNS, 0, 0},
    {"a launch count is rounded up to eight", 12, 165, 4, 4, 40, 232, RUNS, 0, 0},
    {"24 and 240 on 16 warps of 128", 16, 128, 8, 8, 24, 240, HANGS, WSDBG_CAUSE_REGS_EXHAUSTED, 232},
    {"one warp releases, and full release would not do", 12, 168, 4, 1, 40, 240, HANGS, WSDBG_CAUSE_REGS_EXHAUSTED,
     168},
};

static struct device *pool_kernel(const struct row *row)
{
    struct device *d = device_create(1, row->warps, 1, row->launch);
    for (uint32_t warp = 0; warp < row->warps; warp++) {
        role(d, 0, warp, warp < row->group ? PRODUCER : CONSUMER_0);
        if (warp >= row->group)
            request(d, 0, warp, row->request);
        else if (warp < row->releasing)
            release(d, 0, warp, row->release);
        leave(d, 0, warp);
    }
    return d;
}

static void check(const struct row *row)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    struct device *device = pool_kernel(row);
    examine(device, 5, 128, &snapshot, &diagnosis);
    if (snapshot.grids[0].running != row->hangs || diagnosis.hang != row->hangs)
        fail_msg("%s: the kernel %s, the diagnosis says %s", row->what, snapshot.grids[0].running ? "hangs" : "ends",
                 diagnosis.hang ? "hang" : "no hang");
    if (row->hangs) {
        char fits[64];
        assert_string_equal(wsdbg_cause_name(diagnosis.findings[0].cause), wsdbg_cause_name(row->cause));
        assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_PROVEN);
        snprintf(fits, sizeof fits, "equal request that fits is %u.", row->fits);
        if (row->fits && !strstr(diagnosis.findings[0].fix, fits))
            fail_msg("%s: the fix does not say %u: %s", row->what, row->fits, diagnosis.findings[0].fix);
    }
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
    device_destroy(device);
}

static void the_pool_is_what_the_cta_got_at_launch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

/* A CTA whose first four warps hold back: `busy` they still compute and may release later. */
static void examine_late_release(bool busy, struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis)
{
    struct device *d = device_create(1, 12, 1, 168);
    for (uint32_t warp = 0; warp < 12; warp++) {
        if (warp >= 4) {
            request(d, 0, warp, 232);
        } else if (busy) {
            work(d, 0, warp, 100000);
            release(d, 0, warp, 40);
        }
        leave(d, 0, warp);
    }
    device_run_for(d, 1, 300);
    device_snapshot(d, 128, snapshot);
    assert_null(wsdbg_diagnose(snapshot, diagnosis));
    device_destroy(d);
}

static void a_running_warp_may_still_release(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    examine_late_release(true, &snapshot, &diagnosis);
    assert_false(diagnosis.hang);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

static void registers_of_exited_warps_do_not_come_back(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    examine_late_release(false, &snapshot, &diagnosis);
    assert_true(diagnosis.hang);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_REGS_EXHAUSTED);
    assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_PROVEN);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

/* One warpgroup asks for 200 and 232 in turn; with 200 for all it fits. */
static void a_warpgroup_that_asks_for_two_counts_is_diverged(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    struct device *d = device_create(1, 8, 1, 128);
    for (uint32_t warp = 0; warp < 8; warp++) {
        if (warp < 4)
            release(d, 0, warp, 56);
        else
            request(d, 0, warp, warp % 2 ? 232 : 200);
        leave(d, 0, warp);
    }
    examine(d, 0, 128, &snapshot, &diagnosis);
    assert_true(snapshot.grids[0].running);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_REGS_DIVERGED);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
    device_destroy(d);
}

/* The first warpgroup gets 256, and only three of its warps release them.  Of the others those are served whose
 * register file the fourth warp does not share: they have released, too, but that is over. */
static void a_warp_that_keeps_what_its_mates_release_is_named(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    struct device *d = device_create(1, 12, 1, 168);
    for (uint32_t warp = 0; warp < 12; warp++) {
        if (warp < 4) {
            request(d, 0, warp, 256);
            if (warp > 0)
                release(d, 0, warp, 40);
        } else {
            release(d, 0, warp, 120);
            work(d, 0, warp, 1000);
            request(d, 0, warp, 232);
        }
        work(d, 0, warp, 1000);
        named_sync(d, 0, warp, 1, 12 * 32);
        leave(d, 0, warp);
    }
    examine(d, 0, 128, &snapshot, &diagnosis);
    assert_true(snapshot.grids[0].running);
    assert_string_equal(wsdbg_cause_name(diagnosis.findings[0].cause), "REGS_PARTIAL_WARPGROUP");
    assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_LIKELY);
    assert_non_null(strstr(diagnosis.findings[0].sentence, "(setmaxnreg.dec 40; warp 0 "));
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
    device_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pool_is_what_the_cta_got_at_launch),
        cmocka_unit_test(a_running_warp_may_still_release),
        cmocka_unit_test(registers_of_exited_warps_do_not_come_back),
        cmocka_unit_test(a_warpgroup_that_asks_for_two_counts_is_diverged),
        cmocka_unit_test(a_warp_that_keeps_what_its_mates_release_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
