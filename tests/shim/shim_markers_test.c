/* shim_markers_test.c - whether the work of a context gets done, as the shim tells it, on the fake libcuda. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define WANTED "WSDBG_MARKERS=1"

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Waits until the word is set (or, with `cleared`, is not); fails the test after 10 s. */
static void await(const uint64_t *word, bool cleared)
{
    for (int i = 0; i < 1000 && (load(word) == 0) != cleared; i++)
        usleep(10000);
    assert_true((load(word) == 0) == cleared);
}

static const struct wsdbg_segment *start(struct run *run)
{
    int i = 0;
    while (run->environment[i])
        i++;
    run->environment[i] = "APP_WAITS=1";
    run->program = SHIM_APP_DYNAMIC;
    run->mode = "dlsym";
    run_start(run);
    run_wait_line(run, "ready");
    const struct wsdbg_segment *segment = segment_of(run->pid);
    assert_non_null(segment);
    return segment;
}

static void end(struct run *run)
{
    run_finish(run);
    assert_exit(run, 0);
    assert_string_equal(run->errors, "");
    segment_remove(run->pid);
}

static void a_marker_stays_in_flight_behind_a_kernel_that_hangs(void **state)
{
    (void)state;
    struct run run = {.scenario = "hang", .environment = {WANTED}};
    const struct wsdbg_segment *segment = start(&run);
    const struct wsdbg_marker_row *row = &segment->markers[0];
    await(&row->recorded_ns, false);
    await(&row->checked_ns, false);
    const uint64_t recorded_ns = load(&row->recorded_ns), first_ns = load(&row->checked_ns);
    while (load(&row->checked_ns) == first_ns)
        usleep(10000);
    assert_int_equal(load(&row->recorded_ns), recorded_ns); /* no second one */
    assert_true(load(&row->checked_ns) > first_ns);
    assert_true(first_ns >= recorded_ns && recorded_ns >= segment->launches[0].time_ns);
    assert_int_equal(row->launches, 1);
    assert_int_equal(row->done_ns, 0);
    assert_int_equal(segment->given[0].done_given_ns, 0);
    assert_int_equal(row->state, WSDBG_MARKER_WORKS);
    end(&run);
}

static void a_marker_behind_work_that_is_done_is_gone(void **state)
{
    (void)state;
    struct run run = {.scenario = "slow", .environment = {WANTED}};
    const struct wsdbg_segment *segment = start(&run);
    const struct wsdbg_marker_row *row = &segment->markers[0];
    await(&row->done_ns, false);
    await(&row->recorded_ns, true);
    assert_true(row->done_ns - segment->launches[0].time_ns >= 1500 * MS);
    assert_int_equal(row->done_launches, 1);
    assert_int_equal(segment->given[0].done_given_ns, segment->launches[0].time_ns);
    end(&run);
}

static void without_the_word_no_event_is_made(void **state)
{
    (void)state;
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "slow"};
    char *log = run_logged(&run);
    assert_exit(&run, 0);
    assert_string_equal(only_calls_of(log, "cuEventCreate\ncuCtxRecordEvent\n", true), "");
    assert_int_equal(segment_of(run.pid)->markers[0].state, WSDBG_MARKER_NONE);
    segment_remove(run.pid);
}

static void without_launches_no_event_is_made(void **state)
{
    (void)state;
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "init", .environment = {WANTED}};
    char *log = run_logged(&run);
    assert_string_equal(only_calls_of(log, "cuEventCreate\ncuCtxRecordEvent\n", true), "");
}

