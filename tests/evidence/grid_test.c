/* grid_test.c - which launch a grid came from, and whether it runs.  Where two answers are possible: none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "evidence/segment_snapshot.h"

enum { TWO_WARPS = 64 }; /* threads a block in all cases */

/* A context with a module of two functions, 0 and 1. */
static struct segment_writer *two_functions(void)
{
    struct segment_writer *writer = segment_writer_create(100);
    segment_writer_context(writer, 4, 8, 8);
    segment_writer_module(writer, 0, NULL, 0);
    segment_writer_function(writer, 0, "a", 168);
    segment_writer_function(writer, 0, "b", 90);
    return writer;
}

static void launch(struct segment_writer *writer, uint32_t function, uint32_t ctas, uint64_t stream)
{
    segment_writer_launch(
        writer, &(struct segment_launch){.function = function, .ctas = ctas, .threads = TWO_WARPS, .stream = stream});
}

/* Both warps of CTA 0 of a grid begin on an SM; they stay running. */
static void run_on(struct segment_writer *writer, uint64_t grid_id, uint32_t ctas, uint32_t sm, bool exits)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct segment_warp warp = {.grid_id = grid_id, .ctas = ctas, .warps = 2, .warp = i, .sm = sm, .sm_warp = i};
        segment_writer_begin(writer, &warp);
        if (exits)
            segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_EXIT});
    }
}

static struct wsdbg_snapshot look_and_destroy(struct segment_writer *writer)
{
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    segment_writer_destroy(writer);
    return snapshot;
}

