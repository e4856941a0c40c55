/* run_tui_test.c - `wsdbg run --tui`: the program's hang, words and keys on one screen. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "viewer/screen.h"

#define CONTROL_C "\x03"
#define CONTROL_Z "\x1a"
#define CONTROL_BRACKET "\x1d"

#define RUN(...) \
    SCREEN(80, 24, WSDBG_BINARY, "run", "--tui", "--device", "gpu", "-o", "x.db", "--stall", "0.3", __VA_ARGS__)
/* The title shows the script: what is looked for on the screen must not stand there as it is. */
#define SHELL(script) RUN("sh", "-c", script)

static void expect_log(const char *text)
{
    struct outcome query = WSDBG("query", "x.db", "--csv", "SELECT origin, text FROM log");
    if (!strstr(query.out, text))
        fail_msg("the log has no '%s' but:\n%s", text, query.out);
    outcome_free(&query);
}

static void the_verdict_appears_in_place_and_stays_until_q(void **state)
{
    (void)state;
    struct screen *screen = RUN(FAKE_HANG, "hang");
    screen_expect(screen, "HANG: WAKER_EXITED (proven)");
    screen_expect(screen, "finished");
    assert_false(process_lives(read_pid("pid")));
    screen_press(screen, "i");
    screen_expect(screen, "the program has ended");
    screen_press(screen, "q");
    /* What would have gone to stderr comes when the terminal is the reader's again. */
    screen_expect(screen, "after the 0.3 s threshold; the program is ended now");
    screen_expect(screen, "show it: wsdbg view; explain it: wsdbg why; ask it: wsdbg query");
    screen_expect_restored(screen);
    assert_int_equal(screen_finish(screen), 124);
    expect_log("terminal,the program's own words");
    expect_log("hang: WAKER_EXITED (proven)");
}

/* Starts fake_hang under a name without a folder, so that titles are the same everywhere. */
static struct screen *live_session(int columns, int rows, const char *stall_s)
{
    unlink("app");
    unlink("x.db");
    assert_int_equal(symlink(FAKE_HANG, "app"), 0);
    return SCREEN(columns, rows, WSDBG_BINARY, "run", "--tui", "--device", "gpu", "-o", "x.db", "--on-stall", "wait",
                  "--stall", stall_s, "./app", "hang");
}

static void leave(struct screen *screen, int status)
{
    screen_press(screen, "q");
    screen_expect(screen, "The program still runs");
    screen_press(screen, "y");
    assert_int_equal(screen_finish(screen), status);
}

/* A program with a sanitizer has stacks that do not unwind to their ends: then it is not known whether it runs Python,
 * and the ranks say so. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACKS_ARE_WHOLE = false };
#else
enum { STACKS_ARE_WHOLE = true };
#endif

static void check_live_views(int columns, int rows)
{
    static const struct {
        const char *name, *key;
    } views[] = {{"overview", "1"}, {"cause", "2"},  {"warps", "3"},     {"barriers", "4"}, {"graph", "5"},
                 {"timeline", "6"}, {"source", "7"}, {"registers", "8"}, {"ranks", "R"},    {"help", "0"}};
    char name[48];
    struct screen *screen = live_session(columns, rows, "0.3");
    screen_expect(screen, "HANG: WAKER_EXITED");
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        snprintf(name, sizeof name, "live-%s-%dx%d", views[i].name, columns, rows);
        screen_press(screen, views[i].key);
        if (STACKS_ARE_WHOLE || strcmp(views[i].name, "ranks") != 0)
            screen_expect_like(screen, name);
        else
            screen_expect(screen, "PYTHON LINE");
    }
    leave(screen, 124);
}

/* Before the verdict: wsdbg's own lines have numbers in them, which move where a long line is cut. */
static void check_live_log(int columns, int rows)
{
    char name[48];
    struct screen *screen = live_session(columns, rows, "20");
    screen_press(screen, "9");
    screen_expect(screen, "own words");
    snprintf(name, sizeof name, "live-log-%dx%d", columns, rows);
    screen_expect_like(screen, name);
    leave(screen, -SIGTERM);
}

