/* refusals_test.c - a program whose calls are refused, on the simulator: it sees what it sees without wsdbg, and each
 * refusal is explained once: a launch when it happens, a question where the program ends badly. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "cmd/harness.h"
#include "store/json_schema.h"

static void the_program_gets_its_own_errors(void **state)
{
    (void)state;
    assert_int_not_equal(system("LD_LIBRARY_PATH=" SIMULATOR " " REFUSALS " >plain.txt 2>/dev/null"), -1);
    char *plain = read_file("plain.txt");
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "run.db", REFUSALS);
    assert_int_equal(run.status, 3);
    assert_string_equal(run.out, plain);
    assert_non_null(strstr(plain, "registers_384: 701 CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\n"));
    assert_non_null(strstr(plain, "succeeds: 0 CUDA_SUCCESS\n"));
    free(plain);
    outcome_free(&run);
}

/* Where the simulator refuses a step, the words name its reason. */
static void each_refusal_is_explained(void **state)
{
    static const struct {
        const char *step, *words;
    } cases[] = {
        {"registers_384",
         "refused: LAUNCH_TOO_MANY_REGS: wide, grid 1x1x1, block 384x1x1: 208 registers × 384 threads = "
         "79,872 > 65,536; largest that launches: 168 (cuLaunchKernel: error 701, "
         "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)\n"},
        {"registers_352", "208 registers × 352 → 384 threads = 79,872 > 65,536"},
        {"shared_not_opted_in",
         "refused: LAUNCH_SHARED_MEMORY: small, grid 1x1x1, block 128x1x1, 65536 B dynamic shared: "
         "65,536 bytes of dynamic shared memory > 49,152"},
        {"shared_beyond_device", "0 static + 233,472 dynamic = 233,472 bytes of shared memory > 232,448"},
        {"shared_attribute", "kept_shared: MAX_DYNAMIC_SHARED_SIZE_BYTES 232,448 + 32,768 static = 265,216 bytes"},
        {"cluster_16_not_allowed",
         "refused: LAUNCH_CLUSTER: small, grid 16x1x1, block 128x1x1, cluster 16x1x1: a cluster "
         "of 16 CTAs: more than 8 are not portable"},
        {"cluster_32", "a cluster of 32 x 1 x 1 = 32 CTAs: at least 1 and at most 16"},
        {"cluster_not_whole", "a grid of 9 x 1 x 1 CTAs is not a whole number of clusters of 4 x 1 x 1"},
        {"cluster_other_than_compiled", "a cluster of 4 x 1 x 1 CTAs: the kernel was compiled for 2 x 1 x 1"},
        {"cluster_not_whole_as_compiled", "a grid of 3 x 1 x 1 CTAs is not a whole number of clusters of 2 x 1 x 1"},
        {"block_2048",
         "refused: LAUNCH_BLOCK: small, grid 1x1x1, block 2048x1x1: a CTA of 2048 x 1 x 1 = 2,048 threads"},
        {"block_beyond_maxntid",
         "bounded, grid 1x1x1, block 256x1x1: a CTA of 256 threads: the kernel was compiled for at "
         "most 128"},
        {"block_not_reqntid", "refused: LAUNCH_REFUSED: exact"},
        {"grid_y_65536", "refused: LAUNCH_GRID: small"},
        {"cooperative_too_large",
         "refused: LAUNCH_NOT_COOPERATIVE: small, grid 100000x1x1, block 1024x1x1, cooperative: a "
         "cooperative grid of 100,000 CTAs > 2 a multiprocessor × 132 = 264"},
        {"ptx_newer_than_driver", "refused: LAUNCH_NO_IMAGE: a module: the PTX is of version 99.0"},
        {"ptx_of_newer_device", "the module holds PTX for sm_100a, none of which runs on this device, sm_90 "
                                "(cuModuleLoadData: error 218, CUDA_ERROR_INVALID_PTX)"},
        {"launch_of_other_device", "the module holds PTX for sm_100a, none of which runs on this device, sm_90 "
                                   "(cuLibraryLoadData: error 209, CUDA_ERROR_NO_BINARY_FOR_GPU)"},
        {"fatbin_of_other_device", "the module holds PTX for sm_100a, none of which runs on this device, sm_90 "
                                   "(cuModuleLoadData: error 209, CUDA_ERROR_NO_BINARY_FOR_GPU)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome run =
            WSDBG("run", "--device", "sim", "-o", cases[i].step, REFUSALS, cases[i].step, cases[i].step);
        const char *first = strstr(run.err, "wsdbg: refused: ");
        if (!strstr(run.err, cases[i].words))
            fail_msg("%s: '%s' is not in: %s", cases[i].step, cases[i].words, run.err);
        assert_null(strstr(first + 1, "wsdbg: refused: "));
        outcome_free(&run);
    }
}

/* The same from the database, where the count of all of them is. */
static void the_session_keeps_them(void **state)
{
    (void)state;
    struct outcome run =
        WSDBG("run", "--device", "sim", "--json", "-o", "kept.db", REFUSALS, "registers_384", "grid_0");
    json_t *report = json_loads(strchr(run.out, '{'), 0, NULL);
    json_t *schema = schema_load("report.schema.json");
    schema_check(schema, report, "report");
    json_decref(schema);
    const json_t *refusals = json_object_get(report, "refusals");
    assert_int_equal(json_array_size(refusals), 2);
    const json_t *first = json_array_get(refusals, 0);
    assert_string_equal(json_string_value(json_object_get(first, "cause")), "LAUNCH_TOO_MANY_REGS");
    assert_string_equal(json_string_value(json_object_get(first, "kernel")), "wide");
    assert_int_equal(json_integer_value(json_object_get(first, "result")), 701);
    assert_int_equal(json_integer_value(json_object_get(first, "times")), 1);
    json_decref(report);
    outcome_free(&run);
    struct outcome query = WSDBG("query", "kept.db", "--csv", "SELECT cause, times, call FROM refusal ORDER BY id");
    assert_string_equal(query.out, "cause,times,call\r\nLAUNCH_TOO_MANY_REGS,1,cuLaunchKernel\r\n"
                                   "LAUNCH_GRID,1,cuLaunchKernel\r\n");
    outcome_free(&query);
    struct outcome text = WSDBG("report", "kept.db");
    assert_non_null(
        strstr(text.out, "\nREFUSED: LAUNCH_TOO_MANY_REGS\n  wide, grid 1x1x1, block 384x1x1: 208 registers"));
    outcome_free(&text);
}

/* A program that only asked: nothing is said of it, and all is kept. */
static void a_refused_question_is_silent_where_the_program_ends_well(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "asked.db", REFUSALS, "--well", "shared_attribute",
                               "fatbin_of_other_device", "ptx_newer_than_driver");
    assert_int_equal(run.status, 0);
    assert_null(strstr(run.err, "refused: "));
    assert_null(strstr(run.err, "Fix: "));
    outcome_free(&run);
    struct outcome query = WSDBG("query", "asked.db", "--csv", "SELECT cause, call, result FROM refusal ORDER BY id");
    assert_string_equal(query.out, "cause,call,result\r\nLAUNCH_SHARED_MEMORY,cuFuncSetAttribute,1\r\n"
                                   "LAUNCH_NO_IMAGE,cuModuleLoadData,222\r\n"
                                   "LAUNCH_NO_IMAGE,cuModuleLoadData,209\r\n");
    outcome_free(&query);
    struct outcome text = WSDBG("report", "asked.db");
    assert_null(strstr(text.out, "REFUSED"));
    assert_non_null(
        strstr(text.out, "\nAsked:   3 refused look-ups or settings, no refused launch for it (@refused)\n"));
    outcome_free(&text);
    struct outcome json = WSDBG("report", "--json", "asked.db");
    json_t *report = json_loads(json.out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(report, "refusals")), 3);
    json_decref(report);
    outcome_free(&json);
}

