/* narrow_test.c - what commands print on a terminal of 60 columns: no line is wider, and no word is cut. */
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

#include "base/text.h"
#include "cmd/command.h"

enum { COLUMNS = 60 };

/* What the command prints on a terminal; the caller frees. */
static char *on_terminal(const char *const *words)
{
    int master;
    const struct winsize size = {.ws_row = 24, .ws_col = COLUMNS};
    const char *argv[8] = {"wsdbg"};
    for (size_t i = 0; words[i]; i++)
        argv[i + 1] = words[i];
    const pid_t child = forkpty(&master, NULL, NULL, &size);
    assert_true(child >= 0);
    if (child == 0) {
        setenv("TERM", "dumb", 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* libraries that doctor opens may leak */
        execv(WSDBG_BINARY, (char *const *)argv);
        _exit(99);
    }
    static const size_t most = 1 << 18;
    char *screen = calloc(1, most);
    assert_non_null(screen);
    size_t have = 0;
    for (ssize_t got; have + 1 < most && (got = read(master, screen + have, most - have - 1)) > 0;)
        have += (size_t)got;
    close(master);
    waitpid(child, NULL, 0);
    return screen;
}

#define ON_TERMINAL(...) on_terminal((const char *const[]){__VA_ARGS__, NULL})

/* Every line fits; returns how many there are. */
static size_t check_fits(char *screen)
{
    size_t lines = 0;
    assert_true(*screen);
    for (char *rest = screen, *line; (line = strsep(&rest, "\n")); lines++) {
        line[strcspn(line, "\r")] = '\0';
        if (wsdbg_text_width(line) > COLUMNS)
            fail_msg("%zu columns: %s", wsdbg_text_width(line), line);
    }
    free(screen);
    return lines;
}

static void make_session(void)
{
    struct outcome made = WSDBG("replay", WSDBG_SOURCE "/tests/recorded/arrive-missing.wsrec", "-o", "hang.db");
    assert_int_equal(made.status, 124);
    outcome_free(&made);
}

static void reports_fit(void **state)
{
    (void)state;
    make_session();
    check_fits(ON_TERMINAL("report", "hang.db"));
    check_fits(ON_TERMINAL("why", "hang.db"));
    check_fits(ON_TERMINAL("why", "hang.db", "4"));
    check_fits(ON_TERMINAL("replay", WSDBG_SOURCE "/tests/recorded/arrive-missing.wsrec"));
}

static void helps_fit(void **state)
{
    (void)state;
    check_fits(ON_TERMINAL("--help"));
    for (size_t i = 0; wsdbg_commands[i]; i++)
        check_fits(ON_TERMINAL(wsdbg_commands[i]->name, "--help"));
}

static void lists_fit(void **state)
{
    (void)state;
    check_fits(ON_TERMINAL("doctor"));
    check_fits(ON_TERMINAL("demo", "--list"));
    check_fits(ON_TERMINAL("nothing-of-the-kind-that-is-known-to-wsdbg-or-to-anybody-else"));
}

/* A terminal gets the same words as a pipe, in the same order.  Only the spaces between them differ. */
static void no_word_is_cut(void **state)
{
    (void)state;
    make_session();
    struct outcome piped = WSDBG("report", "hang.db");
    char *screen = ON_TERMINAL("report", "hang.db"), *rest = screen, *more = piped.out, *shown, *wanted;
    for (;;) {
        while ((shown = strsep(&rest, " \r\n")) && !*shown)
            ;
        while ((wanted = strsep(&more, " \n")) && !*wanted)
            ;
        if (!shown || !wanted)
            break;
        assert_string_equal(shown, wanted);
    }
    assert_true(!shown && !wanted);
    free(screen);
    outcome_free(&piped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reports_fit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(helps_fit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(lists_fit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(no_word_is_cut, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
