/* sanitizers_test.c - programs that are built with a sanitizer: they do under the shim what they do without, are
 * recorded, and their sanitizer finds what it finds without, and nothing of the shim. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { LAUNCHES = 4 * 5 * (20 + 2) }; /* of app_sanitized.c, two of them refused */

/* One for each compiler and sanitizer that there is here. */
static const char *const programs[] = {SANITIZED_PROGRAMS NULL};

/* The line in which a sanitizer says what it has found, without addresses; "" = it has found nothing. */
static const char *summary_of(const char *errors)
{
    static char line[256];
    const char *at = strstr(errors, "SUMMARY: ");
    snprintf(line, sizeof line, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
    return line;
}

static void assert_same_as_without(const char *program, const char *defect)
{
    struct run plain = {.program = program, .mode = "dlsym", .scenario = defect, .without_shim = true};
    struct run run = {.program = program, .mode = "dlsym", .scenario = defect};
    char expected[256];
    run_program(&plain);
    run_program(&run);
    /* LeakSanitizer takes whatever lies on a stack for a pointer, so it misses a leak now and then. */
    for (int again = 0; again < 2 && run.status != plain.status && strcmp(defect, "leak") == 0; again++) {
        segment_remove(run.pid);
        run = (struct run){.program = program, .mode = "dlsym", .scenario = defect};
        run_program(&run);
    }
    if (run.status != plain.status)
        fail_msg("%s %s: status %#x, without the shim %#x: %s", program, defect, run.status, plain.status, run.errors);
    assert_string_equal(run.output, plain.output);
    snprintf(expected, sizeof expected, "%s", summary_of(plain.errors));
    assert_string_equal(summary_of(run.errors), expected);
    assert_int_equal(run.errors[0] == '\0', plain.errors[0] == '\0');
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_non_null(segment);
    assert_int_equal(segment->launch_count, LAUNCHES);
    segment_remove(run.pid);
}

static void a_sound_program_is_recorded_and_ends_as_without(void **state)
{
    (void)state;
    for (int i = 0; programs[i]; i++)
        assert_same_as_without(programs[i], "none");
}

static void defects_are_found_as_without(void **state)
{
    static const char *const defects[] = {"use-after-free", "race", "unknown-value", "leak"};
    (void)state;
    for (int i = 0; programs[i]; i++)
        for (size_t k = 0; k < sizeof defects / sizeof *defects; k++)
            assert_same_as_without(programs[i], defects[k]);
}

/* The shell has none, and must get none. */
static void a_program_that_a_shell_starts_is_no_different(void **state)
{
    (void)state;
    for (int i = 0; programs[i]; i++) {
        char script[512];
        snprintf(script, sizeof script, "%s dlsym none; echo $?; grep -c 'lib[ct].*san' /proc/$$/maps", programs[i]);
        struct run run = {.program = "/bin/sh", .mode = "-c", .scenario = script};
        run_program(&run);
        assert_string_equal(run.errors, "");
        if (!strstr(run.output, "end 0\n7\n0\n"))
            fail_msg("%s: %s", programs[i], run.output);
    }
}

static void there_are_such_programs(void **state)
{
    (void)state;
    if (!programs[0])
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_such_programs),
        cmocka_unit_test(a_sound_program_is_recorded_and_ends_as_without),
        cmocka_unit_test(defects_are_found_as_without),
        cmocka_unit_test(a_program_that_a_shell_starts_is_no_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
