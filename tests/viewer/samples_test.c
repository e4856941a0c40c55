/* What the viewer remembers of warps while it is open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "viewer/samples.h"

#define BYTES 65536

/* One grid of one CTA with two warps. */
struct picture {
    struct wsdbg_snapshot snapshot;
    struct wsdbg_grid grid;
    struct wsdbg_cta cta;
    struct wsdbg_warp_row warps[2];
};

static void make(struct picture *p, uint64_t grid_id, enum wsdbg_warp_state first, enum wsdbg_warp_state second)
{
    *p = (struct picture){.grid = {.grid_id = grid_id, .launch = WSDBG_NONE, .cta_count = 1, .warps_per_cta = 2},
                          .cta = {.warp_count = 2},
                          .warps = {{.warp = 0, .state = first}, {.warp = 1, .state = second}}};
    p->snapshot = (struct wsdbg_snapshot){
        .grids = &p->grid, .grid_count = 1, .ctas = &p->cta, .cta_count = 1, .warps = p->warps, .warp_count = 2};
}

static void add(struct viewer_samples *samples, uint64_t grid_id, enum wsdbg_warp_state state, uint64_t now_ns)
{
    struct picture p;
    make(&p, grid_id, state, WSDBG_WARP_RUNNING);
    viewer_samples_add(samples, &p.snapshot, now_ns);
}

static void a_state_holds_until_the_next_one_was_seen(void **state)
{
    (void)state;
    struct viewer_samples *samples = viewer_samples_create(BYTES);
    add(samples, 7, WSDBG_WARP_RUNNING, 100);
    add(samples, 7, WSDBG_WARP_RUNNING, 200);
    add(samples, 7, WSDBG_WARP_WAIT_MBARRIER, 300);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, 100), WSDBG_WARP_RUNNING);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, 299), WSDBG_WARP_RUNNING);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, 300), WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 1, 300), WSDBG_WARP_RUNNING);
    viewer_samples_destroy(samples);
}

static void what_was_not_seen_is_unknown(void **state)
{
    (void)state;
    struct viewer_samples *samples = viewer_samples_create(BYTES);
    add(samples, 7, WSDBG_WARP_RUNNING, 100);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, 99), WSDBG_WARP_UNKNOWN);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, 101), WSDBG_WARP_UNKNOWN);
    assert_int_equal(viewer_samples_state(samples, 8, 0, 0, 100), WSDBG_WARP_UNKNOWN);
    assert_int_equal(viewer_samples_state(samples, 7, 1, 0, 100), WSDBG_WARP_UNKNOWN);
    viewer_samples_destroy(samples);
}

static void a_grid_that_ended_is_unknown_after_its_end(void **state)
{
    (void)state;
    struct viewer_samples *samples = viewer_samples_create(BYTES);
    add(samples, 7, WSDBG_WARP_RUNNING, 100);
    add(samples, 8, WSDBG_WARP_RUNNING, 200);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, 100), WSDBG_WARP_RUNNING);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, 200), WSDBG_WARP_UNKNOWN);
    viewer_samples_destroy(samples);
}

static void the_span_is_that_of_all_samples(void **state)
{
    (void)state;
    uint64_t first_ns, last_ns;
    struct viewer_samples *samples = viewer_samples_create(BYTES);
    assert_false(viewer_samples_span(samples, &first_ns, &last_ns));
    add(samples, 7, WSDBG_WARP_RUNNING, 100);
    add(samples, 7, WSDBG_WARP_RUNNING, 250);
    assert_true(viewer_samples_span(samples, &first_ns, &last_ns));
    assert_int_equal(first_ns, 100);
    assert_int_equal(last_ns, 250);
    viewer_samples_destroy(samples);
}

static void the_oldest_changes_go_first_when_memory_is_full(void **state)
{
    (void)state;
    struct viewer_samples *samples = viewer_samples_create(BYTES);
    const uint64_t count = 100000;
    for (uint64_t i = 1; i <= count; i++)
        add(samples, 7, i % 2 ? WSDBG_WARP_RUNNING : WSDBG_WARP_WAIT_MBARRIER, i * 10);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, 10), WSDBG_WARP_UNKNOWN);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, count * 10 - 10), WSDBG_WARP_RUNNING);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 0, count * 10), WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(viewer_samples_state(samples, 7, 0, 1, 10), WSDBG_WARP_RUNNING); /* it never changed */
    viewer_samples_destroy(samples);
}

static void warps_of_ended_grids_make_room_for_new_ones(void **state)
{
    (void)state;
    struct viewer_samples *samples = viewer_samples_create(BYTES);
    for (uint64_t grid = 1; grid <= 5000; grid++)
        add(samples, grid, WSDBG_WARP_RUNNING, grid * 10);
    assert_int_equal(viewer_samples_state(samples, 5000, 0, 0, 50000), WSDBG_WARP_RUNNING);
    viewer_samples_destroy(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_holds_until_the_next_one_was_seen),
        cmocka_unit_test(what_was_not_seen_is_unknown),
        cmocka_unit_test(a_grid_that_ended_is_unknown_after_its_end),
        cmocka_unit_test(the_span_is_that_of_all_samples),
        cmocka_unit_test(the_oldest_changes_go_first_when_memory_is_full),
        cmocka_unit_test(warps_of_ended_grids_make_room_for_new_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
