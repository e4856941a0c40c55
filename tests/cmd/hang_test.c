/* hang_test.c - `wsdbg run` around a program that hangs, from the stall to the database (fake_hang.c plays it). */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>
#include <sqlite3.h>

#include "cmd/harness.h"

#define RUN(...) WSDBG("run", "-o", "x.db", "--stall", "0.3", __VA_ARGS__)

static void check_no_segment_left(void)
{
    char pattern[128];
    snprintf(pattern, sizeof pattern, "/dev/shm/wsdbg.*/wsdbg.*.%d", (int)read_pid("pid"));
    assert_int_equal(count_files(pattern), 0);
}

static void a_hang_is_reported_stored_and_ended(void **state)
{
    (void)state;
    struct outcome run = RUN(FAKE_HANG, "hang");
    assert_int_equal(run.status, 124);
    assert_string_equal(run.out, "the program's own words\n");
    assert_non_null(strstr(run.err, "WAKER_EXITED"));
    assert_non_null(strstr(run.err, "producer"));
    assert_non_null(strstr(run.err, "ms after the 0.3 s threshold"));
    assert_false(process_lives(read_pid("pid")));
    check_no_segment_left();
    outcome_free(&run);

    struct outcome report = WSDBG("report", "x.db");
    assert_int_equal(report.status, 0);
    assert_non_null(strstr(report.out, "WAKER_EXITED"));
    outcome_free(&report);
    struct outcome query = WSDBG("query", "x.db", "--csv", "SELECT exit_status, hang, outcome FROM session");
    assert_non_null(strstr(query.out, "124,1,killed after a hang"));
    outcome_free(&query);
}

static void the_verdict_comes_within_a_tenth_of_a_second(void **state)
{
    (void)state;
    struct outcome run = RUN(FAKE_HANG, "hang");
    outcome_free(&run);
    struct outcome query = WSDBG("query", "x.db", "--csv",
                                 "SELECT verdict_ns > stalled_ns AND verdict_ns - stalled_ns < 100000000 FROM session");
    assert_non_null(strstr(query.out, "\n1"));
    outcome_free(&query);
}

static void json_on_stdout_follows_the_programs_words(void **state)
{
    (void)state;
    struct outcome run = RUN("--json", FAKE_HANG, "hang");
    json_error_t error;
    json_t *report = json_loads(run.out + strlen("the program's own words\n"), 0, &error);
    assert_non_null(report);
    assert_string_equal(json_string_value(json_object_get(report, "cause")), "WAKER_EXITED");
    assert_true(json_array_size(json_object_get(report, "findings")) > 0);
    assert_true(json_array_size(json_object_get(report, "grids")) == 1);
    assert_true(json_is_array(json_object_get(report, "barriers")));
    json_decref(report);
    outcome_free(&run);
}

static void a_program_that_ignores_sigterm_is_killed(void **state)
{
    (void)state;
    struct outcome run = RUN(FAKE_HANG, "stubborn");
    assert_int_equal(run.status, 124);
    assert_false(process_lives(read_pid("pid")));
    outcome_free(&run);
}

static void its_children_go_with_it(void **state)
{
    (void)state;
    struct outcome run = RUN("sh", "-c", FAKE_HANG " parent; echo not reached");
    assert_int_equal(run.status, 124);
    assert_null(strstr(run.out, "not reached"));
    assert_false(process_lives(read_pid("pid")));
    assert_false(process_lives(read_pid("child")));
    outcome_free(&run);
}

/* Its record tells that it is outside of any wait, not that it moves. */
static void a_kernel_that_may_be_slow_is_shown_once_and_left_alone(void **state)
{
    (void)state;
    struct outcome run = RUN(FAKE_HANG, "slow");
    assert_int_equal(run.status, 9);
    const char *said = strstr(
        run.err,
        "wsdbg: nothing has moved for 0.3 s; not known to be a hang: it is not known of "
        "every warp that it stands; the program goes on\nSTALL: cause not known (UNKNOWN; that it hangs is possible)");
    assert_non_null(said);
    assert_null(strstr(said + strlen("wsdbg: nothing"), "nothing has moved")); /* it is looked at twice more */
    assert_null(strstr(run.err, "SLOW"));
    assert_null(strstr(run.err, "threshold"));
    outcome_free(&run);
}

static void a_standstill_that_no_rule_explains_is_a_hang_after_three_looks(void **state)
{
    (void)state;
    struct outcome run = RUN("--record", "x.wsrec", FAKE_HANG, "bulk");
    assert_int_equal(run.status, 124);
    assert_non_null(strstr(run.err, "not yet known to be a hang: 2 more looks must see the same"));
    assert_non_null(strstr(run.err, "HANG: cause not known (UNKNOWN; that it hangs is "));
    assert_non_null(strstr(run.err, "WAIT_BULK"));
    outcome_free(&run);
    struct outcome query = WSDBG("query", "x.db", "--csv", "SELECT exit_status, hang, outcome FROM session");
    assert_non_null(strstr(query.out, "124,1,killed after a hang"));
    outcome_free(&query);
    struct outcome replay = WSDBG("replay", "x.wsrec", "--stall", "0.3");
    assert_int_equal(replay.status, 124);
    assert_non_null(strstr(replay.err, "HANG: cause not known (UNKNOWN; that it hangs is "));
    outcome_free(&replay);
}

