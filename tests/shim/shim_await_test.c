/* shim_await_test.c - the first launch of a program that waits a moment for an inspector that stays, on the fake
 * libcuda.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define WANTED "WSDBG_ATTACH_FIRST=1500"
#define WANTED_CHEAP "WSDBG_ATTACH_FIRST=1500,cheap"
/* What a launch takes at most that waits for nobody, on a machine that has more to do. */
#define AT_ONCE_NS (1000 * MS)
#define LONGEST_NS (1500 * MS)

static const struct wsdbg_segment *run_scenario(struct run *run, const char *scenario, const char *setting)
{
    *run = (struct run){.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenario, .environment = {setting}};
    run_program(run);
    assert_exit(run, 0);
    assert_string_equal(run->errors, "");
    const struct wsdbg_segment *segment = segment_of(run->pid);
    assert_non_null(segment);
    return segment;
}

/* Each launch is noted when it has waited. */
static uint64_t first_launch_ns(const struct wsdbg_segment *segment)
{
    return launch_at(segment, 0).time_ns - segment->created_ns;
}

static void the_first_launch_waits_a_moment_and_goes_on_when_nobody_comes(void **state)
{
    (void)state;
    struct run run;
    const struct wsdbg_segment *segment = run_scenario(&run, "basic", WANTED);
    assert_true(first_launch_ns(segment) >= LONGEST_NS);
    assert_true(first_launch_ns(segment) < LONGEST_NS + AT_ONCE_NS);
    assert_true(segment->attach.waited_ns >= LONGEST_NS);
    assert_true(segment->attach.waited_ns < LONGEST_NS + AT_ONCE_NS);
    /* No other one does. */
    assert_int_equal(segment->launch_count, 4);
    assert_true(launch_at(segment, 3).time_ns - launch_at(segment, 0).time_ns < AT_ONCE_NS);
    assert_int_equal(launch_at(segment, 0).result, 0);
    segment_remove(run.pid);
}

/* Eight threads come to it at once and launch 40000 times: they wait together. */
static void all_who_come_to_it_wait_until_the_same_moment(void **state)
{
    (void)state;
    struct run run;
    const struct wsdbg_segment *segment = run_scenario(&run, "threads", WANTED);
    assert_int_equal(segment->launch_count, 40000);
    assert_true(segment->attach.waited_ns > LONGEST_NS);
    assert_true(segment->attach.waited_ns < 8 * (LONGEST_NS + AT_ONCE_NS));
    for (size_t i = 0; i < WSDBG_LAUNCH_ROWS; i++)
        assert_true(segment->launches[i].time_ns - segment->created_ns >= LONGEST_NS);
    segment_remove(run.pid);
}

static void without_the_word_no_launch_waits(void **state)
{
    static const char *const settings[] = {NULL, "WSDBG_ATTACH_FIRST=0", "WSDBG_ATTACH_FIRST=yes"};
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct run run;
        const struct wsdbg_segment *segment = run_scenario(&run, "basic", settings[i]);
        assert_true(first_launch_ns(segment) < AT_ONCE_NS);
        assert_int_equal(segment->attach.waited_ns, 0);
        segment_remove(run.pid);
    }
}

static void who_waits_without_probes_only_does_not_wait_with_them(void **state)
{
    static const struct {
        const char *scenario;
        bool waits;
    } rows[] = {{"basic", false} /* probed */, {"plain", true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run run;
        const struct wsdbg_segment *segment = run_scenario(&run, rows[i].scenario, WANTED_CHEAP);
        assert_int_equal(segment->modules[0].probed, !rows[i].waits);
        assert_int_equal(segment->attach.waited_ns >= LONGEST_NS, rows[i].waits);
        segment_remove(run.pid);
    }
}

/* A program may have to end its capture in time, and nothing of it runs before that. */
static void a_launch_into_a_capture_does_not_wait(void **state)
{
    (void)state;
    struct run run;
    const struct wsdbg_segment *segment = run_scenario(&run, "capture", WANTED);
    assert_true(launch_at(segment, 0).flags & WSDBG_LAUNCH_CAPTURED);
    assert_true(launch_at(segment, 1).flags & WSDBG_LAUNCH_CAPTURED);
    assert_true(launch_at(segment, 1).time_ns - segment->created_ns < AT_ONCE_NS);
    assert_true(launch_at(segment, 2).flags & WSDBG_LAUNCH_GRAPH); /* what runs first waits */
    assert_true(launch_at(segment, 2).time_ns - launch_at(segment, 1).time_ns >= LONGEST_NS);
    segment_remove(run.pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_launch_waits_a_moment_and_goes_on_when_nobody_comes),
        cmocka_unit_test(all_who_come_to_it_wait_until_the_same_moment),
        cmocka_unit_test(without_the_word_no_launch_waits),
        cmocka_unit_test(who_waits_without_probes_only_does_not_wait_with_them),
        cmocka_unit_test(a_launch_into_a_capture_does_not_wait),
    };
    return cmocka_run_group_tests_name("shim_await", tests, NULL, free_texts);
}
