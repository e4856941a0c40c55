/* shim_process_test.c - the observer in somebody else's process: the program keeps its signals, its exit handlers and
 * its children, and the observer's threads keep out of its way; on the fake libcuda. */
#include "harness.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_cuda/fake_cuda.h"

static struct run run_scenario(const char *scenario, const char *setting)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenario, .environment = {setting}};
    run_program(&run);
    assert_exit(&run, 0);
    return run;
}

/* ---- threads and signals ---- */

/* One line of /proc/PID/task/TASK/status: "Name:", "SigBlk:". */
static void read_status(pid_t pid, const char *task, const char *field, char value[64])
{
    char path[300], line[256];
    snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)pid, task);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    value[0] = '\0';
    while (fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            sscanf(line + strlen(field), "%63s", value);
    fclose(file);
    assert_true(value[0] != '\0');
}

/* All that can be blocked: not SIGKILL and SIGSTOP, nor the two that the C library keeps to itself. */
static uint64_t every_signal(void)
{
    uint64_t mask = UINT64_MAX & ~(UINT64_C(1) << (SIGKILL - 1)) & ~(UINT64_C(1) << (SIGSTOP - 1));
    return mask & ~(UINT64_C(3) << (32 - 1));
}

static void only_the_programs_own_threads_take_signals(void **state)
{
    int own = 0, programs = 0;
    (void)state;
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "basic", .environment = {"WSDBG_MARKERS=1"}};
    run_and_look(&run);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)run.pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks));) {
        char name[64], blocked[64];
        if (task->d_name[0] == '.')
            continue;
        read_status(run.pid, task->d_name, "Name:", name);
        read_status(run.pid, task->d_name, "SigBlk:", blocked);
        const bool is_own = strcmp(name, WSDBG_THREAD_OBSERVER) == 0;
        assert_int_equal(strtoull(blocked, NULL, 16), is_own ? every_signal() : 0);
        own += is_own;
        programs += !is_own;
    }
    closedir(tasks);
    assert_int_equal(programs, 1);
    assert_int_equal(own, 4); /* copies, markers, the program's threads, the debug attach */
    run_finish(&run);
    assert_exit(&run, 0);
    segment_remove(run.pid);
}

/* The line about the limit is written meanwhile. */
static void a_signal_that_the_program_has_blocked_stays_pending(void **state)
{
    (void)state;
    struct run run = run_scenario("pending-signal", "WSDBG_SEGMENT_BYTES=4096");
    assert_non_null(strstr(run.errors, "the fixed tables alone need"));
    assert_non_null(strstr(run.output, "SIGPIPE is pending\n"));
}

/* ---- texts of the environment ---- */

static void a_session_name_that_is_too_long_is_refused(void **state)
{
    char setting[1024] = "WSDBG_SESSION=";
    (void)state;
    memset(setting + strlen(setting), 's', 300);
    struct run run = run_scenario("plain", setting);
    assert_string_equal(run.errors, "wsdbg: WSDBG_SESSION is not a session name; not observing this process\n");
}

/* Nothing is left there then, but the program is told why it is not observed. */
static void a_folder_name_that_is_too_long_is_passed_over(void **state)
{
    static char setting[8192] = "WSDBG_SPOOL=/tmp/";
    (void)state;
    memset(setting + strlen(setting), 's', 6000);
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "plain",
                      .environment = {setting, "WSDBG_SEGMENT_BYTES=4096"}};
    run_program(&run);
    assert_exit(&run, 0);
    assert_non_null(strstr(run.errors, "the fixed tables alone need"));
}

static void a_line_does_not_go_into_a_file_of_the_programs(void **state)
{
    char path[] = "/tmp/wsdbg-stderr-XXXXXX", setting[64];
    (void)state;
    close(mkstemp(path));
    snprintf(setting, sizeof setting, "APP_STDERR=%s", path);
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "plain",
                      .environment = {setting, "WSDBG_SEGMENT_BYTES=4096"}};
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(file_text(path), "");
    assert_string_equal(run.errors, "");
    unlink(path);
}

/* ---- the program's own way ---- */

static void the_programs_exit_handlers_run(void **state)
{
    (void)state;
    struct run run = run_scenario("exit-handler", NULL);
    assert_non_null(strstr(run.output, "the handler ran\n"));
    segment_remove(run.pid);
}

