/* lookup_test.c - whose function a program gets that looks one up, on the fake libcuda. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct run look_up(const char *kind, const char *setting)
{
    return (struct run){.program = SHIM_APP_LOOKUP, .mode = kind, .scenario = "-", .environment = {setting}};
}

static void assert_says(struct run *run, const char *words)
{
    run_program(run);
    assert_exit(run, 0);
    assert_string_equal(run->output, words);
}

/* Also where the driver lacks what the observer looks for at that moment. */
static void a_look_up_that_went_well_leaves_no_error(void **state)
{
    static const char *const drivers[] = {NULL, "DRIVER=" SHIM_EARLY_CUDA};
    (void)state;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        struct run run = look_up("errors", drivers[i]);
        assert_says(&run, "first: none\nsecond: none\n");
        assert_int_equal(strstr(run.errors, "this libcuda lacks functions that wsdbg needs") != NULL, i == 1);
    }
}

/* What cuGetProcAddress gives for addresses that the driver does not export; 1 = CU_GET_PROC_ADDRESS_LEGACY_STREAM,
 * 2 = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM. */
static const struct {
    const char *question, *watched;
} addresses[] = {
    {"cuLaunchKernel 13000 0", "cuLaunchKernel"},
    {"cuLaunchKernel 13000 1", "cuLaunchKernel"},
    {"cuLaunchKernel 13000 2", "cuLaunchKernel_ptsz"},
    {"cuLaunchKernel 13090 2", "cuLaunchKernel_ptsz"},
    {"cuLaunchKernel 14000 0", "the driver's"}, /* of a CUDA that nobody knows yet */
    {"cuLaunchKernel 14000 2", "the driver's"},
    {"cuCtxSynchronize 13000 0", "the driver's"}, /* there are two versions of it, and this may be either */
};

static void ask_all(struct run *run)
{
    char said[1024] = "", line[128];
    run_start(run);
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        const bool watched = !run->asleep;
        snprintf(line, sizeof line, "%s\n", addresses[i].question);
        assert_int_equal(write(run->in, line, strlen(line)), (ssize_t)strlen(line));
        snprintf(line, sizeof line, "%s: %s\n", addresses[i].question, watched ? addresses[i].watched : "the driver's");
        strcat(said, line);
    }
    run_finish(run);
    assert_exit(run, 0);
    assert_string_equal(run->output, said);
}

static void an_address_is_replaced_where_name_version_and_flags_say_what_it_is(void **state)
{
    (void)state;
    struct run run = look_up("addresses", "FAKE_CUDA_THUNKS=1");
    ask_all(&run);
}

static void without_a_session_every_address_is_the_drivers(void **state)
{
    (void)state;
    for (int thunks = 0; thunks < 2; thunks++) {
        struct run run = look_up("addresses", thunks ? "FAKE_CUDA_THUNKS=1" : NULL);
        run.asleep = true;
        ask_all(&run);
    }
}

static void a_function_of_that_name_in_another_library_stays_its_own(void **state)
{
    (void)state;
    struct run run = look_up("other-library", "OTHER_LIBRARY=" SHIM_NEXT_INTERPOSER);
    assert_says(&run, "its own\n");
}

static void where_there_is_no_driver_its_names_are_not_there(void **state)
{
    (void)state;
    struct run run = look_up("no-driver", NULL);
    assert_says(&run, "not there\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_look_up_that_went_well_leaves_no_error),
        cmocka_unit_test(an_address_is_replaced_where_name_version_and_flags_say_what_it_is),
        cmocka_unit_test(without_a_session_every_address_is_the_drivers),
        cmocka_unit_test(a_function_of_that_name_in_another_library_stays_its_own),
        cmocka_unit_test(where_there_is_no_driver_its_names_are_not_there),
    };
    return cmocka_run_group_tests_name("shim_lookup", tests, NULL, free_texts);
}
