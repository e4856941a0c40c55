/* once_only_test.c - a warp hands something to a warpgroup by two named barriers: it waits at one until the group has
 * arrived there, and the group waits at the other one.  The group arrived at the first one before its loop.
 *
 * A test makes the picture of that moment and judges it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "picture.h"

enum { FREE = 1, FILLED, OTHER, GROUP = 4, WARPS = 2 * GROUP, COUNT = (1 + GROUP) * 32, SILENT = PICTURE_NOT_SAID };

static const struct kernel {
    const char *name;
    uint8_t least, most; /* how often each warp of the group has arrived */
    uint8_t after;       /* 2: it can again */
    uint32_t count;
    uint32_t held_at; /* where the group stands */
    int confidence;   /* of the finding; SILENT: it is not said */
} kernels[] = {
    {"once, and never again", 1, 1, 0, COUNT, FILLED, WSDBG_CONFIDENCE_LIKELY},
    {"... and the group waits for others", 1, 1, 0, COUNT, OTHER, WSDBG_CONFIDENCE_POSSIBLE},
    {"... but the barrier counts more", 1, 1, 0, COUNT + 32, FILLED, SILENT},
    {"it may have been in a loop", 1, UINT8_MAX, 0, COUNT, FILLED, SILENT},
    {"perhaps not at all", 0, 1, 0, COUNT, FILLED, SILENT},
    {"it can again", 1, UINT8_MAX, 2, COUNT, FILLED, SILENT},
};

static void put_kernel(struct picture *p, const struct kernel *k)
{
    picture_init(p, 1, WARPS, 32);
    const uint32_t first = picture_object(p, WSDBG_BARRIER_NAMED, FREE),
                   held = picture_object(p, WSDBG_BARRIER_NAMED, k->held_at);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, FREE, 1, k->count, WSDBG_LANES_ALL),
                   arrive = picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, FREE, 1, k->count, WSDBG_LANES_ALL),
                   fill = picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, FILLED, 1, COUNT, WSDBG_LANES_ALL),
                   take = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, FILLED, 1, COUNT, WSDBG_LANES_ALL);
    picture_reach(p, 0, 0, wait, 0, UINT8_MAX, 2);
    picture_reach(p, 0, 0, fill, 0, UINT8_MAX, 2);
    picture_reach(p, GROUP, WARPS - 1, arrive, k->least, k->most, k->after);
    picture_reach(p, GROUP, WARPS - 1, take, 0, UINT8_MAX, 2);
    picture_reach(p, GROUP, WARPS - 1, wait, 0, 0, 0);
    picture_reach(p, 1, GROUP - 1, arrive, 0, 0, 0);
    picture_exit(p, 1, GROUP - 1);
    picture_wait(p, 0, 0, WSDBG_WARP_WAIT_NAMED, first, 0);
    picture_wait(p, GROUP, WARPS - 1, WSDBG_WARP_WAIT_NAMED, held, 0);
    picture_count(p, 0, 0, k->count);
    picture_count(p, GROUP, WARPS - 1, COUNT);
    picture_still(p);
}

static void arrivals_that_never_come_again_are_told(void **state)
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
        cmocka_unit_test(arrivals_that_never_come_again_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
