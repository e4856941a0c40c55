/* shim_test.c - the shim in whole programs, on the fake libcuda: what it records, and that it changes nothing. */
#include "harness.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda/fake_cuda.h"

/* ---- recording ---- */

/* The four launches of scenario "basic", in its order. */
static void assert_basic_launches(const struct wsdbg_segment *segment)
{
    assert_int_equal(segment->launch_count, 4);
    struct wsdbg_launch_row plain = launch_at(segment, 0), clustered = launch_at(segment, 1);
    struct wsdbg_launch_row cooperative = launch_at(segment, 2), refused = launch_at(segment, 3);
    assert_memory_equal(plain.grid, ((uint32_t[]){7, 2, 3}), 12);
    assert_memory_equal(plain.block, ((uint32_t[]){128, 1, 1}), 12);
    assert_int_equal(plain.dynamic_shared_bytes, 4096);
    assert_int_equal(plain.cluster[0], WSDBG_UNKNOWN32);
    assert_int_equal(plain.flags, 0);
    assert_int_equal(plain.result, 0);
    assert_int_not_equal(plain.thread_id, 0);
    assert_memory_equal(clustered.grid, ((uint32_t[]){8, 1, 1}), 12);
    assert_memory_equal(clustered.cluster, ((uint32_t[]){2, 1, 1}), 12);
    assert_int_equal(clustered.dynamic_shared_bytes, 1024);
    assert_int_equal(clustered.flags, WSDBG_LAUNCH_PROGRAMMATIC);
    assert_int_equal(cooperative.flags, WSDBG_LAUNCH_COOPERATIVE);
    assert_int_equal(refused.flags, WSDBG_LAUNCH_REFUSED);
    assert_int_equal(refused.result, 1);
    assert_int_equal(segment->function_count, 1);
    assert_string_equal(segment->functions[0].name, "probed");
    assert_int_equal(segment->functions[0].registers, FAKE_REGISTERS);
    assert_int_equal(segment->functions[0].binary_version, 90);
    assert_int_equal(plain.function, 0);
    assert_int_equal(refused.function, 0);
    assert_int_equal(segment->contexts[plain.context].compute_capability, 90);
    assert_string_equal(segment->contexts[plain.context].device_name, "Fake GPU 0");
}

static void check_mode(const char *program, const char *mode, const char *extra)
{
    struct run run = {.program = program, .mode = mode, .scenario = "basic", .environment = {extra}};
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_non_null(segment);
    assert_int_equal(segment->observer_state, WSDBG_OBSERVER_ACTIVE);
    assert_int_equal(segment->observer_kind, WSDBG_OBSERVER_DRIVER);
    assert_string_equal(segment->off_reason, "");
    assert_int_equal(segment->lost_rows, 0);
    assert_int_equal(segment->process_id, run.pid);
    assert_int_equal(segment->driver_version, 13000);
    assert_basic_launches(segment);
    segment_remove(run.pid);
}

static void records_a_linked_program(void **state)
{
    (void)state;
    check_mode(SHIM_APP_LINKED, "linked", NULL);
}

static void records_a_program_that_looks_names_up(void **state)
{
    (void)state;
    check_mode(SHIM_APP_DYNAMIC, "dlsym", NULL);
}

static void records_a_program_that_asks_the_driver_for_addresses(void **state)
{
    (void)state;
    check_mode(SHIM_APP_DYNAMIC, "proc", NULL);
}

static void records_the_per_thread_stream_variants(void **state)
{
    (void)state;
    check_mode(SHIM_APP_DYNAMIC, "proc-ptsz", NULL);
}

/* cuCtxCreate of CUDA 12 has another signature than that of CUDA 13. */
static void leaves_another_version_of_a_function_alone(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc-12", .scenario = "init"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
}

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

static void whatever_else_fails_a_refusal_is_passed_on(void **state)
{
    (void)state;
    assert_any_call_may_fail("graph-refusals", NULL);
    assert_any_call_may_fail("refusals", NULL);
    assert_any_call_may_fail("library-refusals", NULL);
}

static void records_through_addresses_that_are_not_exported(void **state)
{
    (void)state;
    check_mode(SHIM_APP_DYNAMIC, "proc", "FAKE_CUDA_THUNKS=1");
}

