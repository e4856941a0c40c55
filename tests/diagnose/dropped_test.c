/* dropped_test.c - a warp waits on an mbarrier whose word expects nothing: all that arrived there left it by
 * arrive_drop, or it never was an mbarrier.
 *
 * A test makes the picture of that moment and judges it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "picture.h"

enum { EMPTY = 1, WARPS = 4, WAITER = 3 };
#define PHASE_1 (UINT64_C(1) << 63)

static const struct kernel {
    const char *name, *cause;
    uint64_t word;
    bool has_drop, runs_init; /* the code has an arrive_drop; an initialisation is known to have run */
} kernels[] = {
    {"all have left in an odd phase", "WAKER_EXITED", PHASE_1, true, true},
    {"... where the initialisation may have run", "WAKER_EXITED", PHASE_1, true, false},
    {"all have left in an even phase: the word is zero", "WAKER_EXITED", 0, true, true},
    {"zeros that perhaps nobody initialised", "BARRIER_NOT_INIT", 0, true, false},
    {"nobody can leave it", "BARRIER_NOT_INIT", PHASE_1, false, true},
    {"data", "BARRIER_NOT_INIT", PHASE_1 | 0x3ff, true, true},
};

static void put_kernel(struct picture *p, const struct kernel *k, uint32_t warps)
{
    picture_init(p, 1, warps, 32);
    picture_name(p, EMPTY, "empty", 1, 1, 2);
    const uint32_t row = picture_mbarrier(p, EMPTY, 0, 0, 1, 1, 0);
    struct wsdbg_barrier *barrier = &p->snapshot.barriers[row];
    barrier->word = wsdbg_known_u64(k->word);
    barrier->phase.known = barrier->pending_arrivals.known = barrier->expected_arrivals.known = false;
    const uint32_t init = picture_access(p, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, 0), 1, 3, WSDBG_LANES_ONE),
                   wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), 1, 0, WSDBG_LANES_ALL),
                   leave = picture_access(p, k->has_drop ? WSDBG_ACCESS_DROP : WSDBG_ACCESS_ARRIVE,
                                          MBARRIER_AT(EMPTY, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, init, k->runs_init, 1, 0);
    picture_reach(p, 0, WAITER - 1, leave, 0, 1, 0);
    picture_reach(p, WAITER, WAITER, wait, 0, UINT8_MAX, 2);
    picture_exit(p, 0, WAITER - 1);
    picture_wait(p, WAITER, WAITER, WSDBG_WARP_WAIT_MBARRIER, row, 1);
}

static void a_barrier_that_all_have_left_is_no_garbage(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i], WARPS);
        picture_still(&p);
        picture_judge(&p, &diagnosis);
        assert_true(diagnosis.finding_count > 0);
        print_message("  %s\n", diagnosis.findings[0].sentence);
        assert_string_equal(wsdbg_cause_name(diagnosis.findings[0].cause), kernels[i].cause);
        assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_LIKELY);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
    (void)state;
}

/* One look, and a warp that runs: all is only possible, and the cause is the same. */
static void nor_is_it_while_some_warp_runs(void **state)
{
    struct picture p;
    put_kernel(&p, &kernels[0], WARPS + 1);
    assert_int_equal(picture_confidence_of(&p, WSDBG_CAUSE_WAKER_EXITED), WSDBG_CONFIDENCE_POSSIBLE);
    picture_deinit(&p);
    put_kernel(&p, &kernels[0], WARPS + 1);
    assert_int_equal(picture_confidence_of(&p, WSDBG_CAUSE_BARRIER_NOT_INIT), PICTURE_NOT_SAID);
    picture_deinit(&p);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_that_all_have_left_is_no_garbage),
        cmocka_unit_test(nor_is_it_while_some_warp_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
