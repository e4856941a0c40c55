/* apart_test.c - lanes of a warp that wait for other lanes of it: for each other, or for some that go on.
 *
 * A test makes the picture of that moment and judges it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "picture.h"

enum { SILENT = PICTURE_NOT_SAID };

static const struct kernel {
    const char *name;
    bool is_elsewhere; /* the other lanes stand at another place */
    enum wsdbg_warp_state other;
    bool is_still;  /* two looks saw it */
    int confidence; /* of LANE_SPLIT; SILENT: it is not said */
} kernels[] = {
    {"some wait in a branch, the others behind it", true, WSDBG_WARP_RECONVERGE, true, WSDBG_CONFIDENCE_LIKELY},
    {"... in one look: they may be about to go on", true, WSDBG_WARP_RECONVERGE, false, SILENT},
    {"all are at one place", false, WSDBG_WARP_RECONVERGE, true, SILENT},
    {"the others poll a word", true, WSDBG_WARP_SPIN_GLOBAL, true, SILENT},
};

static void put_kernel(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, 1, 32);
    picture_wait(p, 0, 0, WSDBG_WARP_RECONVERGE, WSDBG_NONE, 0);
    const uint32_t first = p->snapshot.warps[0].site;
    picture_access(p, WSDBG_ACCESS_WAIT, 0, 1, 0, WSDBG_LANES_ALL); /* another place */
    p->snapshot.warps[0].site = k->is_elsewhere ? (uint32_t)p->snapshot.site_count - 1 : first;
    picture_part(p, 0, k->other, WSDBG_NONE, 0);
    p->snapshot.parts[0].lanes = 0x7;
    p->snapshot.parts[1].lanes = ~0x7u;
    if (k->is_still)
        picture_still(p);
}

static void lanes_that_wait_for_each_other_are_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i]);
        assert_int_equal(picture_confidence_of(&p, WSDBG_CAUSE_LANE_SPLIT), kernels[i].confidence);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_wait_for_each_other_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
