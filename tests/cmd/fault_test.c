/* fault_test.c - `wsdbg run` around a program whose kernel faults at once, from the observer to the report: the
 * program runs on the fake libcuda (tests/shim), and so does wsdbg's look at the memory that the fault leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "wsdbg/session.h"

#define RUN(...) WSDBG("run", "-o", "x.db", "--record", "x.wsrec", __VA_ARGS__)
#define OVERRUN                           \
    "FAULT: TX_SHARED_BARRIER (likely)\n" \
    "  Warps 0-1 (producer) made 2 arrivals on mbarrier 0 stage 0 in iteration 0, but it is initialised for 1"
#define AT_THE_END "the state shown is what its\nmemory held at the end\n"

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in: %s", part, text);
}

/* The rows of the answer, after the line of names. */
static void assert_query(const char *database, const char *query, const char *answer)
{
    struct outcome run = WSDBG("query", database, "--csv", query);
    char *rows = strchr(run.out, '\n') + 1;
    for (char *at = rows; (at = strchr(at, '\r'));)
        memmove(at, at + 1, strlen(at));
    assert_string_equal(rows, answer);
    outcome_free(&run);
}

/* What the histories of the overrun hold and the slots do not: the arrivals. */
static void assert_histories(const char *database)
{
    assert_query(database,
                 "SELECT warp, role, value FROM timeline WHERE event = 'mbarrier arrive.expect_tx' ORDER BY warp",
                 "0,producer,1024\n1,producer,1024\n");
}

static void assert_explained(const struct outcome *run)
{
    assert_says(run->out, "cuCtxSynchronize 719\n");
    assert_says(run->err, "GPU fault: CUDA error 719");
    assert_says(run->err, AT_THE_END);
    assert_says(run->err, OVERRUN);
    assert_says(run->err, "ended by a GPU fault; session in x.db\n");
    assert_histories("x.db");
}

static void a_program_that_ends_right_after_the_fault_is_explained(void **state)
{
    (void)state;
    struct outcome run = RUN(SHIM_APP, "proc", "overrun");
    assert_int_equal(run.status, 7);
    assert_explained(&run);
    outcome_free(&run);
    assert_query("x.db", "SELECT hang, exit_status, outcome FROM session", "0,7,exited 7\n");
}

/* The looks after the verdict do not take the histories out of the session again. */
static void a_program_that_goes_on_after_the_fault_is_explained(void **state)
{
    (void)state;
    struct outcome run = RUN("sh", "-c", "sleep 0.5 | APP_WAITS=1 " SHIM_APP " proc overrun");
    assert_int_equal(run.status, 7);
    assert_explained(&run);
    outcome_free(&run);
}

static void a_program_that_is_killed_after_the_fault_is_explained(void **state)
{
    (void)state;
    struct outcome run = RUN(SHIM_APP, "proc", "fault-and-die");
    assert_int_equal(run.status, -9);
    assert_explained(&run);
    outcome_free(&run);
}

static void a_fault_in_one_of_two_contexts_is_told_from_the_other(void **state)
{
    (void)state;
    struct outcome run = RUN(SHIM_APP, "proc", "fault-beside");
    assert_int_equal(run.status, 7);
    assert_says(run.err, "ended context 1 on Fake GPU 1;");
    assert_explained(&run);
    outcome_free(&run);
    assert_query("x.db", "SELECT row, error FROM context WHERE id IN (SELECT max(id) FROM context GROUP BY row)",
                 "0,\n1,719\n");
}

/* One rank of several dies first, of something else. */
static void a_later_fault_of_another_process_is_explained(void **state)
{
    (void)state;
    struct outcome run = RUN("sh", "-c", SHIM_APP " proc fault-without-cause; sleep 0.2; " SHIM_APP " proc overrun");
    assert_int_equal(run.status, 7);
    assert_says(run.err, OVERRUN);
    outcome_free(&run);
    assert_query("x.db",
                 "SELECT count(*) FROM timeline WHERE event = 'mbarrier arrive.expect_tx' AND role = 'producer' AND "
                 "value = 1024",
                 "3\n");
}

static void the_recording_shows_the_same(void **state)
{
    (void)state;
    static const char findings[] = "SELECT cause, confidence, sentence FROM finding";
    struct outcome run = RUN(SHIM_APP, "proc", "overrun");
    struct outcome replay = WSDBG("replay", "x.wsrec", "-o", "again.db");
    assert_int_equal(replay.status, 0);
    assert_says(replay.err, OVERRUN);
    assert_says(replay.err, "the recording shows a GPU fault\n");
    assert_histories("again.db");
    struct outcome live = WSDBG("query", "x.db", "--csv", findings);
    struct outcome again = WSDBG("query", "again.db", "--csv", findings);
    assert_int_equal(count_lines(live.out), 2);
    assert_string_equal(live.out, again.out);
    outcome_free(&run);
    outcome_free(&replay);
    outcome_free(&live);
    outcome_free(&again);
}

static void a_kernel_whose_rounds_are_right_is_not_blamed(void **state)
{
    (void)state;
    struct outcome run = RUN(SHIM_APP, "proc", "fault-without-cause");
    assert_int_equal(run.status, 7);
    assert_says(run.err, "GPU fault: CUDA error 719");
    assert_null(strstr(run.err, "FAULT:"));
    outcome_free(&run);
    assert_query("x.db", "SELECT count(*) FROM finding", "0\n");
    assert_query("x.db", "SELECT warp FROM timeline WHERE event = 'mbarrier arrive.expect_tx'", "0\n");
    struct outcome report = WSDBG("report", "x.db");
    assert_says(report.out, "FAULT: no cause found\n");
    outcome_free(&report);
}

