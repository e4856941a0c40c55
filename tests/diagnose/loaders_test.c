/* loaders_test.c - two loaders, each of which has an elected lane, in a warpgroup that is otherwise empty, and two
 * warpgroups that compute.  A warp leaves before its first arrival.
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

enum { FULL = 1, EMPTY, STAGES = 2, ROUNDS = 8, COMPUTE = 8, LOADERS = 2, WARPS = 12, NOBODY = WARPS };
enum { COMPUTE_REGISTERS = 176, LOADER_REGISTERS = 152, BYTES = 128, ALL_LANES = -1 };
/* Accesses of the picture: by which loaders give registers back, and by which the other warps of their warpgroup do. */
enum { LOADERS_RELEASE, OTHERS_RELEASE, ACCESSES };

/* How a kernel differs from a right one. */
struct defect {
    uint32_t leaver;   /* this warp leaves before its first arrival; NOBODY = none does */
    bool at_once;      /* ... before it waits for anything */
    bool is_one_place; /* the other warps give registers back by the instruction of the loaders */
};

static struct way ways[WARPS + 1 + LOADERS];
static uint32_t way_count;

static struct way *begin(uint32_t warp, uint32_t lanes, const struct defect *d)
{
    struct way *way = &ways[way_count++];
    *way = (struct way){.warp = warp, .lanes = lanes};
    for (uint32_t s = 0; s < STAGES && warp == 0 && lanes == 1; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), LOADERS);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), COMPUTE * 32);
    }
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    if (warp < COMPUTE)
        way_add(way, WSDBG_ACCESS_REGISTERS_REQUEST, 0, COMPUTE_REGISTERS);
    else
        way_add(way, WSDBG_ACCESS_REGISTERS_RELEASE, 0, LOADER_REGISTERS)->access =
            warp < COMPUTE + LOADERS || d->is_one_place ? LOADERS_RELEASE : OTHERS_RELEASE;
    return way;
}

/* The slots are handed over before the first round. */
static void compute(struct way *way, uint32_t leaver)
{
    for (uint32_t s = 0; s < STAGES && way->warp != leaver; s++)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, s), 1);
    for (uint32_t i = 0; i < ROUNDS && way->warp != leaver; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i % STAGES), i / STAGES & 1);
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i % STAGES), 1);
    }
}

/* The lane that loads leaves behind its first wait, or at once. */
static void load(struct way *way, const struct defect *d)
{
    for (uint32_t i = 0; i < ROUNDS && !(way->warp == d->leaver && d->at_once); i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), i / STAGES & 1);
        if (way->warp == d->leaver)
            return;
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i % STAGES), BYTES);
        way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), BYTES);
    }
}

/* Lets the kernel run.  False: it finishes. */
static bool stand(struct picture *p, const struct defect *d)
{
    way_count = 0;
    compute(begin(0, 1, d), d->leaver);
    compute(begin(0, ~1u, d), d->leaver);
    for (uint32_t w = 1; w < COMPUTE; w++)
        compute(begin(w, (uint32_t)ALL_LANES, d), d->leaver);
    for (uint32_t w = COMPUTE; w < COMPUTE + LOADERS; w++) {
        load(begin(w, 1, d), d);
        begin(w, ~1u, d);
    }
    for (uint32_t w = COMPUTE + LOADERS; w < WARPS; w++)
        begin(w, (uint32_t)ALL_LANES, d);
    picture_init(p, 1, WARPS, 32);
    for (uint32_t a = 0; a < ACCESSES; a++)
        picture_access(p, WSDBG_ACCESS_REGISTERS_RELEASE, 0, 0, LOADER_REGISTERS, WSDBG_LANES_ALL);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    ways_put(p, ways, way_count);
    return ways_stand(p);
}

static void a_right_kernel_finishes(void **state)
{
    struct picture p;
    (void)state;
    assert_false(stand(&p, &(struct defect){.leaver = NOBODY}));
    picture_deinit(&p);
}

/* Most warps of its warpgroup never arrive, so that they are no measure for it. */
static void a_loader_that_leaves_behind_its_first_wait_is_told(void **state)
{
    struct picture p;
    (void)state;
    assert_true(stand(&p, &(struct defect){.leaver = COMPUTE}));
    ways_expect(&p, "WAKER_EXITED", "Warp 8 left the kernel, while warp 9, which did the same up to there, goes on");
    picture_deinit(&p);
}

/* It has taken the branch of the loaders, which the two other warps of its warpgroup have not. */
static void a_loader_that_leaves_at_once_is_told(void **state)
{
    struct picture p;
    (void)state;
    assert_true(stand(&p, &(struct defect){.leaver = COMPUTE, .at_once = true}));
    ways_expect(&p, "WAKER_EXITED", "Warp 8 left the kernel, while warp 9, which did the same up to there, goes on");
    picture_deinit(&p);
}

/* Where all four take one branch, nothing shows which of them are loaders. */
static void a_warp_that_leaves_at_once_may_be_meant_to(void **state)
{
    struct picture p;
    (void)state;
    assert_true(stand(&p, &(struct defect){.leaver = COMPUTE, .at_once = true, .is_one_place = true}));
    assert_false(ways_say(&p, "Warp 8 left the kernel"));
    picture_deinit(&p);
}

/* The other warps arrive before their first waits, so the first parity of the loaders is right. */
static void a_warp_that_initialises_and_leaves_with_the_registers_of_its_role_is_told(void **state)
{
    struct picture p;
    (void)state;
    assert_true(stand(&p, &(struct defect){.leaver = 0}));
    ways_expect(&p, "WAKER_EXITED", "Warp 0 left the kernel, while warp 4, which did the same up to there, goes on");
    picture_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_kernel_finishes),
        cmocka_unit_test(a_loader_that_leaves_behind_its_first_wait_is_told),
        cmocka_unit_test(a_loader_that_leaves_at_once_is_told),
        cmocka_unit_test(a_warp_that_leaves_at_once_may_be_meant_to),
        cmocka_unit_test(a_warp_that_initialises_and_leaves_with_the_registers_of_its_role_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
