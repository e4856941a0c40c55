/* mapped_test.c - `wsdbg run --ring mapped`: the program runs on the fake libcuda, whose kernels write into the
 * segment, or plays one itself (fake_hang.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/harness.h"

#define RUN(...) WSDBG("run", "-o", "x.db", "--stall", "0.3", "--ring", "mapped", __VA_ARGS__)

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in: %s", part, text);
}

static void assert_query(const char *query, const char *answer)
{
    struct outcome run = WSDBG("query", "x.db", "--csv", query);
    assert_says(run.out, answer);
    outcome_free(&run);
}

/* A thread that copies would stand still with it. */
static void a_hang_is_found_while_the_program_is_stopped(void **state)
{
    (void)state;
    struct outcome run = RUN(FAKE_HANG, "mapped");
    assert_int_equal(run.status, 124);
    assert_says(run.err, "HANG: WAKER_EXITED (proven)");
    assert_says(run.err, "evidence ring, mapped, stall after 0.3 s");
    assert_query("SELECT count(*) > 2 FROM event", "\n1");
    assert_query("SELECT ring FROM context", "mapped");
    outcome_free(&run);
    struct outcome report = WSDBG("report", "x.db", "--json");
    assert_says(report.out, "\"ring\": \"mapped\"");
    outcome_free(&report);
}

/* What led to the fault lies in the segment: wsdbg needs no GPU to read it. */
static void a_fault_is_explained_without_the_gpu(void **state)
{
    static const char *const scenarios[] = {"overrun", "fault-and-die"};
    (void)state;
    setenv("FAKE_CUDA_CRASH", "cuMemImportFromShareableHandle", 1);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        struct outcome run = RUN(SHIM_APP, "proc", scenarios[i]);
        assert_says(run.err, "FAULT: TX_SHARED_BARRIER (likely)");
        assert_says(run.err, "the state shown is what its\nmemory held at the end\n");
        assert_query("SELECT count(*) FROM timeline WHERE event = 'mbarrier arrive.expect_tx' AND value = 1024", "2");
        outcome_free(&run);
        remove("x.db");
    }
    unsetenv("FAKE_CUDA_CRASH");
}

static void where_nothing_can_be_mapped_the_default_serves(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_MAPS_NOTHING", "1", 1);
    struct outcome run = RUN(SHIM_APP, "proc", "overrun");
    unsetenv("FAKE_CUDA_MAPS_NOTHING");
    assert_says(run.err, "FAULT: TX_SHARED_BARRIER (likely)");
    assert_query("SELECT ring FROM context", "device");
    assert_query("SELECT DISTINCT text FROM note",
                 "the ring lies in the GPU's memory, not mapped: the driver cannot map");
    outcome_free(&run);
}

static void another_word_is_one_clear_error(void **state)
{
    (void)state;
    const char *const commands[] = {"run", "arm"};
    for (size_t i = 0; i < 2; i++) {
        struct outcome run = WSDBG(commands[i], "--ring", "foo", "true");
        assert_int_equal(run.status, 125);
        assert_says(run.err, "--ring");
        assert_says(run.err, "foo");
        assert_int_equal(count_lines(run.err), 1);
        outcome_free(&run);
    }
}

static void the_program_is_told(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "-q", "--ring", "mapped", "env");
    assert_says(run.out, "WSDBG_RING=mapped\n");
    outcome_free(&run);
    run = WSDBG("arm", "--ring", "mapped", "--env", "--format", "plain");
    assert_says(run.out, "WSDBG_RING=mapped\n");
    outcome_free(&run);
}

int main(void)
{
    setenv("LD_LIBRARY_PATH", FAKE_CUDA_FOLDER, 1);
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_hang_is_found_while_the_program_is_stopped),
        TEST(a_fault_is_explained_without_the_gpu),
        TEST(where_nothing_can_be_mapped_the_default_serves),
        TEST(another_word_is_one_clear_error),
        TEST(the_program_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
