/* input_test.c - bad input is one line that names it and the reason, exit status 125, and nothing is overwritten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "cmd/harness.h"

/* One line on stderr that holds both words; nothing on stdout. */
static void check_refused(struct outcome outcome, const char *input, const char *reason)
{
    if (outcome.status != 125 || !strstr(outcome.err, input) || !strstr(outcome.err, reason))
        fail_msg("expected 125 and a line with '%s' and '%s'; got %d: %s", input, reason, outcome.status, outcome.err);
    assert_int_equal(count_lines(outcome.err), 1);
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
}

static void command_lines_that_cannot_be_followed(void **state)
{
    (void)state;
    check_refused(WSDBG("frobnicate"), "frobnicate", "unknown command");
    check_refused(WSDBG("--frobnicate"), "--frobnicate", "unknown option");
    check_refused(WSDBG("rn"), "unknown command 'rn'", "did you mean run?");
    check_refused(WSDBG("nope"), "unknown command 'nope'", "wsdbg --help lists the commands"); /* top is too far */
    check_refused(WSDBG("lnit"), "unknown command 'lnit'", "did you mean lint?");
    check_refused(WSDBG("help", "qurey"), "unknown command 'qurey'", "did you mean query?");
    check_refused(WSDBG("run", "--stal", "3", "true"), "unknown option '--stal'", "did you mean --stall?");
    check_refused(WSDBG("run", "--frobnicate", "true"), "--frobnicate", "unknown option");
    check_refused(WSDBG("run", "--stall", "soon", "true"), "soon", "seconds");
    check_refused(WSDBG("run", "--give-up", "soon", "true"), "--give-up: 'soon'", "seconds");
    check_refused(WSDBG("run", "--give-up", "0", "true"), "--give-up: '0'", "seconds");
    check_refused(WSDBG("run", "--give-up", "-3", "true"), "--give-up: '-3'", "seconds");
    check_refused(WSDBG("run", "--history", "1000", "true"), "1000", "from 0 to 128");
    check_refused(WSDBG("run", "--on-stall=explode", "true"), "explode", "kill|wait|detach");
    check_refused(WSDBG("run", "--device", "gpu", "--keep-looks", "no-folder", "true"), "no-folder", "No such file");
    check_refused(WSDBG("run", "--device", "gpu", "--keep-looks", WSDBG_BINARY, "true"), WSDBG_BINARY, "not a folder");
    check_refused(WSDBG("run", "--keep-looks", ".", "--evidence=ring", "true"), "--keep-looks", "looked at");
    check_refused(WSDBG("run", "--device", "sim", "--keep-looks", ".", "true"), "--keep-looks", "on the simulator");
    check_refused(WSDBG("run", "-o", "/proc/self/x.db", "true"), "create the session database",
                  "; -o FILE puts it elsewhere");
    check_refused(WSDBG("run"), "missing", "PROGRAM");
    check_refused(WSDBG("report"), "no session database", "FILE.db");
    check_refused(WSDBG("view"), "no session database", "FILE.db");
    check_refused(WSDBG("query", "SELECT 1"), "no session database", "FILE.db");
    check_refused(WSDBG("export"), "missing", "FILE.db");
    check_refused(WSDBG("query", "--csv", "--json", "x.db"), "--csv", "--json");
    assert_int_equal(count_files("*.db*"), 0);
}

static void core_dumps_are_not_made_beside_another_tool(void **state)
{
    (void)state;
    setenv("CUDA_INJECTION64_PATH", "/some/tool.so", 1);
    check_refused(WSDBG("run", "--evidence=core", "true"), "--evidence=core", "/some/tool.so");
    unsetenv("CUDA_INJECTION64_PATH");
    check_refused(WSDBG("run", "--evidence=core", "--observer=cupti", "true"), "--evidence=core", "--observer=cupti");
}

static void screens_need_a_terminal(void **state)
{
    (void)state;
    check_refused(WSDBG("run", "--tui", "sh", "-c", "echo > ran"), "--tui", "needs a terminal");
    assert_int_equal(count_files("*"), 0);
}

/* Also where no demo program is installed. */
static void every_demo_has_a_story(void **state)
{
    (void)state;
    struct outcome list = WSDBG("demo", "--list");
    assert_int_equal(list.status, 0);
    assert_non_null(strstr(list.out, "two-async-all "));
    char *rows = strchr(list.out, '\n');
    assert_non_null(rows);
    *rows++ = '\0';
    assert_string_equal(list.out, "NAME                     PROGRAM         RECORDED WHAT HAPPENS");
    for (char *line = strtok(rows, "\n"); line; line = strtok(NULL, "\n"))
        if (strlen(line) < 60)
            fail_msg("no story: %s", line);
    outcome_free(&list);
}