/* What was put before is asked, nothing is put. */
static void a_capture_in_progress_sees_no_new_marker(void **state)
{
    (void)state;
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "long-capture", .environment = {WANTED}};
    char *log = run_logged(&run);
    assert_exit(&run, 0);
    char *story =
        only_calls_of(log, "cuStreamBeginCapture_v2\ncuStreamEndCapture\ncuCtxRecordEvent\ncuEventQuery\n", true);
    assert_non_null(strstr(story, "cuCtxRecordEvent 0\ncuEventQuery 600\n")); /* markers before it */
    const char *begin = strstr(story, "cuStreamBeginCapture_v2 0\n"), *ended = strstr(story, "cuStreamEndCapture 0\n");
    assert_non_null(begin);
    assert_non_null(ended);
    assert_non_null(strstr(begin, "cuEventQuery 600\n"));
    assert_true(strstr(begin, "cuEventQuery 600\n") < ended);
    const char *put = strstr(begin, "cuCtxRecordEvent");
    assert_true(!put || put > ended);
    assert_non_null(strstr(ended, "cuEventQuery 0\n")); /* and after it */
    segment_remove(run.pid);
}

static void what_is_in_flight_is_followed_through_a_capture(void **state)
{
    (void)state;
    struct run run = {.scenario = "long-capture", .environment = {WANTED, "APP_WAITS=1"}};
    run.program = SHIM_APP_DYNAMIC;
    run.mode = "dlsym";
    run_start(&run);
    run_wait_line(&run, "cuStreamBeginCapture_v2 0");
    const struct wsdbg_segment *segment = segment_of(run.pid);
    const struct wsdbg_marker_row *row = &segment->markers[0];
    const uint64_t before_ns = load(&row->checked_ns);
    for (int k = 0; k < 1000 && load(&row->checked_ns) == before_ns; k++)
        usleep(10000);
    assert_true(load(&row->checked_ns) > before_ns);
    assert_int_equal(load(&row->kept_out_ns), 0);
    assert_int_equal(row->state, WSDBG_MARKER_WORKS);
    run_wait_line(&run, "ready");
    end(&run);
}

static void a_launch_beside_a_capture_that_never_ends_is_hidden(void **state)
{
    (void)state;
    struct run run = {.scenario = "capture-left", .environment = {WANTED}};
    const struct wsdbg_segment *segment = start(&run);
    const struct wsdbg_marker_row *row = &segment->markers[0];
    await(&row->kept_out_ns, false);
    assert_true(load(&row->kept_out_ns) >= segment->launches[1].time_ns);
    assert_int_equal(row->state, WSDBG_MARKER_STARTED);
    assert_int_equal(load(&row->recorded_ns), 0);
    end(&run);
}

static void what_is_captured_alone_hides_nothing(void **state)
{
    (void)state;
    struct run run = {.scenario = "capture-left-idle", .environment = {WANTED}};
    const struct wsdbg_segment *segment = start(&run);
    assert_true(segment->launches[0].flags & WSDBG_LAUNCH_CAPTURED);
    assert_int_equal(load(&segment->markers[0].kept_out_ns), 0);
    end(&run);
}

static void what_the_driver_cannot_do_is_noted_once(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuEventCreate", "cuEventQuery", "cuCtxRecordEvent"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char failing[64];
        snprintf(failing, sizeof failing, "FAKE_CUDA_FAIL=%s", calls[i]);
        struct run run = {.scenario = "hang", .environment = {WANTED, failing}};
        const struct wsdbg_segment *segment = start(&run);
        for (int k = 0; k < 1000 && __atomic_load_n(&segment->note_count, __ATOMIC_ACQUIRE) == 0; k++)
            usleep(10000);
        assert_int_equal(segment->note_count, 1);
        assert_string_equal(segment->notes[0], "whether the work of context 0 gets done cannot be seen (error 999)");
        assert_int_equal(segment->markers[0].state, WSDBG_MARKER_FAILED);
        assert_int_equal(load(&segment->markers[0].recorded_ns), 0);
        end(&run);
    }
}

static void a_marker_call_that_hangs_holds_nobody_up(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuEventCreate", "cuEventQuery", "cuCtxRecordEvent"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char hanging[64];
        snprintf(hanging, sizeof hanging, "FAKE_CUDA_HANG=%s", calls[i]);
        struct run run = {
            .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "long-capture", .environment = {WANTED, hanging}};
        run_program(&run);
        assert_exit(&run, 0);
        assert_non_null(strstr(run.output, "cuStreamEndCapture 0\n"));
        segment_remove(run.pid);
    }
}