static void every_view_shows_a_live_session(void **state)
{
    (void)state;
    check_live_views(80, 24);
    check_live_log(80, 24);
    check_live_views(200, 60);
    check_live_log(200, 60);
}

static void processes_have_a_line_each_in_the_ranks_while_they_run(void **state)
{
    (void)state;
    struct screen *screen = SHELL(FAKE_HANG " hang & exec " FAKE_HANG " hang");
    screen_expect(screen, "live");
    screen_press(screen, "R");
    screen_expect(screen, "1/2");
    screen_expect(screen, "kernel    pipeline_kernel");
    screen_expect(screen, "HANG: WAKER_EXITED");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 124);
}

static void what_the_program_writes_is_in_the_log(void **state)
{
    (void)state;
    struct screen *screen = SHELL("printf 'o''ne\\ntwo\\033[31m red\\033[0m\\n' ; echo th''ree >&2; exit 5");
    screen_expect(screen, "finished");
    screen_press(screen, "L");
    screen_expect(screen, "one");
    screen_expect(screen, "two red");
    screen_expect(screen, "three");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 5);
    expect_log("terminal,two red");
    expect_log("terminal,three");
}

static void keys_reach_the_program_in_input_mode(void **state)
{
    (void)state;
    struct screen *screen = SHELL("printf 'your na''me? '; read name; echo hello $name; exit 3");
    screen_press(screen, "L");
    screen_expect(screen, "your name?");
    screen_press(screen, "i");
    screen_expect(screen, "Ctrl-]");
    screen_press(screen, "jq\r" CONTROL_BRACKET);
    screen_expect(screen, "hello jq");
    screen_expect(screen, "finished");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 3);
}

static void leaving_while_it_runs_is_asked_about(void **state)
{
    (void)state;
    struct screen *screen = SHELL("echo $$ > pid; exec sleep 20");
    wait_for_file("pid");
    screen_press(screen, "q");
    screen_expect(screen, "The program still runs");
    screen_press(screen, "n");
    screen_expect_gone(screen, "The program still runs");
    assert_true(process_lives(read_pid("pid")));
    screen_press(screen, "q");
    screen_expect(screen, "The program still runs");
    screen_press(screen, "y");
    assert_int_equal(screen_finish(screen), -SIGTERM);
    assert_false(process_lives(read_pid("pid")));
}

static void a_question_goes_away_with_its_reason(void **state)
{
    (void)state;
    struct screen *screen = SHELL("while [ ! -e asked ]; do sleep 0.1; done");
    screen_expect(screen, "live");
    screen_press(screen, "q");
    screen_expect(screen, "The program still runs");
    write_file("asked", "", 0);
    screen_expect_gone(screen, "The program still runs");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 0);
}

static void the_view_can_be_left_and_the_program_goes_on_in_the_terminal(void **state)
{
    (void)state;
    struct screen *screen = SHELL("read line; echo got $line; read line; exit 6");
    screen_expect(screen, "live");
    screen_press(screen, "q");
    screen_expect(screen, "leave it running");
    screen_press(screen, "d");
    screen_expect_gone(screen, "leave it running");
    screen_press(screen, "first\r");
    screen_expect(screen, "got first");
    screen_press(screen, "\r");
    assert_int_equal(screen_finish(screen), 6);
    expect_log("terminal,got first");
}

static void control_c_is_for_the_program(void **state)
{
    (void)state;
    struct screen *screen = SHELL("trap 'echo cau\"\"ght; exit 4' INT; echo rea''dy; while :; do sleep 0.1; done");
    screen_press(screen, "L");
    screen_expect(screen, "ready");
    screen_press(screen, CONTROL_C);
    screen_expect(screen, "caught");
    screen_expect(screen, "finished");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 4);
}

static void a_stop_stops_both_and_both_go_on(void **state)
{
    (void)state;
    struct screen *screen = SHELL("echo $$ > pid; exec sleep 20");
    const pid_t program = read_pid("pid");
    screen_expect(screen, "live");
    screen_press(screen, CONTROL_Z);
    screen_expect_stopped(screen);
    assert_true(process_lives(program));
    kill(screen_pid(screen), SIGCONT);
    screen_expect(screen, "live");
    screen_press(screen, CONTROL_C);
    screen_expect(screen, "finished");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), -SIGINT);
}