static void records_every_launch_of_many_threads(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "threads"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->launch_count, 8 * 5000);
    assert_int_equal(segment->function_count, 1);
    assert_int_equal(segment->context_count, 1);
    assert_int_equal(segment->modules[0].probed, 1);
    segment_remove(run.pid);
}

static void shows_a_thread_that_is_blocked(void **state)
{
    struct run run = {.program = SHIM_APP_LINKED, .mode = "linked", .scenario = "slow", .environment = {"APP_WAITS=1"}};
    (void)state;
    run_start(&run);
    run_wait_line(&run, "launched");
    usleep(300000);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    const struct wsdbg_thread_row *thread = &segment->threads[0];
    assert_int_equal(thread->thread_id, run.pid);
    assert_true(thread->since_ns > segment->created_ns);
    assert_string_equal(thread->call, "cuStreamSynchronize");
    assert_int_equal(thread->stream, launch_at(segment, 0).stream);
    run_wait_line(&run, "cuStreamSynchronize 0");
    assert_true(thread->since_ns == 0);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void marks_a_context_that_faulted(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "fault"};
    (void)state;
    run_program(&run);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_non_null(strstr(run.output, "cuCtxSynchronize 719"));
    assert_int_equal(segment->contexts[0].state, WSDBG_CONTEXT_FAULTED);
    assert_int_equal(segment->contexts[0].error, 719);
    segment_remove(run.pid);
}

/* ---- the ring ---- */

static void points_the_probes_at_the_ring_and_reads_the_names(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic"};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    const struct wsdbg_slot *slot = slot_zero(segment, 0);
    assert_int_equal(slot->state.kind, WSDBG_EVENT_TILE_BEGIN);
    assert_int_equal(slot->state.value, 2); /* the third launch that was not refused */
    assert_int_equal(slot->module_id, 0);
    assert_int_equal(segment->modules[0].probed, 1);
    assert_int_equal(segment->modules[0].context, 0);
    assert_int_equal(segment->modules[0].names_count, 2);
    const struct wsdbg_name *names = &segment->names[segment->modules[0].names_first];
    assert_string_equal(names[0].name, "producer");
    assert_string_equal(names[1].name, "consumer");
    assert_int_equal(names[1].id, 1);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void copies_the_history_when_asked(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "history"};
    (void)state;
    struct wsdbg_segment *segment = run_and_look(&run);
    const struct wsdbg_context_row *row = &segment->contexts[0];
    assert_int_equal(row->history_depth, WSDBG_HISTORY_DEPTH_MAX);
    const struct wsdbg_event *mirror = (const void *)((const char *)segment + row->history_offset);
    assert_int_equal(mirror[4].kind, WSDBG_EVENT_NONE);
    for (uint32_t request = 1; request <= 2; request++) {
        __atomic_store_n(&segment->history_request, request, __ATOMIC_RELEASE);
        syscall(SYS_futex, &segment->history_request, FUTEX_WAKE, 1, NULL, NULL, 0);
        for (int i = 0; i < 500 && __atomic_load_n(&segment->history_done, __ATOMIC_ACQUIRE) != request; i++)
            usleep(1000);
        assert_int_equal(segment->history_done, request);
        assert_int_equal(row->history_copied, request);
    }
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(mirror[i].kind, WSDBG_EVENT_TILE_BEGIN);
        assert_int_equal(mirror[i].value, i);
    }
    assert_int_equal(mirror[5].kind, WSDBG_EVENT_NONE);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void makes_the_history_shorter_when_the_segment_is_small(void **state)
{
    char limit[64];
    uint64_t slot_count = FAKE_SM_COUNT * FAKE_WARPS_PER_SM;
    /* room for the tables, the slots and 16 events a warp (and a bit) */
    snprintf(
        limit, sizeof limit, "WSDBG_SEGMENT_BYTES=%llu",
        (unsigned long long)(sizeof(struct wsdbg_segment) + slot_count * 64 + 65536 + slot_count * 16 * 20 + 8192));
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic", .environment = {limit}};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->contexts[0].history_depth, 16);
    assert_int_equal(slot_zero(segment, 0)->state.value, 2);
    assert_int_equal(segment->note_count, 1);
    assert_non_null(strstr(segment->notes[0], "history is 16 events"));
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void history_can_be_switched_off(void **state)
{
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic", .environment = {"WSDBG_HISTORY=0"}};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->contexts[0].history_depth, 0);
    assert_int_equal(segment->contexts[0].history_offset, 0);
    assert_int_equal(slot_zero(segment, 0)->state.value, 2);
    assert_int_equal(segment->note_count, 0);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void gives_each_context_a_ring_of_its_own(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "library"};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->context_count, 2);
    assert_int_equal(segment->contexts[1].device_ordinal, 1);
    assert_int_equal(slot_zero(segment, 0)->state.value, 1); /* two launches in the first context */
    assert_int_equal(slot_zero(segment, 1)->state.value, 0);
    assert_int_not_equal(slot_zero(segment, 0)->module_id, slot_zero(segment, 1)->module_id);
    assert_int_equal(segment->module_count, 2);
    assert_true(segment->modules[0].handle == segment->modules[1].handle);
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

static void follows_contexts_that_end_and_come_back(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "contexts"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->context_count, 5); /* three created, one primary twice */
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(segment->contexts[i].state, WSDBG_CONTEXT_DESTROYED);
        assert_int_equal(segment->contexts[i].slot_count, FAKE_SM_COUNT * FAKE_WARPS_PER_SM);
        assert_int_equal(launch_at(segment, i).context, i);
    }
    assert_true(segment->contexts[3].handle == segment->contexts[4].handle);
    segment_remove(run.pid);
}

