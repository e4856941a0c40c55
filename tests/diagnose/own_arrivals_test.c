/* own_arrivals_test.c - warps stand at a named barrier for twice as many threads as they are.  It is meant for them and
 * for others that arrive there without waiting: a cause is only known if it is known who these are.
 *
 * A test makes the picture of that moment and judges it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "picture.h"

enum { ID = 1, GROUP = 4, WARPS = 2 * GROUP, THREADS = GROUP * 32 };

static const struct kernel {
    const char *name, *cause;
    uint32_t count;
    bool arrive;     /* behind the wait those who wait arrive on the same barrier */
    bool others_may; /* ... so can the other group */
} kernels[] = {
    {"only those who wait arrive", "ARRIVE_MISSING", 2 * THREADS, true, false},
    {"nobody arrives", "NAMED_COUNT", 2 * THREADS, false, false},
    {"the barrier counts more groups than two", "NAMED_COUNT", 3 * THREADS, true, false},
    {"the others may arrive, too", NULL, 2 * THREADS, true, true},
};

static void put_kernel(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    const uint32_t row = picture_object(p, WSDBG_BARRIER_NAMED, ID), other = picture_object(p, WSDBG_BARRIER_NAMED, 2),
                   sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, ID, 1, k->count, WSDBG_LANES_ALL),
                   arrive = picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, ID, 1, k->count, WSDBG_LANES_ALL);
    picture_reach(p, 0, GROUP - 1, sync, 0, UINT8_MAX, 2);
    if (k->arrive)
        picture_reach(p, 0, GROUP - 1, arrive, 0, UINT8_MAX, 2);
    if (k->others_may)
        picture_reach(p, GROUP, WARPS - 1, arrive, 0, 0, 2);
    else
        picture_reach(p, GROUP, WARPS - 1, arrive, 0, 0, 0);
    picture_wait(p, 0, GROUP - 1, WSDBG_WARP_WAIT_NAMED, row, 0);
    picture_wait(p, GROUP, WARPS - 1, WSDBG_WARP_WAIT_NAMED, other, 0);
    picture_count(p, 0, GROUP - 1, k->count);
    picture_count(p, GROUP, WARPS - 1, THREADS + 32);
    picture_still(p);
}

/* The first finding about the barrier. */
static const struct wsdbg_finding *finding_of(const struct picture *p, const struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct wsdbg_finding *finding = &diagnosis->findings[i];
        if (finding->barrier < p->snapshot.barrier_count && p->snapshot.barriers[finding->barrier].id == ID)
            return finding;
    }
    return NULL;
}

static void arrivals_for_oneself_let_nobody_through(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i]);
        picture_judge(&p, &diagnosis);
        const struct wsdbg_finding *finding = finding_of(&p, &diagnosis);
        const char *cause = finding ? wsdbg_cause_name(finding->cause) : "none";
        print_message("  %s: %s\n", cause, finding ? finding->sentence : "");
        assert_string_equal(cause, kernels[i].cause ? kernels[i].cause : "none");
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_for_oneself_let_nobody_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