/* Once, behind what was said while it ran. */
static void refused_questions_are_said_at_a_bad_end(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "bad.db", REFUSALS, "registers_384",
                               "fatbin_of_other_device", "launch_of_other_device");
    const char *launch = strstr(run.err, "refused: LAUNCH_TOO_MANY_REGS");
    const char *question = strstr(run.err, "refused: LAUNCH_NO_IMAGE: a module: the module holds PTX for sm_100a, none "
                                           "of which runs on this device, sm_90 (cuModuleLoadData: error 209, "
                                           "CUDA_ERROR_NO_BINARY_FOR_GPU; 2 such calls, 2 different)\n");
    assert_int_equal(run.status, 3);
    assert_true(launch && question && launch < question);
    assert_null(strstr(question + 1, "refused: "));
    outcome_free(&run);
    struct outcome text = WSDBG("report", "bad.db");
    assert_non_null(strstr(text.out, "\nREFUSED: LAUNCH_NO_IMAGE\n"));
    outcome_free(&text);
}

static void what_succeeds_is_not_spoken_of(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "run.db", REFUSALS, "succeeds");
    assert_null(strstr(run.err, "refused"));
    outcome_free(&run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_program_gets_its_own_errors),
        TEST(each_refusal_is_explained),
        TEST(the_session_keeps_them),
        TEST(a_refused_question_is_silent_where_the_program_ends_well),
        TEST(refused_questions_are_said_at_a_bad_end),
        TEST(what_succeeds_is_not_spoken_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
