/* query_test.c - `wsdbg query` as it is typed: words of a canned query, the width of a terminal, a pipe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/harness.h"

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SENTENCE "a sentence of more than forty columns that a narrow terminal cannot show"
#define ROW "1  " SENTENCE "\n"

static const char long_text[] = "SELECT 1 AS n, '" SENTENCE "' AS text FROM (VALUES (1), (2), (3), (4))";

static void make_session(void)
{
    struct outcome made = WSDBG("run", "-q", "-o", "a.db", "true");
    assert_int_equal(made.status, 0);
    outcome_free(&made);
}

/* What a terminal of 40 columns gets. */
static void ask_in_a_terminal(const char *query, char *screen, size_t bytes)
{
    int master;
    const struct winsize size = {.ws_row = 24, .ws_col = 40};
    const pid_t child = forkpty(&master, NULL, NULL, &size);
    assert_true(child >= 0);
    if (child == 0) {
        execl(WSDBG_BINARY, "wsdbg", "query", "a.db", query, (char *)NULL);
        _exit(99);
    }
    size_t have = 0;
    for (ssize_t got; have + 1 < bytes && (got = read(master, screen + have, bytes - have - 1)) > 0;)
        have += (size_t)got;
    screen[have] = '\0';
    close(master);
    waitpid(child, NULL, 0);
}

static void a_terminal_gets_what_fits_and_is_told(void **state)
{
    char screen[4096];
    (void)state;
    make_session();
    ask_in_a_terminal(long_text, screen, sizeof screen);
    assert_non_null(strstr(screen, "1  a sentence of more than forty column…\r\n"));
    assert_non_null(strstr(screen, "a pipe or a file gets it whole"));
}

static void a_pipe_gets_everything(void **state)
{
    (void)state;
    make_session();
    struct outcome query = WSDBG("query", "a.db", long_text);
    assert_string_equal(query.out, "n  text\n" ROW ROW ROW ROW);
    outcome_free(&query);
}

static void the_words_after_a_name_are_its_arguments(void **state)
{
    (void)state;
    make_session();
    struct outcome query = WSDBG("query", "a.db", "@diff", "0", "1", "--csv");
    assert_int_equal(query.status, 125);
    assert_string_equal(query.err, "wsdbg query: a.db: query: @diff: no CTA 0 was seen; name it as X or X,Y,Z\n");
    assert_string_equal(query.out, "");
    outcome_free(&query);
    query = WSDBG("query", "a.db", "@diff", "0");
    assert_int_equal(query.status, 125);
    assert_string_equal(query.err, "wsdbg query: a.db: query: @diff takes 2 arguments: CTA CTA, not 1\n");
    outcome_free(&query);
}

/* An empty table alone would read as "no wgmma". */
static void without_histories_it_is_said_why_there_are_no_rows(void **state)
{
    (void)state;
    make_session();
    struct outcome query = WSDBG("query", "a.db", "@stages", "--json");
    assert_int_equal(query.status, 0);
    assert_string_equal(query.out, "[\n]\n");
    assert_string_equal(query.err,
                        "wsdbg: no rows: this session holds no histories; those of kernels with probes are kept "
                        "of a hang, or with wsdbg run --keep-history\n");
    outcome_free(&query);
    query = WSDBG("query", "a.db", "@stuck");
    assert_string_equal(query.err, "");
    outcome_free(&query);
    struct outcome made = WSDBG("replay", WSDBG_SOURCE "/tests/recorded/waker-exited.wsrec", "-o", "hang.db");
    outcome_free(&made);
    query = WSDBG("query", "hang.db", "@stages");
    assert_string_equal(query.err, "");
    outcome_free(&query);
}

static void sql_is_one_word(void **state)
{
    (void)state;
    make_session();
    struct outcome query = WSDBG("query", "a.db", "SELECT", "1");
    assert_int_equal(query.status, 125);
    assert_string_equal(query.err, "wsdbg query: a.db: more than one statement: quote it as one word\n");
    outcome_free(&query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_terminal_gets_what_fits_and_is_told, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_pipe_gets_everything, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_words_after_a_name_are_its_arguments, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(without_histories_it_is_said_why_there_are_no_rows, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(sql_is_one_word, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