static void a_capture_refuses_what_it_would_have_refused(void **state)
{
    (void)state;
    struct run run = run_scenario("refused-in-a-capture", NULL);
    assert_non_null(strstr(run.output, "cuLaunchKernel 0\ncuMemAlloc_v2 900\ncuStreamEndCapture 901\n"));
    segment_remove(run.pid);
}

static void a_kernels_name_is_cut_where_its_place_ends(void **state)
{
    (void)state;
    struct run run = run_scenario("long-name", NULL);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->function_count, 1);
    assert_int_equal(strlen(segment->functions[0].name), WSDBG_NAME_BYTES - 1);
    assert_int_equal(segment->functions[0].registers, FAKE_REGISTERS);
    segment_remove(run.pid);
}

/* Where a file of the observer's were it, the words would go there.  Making the segment takes 0.4 s. */
static void what_goes_to_a_closed_stream_goes_nowhere(void **state)
{
    (void)state;
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "write-to-nothing",
                      .environment = {"SLOW_LIBC=posix_fallocate,400"},
                      .preload_after = SHIM_SLOW_LIBC};
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "nobody took it\n");
    assert_non_null(segment_of(run.pid));
    segment_remove(run.pid);
}

/* ---- fork ---- */

static int number_after(const struct run *run, const char *word)
{
    const char *at = strstr(run->output, word);
    assert_non_null(at);
    return atoi(at + strlen(word));
}

/* The other thread is making its segment: the file takes 0.4 s. */
static void a_child_forked_beside_a_thread_in_its_first_call_goes_on(void **state)
{
    (void)state;
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "fork-beside",
                      .environment = {"SLOW_LIBC=posix_fallocate,400"},
                      .preload_after = SHIM_SLOW_LIBC};
    run_program(&run);
    assert_exit(&run, 0);
    const pid_t child = number_after(&run, "child ");
    assert_int_equal(number_after(&run, "status "), 0);
    assert_non_null(segment_of(child));
    assert_non_null(segment_of(run.pid));
    segment_remove(child);
    segment_remove(run.pid);
}

static void a_thread_that_ends_in_a_child_leaves_its_parents_row(void **state)
{
    (void)state;
    struct run run = run_scenario("fork-and-leave", NULL);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(number_after(&run, "status "), 0);
    assert_int_equal(segment->threads[0].thread_id, run.pid);
    segment_remove(run.pid);
}

/* ---- armed ---- */

/* The other thread makes the folder, which takes 0.4 s, and removes what an earlier process with this number left. */
static void an_image_that_is_loaded_beside_a_first_call_is_kept(void **state)
{
    char folder[] = "/tmp/wsdbg-shim-armed-XXXXXX", setting[64], image[64], command[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(setting, sizeof setting, "WSDBG_ARM=%s", folder);
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "load-beside-first-call",
                      .environment = {"SLOW_LIBC=opendir,400", setting},
                      .preload_after = SHIM_SLOW_LIBC,
                      .asleep = true};
    run_program(&run);
    snprintf(image, sizeof image, "%s/%d-0.image", folder, (int)run.pid);
    const bool is_kept = access(image, F_OK) == 0;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    assert_exit(&run, 0);
    assert_true(is_kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_programs_own_threads_take_signals),
        cmocka_unit_test(a_signal_that_the_program_has_blocked_stays_pending),
        cmocka_unit_test(a_session_name_that_is_too_long_is_refused),
        cmocka_unit_test(a_folder_name_that_is_too_long_is_passed_over),
        cmocka_unit_test(a_line_does_not_go_into_a_file_of_the_programs),
        cmocka_unit_test(the_programs_exit_handlers_run),
        cmocka_unit_test(a_capture_refuses_what_it_would_have_refused),
        cmocka_unit_test(a_kernels_name_is_cut_where_its_place_ends),
        cmocka_unit_test(what_goes_to_a_closed_stream_goes_nowhere),
        cmocka_unit_test(a_child_forked_beside_a_thread_in_its_first_call_goes_on),
        cmocka_unit_test(a_thread_that_ends_in_a_child_leaves_its_parents_row),
        cmocka_unit_test(an_image_that_is_loaded_beside_a_first_call_is_kept),
    };
    return cmocka_run_group_tests_name("shim_process", tests, NULL, free_texts);
}