static void contexts_that_come_and_go_take_their_markers_along(void **state)
{
    (void)state;
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "hanging-contexts", .environment = {WANTED}};
    char *log = run_logged(&run);
    assert_exit(&run, 0); /* the fake driver ends a program that uses an event or a context after its end */
    assert_string_equal(run.errors, "");
    assert_non_null(strstr(log, "cuCtxRecordEvent 0\n"));
    assert_int_equal(segment_of(run.pid)->note_count, 0);
    segment_remove(run.pid);
}

static void a_fault_is_seen_although_the_program_does_not_ask(void **state)
{
    (void)state;
    struct run run = {.scenario = "fault-unasked", .environment = {WANTED}};
    const struct wsdbg_segment *segment = start(&run);
    for (int k = 0; k < 1000 && __atomic_load_n(&segment->contexts[0].error, __ATOMIC_ACQUIRE) == 0; k++)
        usleep(10000);
    assert_int_equal(segment->contexts[0].error, 719);
    assert_int_equal(segment->contexts[0].state, WSDBG_CONTEXT_FAULTED);
    assert_int_equal(segment->note_count, 0);
    end(&run);
}

static void order(struct run *run, const char *orders)
{
    assert_int_equal(write(run->in, orders, strlen(orders)), strlen(orders));
}

/* The driver keeps who puts a marker down in the first context; that of the second has passed by then. */
static void a_marker_that_the_driver_keeps_does_not_hide_that_another_one_has_passed(void **state)
{
    static const char once[] = "FAKE_CUDA_ONCE=/tmp/wsdbg-markers-once-";
    char setting[80], *path = setting + sizeof "FAKE_CUDA_ONCE=" - 1;
    struct run run = {.scenario = "plain", .environment = {WANTED, "FAKE_CUDA_HANG=cuCtxRecordEvent", setting}};
    (void)state;
    snprintf(setting, sizeof setting, "%s%d", once, (int)getpid());
    unlink(path);
    const struct wsdbg_segment *segment = start(&run);
    await(&segment->markers[0].done_ns, false);
    order(&run, "nl");
    await(&segment->markers[1].recorded_ns, false);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fclose(file);
    order(&run, "ol");
    await(&segment->markers[1].done_ns, false);
    await(&segment->markers[0].inside_ns, false);
    end(&run);
}

/* The program's first launches have passed, and no marker is under way. */
static const struct wsdbg_marker_row *start_rested(struct run *run)
{
    const struct wsdbg_segment *segment = start(run);
    const struct wsdbg_marker_row *row = &segment->markers[0];
    await(&row->done_ns, false);
    await(&row->recorded_ns, true);
    return row;
}

static void await_inside(const struct wsdbg_marker_row *row)
{
    for (int i = 0; i < 100000 && !load(&row->inside_ns); i++)
        usleep(100);
    assert_true(load(&row->inside_ns) != 0);
}

static void without_new_launches_no_new_marker_is_put(void **state)
{
    struct run run = {.scenario = "plain", .environment = {WANTED}};
    (void)state;
    const struct wsdbg_marker_row *row = start_rested(&run);
    const uint64_t done_ns = load(&row->done_ns);
    usleep(600000); /* twice over */
    assert_int_equal(load(&row->done_ns), done_ns);
    end(&run);
}

static void a_capture_begins_when_the_marker_is_put(void **state)
{
    struct run run = {.scenario = "plain", .environment = {WANTED, "FAKE_CUDA_SLOW=cuCtxRecordEvent,60"}};
    (void)state;
    const struct wsdbg_marker_row *row = start_rested(&run);
    order(&run, "l");
    await_inside(row);
    order(&run, "be");
    run_wait_line(&run, "done 3");
    assert_non_null(strstr(run.output, "cuStreamBeginCapture_v2 0\n"));
    assert_non_null(strstr(run.output, "cuStreamEndCapture 0\n"));
    end(&run);
}

