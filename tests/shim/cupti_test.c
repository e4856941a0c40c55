/* cupti_test.c - the CUPTI observer's start, its fall-back to the driver observer, and its activity rows. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "fake_cuda/fake_cuda.h"

static struct run cupti_run(const char *library, const char *setting)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "basic"};
    run.environment[0] = "WSDBG_OBSERVER=cupti";
    run.environment[1] = library;
    run.environment[2] = setting;
    run_program(&run);
    assert_int_equal(run.status, 0);
    return run;
}

static void assert_fell_back(const struct run *run, const char *reason)
{
    const struct wsdbg_segment *segment = segment_of(run->pid);
    assert_non_null(segment);
    assert_int_equal(segment->observer_kind, WSDBG_OBSERVER_DRIVER);
    assert_int_equal(segment->observer_state, WSDBG_OBSERVER_ACTIVE);
    if (!strstr(segment->off_reason, reason))
        fail_msg("off_reason is: %s", segment->off_reason);
    assert_non_null(strstr(run->errors, reason));
    assert_non_null(strstr(run->errors, "using the driver observer"));
    assert_int_equal(segment->launch_count, 4);
    assert_int_equal(segment->contexts[0].slot_count, FAKE_SM_COUNT * FAKE_WARPS_PER_SM);
    segment_remove(run->pid);
}

static void without_cupti_the_driver_observer_works(void **state)
{
    struct run run = cupti_run("WSDBG_CUPTI=/nonexistent/libcupti.so", NULL);
    (void)state;
    assert_fell_back(&run, "libcupti cannot be loaded (/nonexistent/libcupti.so: cannot open shared object file");
}

static void another_subscriber_is_named(void **state)
{
    struct run run = cupti_run("WSDBG_CUPTI=" FAKE_CUPTI, "FAKE_CUPTI_HOLDER=CUPTI for some-profiler");
    (void)state;
    assert_fell_back(&run, "another CUPTI user holds this process: CUPTI for some-profiler");
}

static void a_subscriber_without_a_name_is_not_guessed_at(void **state)
{
    struct run run = cupti_run("WSDBG_CUPTI=" FAKE_CUPTI, "FAKE_CUPTI_HOLDER=CUPTI for <not provided>");
    (void)state;
    assert_fell_back(&run, "another CUPTI user holds this process: it does not say its name");
}

static void another_major_version_is_refused(void **state)
{
    struct run run = cupti_run("WSDBG_CUPTI=" FAKE_CUPTI, "FAKE_CUPTI_VERSION=24");
    (void)state;
    assert_fell_back(&run, "libcupti is version 24, wsdbg was built for 13");
}

static void activity_is_recorded_and_launches_are_not_counted_twice(void **state)
{
    struct run run = cupti_run("WSDBG_CUPTI=" FAKE_CUPTI, NULL);
    (void)state;
    assert_string_equal(run.errors, "");
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_int_equal(segment->observer_kind, WSDBG_OBSERVER_CUPTI);
    assert_int_equal(segment->launch_count, 0); /* the fake CUPTI reports none, the hooks must not */
    assert_int_equal(segment->activity_count, 1);
    const struct wsdbg_activity_row *row = &segment->activities[0];
    assert_int_equal(row->sequence, 1);
    assert_int_equal(row->kind, WSDBG_ACTIVITY_KERNEL);
    assert_int_equal(row->end_ns - row->start_ns, 1000);
    assert_string_equal(row->name, "probed");
    assert_int_equal(row->correlation, 77);
    assert_int_equal(row->function, 0);
    assert_string_equal(segment->functions[0].name, "probed");
    segment_remove(run.pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_cupti_the_driver_observer_works),
        cmocka_unit_test(another_subscriber_is_named),
        cmocka_unit_test(a_subscriber_without_a_name_is_not_guessed_at),
        cmocka_unit_test(another_major_version_is_refused),
        cmocka_unit_test(activity_is_recorded_and_launches_are_not_counted_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