static void what_only_may_hang_is_given_up_when_that_is_asked_for(void **state)
{
    (void)state;
    struct outcome run = RUN("--give-up", "0.5", "--json", FAKE_HANG, "slow");
    assert_int_equal(run.status, 124);
    /* A busy machine looks later than after half a second. */
    assert_non_null(strstr(run.err, "given up: nothing has moved for "));
    assert_non_null(strstr(run.err, " s (--give-up 0.5); not known to be a hang: "));
    assert_non_null(strstr(run.err, "wsdbg: the program is ended now\nwsdbg: session in x.db"));
    assert_false(process_lives(read_pid("pid")));
    json_error_t error;
    json_t *report = json_loads(run.out + strlen("the program's own words\n"), 0, &error);
    json_t *session = json_object_get(report, "session");
    assert_true(json_is_false(json_object_get(report, "hang")));
    assert_int_equal(json_integer_value(json_object_get(session, "exit_status")), 124);
    const char *outcome = json_string_value(json_object_get(session, "outcome")),
               *given_up = "killed, given up: no movement for ";
    assert_int_equal(strncmp(outcome, given_up, strlen(given_up)), 0);
    json_decref(report);
    outcome_free(&run);
}

static void a_kernel_that_moves_is_not_given_up(void **state)
{
    (void)state;
    struct outcome run = RUN("--give-up", "0.3", FAKE_HANG, "busy");
    assert_int_equal(run.status, 9);
    outcome_free(&run);
}

static void a_healthy_kernel_is_one_line(void **state)
{
    (void)state;
    struct outcome run = RUN(FAKE_HANG, "healthy");
    assert_int_equal(run.status, 9);
    assert_string_equal(run.err, "wsdbg: 1 kernel launch seen, no hang; session in x.db\n");
    outcome_free(&run);
}

static void a_kernel_that_moves_without_a_milestone_is_no_stall(void **state)
{
    (void)state;
    struct outcome run = RUN("--record", "x.wsrec", FAKE_HANG, "busy");
    assert_int_equal(run.status, 9);
    assert_string_equal(run.err, "wsdbg: 1 kernel launch seen, no hang; session in x.db\n");
    outcome_free(&run);
    struct outcome replay = WSDBG("replay", "x.wsrec", "--stall", "0.3");
    assert_int_equal(replay.status, 0);
    assert_string_equal(replay.err, "wsdbg: the recording shows no hang\n");
    outcome_free(&replay);
}

static void a_fault_of_the_gpu_is_said_and_is_no_hang(void **state)
{
    (void)state;
    static const char sentence[] = "GPU fault: CUDA error 719 (unspecified launch failure) ended context 0 on "
                                   "NVIDIA Test GPU; the state shown is from ";
    struct outcome run = RUN("--json", FAKE_HANG, "fault");
    assert_int_equal(run.status, 7);
    assert_non_null(strstr(run.err, sentence));
    assert_non_null(strstr(run.err, "1 kernel launch seen, ended by a GPU fault; session in x.db\n"));
    json_error_t error;
    json_t *report = json_loads(run.out + strlen("the program's own words\n"), 0, &error);
    json_t *faults = json_object_get(report, "faults"), *fault = json_array_get(faults, 0);
    assert_int_equal(json_array_size(faults), 1);
    assert_int_equal(json_integer_value(json_object_get(fault, "error")), 719);
    assert_in_range(json_integer_value(json_object_get(fault, "state_age_ns")), 30000000, 130000000);
    assert_true(json_array_size(json_object_get(report, "warps")) > 0);
    assert_true(json_is_false(json_object_get(report, "hang")));
    json_decref(report);
    outcome_free(&run);

    struct outcome text = WSDBG("report", "x.db");
    assert_int_equal(text.status, 0);
    assert_memory_equal(text.out, sentence, strlen("GPU fault: CUDA error 719"));
    assert_non_null(strstr(text.out, "ms before\n"));
    assert_non_null(strstr(text.out, "full[0]"));
    outcome_free(&text);
}

static void on_stall_wait_lets_the_program_end_itself(void **state)
{
    (void)state;
    struct outcome run = RUN("--on-stall", "wait", FAKE_HANG, "leaves");
    assert_int_equal(run.status, 124);
    assert_non_null(strstr(run.err, "WAKER_EXITED"));
    outcome_free(&run);
    struct outcome query = WSDBG("query", "x.db", "--csv", "SELECT outcome FROM session");
    assert_non_null(strstr(query.out, "exited 9"));
    outcome_free(&query);
}

static void on_stall_detach_leaves_the_program_running(void **state)
{
    (void)state;
    struct outcome run = RUN("--on-stall=detach", FAKE_HANG, "hang");
    pid_t program = read_pid("pid");
    assert_int_equal(run.status, 124);
    assert_true(process_lives(program));
    kill(program, SIGKILL);
    check_no_segment_left();
    outcome_free(&run);
}