/* Nothing was put before it: what was launched beside it waits until it has ended. */
static void a_capture_sees_no_marker_of_what_is_launched_beside_it(void **state)
{
    struct run run = {.scenario = "plain", .environment = {WANTED}};
    (void)state;
    const struct wsdbg_marker_row *row = start_rested(&run);
    order(&run, "l"); /* loads the module, too, which must not be in a capture */
    for (int i = 0; i < 1000 && load(&row->done_launches) < 5; i++)
        usleep(10000);
    assert_int_equal(load(&row->done_launches), 5);
    order(&run, "bl");
    await(&row->kept_out_ns, false);
    order(&run, "e");
    run_wait_line(&run, "done 4");
    assert_non_null(strstr(run.output, "cuStreamEndCapture 0\n"));
    end(&run);
}

/* Whether none is put between the ends of two launches that take 0.4 s each. */
static bool is_quiet_beside_a_launch(void)
{
    char path[64], setting[96];
    snprintf(path, sizeof path, "/tmp/wsdbg-markers-log-%d", (int)getpid());
    snprintf(setting, sizeof setting, "FAKE_CUDA_LOG=%s", path);
    struct run run = {.scenario = "plain", .environment = {WANTED, "FAKE_CUDA_SLOW=cuLaunchKernel,400", setting}};
    start_rested(&run);
    order(&run, "ll");
    run_wait_line(&run, "done 2");
    const char *calls = only_calls_of(file_text(path), "cuLaunchKernel\ncuCtxRecordEvent\n", true);
    end(&run);
    unlink(path);
    return strstr(calls, "cuLaunchKernel 0\ncuLaunchKernel 0\n") != NULL;
}

/* It would wait for the lock that the launch has.  In the two milliseconds before a launch counts as one that blocks
 * one may be put. */
static void no_marker_is_put_while_a_launch_blocks(void **state)
{
    (void)state;
    assert_true(is_quiet_beside_a_launch() || is_quiet_beside_a_launch() || is_quiet_beside_a_launch());
}

/* The fake driver ends a program that uses a context after its end. */
static void a_context_ends_when_its_marker_was_asked_for(void **state)
{
    struct run run = {.scenario = "plain", .environment = {WANTED, "FAKE_CUDA_SLOW=cuEventQuery,120"}};
    (void)state;
    const struct wsdbg_marker_row *row = start_rested(&run) + 1;
    order(&run, "nw");
    await(&row->recorded_ns, false);
    await_inside(row);
    order(&run, "d");
    run_wait_line(&run, "cuCtxDestroy_v2 0");
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_stays_in_flight_behind_a_kernel_that_hangs),
        cmocka_unit_test(a_marker_behind_work_that_is_done_is_gone),
        cmocka_unit_test(without_the_word_no_event_is_made),
        cmocka_unit_test(without_launches_no_event_is_made),
        cmocka_unit_test(a_capture_in_progress_sees_no_new_marker),
        cmocka_unit_test(what_is_in_flight_is_followed_through_a_capture),
        cmocka_unit_test(a_launch_beside_a_capture_that_never_ends_is_hidden),
        cmocka_unit_test(what_is_captured_alone_hides_nothing),
        cmocka_unit_test(what_the_driver_cannot_do_is_noted_once),
        cmocka_unit_test(a_marker_call_that_hangs_holds_nobody_up),
        cmocka_unit_test(contexts_that_come_and_go_take_their_markers_along),
        cmocka_unit_test(a_marker_that_the_driver_keeps_does_not_hide_that_another_one_has_passed),
        cmocka_unit_test(a_fault_is_seen_although_the_program_does_not_ask),
        cmocka_unit_test(without_new_launches_no_new_marker_is_put),
        cmocka_unit_test(a_capture_begins_when_the_marker_is_put),
        cmocka_unit_test(no_marker_is_put_while_a_launch_blocks),
        cmocka_unit_test(a_capture_sees_no_marker_of_what_is_launched_beside_it),
        cmocka_unit_test(a_context_ends_when_its_marker_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
