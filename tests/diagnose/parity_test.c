/* parity_test.c - waits that ended too early because they named the wrong parity, by events: what is concluded from
 * one.
 *
 * A test states the programs of four warps.  Warp 0 fills "data" late, and warp 1 does not wait for it.  Warps 2 and 3
 * have another barrier, on which warp 2 hangs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "kernels.h"

enum { DATA = 0, OTHER = 1, PRODUCES = 0, CONSUMES = 1, WARPS = 4, LATE = 40, DEPTH = 128 };

static struct device *begin(void)
{
    struct device *device = device_create(1, WARPS, 1, 32);
    device_role(device, PRODUCES, "producer");
    device_role(device, CONSUMES, "consumer");
    device_mbarrier(device, DATA, "data", 1, false, 1u << PRODUCES, 1u << CONSUMES);
    device_mbarrier(device, OTHER, "other", 1, false, 0, 0);
    for (uint32_t w = 0; w < WARPS; w++)
        role(device, 0, w, w == 0 ? PRODUCES : CONSUMES);
    init(device, 0, 0, DATA, 0, 1);
    init(device, 0, 0, OTHER, 0, 2);
    for (uint32_t w = 0; w < WARPS; w++)
        named_sync(device, 0, w, 1, WARPS * 32);
    return device;
}

/* The finding about "data"; NULL = there is none. */
static const struct wsdbg_finding *about_data(const struct result *r)
{
    for (size_t i = 0; i < r->diagnosis.finding_count; i++) {
        const struct wsdbg_finding *finding = &r->diagnosis.findings[i];
        if (finding->barrier < r->snapshot.barrier_count && r->snapshot.barriers[finding->barrier].id == DATA &&
            strstr(finding->sentence, "waited for the wrong parity"))
            return finding;
    }
    return NULL;
}

/* Warp 2 hangs on "other", which nobody else uses, or on which warp 1 arrives, too. */
static void running_ahead_is_likely_the_cause_only_of_what_it_can_touch(void **state)
{
    for (uint32_t touches = 0; touches < 2; touches++) {
        struct device *device = begin();
        work(device, 0, 0, LATE);
        arrive(device, 0, 0, DATA, 0, 0, 1);
        leave(device, 0, 0);
        wait(device, 0, 1, DATA, 0, 1, 0);
        if (touches)
            arrive(device, 0, 1, OTHER, 0, 0, 1);
        leave(device, 0, 1);
        wait(device, 0, 2, OTHER, 0, 0, 0);
        leave(device, 0, 2);
        if (!touches)
            arrive(device, 0, 3, OTHER, 0, 0, 1);
        leave(device, 0, 3);
        struct result r = judge(device, 0, DEPTH);
        const struct wsdbg_finding *finding = about_data(&r);
        assert_non_null(finding);
        assert_int_equal(finding->confidence, touches ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
        done(&r);
    }
    (void)state;
}

/* Warp 1 waits with parity 1 in rounds 0 and 2: the first wait only ends late.  No wait of it was right. */
static void a_parity_drifts_only_from_a_right_one(void **state)
{
    struct device *device = begin();
    for (uint32_t round = 0; round < 2; round++)
        arrive(device, 0, 0, DATA, 0, round, 1);
    wait(device, 0, 1, DATA, 0, 1, 0);
    wait(device, 0, 1, DATA, 0, 1, 2);
    arrive(device, 0, 1, OTHER, 0, 0, 1);
    wait(device, 0, 2, OTHER, 0, 0, 0);
    for (uint32_t w = 0; w < WARPS; w++)
        leave(device, 0, w);
    struct result r = judge(device, 0, DEPTH);
    const struct wsdbg_finding *finding = about_data(&r);
    assert_non_null(finding);
    assert_string_equal(wsdbg_cause_name(finding->cause), "PARITY_WRONG");
    done(&r);
    (void)state;
}

/* Without events a name that wsdbg gave a barrier is all that speaks for a parity. */
static void a_guessed_name_alone_makes_no_likely_cause(void **state)
{
    for (uint32_t guessed = 0; guessed < 2; guessed++) {
        struct wsdbg_snapshot snapshot;
        struct wsdbg_diagnosis diagnosis;
        struct device *device = device_create(1, 1, 1, 32);
        device_role(device, PRODUCES, "producer");
        device_mbarrier(device, DATA, "empty", 1, true, 0, 1u << PRODUCES);
        role(device, 0, 0, PRODUCES);
        init(device, 0, 0, DATA, 0, 1);
        wait(device, 0, 0, DATA, 0, 0, 0);
        assert_false(device_run(device, 1));
        device_snapshot(device, 0, &snapshot);
        snapshot.names_inferred = guessed;
        assert_null(wsdbg_diagnose(&snapshot, &diagnosis));
        const struct wsdbg_finding *first = diagnosis.findings;
        const bool is_said = diagnosis.finding_count > 0 && first->cause == WSDBG_CAUSE_PARITY_WRONG;
        assert_int_equal(is_said && first->confidence >= WSDBG_CONFIDENCE_LIKELY, !guessed);
        wsdbg_diagnosis_deinit(&diagnosis);
        wsdbg_snapshot_deinit(&snapshot);
        device_destroy(device);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_ahead_is_likely_the_cause_only_of_what_it_can_touch),
        cmocka_unit_test(a_parity_drifts_only_from_a_right_one),
        cmocka_unit_test(a_guessed_name_alone_makes_no_likely_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