/* Five contexts one after the other, in a segment with room for one ring. */
static void a_destroyed_context_leaves_its_room_to_the_next(void **state)
{
    char limit[64];
    uint64_t slot_count = FAKE_SM_COUNT * FAKE_WARPS_PER_SM;
    snprintf(limit, sizeof limit, "WSDBG_SEGMENT_BYTES=%llu",
             (unsigned long long)(sizeof(struct wsdbg_segment) + slot_count * (64 + 16 * 128) + 65536 + 4096));
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "contexts", .environment = {limit}};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->context_count, 5);
    assert_int_equal(segment->note_count, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(segment->contexts[i].slot_count, 0);
    assert_int_equal(segment->contexts[4].slot_count, slot_count);
    assert_int_equal(segment->contexts[4].history_depth, WSDBG_HISTORY_DEPTH_MAX);
    segment_remove(run.pid);
}

/* ---- harmless ---- */

static void a_capture_in_progress_is_not_spoiled(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "capture"};
    (void)state;
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(segment->launch_count, 5);
    assert_int_equal(launch_at(segment, 0).flags, WSDBG_LAUNCH_CAPTURED);
    assert_int_equal(launch_at(segment, 4).flags, WSDBG_LAUNCH_GRAPH);
    assert_int_equal(launch_at(segment, 4).function, WSDBG_UNKNOWN32);
    assert_int_equal(slot_zero(segment, 0)->state.value, 5); /* two kernels, three replays */
    run_finish(&run);
    assert_exit(&run, 0);
    assert_non_null(strstr(run.output, "cuStreamEndCapture 0"));
    segment_remove(run.pid);
}

static void returns_what_the_driver_returned(void **state)
{
    static const char *const scenarios[] = {"basic", "plain", "capture", "contexts", "library", "fault"};
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        struct run bare = {
            .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenarios[i], .without_shim = true};
        struct run watched = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenarios[i]};
        run_program(&bare);
        run_program(&watched);
        assert_int_equal(bare.status, watched.status);
        assert_string_equal(bare.output, watched.output);
        segment_remove(watched.pid);
    }
}

/* Those of them that change nothing. */
static const char queries[] = "cuDriverGetVersion\ncuCtxGetCurrent\ncuCtxGetDevice\ncuDeviceGetAttribute\n"
                              "cuDeviceGetName\ncuFuncGetAttribute\ncuFuncGetModule\ncuFuncGetName\n"
                              "cuModuleGetGlobal_v2\ncuThreadExchangeStreamCaptureMode\n";

static void a_program_without_probes_sees_only_queries(void **state)
{
    struct run bare = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "plain", .without_shim = true};
    struct run watched = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "plain"};
    (void)state;
    char *before = run_logged(&bare), *after = run_logged(&watched);
    assert_true(strlen(after) > strlen(before));
    assert_string_equal(only_calls_of(after, queries, false), before);
    assert_int_equal(segment_of(watched.pid)->contexts[0].slot_count, 0);
    segment_remove(watched.pid);
}