static void files_that_are_not_there(void **state)
{
    (void)state;
    check_refused(WSDBG("report", "no.db"), "no.db", "No such file");
    check_refused(WSDBG("query", "no.db", "@stuck"), "no.db", "No such file");
    check_refused(WSDBG("replay", "no.wsrec"), "no.wsrec", "No such file");
    check_refused(WSDBG("demo", "no-such-demo"), "no-such-demo", "there is no demo");
    check_refused(WSDBG("demo", "arive-missing"), "arive-missing", "did you mean arrive-missing?");
    assert_int_equal(count_files("*"), 0);
}

static void files_that_are_something_else(void **state)
{
    (void)state;
    write_file("text.db", "this is not a database, it only says so\n", 40);
    write_file("empty.db", "", 0);
    check_refused(WSDBG("report", "text.db"), "text.db", "not a");
    check_refused(WSDBG("query", "text.db", "@stuck"), "text.db", "not a");
    check_refused(WSDBG("report", "empty.db"), "empty.db", "empty");
    check_refused(WSDBG("replay", "text.db"), "text.db", "is no recording of");
    check_refused(WSDBG("replay", "empty.db"), "empty.db", "empty");
}

/* A good database of a run that did nothing. */
static void make_database(const char *path)
{
    struct outcome run = WSDBG("run", "-q", "-o", path, "true");
    assert_int_equal(run.status, 0);
    outcome_free(&run);
}

static void a_truncated_database(void **state)
{
    (void)state;
    make_database("good.db");
    assert_int_equal(truncate("good.db", 5000), 0);
    check_refused(WSDBG("report", "good.db"), "good.db", "");
}

static void a_database_of_another_version(void **state)
{
    (void)state;
    make_database("good.db");
    FILE *file = fopen("good.db", "r+");
    assert_non_null(file);
    /* PRAGMA user_version lies in the header at byte 60, big-endian. */
    fseek(file, 60, SEEK_SET);
    fwrite("\x00\x00\x27\x0f", 1, 4, file);
    fclose(file);
    check_refused(WSDBG("report", "good.db"), "good.db", "9999");
}

static void a_query_that_is_wrong(void **state)
{
    (void)state;
    make_database("good.db");
    check_refused(WSDBG("query", "good.db", "SELEKT 1"), "SELEKT", "syntax");
    check_refused(WSDBG("query", "good.db", "@nonsense"), "@nonsense", "");
    check_refused(WSDBG("query", "good.db", "DROP TABLE session"), "good.db", "");
    struct outcome still = WSDBG("query", "good.db", "SELECT count(*) AS n FROM session", "--csv");
    assert_int_equal(still.status, 0);
    assert_non_null(strstr(still.out, "1"));
    outcome_free(&still);
}

static void an_existing_output_is_not_overwritten(void **state)
{
    (void)state;
    write_file("mine.txt", "precious", 8);
    check_refused(WSDBG("run", "-o", "mine.txt", "touch", "ran"), "mine.txt", "exists already");
    check_refused(WSDBG("run", "--record", "mine.txt", "touch", "ran"), "mine.txt", "exists already");
    char *kept = read_file("mine.txt");
    assert_string_equal(kept, "precious");
    free(kept);
    assert_int_equal(count_files("ran"), 0);
}

static void an_export_or_a_page_overwrites_nothing(void **state)
{
    (void)state;
    make_database("good.db");
    write_file("mine.txt", "precious", 8);
    check_refused(WSDBG("export", "good.db", "--perfetto", "mine.txt"), "mine.txt", "exists already");
    check_refused(WSDBG("export", "good.db", "--dot", "mine.txt"), "mine.txt", "exists already");
    check_refused(WSDBG("report", "good.db", "--html", "-o", "mine.txt"), "mine.txt", "exists already");
    char *kept = read_file("mine.txt");
    assert_string_equal(kept, "precious");
    free(kept);
}

static void an_export_that_cannot_be_made(void **state)
{
    (void)state;
    make_database("good.db");
    check_refused(WSDBG("export"), "missing", "FILE.db");
    check_refused(WSDBG("export", "good.db"), "--perfetto", "--dot");
    check_refused(WSDBG("export", "good.db", "--perfetto", "-", "--dot", "-"), "--perfetto", "--dot");
    check_refused(WSDBG("report", "good.db", "--json", "--html"), "--json", "--html");
    check_refused(WSDBG("export", "no.db", "--dot", "x.dot"), "no.db", "No such file");
    check_refused(WSDBG("export", "good.db", "--dot", "no/x.dot"), "no/x.dot", "No such file");
    check_refused(WSDBG("export", "good.db", "--perfetto", "/dev/full"), "/dev/full", "exists already");
    assert_int_equal(count_files("x.dot"), 0);
}