static void a_recorded_hang_is_found_again(void **state)
{
    (void)state;
    struct outcome run = RUN("--record", "x.wsrec", FAKE_HANG, "hang");
    assert_int_equal(run.status, 124);
    outcome_free(&run);
    struct outcome replay = WSDBG("replay", "x.wsrec", "--stall", "0.3", "-o", "again.db");
    assert_int_equal(replay.status, 124);
    assert_string_equal(replay.out, "");
    assert_non_null(strstr(replay.err, "WAKER_EXITED"));
    outcome_free(&replay);
    struct outcome query = WSDBG("query", "again.db", "--csv", "SELECT device, verdict_ns IS NULL FROM session");
    assert_non_null(strstr(query.out, "replay,1"));
    outcome_free(&query);
}

static void a_recorded_healthy_run_shows_none(void **state)
{
    (void)state;
    struct outcome run = RUN("--record", "x.wsrec", FAKE_HANG, "healthy");
    assert_int_equal(run.status, 9);
    outcome_free(&run);
    struct outcome replay = WSDBG("replay", "x.wsrec", "--stall", "0.3");
    assert_int_equal(replay.status, 0);
    assert_string_equal(replay.err, "wsdbg: the recording shows no hang\n");
    outcome_free(&replay);
}

static void a_broken_recording_is_refused(void **state)
{
    (void)state;
    struct outcome run = RUN("--record", "x.wsrec", FAKE_HANG, "healthy");
    outcome_free(&run);
    char *bytes = read_file("x.wsrec");
    free(bytes);
    assert_int_equal(truncate("x.wsrec", 10), 0);
    struct outcome replay = WSDBG("replay", "x.wsrec");
    assert_int_equal(replay.status, 125);
    assert_non_null(strstr(replay.err, "x.wsrec"));
    assert_int_equal(count_lines(replay.err), 1);
    outcome_free(&replay);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A database that may not grow is an error of storing, or of beginning; SIGXFSZ is nobody's end. */
static void the_verdict_is_said_where_files_may_not_grow(void **state)
{
    static const char program[] = "ulimit -S -f unlimited; exec " FAKE_HANG " hang";
    int unstored = 0;
    (void)state;
    for (rlim_t kib = 100; kib <= 700; kib += 60) {
        limit_file_size(kib << 10);
        struct outcome run = RUN("sh", "-c", program);
        limit_file_size(RLIM_INFINITY);
        unlink("x.db");
        unlink("x.db-wal");
        unlink("x.db-shm");
        if (run.status == 125)
            assert_int_equal(count_lines(run.err), 1);
        else
            assert_int_equal(run.status, 124);
        assert_true(run.status == 125 || strstr(run.err, "HANG: WAKER_EXITED"));
        unstored += strstr(run.err, "x.db lacks the verdict: it could not be stored") != NULL;
        outcome_free(&run);
    }
    assert_true(unstored > 0);
}

/* Somebody else may be writing to the database just when the verdict comes. */
static void the_verdict_waits_for_a_database_that_is_locked(void **state)
{
    sqlite3 *db = NULL;
    (void)state;
    struct running running = WSDBG_START("run", "-o", "x.db", "--stall", "0.5", FAKE_HANG, "hang");
    wait_for_file("pid");
    assert_int_equal(sqlite3_open("x.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    usleep(2500000);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    struct outcome run = finish(running);
    assert_int_equal(run.status, 124);
    assert_null(strstr(run.err, "lacks the verdict"));
    outcome_free(&run);
    struct outcome query = WSDBG("query", "x.db", "--csv", "SELECT cause FROM finding");
    assert_non_null(strstr(query.out, "WAKER_EXITED"));
    outcome_free(&query);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_hang_is_reported_stored_and_ended),
        TEST(the_verdict_comes_within_a_tenth_of_a_second),
        TEST(json_on_stdout_follows_the_programs_words),
        TEST(a_program_that_ignores_sigterm_is_killed),
        TEST(its_children_go_with_it),
        TEST(a_kernel_that_may_be_slow_is_shown_once_and_left_alone),
        TEST(a_standstill_that_no_rule_explains_is_a_hang_after_three_looks),
        TEST(what_only_may_hang_is_given_up_when_that_is_asked_for),
        TEST(a_kernel_that_moves_is_not_given_up),
        TEST(a_healthy_kernel_is_one_line),
        TEST(a_kernel_that_moves_without_a_milestone_is_no_stall),
        TEST(a_fault_of_the_gpu_is_said_and_is_no_hang),
        TEST(on_stall_wait_lets_the_program_end_itself),
        TEST(on_stall_detach_leaves_the_program_running),
        TEST(a_recorded_hang_is_found_again),
        TEST(a_recorded_healthy_run_shows_none),
        TEST(a_broken_recording_is_refused),
        TEST(the_verdict_is_said_where_files_may_not_grow),
        TEST(the_verdict_waits_for_a_database_that_is_locked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