static void any_driver_call_may_fail(void **state)
{
    (void)state;
    assert_any_call_may_fail("basic", NULL);
}

static void a_forked_child_is_left_alone(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "fork"};
    int child = 0;
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    assert_int_equal(sscanf(strstr(run.output, "child"), "child %d", &child), 1);
    assert_non_null(strstr(run.output, "status 0\n"));
    assert_null(segment_of(child));
    assert_int_equal(segment_of(run.pid)->launch_count, 2); /* the child's launch is not the parent's */
    segment_remove(run.pid);
}

static void a_child_that_executes_a_program_has_its_own_segment(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "fork-exec"};
    int child = 0;
    (void)state;
    run_program(&run);
    assert_int_equal(sscanf(strstr(run.output, "child"), "child %d", &child), 1);
    const struct wsdbg_segment *segment = segment_of(child);
    assert_non_null(segment);
    assert_basic_launches(segment);
    assert_int_equal(segment->parent_process_id, run.pid);
    assert_int_equal(segment_of(run.pid)->launch_count, 2);
    segment_remove(child);
    segment_remove(run.pid);
}

static void a_child_forked_before_cuda_is_observed(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "fork-first"};
    int child = 0;
    (void)state;
    run_program(&run);
    assert_int_equal(sscanf(strstr(run.output, "child"), "child %d", &child), 1);
    assert_null(segment_of(run.pid));
    assert_basic_launches(segment_of(child));
    segment_remove(child);
}

static void without_room_for_the_segment_it_says_so_and_forwards(void **state)
{
    struct run bare = {.program = SHIM_APP_LINKED, .mode = "linked", .scenario = "basic", .without_shim = true};
    struct run run = {
        .program = SHIM_APP_LINKED, .mode = "linked", .scenario = "basic", .file_size_limit_bytes = 100000};
    (void)state;
    run_program(&bare);
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.output, bare.output);
    assert_null(segment_of(run.pid));
    int free_mib = -1, needed_mib = -1;
    assert_int_equal(sscanf(run.errors, "wsdbg: /dev/shm has %d MiB free, %d needed: ", &free_mib, &needed_mib), 2);
    assert_int_equal(needed_mib, (sizeof(struct wsdbg_segment) + 0xfffff) >> 20);
    assert_int_equal(line_count(run.errors), 1);
}

static void a_limit_below_the_tables_is_said_and_forwards(void **state)
{
    struct run run = {
        .program = SHIM_APP_LINKED, .mode = "linked", .scenario = "basic", .environment = {"WSDBG_SEGMENT_BYTES=4096"}};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    assert_null(segment_of(run.pid));
    assert_non_null(strstr(run.errors, "WSDBG_SEGMENT_BYTES is 4096 bytes, the fixed tables alone need"));
}

static void no_room_for_slots_leaves_the_launches_recorded(void **state)
{
    char limit[64];
    snprintf(limit, sizeof limit, "WSDBG_SEGMENT_BYTES=%zu", sizeof(struct wsdbg_segment) + 8192);
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic", .environment = {limit}};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_basic_launches(segment);
    assert_int_equal(segment->contexts[0].slot_count, 0);
    assert_non_null(strstr(segment->notes[0], "no ring for context 0: the segment would be"));
    segment_remove(run.pid);
}

static void without_a_session_it_sleeps(void **state)
{
    struct run bare = {.program = SHIM_APP_LINKED, .mode = "linked", .scenario = "basic", .without_shim = true};
    struct run run = {.program = SHIM_APP_LINKED, .mode = "linked", .scenario = "basic", .asleep = true};
    (void)state;
    char *before = run_logged(&bare), *after = run_logged(&run);
    assert_exit(&run, 0);
    assert_string_equal(before, after);
    assert_string_equal(bare.output, run.output);
    assert_null(segment_of(run.pid));
}