static void a_fault_without_probes_is_said(void **state)
{
    (void)state;
    write_file("gpu", "", 0);
    assert_int_equal(truncate("gpu", 1 << 20), 0);
    setenv("FAKE_DEBUG_STATE", "gpu", 1);
    setenv("FAKE_DEBUG_TAKEN", "1", 1); /* nobody is let in, as beside a profiler */
    struct outcome run = RUN(SHIM_APP, "proc", "fault");
    unsetenv("FAKE_DEBUG_TAKEN");
    unsetenv("FAKE_DEBUG_STATE");
    assert_int_equal(run.status, 0);
    const char *said = run.err;
    /* If the machine is slow, somebody comes to stay before the fault, and says why that was not possible. */
    if (strncmp(said, "wsdbg: nobody can stay attached", strlen("wsdbg: nobody can stay attached")) == 0)
        said = strchr(said, '\n') + 1;
    assert_string_equal(
        said, "wsdbg: GPU fault: CUDA error 719 (unspecified launch failure) ended context 0 on Fake GPU 0; "
              "launches not known to be done then: fault (launch 0)\n"
              "wsdbg: with --evidence core the driver tells where in the code a fault happens, but may stand still "
              "over a bad address (driver 580)\n"
              "wsdbg: 1 kernel launch seen, ended by a GPU fault; session in x.db\n");
    outcome_free(&run);
}

/* Whatever becomes of the look at the memory: the fault is told, and why its histories are not there. */
static void assert_not_readable(const char *variable, const char *why)
{
    setenv(variable, "cuMemImportFromShareableHandle", 1);
    struct outcome run = RUN(SHIM_APP, "proc", "overrun");
    unsetenv(variable);
    assert_int_equal(run.status, 7);
    assert_says(run.err, "wsdbg: GPU fault: CUDA error 719");
    assert_null(strstr(run.err, "FAULT:"));
    outcome_free(&run);
    char answer[256];
    snprintf(answer, sizeof answer, "the histories of context 0 could not be read after the GPU fault: %s\n", why);
    assert_query("x.db", "SELECT DISTINCT text FROM note", answer);
}

static void memory_that_the_driver_does_not_give_is_said_to_be_lost(void **state)
{
    (void)state;
    assert_not_readable("FAKE_CUDA_FAIL", "cuMemImportFromShareableHandle gave error 999");
}

static void a_driver_that_crashes_does_not_take_wsdbg_with_it(void **state)
{
    (void)state;
    assert_not_readable("FAKE_CUDA_CRASH", "the driver crashed");
}

/* Its observer has no room for its tables: the program runs as it would alone, and nobody says that all was well. */
static void a_process_that_cannot_be_watched_is_said_to_be_one(void **state)
{
    (void)state;
    setenv(WSDBG_ENV_SEGMENT_BYTES, "1000", 1);
    struct outcome run = WSDBG("run", "-o", "x.db", SHIM_APP, "proc", "plain");
    assert_int_equal(run.status, 0);
    assert_says(run.err, "was not watched: ");
    assert_says(run.err, "no other use of CUDA was seen");
    outcome_free(&run);
    run = WSDBG("run", "-o", "y.db", "--require-watch", SHIM_APP, "proc", "plain");
    assert_int_equal(run.status, 125);
    assert_says(run.err, "--require-watch: not all of the program was watched, which itself exited with 0");
    outcome_free(&run);
    run = WSDBG("run", "-o", "z.db", "sh", "-c", SHIM_APP " proc plain; " SHIM_APP " proc plain");
    assert_says(run.err, "2 processes were not watched");
    outcome_free(&run);
    unsetenv(WSDBG_ENV_SEGMENT_BYTES);
    run = WSDBG("run", "-o", "u.db", "--evidence", "ring", "--require-watch", SHIM_APP, "proc", "plain");
    assert_int_equal(run.status, 125);
    assert_says(run.err, "none with probes: a hang would not have been noticed");
    outcome_free(&run);
    run = WSDBG("run", "-o", "v.db", "--evidence", "ring", "--require-watch", SHIM_APP, "proc", "basic");
    assert_int_equal(run.status, 0);
    outcome_free(&run);
}

/* What the program has put on descriptor 2 is its own file. */
static void a_file_of_the_programs_gets_no_line_of_the_observers(void **state)
{
    (void)state;
    setenv(WSDBG_ENV_SEGMENT_BYTES, "1000", 1);
    struct outcome run = WSDBG("run", "-o", "x.db", "env", "APP_STDERR=own.txt", SHIM_APP, "proc", "plain");
    assert_int_equal(run.status, 0);
    char *text = read_file("own.txt");
    assert_string_equal(text, "");
    free(text);
    assert_says(run.err, "was not watched: ");
    outcome_free(&run);
    unsetenv(WSDBG_ENV_SEGMENT_BYTES);
}

int main(void)
{
    setenv("LD_LIBRARY_PATH", FAKE_CUDA_FOLDER, 1);
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_program_that_ends_right_after_the_fault_is_explained),
        TEST(a_program_that_goes_on_after_the_fault_is_explained),
        TEST(a_program_that_is_killed_after_the_fault_is_explained),
        TEST(a_fault_in_one_of_two_contexts_is_told_from_the_other),
        TEST(a_later_fault_of_another_process_is_explained),
        TEST(the_recording_shows_the_same),
        TEST(a_kernel_whose_rounds_are_right_is_not_blamed),
        TEST(a_fault_without_probes_is_said),
        TEST(memory_that_the_driver_does_not_give_is_said_to_be_lost),
        TEST(a_driver_that_crashes_does_not_take_wsdbg_with_it),
        TEST(a_process_that_cannot_be_watched_is_said_to_be_one),
        TEST(a_file_of_the_programs_gets_no_line_of_the_observers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
