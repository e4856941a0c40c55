/* shim_test.c - the shim in whole programs, on the fake libcuda: what it records, and that it changes nothing. */
#include "harness.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void records_through_addresses_that_are_not_exported(void **state)
{
    (void)state;
    check_mode(SHIM_APP_DYNAMIC, "proc", "FAKE_CUDA_THUNKS=1");
}

/* The program allocates once, the observer its slots and histories. */
static void what_the_observer_allocates_is_not_the_programs(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic"};
    (void)state;
    run_program(&run);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->allocation_count, 1);
    assert_int_equal(segment->allocations[0].call_number, 1);
    assert_true(segment->contexts[0].slot_count > 0 && segment->contexts[0].history_depth > 0);
    segment_remove(run.pid);
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

static void a_process_that_executes_itself_begins_a_segment_anew(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "exec"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    assert_basic_launches(segment_of(run.pid));
    segment_remove(run.pid);
}

static void a_process_that_becomes_another_program_says_so_and_leaves_nothing(void **state)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "exec-other"};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
    assert_null(segment_of(run.pid));
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
    int needed_mib = -1;
    assert_int_equal(sscanf(run.errors,
                            "wsdbg: /dev/shm/%*[^:]: the program's limit of file sizes (ulimit -f) leaves no %d MiB for it",
                            &needed_mib),
                     1);
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

/* What it calls inside a launch of the program's is no launch of the program's. */
static void a_call_inside_a_call_is_not_recorded(void **state)
{
    struct run run = {.program = SHIM_APP_LINKED,
                      .mode = "linked",
                      .scenario = "basic",
                      .environment = {"INTERPOSER_EXTENDS=1"},
                      .preload_after = SHIM_NEXT_INTERPOSER};
    (void)state;
    run_program(&run);
    assert_exit(&run, 0);
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
        cmocka_unit_test(records_through_addresses_that_are_not_exported),
        cmocka_unit_test(what_the_observer_allocates_is_not_the_programs),
        cmocka_unit_test(records_every_launch_of_many_threads),
        cmocka_unit_test(shows_a_thread_that_is_blocked),
        cmocka_unit_test(marks_a_context_that_faulted),
        cmocka_unit_test(a_capture_in_progress_is_not_spoiled),
        cmocka_unit_test(returns_what_the_driver_returned),
        cmocka_unit_test(a_program_without_probes_sees_only_queries),
        cmocka_unit_test(any_driver_call_may_fail),
        cmocka_unit_test(a_forked_child_is_left_alone),
        cmocka_unit_test(a_child_that_executes_a_program_has_its_own_segment),
        cmocka_unit_test(a_child_forked_before_cuda_is_observed),
        cmocka_unit_test(a_process_that_executes_itself_begins_a_segment_anew),
        cmocka_unit_test(a_process_that_becomes_another_program_says_so_and_leaves_nothing),
        cmocka_unit_test(without_room_for_the_segment_it_says_so_and_forwards),
        cmocka_unit_test(a_limit_below_the_tables_is_said_and_forwards),
        cmocka_unit_test(no_room_for_slots_leaves_the_launches_recorded),
        cmocka_unit_test(without_a_session_it_sleeps),
        cmocka_unit_test(a_program_that_only_initialises_leaves_no_segment),
        cmocka_unit_test(another_interposer_keeps_its_place),
        cmocka_unit_test(a_call_inside_a_call_is_not_recorded),
        cmocka_unit_test(keeps_module_images_in_the_spool),
        cmocka_unit_test(a_line_nobody_reads_does_not_end_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