static void the_only_launch_that_fits_is_it(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 0);
    launch(writer, 1, 5, 0);
    run_on(writer, 40, 5, 0, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grid_count, 1);
    assert_int_equal(snapshot.grids[0].launch, 1);
    assert_int_equal(snapshot.grids[0].function, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

static void as_many_grids_as_launches_match_in_order(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 1);
    launch(writer, 1, 3, 2);
    run_on(writer, 41, 3, 1, false); /* the later grid lies in an earlier or later slot: no matter */
    run_on(writer, 40, 3, 2, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grids[0].grid_id, 40);
    assert_int_equal(snapshot.grids[0].launch, 0);
    assert_int_equal(snapshot.grids[1].launch, 1);
    assert_int_equal(snapshot.grids[1].function, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

static void one_grid_of_two_equal_launches_has_a_function_but_no_launch(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 0);
    launch(writer, 0, 3, 0);
    run_on(writer, 40, 3, 0, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grids[0].launch, WSDBG_NONE);
    assert_int_equal(snapshot.grids[0].function, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

static void one_grid_of_two_functions_has_neither(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 0);
    launch(writer, 1, 3, 0);
    run_on(writer, 40, 3, 0, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grids[0].launch, WSDBG_NONE);
    assert_int_equal(snapshot.grids[0].function, WSDBG_NONE);
    wsdbg_snapshot_deinit(&snapshot);
}

static void refused_launches_do_not_count(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    segment_writer_launch(writer, &(struct segment_launch){.ctas = 3, .threads = TWO_WARPS, .result = 701});
    launch(writer, 0, 3, 0);
    run_on(writer, 40, 3, 0, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grids[0].launch, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_launch_whose_call_has_not_returned_may_run(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    segment_writer_launch(writer, &(struct segment_launch){
                                      .function = 1, .ctas = 3, .threads = TWO_WARPS, .result = WSDBG_RESULT_PENDING});
    run_on(writer, 40, 3, 0, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grids[0].launch, 0);
    assert_int_equal(snapshot.grids[0].function, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_graph_launch_makes_every_match_uncertain(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 0);
    segment_writer_launch(
        writer, &(struct segment_launch){.function = WSDBG_UNKNOWN32, .flags = WSDBG_LAUNCH_GRAPH, .ctas = 0});
    run_on(writer, 40, 3, 0, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grids[0].launch, WSDBG_NONE);
    assert_int_equal(snapshot.grids[0].function, WSDBG_NONE);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_graph_whose_kernels_are_known_makes_only_matches_of_those_uncertain(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 0);
    launch(writer, 0, 5, 0);
    segment_writer_graph_kernel(writer, 2, 0, 3, TWO_WARPS);
    segment_writer_launch(
        writer, &(struct segment_launch){.function = WSDBG_UNKNOWN32, .flags = WSDBG_LAUNCH_GRAPH, .graph = 2});
    run_on(writer, 40, 3, 0, false);
    run_on(writer, 41, 5, 1, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.launches[2].graph, 2);
    assert_int_equal(snapshot.graph_kernel_count, 1);
    assert_int_equal(snapshot.graph_kernels[0].grid[0], 3);
    assert_false(snapshot.graph_kernels[0].cluster[0].known);
    assert_int_equal(snapshot.grids[0].launch, WSDBG_NONE);
    assert_int_equal(snapshot.grids[1].launch, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

static void launches_of_two_threads_have_no_order(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    for (uint32_t thread = 1; thread <= 2; thread++)
        segment_writer_launch(writer, &(struct segment_launch){.ctas = 3, .threads = TWO_WARPS, .thread_id = thread});
    run_on(writer, 40, 3, 0, false);
    run_on(writer, 41, 3, 1, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_int_equal(snapshot.grids[0].launch, WSDBG_NONE);
    assert_int_equal(snapshot.grids[1].launch, WSDBG_NONE);
    assert_int_equal(snapshot.grids[0].function, 0);
    assert_true(snapshot.grids[0].running);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_grid_runs_until_its_last_warp_exits(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 1, 0);
    struct segment_warp warps[2];
    for (uint32_t i = 0; i < 2; i++) {
        warps[i] = (struct segment_warp){.grid_id = 40, .ctas = 1, .warps = 2, .warp = i, .sm_warp = i};
        segment_writer_begin(writer, &warps[i]);
    }
    segment_writer_event(writer, &warps[0], (struct segment_event){.kind = WSDBG_EVENT_EXIT});
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    assert_true(snapshot.grids[0].running);
    assert_int_equal(snapshot.grids[0].warps_live, 1);
    assert_int_equal(snapshot.grids[0].warps_exited, 1);
    assert_int_equal(snapshot.warps[0].state, WSDBG_WARP_EXITED);
    assert_true(snapshot.progress_ns > 0);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_event(writer, &warps[1], (struct segment_event){.kind = WSDBG_EVENT_EXIT});
    snapshot = look_and_destroy(writer);
    assert_false(snapshot.grids[0].running);
    assert_int_equal(snapshot.grids[0].warps_exited, 2);
    assert_int_equal(snapshot.warp_count, 0);
    assert_int_equal(snapshot.progress_ns, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_later_grid_on_the_same_stream_ends_the_older_one(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 9);
    launch(writer, 1, 5, 9);
    run_on(writer, 40, 3, 0, false); /* no exit probe on its path */
    run_on(writer, 41, 5, 1, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_false(snapshot.grids[0].running);
    assert_true(snapshot.grids[1].running);
    assert_int_equal(snapshot.warp_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_later_grid_on_another_stream_ends_nothing(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 9);
    launch(writer, 1, 5, 8);
    run_on(writer, 40, 3, 0, false);
    run_on(writer, 41, 5, 1, false);
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_true(snapshot.grids[0].running);
    assert_true(snapshot.grids[1].running);
    wsdbg_snapshot_deinit(&snapshot);
}

static void a_dependent_grid_that_waits_ends_nothing(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 9);
    launch(writer, 1, 5, 9);
    run_on(writer, 40, 3, 0, false);
    struct segment_warp warp = {.grid_id = 41, .ctas = 5, .warps = 2, .sm = 1};
    segment_writer_begin(writer, &warp);
    segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN});
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_true(snapshot.grids[0].running);
    assert_true(snapshot.grids[1].running);
    wsdbg_snapshot_deinit(&snapshot);
}

/* Launched so that it may begin early; then a marker that passed tells that the older one is done. */
static void a_programmatic_dependent_ends_nothing(void **state)
{
    (void)state;
    for (int is_done = 0; is_done < 2; is_done++) {
        struct segment_writer *writer = two_functions();
        launch(writer, 0, 3, 9);
        segment_writer_launch(writer, &(struct segment_launch){.function = 1,
                                                               .ctas = 5,
                                                               .threads = TWO_WARPS,
                                                               .stream = 9,
                                                               .flags = WSDBG_LAUNCH_PROGRAMMATIC});
        run_on(writer, 40, 3, 0, false);
        run_on(writer, 41, 5, 1, true);
        segment_writer_segment(writer)->markers[0].state = WSDBG_MARKER_WORKS;
        segment_writer_segment(writer)->markers[0].done_launches = is_done;
        struct wsdbg_snapshot snapshot = look_and_destroy(writer);
        assert_int_equal(snapshot.grids[0].running, !is_done);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

static void a_dead_context_runs_nothing_but_shows_its_warps(void **state)
{
    (void)state;
    struct segment_writer *writer = two_functions();
    launch(writer, 0, 3, 0);
    run_on(writer, 40, 3, 0, false);
    segment_writer_segment(writer)->contexts[0].state = WSDBG_CONTEXT_FAULTED;
    segment_writer_segment(writer)->contexts[0].error = 719;
    struct wsdbg_snapshot snapshot = look_and_destroy(writer);
    assert_false(snapshot.contexts[0].alive);
    assert_int_equal(snapshot.contexts[0].error, 719);
    assert_false(snapshot.grids[0].running);
    assert_int_equal(snapshot.warp_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_only_launch_that_fits_is_it),
        cmocka_unit_test(as_many_grids_as_launches_match_in_order),
        cmocka_unit_test(one_grid_of_two_equal_launches_has_a_function_but_no_launch),
        cmocka_unit_test(one_grid_of_two_functions_has_neither),
        cmocka_unit_test(refused_launches_do_not_count),
        cmocka_unit_test(a_launch_whose_call_has_not_returned_may_run),
        cmocka_unit_test(a_graph_launch_makes_every_match_uncertain),
        cmocka_unit_test(a_graph_whose_kernels_are_known_makes_only_matches_of_those_uncertain),
        cmocka_unit_test(launches_of_two_threads_have_no_order),
        cmocka_unit_test(a_grid_runs_until_its_last_warp_exits),
        cmocka_unit_test(a_later_grid_on_the_same_stream_ends_the_older_one),
        cmocka_unit_test(a_later_grid_on_another_stream_ends_nothing),
        cmocka_unit_test(a_dependent_grid_that_waits_ends_nothing),
        cmocka_unit_test(a_programmatic_dependent_ends_nothing),
        cmocka_unit_test(a_dead_context_runs_nothing_but_shows_its_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
