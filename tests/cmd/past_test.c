/* past_test.c - programs that the observer cannot watch, or must not: they come to no harm, and wsdbg says that they
 * were not watched.  On the simulator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/harness.h"

static const char past[] =
    "no call of it has passed the observer: was it still starting the driver, or does dlmopen() or RTLD_DEEPBIND lead "
    "past the observer?\n";
static const char without[] = "the observer is not in it: was LD_PRELOAD taken from its environment?\n";
static const char limited[] =
    "was not watched: the program limits its own system calls (seccomp): not observing it from";
static const char left_alone[] = "but limits its own system calls (seccomp), and so is left alone\n";
static const char one_launch[] = "wsdbg: 1 kernel launch seen, no hang";
static const char unused[] = "wsdbg: no use of CUDA was seen";
static const char no_other[] = "wsdbg: no other use of CUDA was seen";

/* Whatever it does, and however long: without wsdbg it ends with 7 too. */
static void assert_said(const char *how, const char *seconds, const char *reason, const char *seen)
{
    struct outcome run = WSDBG("run", "--device", "sim", PAST_APP, how, seconds);
    if (run.status == 77)
        print_message("%s: cannot be had here\n", how);
    else if (run.status != 7 || strcmp(run.out, "result 0\n") != 0)
        fail_msg("%s: status %d, %s%s", how, run.status, run.out, run.err);
    else if (!strstr(run.err, seen) || (reason ? !strstr(run.err, reason) : strstr(run.err, "not watched") != NULL))
        fail_msg("%s: %s", how, run.err);
    outcome_free(&run);
}

static void what_passes_the_observer_is_watched(void **state)
{
    (void)state;
    assert_said("plain", "0", NULL, one_launch);
}

static void calls_that_go_past_the_observer_are_not_taken_for_none(void **state)
{
    (void)state;
    assert_said("namespace", "0.7", past, no_other);
    assert_said("deep", "0.7", past, no_other);
}

/* As a program whose driver takes long to start, and that ends soon after. */
static void what_is_seen_at_last_was_watched(void **state)
{
    (void)state;
    assert_said("late", "0.7", NULL, one_launch);
}

static void a_program_without_the_observer_is_named(void **state)
{
    (void)state;
    assert_said("bare", "0.7", without, no_other);
}

static void a_filter_before_the_first_use_is_respected(void **state)
{
    (void)state;
    assert_said("limited-before", "0", limited, no_other);
    assert_said("limited-before-all", "0", limited, no_other);
}

static void a_filter_between_two_uses_is_respected(void **state)
{
    (void)state;
    assert_said("limited-after", "0", limited, one_launch);
    assert_said("limited-after-all", "0", limited, one_launch);
}

static void a_filter_that_the_observer_did_not_see_made_is_found_at_the_first_use(void **state)
{
    (void)state;
    assert_said("limited-before-raw", "0.7", left_alone, no_other);
}

static void a_filter_without_cuda_is_nothing_to_say(void **state)
{
    (void)state;
    assert_said("limited-unused", "0", NULL, unused);
}

static void to_ask_whether_there_could_be_a_filter_is_none(void **state)
{
    (void)state;
    assert_said("asked", "0", NULL, one_launch);
}

static void processes_whose_numbers_are_others_are_not_watched(void **state)
{
    (void)state;
    assert_said("numbered", "0", "it runs in a PID namespace of its own; start wsdbg inside of that\n", no_other);
}

static void processes_of_another_user_are_not_watched(void **state)
{
    (void)state;
    assert_said("other-user", "0.7", "it uses the GPU as another user than wsdbg: start wsdbg as that user\n",
                no_other);
}

static void require_watch_makes_it_an_error(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--require-watch", "--device", "sim", PAST_APP, "deep", "0.7");
    assert_int_equal(run.status, 125);
    assert_non_null(strstr(run.err, "--require-watch: not all of the program was watched, which itself exited with 7"));
    outcome_free(&run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_passes_the_observer_is_watched),
        TEST(calls_that_go_past_the_observer_are_not_taken_for_none),
        TEST(what_is_seen_at_last_was_watched),
        TEST(a_program_without_the_observer_is_named),
        TEST(a_filter_before_the_first_use_is_respected),
        TEST(a_filter_between_two_uses_is_respected),
        TEST(a_filter_that_the_observer_did_not_see_made_is_found_at_the_first_use),
        TEST(a_filter_without_cuda_is_nothing_to_say),
        TEST(to_ask_whether_there_could_be_a_filter_is_none),
        TEST(processes_whose_numbers_are_others_are_not_watched),
        TEST(processes_of_another_user_are_not_watched),
        TEST(require_watch_makes_it_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
