/* newest_test.c - commands without FILE.db: they take the newest session database of the current folder, and say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"

#define TAKES_NEW "wsdbg: the newest session here is new.db\n"

static void make_session(const char *recording, const char *database, time_t written)
{
    struct outcome made = WSDBG("replay", recording, "-o", database);
    outcome_free(&made);
    const struct timespec times[2] = {{.tv_sec = written}, {.tv_sec = written}};
    assert_int_equal(utimensat(AT_FDCWD, database, times, 0), 0);
}

/* Two sessions; beside them a newer database of another program, a newer file that is none, and a newer link. */
static int two_sessions(void **state)
{
    if (scratch_setup(state))
        return -1;
    enum { LONG_AGO = 1000000000 };
    make_session(WSDBG_SOURCE "/tests/recorded/waker-exited.wsrec", "new.db", LONG_AGO + 1);
    make_session(WSDBG_SOURCE "/tests/recorded/healthy.wsrec", "old.db", LONG_AGO);
    char other[4096] = "SQLite format 3";
    write_file("other.db", other, sizeof other);
    write_file("words.db", "WSDB", 4);
    return symlink("old.db", "link.db");
}

static void takes(struct outcome outcome, const char *said, const char *shown)
{
    if (outcome.status != 0 || strcmp(outcome.err, said) != 0 || !strstr(outcome.out, shown))
        fail_msg("expected '%s' and '%s'; got %d: %s%s", said, shown, outcome.status, outcome.err, outcome.out);
    outcome_free(&outcome);
}

static void the_newest_session_is_taken(void **state)
{
    (void)state;
    takes(WSDBG("report"), TAKES_NEW, "WAKER_EXITED");
    takes(WSDBG("query", "@verdict"), TAKES_NEW, "WAKER_EXITED");
    takes(WSDBG("query", "SELECT count(*) AS sessions FROM session"), TAKES_NEW, "sessions");
    takes(WSDBG("why"), TAKES_NEW, "WAKER_EXITED");
    takes(WSDBG("why", "warp", "4"), TAKES_NEW, "warp 4 (consumer 0)");
}

static void a_named_one_is_not_said(void **state)
{
    (void)state;
    takes(WSDBG("report", "new.db"), "", "WAKER_EXITED");
    takes(WSDBG("why", "PARITY_WRONG"), "", "PARITY_WRONG");
    takes(WSDBG("query"), "", "@verdict");
}

/* What was written last may lie in the log beside the database. */
static void a_log_beside_it_counts(void **state)
{
    (void)state;
    write_file("old.db-wal", "", 0);
    struct outcome report = WSDBG("report");
    assert_string_equal(report.err, "wsdbg: the newest session here is old.db\n");
    outcome_free(&report);
}

/* Also while its wsdbg runs, when most of it lies in the log alone. */
static void a_session_that_runs_is_the_newest(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "-o", "runs.db", "sh", "-c", WSDBG_BINARY " query @verdict");
    if (!strstr(run.err, "the newest session here is runs.db\n"))
        fail_msg("%s%s", run.out, run.err);
    outcome_free(&run);
}

/* A copy that was cut, say: an older one may do. */
static void a_damaged_one_is_refused_with_a_way_out(void **state)
{
    (void)state;
    const char *const commands[] = {"report", "why", "view"};
    assert_int_equal(truncate("new.db", 8192), 0);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct outcome outcome = WSDBG(commands[i]);
        assert_int_equal(outcome.status, 125);
        assert_non_null(strstr(outcome.err, "the newest session here is new.db\n"));
        assert_non_null(strstr(outcome.err, "new.db: is damaged: "));
        assert_non_null(strstr(outcome.err, "; name another session as FILE.db\n"));
        outcome_free(&outcome);
    }
    struct outcome named = WSDBG("report", "new.db");
    assert_int_equal(named.status, 125);
    assert_null(strstr(named.err, "name another"));
    outcome_free(&named);
}

static void what_was_mistyped_is_not_an_object_of_it(void **state)
{
    (void)state;
    struct outcome why = WSDBG("why", "PARITY_WRNG");
    assert_int_equal(why.status, 125);
    assert_non_null(strstr(why.err, "did you mean PARITY_WRONG?"));
    outcome_free(&why);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, two_sessions, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_newest_session_is_taken),
        TEST(a_named_one_is_not_said),
        TEST(a_log_beside_it_counts),
        TEST(a_session_that_runs_is_the_newest),
        TEST(a_damaged_one_is_refused_with_a_way_out),
        TEST(what_was_mistyped_is_not_an_object_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