static void a_new_size_reaches_the_program(void **state)
{
    (void)state;
    struct screen *screen = SHELL("trap 'stty size; exit 0' WINCH; stty size; while :; do sleep 0.1; done");
    screen_press(screen, "L");
    screen_expect(screen, "24 80");
    screen_resize(screen, 100, 30);
    screen_expect(screen, "30 100");
    screen_expect(screen, "finished");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 0);
}

static void a_redirected_stream_stays_the_programs(void **state)
{
    (void)state;
    const char *const words[] = {"/bin/sh", "-c",
                                 "\"$0\" run --tui -o x.db sh -c 'echo to the file; echo to the scr\"\"een >&2' > out",
                                 WSDBG_BINARY, NULL};
    struct screen *screen = screen_start(80, 24, NULL, words);
    screen_expect(screen, "finished");
    screen_press(screen, "L");
    screen_expect(screen, "to the screen");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 0);
    char *out = read_file("out");
    assert_string_equal(out, "to the file\n");
    free(out);
}

static void the_log_follows_what_is_written_below_its_last_row(void **state)
{
    (void)state;
    struct screen *screen =
        SHELL("seq 101 159; echo fi''rst; while [ ! -e seen ]; do sleep 0.1; done; seq 201 260; echo the e''nd");
    screen_press(screen, "LG");
    screen_expect(screen, "first");
    write_file("seen", "", 0);
    screen_expect(screen, "the end");
    screen_expect(screen, "finished");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 0);
}

static void a_program_that_writes_without_end_is_not_held_up(void **state)
{
    (void)state;
    struct screen *screen =
        SHELL("head -c 5000000 /dev/zero | tr '\\0' x | fold -w 99; echo; echo the last l''ine; exit 7");
    screen_expect(screen, "finished");
    screen_press(screen, "LG");
    screen_expect(screen, "the last line");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 7);
    expect_log("terminal,the last line");
}

static void a_closed_window_ends_both(void **state)
{
    (void)state;
    struct screen *screen = SHELL("echo $$ > pid; exec sleep 20");
    const pid_t program = read_pid("pid");
    screen_expect(screen, "live");
    screen_hang_up(screen);
    screen_finish(screen);
    assert_false(process_lives(program));
}

static void a_signal_to_end_is_passed_on_and_the_screen_does_not_stay(void **state)
{
    (void)state;
    struct screen *screen = SHELL("trap 'exit 9' TERM; echo $$ > pid; while :; do sleep 0.1; done");
    wait_for_file("pid");
    screen_expect(screen, "live");
    kill(screen_pid(screen), SIGTERM);
    screen_expect_restored(screen);
    assert_int_equal(screen_finish(screen), 9);
}

static void a_program_that_is_not_there_leaves_the_terminal_as_it_was(void **state)
{
    (void)state;
    struct screen *screen = RUN("./not-there");
    screen_expect(screen, "./not-there: No such file");
    screen_expect_restored(screen);
    assert_int_equal(screen_finish(screen), 127);
    assert_int_equal(count_files("*.db"), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_verdict_appears_in_place_and_stays_until_q),
        TEST(every_view_shows_a_live_session),
        TEST(processes_have_a_line_each_in_the_ranks_while_they_run),
        TEST(what_the_program_writes_is_in_the_log),
        TEST(keys_reach_the_program_in_input_mode),
        TEST(leaving_while_it_runs_is_asked_about),
        TEST(a_question_goes_away_with_its_reason),
        TEST(the_view_can_be_left_and_the_program_goes_on_in_the_terminal),
        TEST(control_c_is_for_the_program),
        TEST(a_stop_stops_both_and_both_go_on),
        TEST(a_new_size_reaches_the_program),
        TEST(a_redirected_stream_stays_the_programs),
        TEST(the_log_follows_what_is_written_below_its_last_row),
        TEST(a_program_that_writes_without_end_is_not_held_up),
        TEST(a_closed_window_ends_both),
        TEST(a_signal_to_end_is_passed_on_and_the_screen_does_not_stay),
        TEST(a_program_that_is_not_there_leaves_the_terminal_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
