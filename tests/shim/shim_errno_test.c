/* shim_errno_test.c - a program finds errno as the driver left it, whatever the observer's own calls of the driver
 * leave there; on the fake libcuda. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

static void assert_errno_stays(const char *scenario, const char *setting)
{
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = scenario,
                      .environment = {"FAKE_CUDA_ERRNO=1", "APP_ERRNO=1", setting}};
    run_program(&run);
    const char *changed = strstr(run.output, "\nerrno ");
    changed = changed && strncmp(changed, "\nerrno 0\n", 9) == 0 ? strstr(changed + 1, "\nerrno ") : changed;
    if (changed)
        fail_msg("%s: %.60s", scenario, changed + 1);
    segment_remove(run.pid);
}

static void no_call_of_the_programs_changes_errno(void **state)
{
    static const char *const scenarios[] = {"basic",       "plain",         "capture",          "contexts",
                                            "library",     "fault",         "memory",           "mappings",
                                            "stream-work", "refusals",      "library-refusals", "question-refusals",
                                            "history",     "graph-kernels", "graph-refusals"};
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        assert_errno_stays(scenarios[i], NULL);
}

static void nor_does_one_that_waits_for_an_inspector(void **state)
{
    (void)state;
    assert_errno_stays("plain", "WSDBG_ATTACH_FIRST=20");
}

/* The folder of the session may be gone, and images with it. */
static void nor_does_one_that_finds_no_place_for_an_image(void **state)
{
    (void)state;
    assert_errno_stays("basic", "WSDBG_SPOOL=/proc");
    assert_errno_stays("library", "WSDBG_SPOOL=/proc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_of_the_programs_changes_errno),
        cmocka_unit_test(nor_does_one_that_waits_for_an_inspector),
        cmocka_unit_test(nor_does_one_that_finds_no_place_for_an_image),
    };
    return cmocka_run_group_tests_name("shim_errno", tests, NULL, free_texts);
}
