/* uninitialised_test.c - the GPU stopped a warp at an arrival on a place in shared memory where no mbarrier is known.
 *
 * A test writes the walks of all threads and judges the error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay_kernel.h"

static const struct error {
    const char *name, *says; /* says NULL: nothing */
    uint32_t place;
    uint32_t code;
    uint8_t access;
    bool is_open;        /* how warp 1 goes on is not known, and it has met nobody yet */
    bool is_open_behind; /* ... and it has met the others */
} errors[] = {
    {"behind the last stage",
     "no thread that was followed initialises an mbarrier there: 2 are initialised, at 0x440 to 0x480", AT_C + 8, 4,
     WSDBG_ACCESS_ARRIVE_EXPECT, false, false},
    {"newer drivers have a number of its own for it", "initialises an mbarrier there", AT_C + 8, 31,
     WSDBG_ACCESS_ARRIVE, false, false},
    {"a warp may initialise it later, although its arrival was before that", "initialises an mbarrier there", AT_C + 8,
     4, WSDBG_ACCESS_ARRIVE_EXPECT, false, true},
    {"one is initialised there", NULL, AT_C, 4, WSDBG_ACCESS_ARRIVE_EXPECT, false, false},
    {"a warp may still initialise it", NULL, AT_C + 8, 4, WSDBG_ACCESS_ARRIVE_EXPECT, true, false},
    {"it was no arrival", NULL, AT_C + 8, 4, WSDBG_ACCESS_WAIT, false, false},
    {"it was another error", NULL, AT_C + 8, 14, WSDBG_ACCESS_ARRIVE_EXPECT, false, false},
};

static void put_kernel(struct kernel *k, const struct error *e)
{
    kernel_begin(k);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
    for (uint32_t w = 0; w < k->way_count; w++)
        if (w != 1 || !e->is_open)
            kernel_add(k, w, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    k->ways[1].is_open = e->is_open || e->is_open_behind;
    kernel_add(k, 0, WSDBG_ACCESS_ARRIVE_EXPECT, e->place, 128);
    kernel_run(k);
}

static void an_arrival_where_nobody_initialises_is_told(void **state)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct kernel k;
        const struct error *e = &errors[i];
        struct wsdbg_diagnosis diagnosis;
        struct wsdbg_exception stopped = {.code = e->code,
                                          .access = e->access,
                                          .exact = true,
                                          .site = WSDBG_NONE,
                                          .barrier = WSDBG_NONE,
                                          .address = wsdbg_known_u64(e->place),
                                          .in_shared = true};
        print_message("%s\n", e->name);
        put_kernel(&k, e);
        picture_judge_fault(&k.p.snapshot, &stopped, &diagnosis);
        assert_true(diagnosis.finding_count > 0);
        const struct wsdbg_finding *first = &diagnosis.findings[0];
        assert_int_equal(first->cause == WSDBG_CAUSE_BARRIER_NOT_INIT, e->says != NULL);
        if (e->says) {
            assert_int_equal(first->confidence,
                             e->is_open_behind ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY);
            assert_non_null(strstr(first->sentence, e->says));
        }
        wsdbg_diagnosis_deinit(&diagnosis);
        kernel_end(&k);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_where_nobody_initialises_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
