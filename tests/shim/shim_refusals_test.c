/* shim_refusals_test.c - what the driver refused, as the shim records it, on the fake libcuda. */
#include "harness.h"

#include "fake_cuda/fake_cuda.h"

/* Each different refusal is one row; the app sees what it sees without the shim. */
static void records_what_the_driver_refused(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "refusals"};
    struct run bare = run;
    bare.without_shim = true;
    (void)state;
    run_program(&run);
    run_program(&bare);
    assert_exit(&run, 0);
    assert_string_equal(run.output, bare.output);
    assert_string_equal(run.errors, "");
    const struct wsdbg_segment *segment = segment_of(run.pid);
    const struct wsdbg_refusal_row *first = &segment->refusals[0];
    assert_int_equal(segment->refusal_count, WSDBG_REFUSAL_ROWS);
    assert_int_equal(segment->refusals_left_out, 100 + 6 - WSDBG_REFUSAL_ROWS - 1); /* 64 threads were there before */
    assert_int_equal(first->times, 3);
    assert_int_equal(first->kind, WSDBG_REFUSAL_LAUNCH);
    assert_int_equal(first->result, 1);
    assert_string_equal(first->call, "cuLaunchKernel");
    assert_string_equal(first->name, "plain");
    assert_memory_equal(first->grid, ((uint32_t[]){0, 2, 3}), 12);
    assert_memory_equal(first->block, ((uint32_t[]){128, 1, 1}), 12);
    assert_int_equal(first->dynamic_shared_bytes, 4096);
    assert_int_equal(first->cluster[0], WSDBG_UNKNOWN32);
    assert_int_equal(first->registers, FAKE_REGISTERS);
    assert_int_equal(first->compute_capability, 90);
    assert_int_equal(first->module, 0);
    assert_int_equal(segment->refusals[1].block[0], 64);
    for (int i = 2; i < 6; i++) {
        assert_int_equal(segment->refusals[i].kind, WSDBG_REFUSAL_CODE);
        assert_int_equal(segment->refusals[i].result, 200);
        assert_string_equal(segment->refusals[i].call, "cuModuleLoadData");
        assert_int_equal(segment->refusals[i].image, 0); /* there is no spool, and of three no end */
    }
    segment_remove(run.pid);
}

/* The kernel that is beyond its own limits, or, where none is, the graph. */
static void records_which_kernel_of_a_graph_was_refused(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "graph-refusals"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    const struct wsdbg_refusal_row *kernel = &segment->refusals[0], *graph = &segment->refusals[1];
    assert_int_equal(segment->refusal_count, 3);
    assert_string_equal(segment->refusals[2].call, "cuGraphInstantiateWithParams"); /* no word of the driver's why */
    assert_string_equal(kernel->call, "cuGraphInstantiateWithFlags");
    assert_string_equal(kernel->name, "plain");
    assert_memory_equal(kernel->grid, ((uint32_t[]){7, 1, 1}), 12);
    assert_memory_equal(kernel->block, ((uint32_t[]){2048, 1, 1}), 12);
    assert_int_equal(kernel->dynamic_shared_bytes, 512);
    assert_int_equal(kernel->registers, FAKE_REGISTERS);
    assert_int_equal(graph->flags, WSDBG_LAUNCH_GRAPH);
    assert_string_equal(graph->name, "");
    segment_remove(run.pid);
}

/* What the app has not loaded is not loaded to explain a refusal. */
static void a_refused_kernel_is_not_loaded(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "library-refusals"};
    (void)state;
    char *log = run_logged(&run);
    assert_exit(&run, 0);
    char *calls = only_calls_of(log, "cuFuncSetAttribute\ncuKernelGetFunction\ncuLaunchKernel\n", true);
    assert_string_equal(calls, "cuFuncSetAttribute 1\ncuKernelGetFunction 0\ncuLaunchKernel 1\ncuLaunchKernel 1\n");
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->refusal_count, 3);
    assert_int_equal(segment->refusals[0].kind, WSDBG_REFUSAL_SETTING);
    assert_int_equal(segment->refusals[0].registers, WSDBG_UNKNOWN32);
    assert_int_equal(segment->refusals[0].module, 0);
    assert_int_equal(segment->refusals[1].registers, FAKE_REGISTERS);
    assert_int_equal(segment->refusals[2].registers, FAKE_REGISTERS);
    assert_string_equal(segment->refusals[2].name, "plain");
    segment_remove(run.pid);
}

/* A library asks for hundreds of kernels that are not for this device: a launch is recorded all the same. */
static void questions_leave_room_for_launches(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "question-refusals"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->refusal_count, WSDBG_REFUSAL_ROWS / 2 + 1);
    assert_int_equal(segment->refusals_left_out, WSDBG_REFUSAL_ROWS / 2 + 8);
    assert_int_equal(segment->refusals[0].kind, WSDBG_REFUSAL_CODE);
    assert_int_equal(segment->refusals[WSDBG_REFUSAL_ROWS / 2].kind, WSDBG_REFUSAL_LAUNCH);
    segment_remove(run.pid);
}

static void whatever_else_fails_a_refusal_is_passed_on(void **state)
{
    (void)state;
    assert_any_call_may_fail("graph-refusals", NULL);
    assert_any_call_may_fail("refusals", NULL);
    assert_any_call_may_fail("library-refusals", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_what_the_driver_refused),
        cmocka_unit_test(records_which_kernel_of_a_graph_was_refused),
        cmocka_unit_test(a_refused_kernel_is_not_loaded),
        cmocka_unit_test(questions_leave_room_for_launches),
        cmocka_unit_test(whatever_else_fails_a_refusal_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