static void a_program_that_only_initialises_leaves_no_segment(void **state)
{
    struct run run = {.program = SHIM_APP_LINKED, .mode = "linked", .scenario = "init"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    assert_null(segment_of(run.pid));
}

/* Another interposer behind the shim is called once a launch, and its RTLD_NEXT is the driver. */
static void another_interposer_keeps_its_place(void **state)
{
    struct run run = {
        .program = SHIM_APP_LINKED, .mode = "linked", .scenario = "basic", .preload_after = SHIM_NEXT_INTERPOSER};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    assert_null(strstr(run.output, "myself"));
    int interposed = 0;
    for (const char *at = run.output; (at = strstr(at, "interposed\n")); at++)
        interposed++;
    assert_int_equal(interposed, 2);
    assert_basic_launches(segment_of(run.pid));
    segment_remove(run.pid);
}

static void keeps_module_images_in_the_spool(void **state)
{
    char folder[] = "/tmp/wsdbg-spool-XXXXXX", setting[64], path[96];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(setting, sizeof setting, "WSDBG_SPOOL=%s", folder);
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "basic", .environment = {setting}};
    run_program(&run);
    const struct wsdbg_module_row *row = &segment_of(run.pid)->modules[0];
    snprintf(path, sizeof path, "%s/%d-0.image", folder, (int)run.pid);
    char *image = file_text(path);
    assert_non_null(image);
    assert_string_equal(image, FAKE_PROBED_IMAGE);
    assert_int_equal(row->image_kept, 1);
    assert_int_equal(row->image_bytes, strlen(FAKE_PROBED_IMAGE));
    assert_true(row->image_hash != 0);
    unlink(path);
    rmdir(folder);
    segment_remove(run.pid);
}

/* The line about a bad session name goes to a pipe that nobody reads. */
static void a_line_nobody_reads_does_not_end_the_program(void **state)
{
    (void)state;
    char preload[PATH_MAX + 16];
    int ends[2], status = 0;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", SHIM_LIBRARY);
    char *arguments[] = {(char[]){"/bin/true"}, NULL};
    char *environment[] = {preload, (char[]){"WSDBG_SESSION=not/a/name"}, NULL};
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGPIPE, SIG_DFL);
        execve(arguments[0], arguments, environment);
        _exit(127);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_a_linked_program),
        cmocka_unit_test(records_a_program_that_looks_names_up),
        cmocka_unit_test(records_a_program_that_asks_the_driver_for_addresses),
        cmocka_unit_test(records_the_per_thread_stream_variants),
        cmocka_unit_test(leaves_another_version_of_a_function_alone),
        cmocka_unit_test(records_what_the_driver_refused),
        cmocka_unit_test(records_which_kernel_of_a_graph_was_refused),
        cmocka_unit_test(a_refused_kernel_is_not_loaded),
        cmocka_unit_test(whatever_else_fails_a_refusal_is_passed_on),
        cmocka_unit_test(records_through_addresses_that_are_not_exported),
        cmocka_unit_test(records_every_launch_of_many_threads),
        cmocka_unit_test(shows_a_thread_that_is_blocked),
        cmocka_unit_test(marks_a_context_that_faulted),
        cmocka_unit_test(points_the_probes_at_the_ring_and_reads_the_names),
        cmocka_unit_test(copies_the_history_when_asked),
        cmocka_unit_test(makes_the_history_shorter_when_the_segment_is_small),
        cmocka_unit_test(history_can_be_switched_off),
        cmocka_unit_test(gives_each_context_a_ring_of_its_own),
        cmocka_unit_test(follows_contexts_that_end_and_come_back),
        cmocka_unit_test(a_destroyed_context_leaves_its_room_to_the_next),
        cmocka_unit_test(a_capture_in_progress_is_not_spoiled),
        cmocka_unit_test(returns_what_the_driver_returned),
        cmocka_unit_test(a_program_without_probes_sees_only_queries),
        cmocka_unit_test(any_driver_call_may_fail),
        cmocka_unit_test(a_forked_child_is_left_alone),
        cmocka_unit_test(a_child_that_executes_a_program_has_its_own_segment),
        cmocka_unit_test(a_child_forked_before_cuda_is_observed),
        cmocka_unit_test(without_room_for_the_segment_it_says_so_and_forwards),
        cmocka_unit_test(a_limit_below_the_tables_is_said_and_forwards),
        cmocka_unit_test(no_room_for_slots_leaves_the_launches_recorded),
        cmocka_unit_test(without_a_session_it_sleeps),
        cmocka_unit_test(a_program_that_only_initialises_leaves_no_segment),
        cmocka_unit_test(another_interposer_keeps_its_place),
        cmocka_unit_test(keeps_module_images_in_the_spool),
        cmocka_unit_test(a_line_nobody_reads_does_not_end_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
