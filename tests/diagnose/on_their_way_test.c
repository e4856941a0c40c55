/* on_their_way_test.c - warps that meet at two mbarriers in turn: each arrives and then waits.  Some stand at one, the
 * others at the other one, and it is not known how often each has arrived.
 *
 * A test makes the picture of that moment and judges it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "picture.h"

enum { HERE = 1, THERE, WARPS = 8, GROUP = 4, ALL = WARPS * 32, HALF = ALL / 2 };

static const struct kernel {
    const char *name;
    uint32_t here, there; /* arrivals that are missing: the first warpgroup waits there, the other one here */
    int confidence;       /* of ARRIVE_MISSING */
} kernels[] = {
    {"warps may be on their way here, and nearly all arrivals are missing where they stand", HALF, ALL - 2,
     WSDBG_CONFIDENCE_POSSIBLE},
    {"more are missing here than they bring", HALF + 32, ALL - 2, WSDBG_CONFIDENCE_LIKELY},
    {"they may be on their way here, and most arrivals are there where they stand", HALF, 32, WSDBG_CONFIDENCE_LIKELY},
};

static void put_kernel(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    picture_name(p, HERE, "here", 1, 0xff, 0xff);
    picture_name(p, THERE, "there", 1, 0xff, 0xff);
    const uint32_t here = picture_mbarrier(p, HERE, 0, 1, k->here, ALL, 0),
                   there = picture_mbarrier(p, THERE, 0, 1, k->there, ALL, 0);
    for (uint32_t id = HERE; id <= THERE; id++) {
        const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(id, 0), 1, 1, WSDBG_LANES_UNKNOWN),
                       wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(id, 0), 1, 0, WSDBG_LANES_ALL);
        picture_reach(p, 0, WARPS - 1, arrive, 0, UINT8_MAX, 2);
        picture_reach(p, 0, WARPS - 1, wait, 0, UINT8_MAX, 2);
    }
    picture_wait(p, 0, GROUP - 1, WSDBG_WARP_WAIT_MBARRIER, there, 1);
    picture_wait(p, GROUP, WARPS - 1, WSDBG_WARP_WAIT_MBARRIER, here, 1);
    picture_still(p);
}

static void who_may_be_on_its_way_has_left_nothing_out(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i]);
        assert_int_equal(picture_confidence_of(&p, WSDBG_CAUSE_ARRIVE_MISSING), kernels[i].confidence);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_be_on_its_way_has_left_nothing_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