static void an_output_that_cannot_be_made_runs_nothing(void **state)
{
    (void)state;
    check_refused(WSDBG("run", "-o", "no/such/folder/x.db", "touch", "ran"), "no/such/folder/x.db", "No such file");
    assert_int_equal(count_files("ran"), 0);
}

/* Texts that would clear the screen, set a title, turn the direction of writing or end a line. */
#define EVIL "x\033[2J\033]0;title\007\u202eexe\u2066\xc2\x9b\r.db"

static void assert_harmless(const char *text)
{
    static const char *const bad[] = {"\033", "\007", "\u202e", "\u2066", "\xc2\x9b", "\r"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (strstr(text, bad[i]))
            fail_msg("raw \"%s\" in: %s", i ? "control character" : "escape", text);
}

static void check_harmless(struct outcome outcome, int status)
{
    if (outcome.status != status)
        fail_msg("%d, not %d: %s", outcome.status, status, outcome.err);
    assert_non_null(strstr(outcome.err, "x\\x1b[2J")); /* it is said, in words */
    assert_harmless(outcome.err);
    assert_harmless(outcome.out);
    outcome_free(&outcome);
}

static void names_do_nothing_to_a_terminal(void **state)
{
    (void)state;
    check_harmless(WSDBG("report", EVIL), 125);
    check_harmless(WSDBG("query", EVIL, "SELECT 1"), 125);
    check_harmless(WSDBG("core", EVIL), 125);
    check_harmless(WSDBG("lint", EVIL), 125);
    check_harmless(WSDBG("replay", EVIL), 125);
    check_harmless(WSDBG("view", EVIL), 125);
    check_harmless(WSDBG("top", EVIL), 125);
    check_harmless(WSDBG("why", EVIL), 125);
    check_harmless(WSDBG(EVIL), 125);
    check_harmless(WSDBG("run", "--stall", EVIL, "true"), 125);
    check_harmless(WSDBG("run", "--" EVIL, "true"), 125);
    check_harmless(WSDBG("run", "./" EVIL), 127);
}

static void a_program_with_such_a_name_is_reported_in_words(void **state)
{
    (void)state;
    assert_int_equal(symlink(FAKE_HANG, EVIL), 0);
    check_harmless(WSDBG("run", "--stall", "0.3", "-o", "x.db", "--", "./" EVIL, "hang"), 124);
    static const char *const queries[][2] = {{"SELECT * FROM session", NULL}, {"SELECT * FROM session", "--csv"}};
    for (size_t i = 0; i < 2; i++) {
        struct outcome query = WSDBG("query", "x.db", queries[i][0], queries[i][1]);
        assert_non_null(strstr(query.out, "x\\x1b[2J"));
        assert_null(strpbrk(query.out, "\033\007"));
        outcome_free(&query);
    }
    struct outcome report = WSDBG("report", "x.db");
    assert_non_null(strstr(report.out, "x\\x1b[2J"));
    assert_harmless(report.out);
    outcome_free(&report);
}

/* SQLite names the row that it cannot parse. */
static void what_a_database_holds_does_nothing_to_a_terminal(void **state)
{
    (void)state;
    outcome_free(&(struct outcome[]){WSDBG("run", "-o", "evil.db", "true")}[0]);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open("evil.db", &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    assert_int_equal(
        sqlite3_exec(db, "INSERT INTO sqlite_master VALUES ('table', '" EVIL "', '" EVIL "', 2, 'CREATE " EVIL "')",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    check_harmless(WSDBG("report", "evil.db"), 125);
    check_harmless(WSDBG("query", "evil.db", "SELECT 1"), 125);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(command_lines_that_cannot_be_followed),
        TEST(core_dumps_are_not_made_beside_another_tool),
        TEST(screens_need_a_terminal),
        TEST(every_demo_has_a_story),
        TEST(files_that_are_not_there),
        TEST(files_that_are_something_else),
        TEST(a_truncated_database),
        TEST(a_database_of_another_version),
        TEST(a_query_that_is_wrong),
        TEST(an_existing_output_is_not_overwritten),
        TEST(an_export_or_a_page_overwrites_nothing),
        TEST(an_export_that_cannot_be_made),
        TEST(an_output_that_cannot_be_made_runs_nothing),
        TEST(names_do_nothing_to_a_terminal),
        TEST(a_program_with_such_a_name_is_reported_in_words),
        TEST(what_a_database_holds_does_nothing_to_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
