/* shim_graphs_test.c - which kernels a graph launch carries, as the shim records it, on the fake libcuda. */
#include "harness.h"

#include "fake_cuda/fake_cuda.h"

static void assert_kernel(const struct wsdbg_segment *segment, uint32_t row, uint32_t graph, uint32_t grid,
                          uint32_t block, uint32_t cluster)
{
    const struct wsdbg_graph_kernel_row *kernel = &segment->graph_kernels[row];
    assert_int_equal(kernel->graph, graph);
    assert_int_equal(kernel->function, 0);
    assert_memory_equal(kernel->grid, ((uint32_t[]){grid, 1, 1}), 12);
    assert_memory_equal(kernel->block, ((uint32_t[]){block, 1, 1}), 12);
    assert_int_equal(kernel->cluster[0], cluster);
}

static void assert_launch(const struct wsdbg_segment *segment, uint64_t number, uint32_t graph, bool partly)
{
    const struct wsdbg_launch_row *launch = &segment->launches[number];
    assert_int_equal(launch->graph, graph);
    assert_int_equal(launch->flags, WSDBG_LAUNCH_GRAPH | (partly ? WSDBG_LAUNCH_GRAPH_PARTLY : 0));
}

static void records_the_kernels_of_a_graph(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "graph-kernels"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_string_equal(segment->functions[0].name, "plain");
    assert_kernel(segment, 0, 1, 2, 64, 2);               /* two nodes alike are one row */
    assert_kernel(segment, 1, 1, 3, 96, WSDBG_UNKNOWN32); /* of the graph inside */
    assert_launch(segment, 0, 1, false);
    assert_launch(segment, 1, 1, false); /* an update that changes nothing */
    assert_kernel(segment, 2, 2, 3, 96, WSDBG_UNKNOWN32);
    assert_launch(segment, 2, 2, false);
    assert_launch(segment, 3, 2, false); /* the change was refused */
    assert_kernel(segment, 3, 2, 5, 64, 2);
    assert_launch(segment, 4, 2, true);
    assert_launch(segment, 5, 0, false); /* nobody saw how that was made ready */
    assert_int_equal(segment->graph_kernel_count, 4);
    assert_int_equal(segment->graph_nodes_left_out, 0);
    segment_remove(run.pid);
}

/* The driver is asked about nodes only by us, and the app sees what it sees without us. */
static void a_graph_is_the_same_to_the_program(void **state)
{
    struct run bare = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "graph-kernels", .without_shim = true};
    struct run watched = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "graph-kernels"};
    (void)state;
    run_program(&bare);
    run_program(&watched);
    assert_int_equal(bare.status, watched.status);
    assert_string_equal(bare.output, watched.output);
    segment_remove(watched.pid);
}

static void whatever_else_fails_a_graph_runs(void **state)
{
    (void)state;
    assert_any_call_may_fail("graph-kernels", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_the_kernels_of_a_graph),
        cmocka_unit_test(a_graph_is_the_same_to_the_program),
        cmocka_unit_test(whatever_else_fails_a_graph_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
