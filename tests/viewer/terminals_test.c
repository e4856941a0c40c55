/* terminals_test.c - terminals as they are: small ones, ones that change, that know little, that go away; and files
 * that are none. */
#include <fcntl.h>
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
#include "store/example.h"
#include "viewer/sessions.h"

#define HANG "parity-wrong"

static struct screen *open_hang(int columns, int rows, const char *const *settings)
{
    session_replayed(HANG);
    return view_start(HANG, columns, rows, settings);
}

static void a_narrow_terminal_shows_what_fits(void **state)
{
    (void)state;
    view_screen("overview", HANG, "", 40, 10);
    view_screen("warps", HANG, "w", 40, 10);
    view_screen("help", HANG, "?", 40, 10);
}

static void any_size_is_drawn_and_left_again(void **state)
{
    static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 3}, {80, 1}, {80, 2}, {1, 24}, {5, 5}, {300, 100}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *screen = open_hang(sizes[i][0], sizes[i][1], NULL);
        screen_press(screen, "wcbWtor\tL?vjkGg/x\rf\x1b");
        view_leave(screen);
    }
}

static void a_resize_midway_is_followed(void **state)
{
    (void)state;
    struct screen *screen = open_hang(80, 24, NULL);
    screen_expect(screen, "overview]");
    screen_resize(screen, 200, 60);
    screen_expect_golden(screen, "overview-200x60");
    screen_resize(screen, 1, 1);
    screen_press(screen, "w");
    screen_resize(screen, 40, 10);
    screen_expect_golden(screen, "warps-40x10");
    screen_resize(screen, 80, 24);
    screen_expect_golden(screen, "warps-80x24");
    view_leave(screen);
}

static void looks(const char *golden, const char *const *settings)
{
    struct screen *screen = open_hang(80, 24, settings);
    screen_press(screen, "w");
    screen_expect_golden_looks(screen, golden);
    view_leave(screen);
}

static void colours_are_those_of_the_terminal(void **state)
{
    (void)state;
    looks("looks-256", NULL);
    looks("looks-8", (const char *const[]){"TERM=xterm", NULL});
    looks("looks-no-color", (const char *const[]){"NO_COLOR=1", NULL});
    looks("looks-vt100", (const char *const[]){"TERM=vt100", NULL});
}

static void without_utf8_the_signs_are_ascii(void **state)
{
    (void)state;
    struct screen *screen = open_hang(80, 24, (const char *const[]){"LC_ALL=C", NULL});
    screen_press(screen, "w" KEY_ENTER);
    screen_expect_golden(screen, "warps-ascii");
    for (const char *at = screen_text(screen); *at; at++)
        assert_true((unsigned char)*at < 0x80);
    view_leave(screen);
}

static void names_of_any_script_keep_the_columns(void **state)
{
    (void)state;
    session_example("wide", "矩阵_乘法_e\xcc\x81galite\xcc\x81_\xf0\x9f\x9a\x80_\x1b[31m_\xff_行列");
    struct screen *screen = view_start("wide", 80, 24, NULL);
    screen_expect_golden(screen, "wide-names");
    view_leave(screen);
    screen = view_start("wide", 80, 24, (const char *const[]){"LC_ALL=C", NULL});
    screen_expect_golden(screen, "wide-names-ascii");
    view_leave(screen);
}

static void refused(const char *const *settings, const char *why)
{
    struct screen *screen = open_hang(120, 24, settings);
    screen_expect(screen, why);
    screen_expect_restored(screen);
    assert_int_equal(screen_finish(screen), 125);
}

static void a_terminal_that_cannot_be_drawn_on_is_refused_in_words(void **state)
{
    (void)state;
    refused((const char *const[]){"TERM=dumb", NULL}, "TERM=dumb: a terminal that cannot place its cursor");
    refused((const char *const[]){"TERM=zebra", NULL}, "TERM=zebra: ");
    refused((const char *const[]){"TERM", NULL}, "TERM is not set");
}

static void without_a_terminal_it_says_so(void **state)
{
    (void)state;
    session_replayed(HANG);
    struct outcome view = WSDBG("view", HANG ".db");
    assert_int_equal(view.status, 125);
    assert_int_equal(count_lines(view.err), 1);
    assert_non_null(strstr(view.err, "terminal"));
    assert_string_equal(view.out, "");
    outcome_free(&view);
}

/* The file is judged before the terminal is touched, so this needs none. */
static void refuses_file(const char *path, const char *why)
{
    struct outcome view = WSDBG("view", path);
    assert_int_equal(view.status, 125);
    assert_int_equal(count_lines(view.err), 1);
    assert_non_null(strstr(view.err, path));
    if (!strstr(view.err, why))
        fail_msg("\"%s\" does not say \"%s\"", view.err, why);
    outcome_free(&view);
}

static void a_file_that_is_no_session_is_refused_in_one_line(void **state)
{
    (void)state;
    session_replayed(HANG);
    write_file("empty.db", "", 0);
    write_file("text.db", "not a database, just some words that go on and on and on", 56);
    char *whole = calloc(1, 30000);
    const int fd = open(HANG ".db", O_RDONLY);
    assert_int_equal(read(fd, whole, 30000), 30000);
    close(fd);
    memset(whole + 4096, 0x5a, 20000);
    write_file("corrupt.db", whole, 30000);
    free(whole);
    refuses_file("missing.db", "No such file");
    refuses_file("empty.db", "is empty");
    refuses_file("text.db", "is not a SQLite database");
    refuses_file("corrupt.db", "is damaged");
}

static void a_session_without_a_picture_says_so(void **state)
{
    (void)state;
    const struct wsdbg_session_info info = {
        .command = "./app", .device = "gpu", .started_ns = 1000, .stall_seconds = 2};
    struct wsdbg_store *store = NULL;
    unlink("nothing.db");
    example_ok(wsdbg_store_create("nothing.db", &info, &store));
    wsdbg_store_close(store);
    struct screen *screen = view_open("nothing");
    screen_expect_golden(screen, "no-picture-overview");
    screen_press(screen, "w");
    screen_expect_golden(screen, "no-picture-warps");
    screen_press(screen, "L");
    screen_expect_golden(screen, "no-picture-log");
    view_leave(screen);
}

static void a_session_that_ends_is_followed_to_its_end(void **state)
{
    (void)state;
    struct example example;
    struct wsdbg_store *store = NULL;
    example_hang(&example, 2, 2);
    unlink("growing.db");
    example_ok(wsdbg_store_create("growing.db", &example.info, &store));
    struct screen *screen = view_open("growing");
    screen_expect(screen, "no picture of the GPU yet");
    example_ok(wsdbg_store_snapshot(store, &example.snapshot));
    screen_expect(screen, "gemm");
    screen_expect(screen, "live");
    example_ok(wsdbg_store_diagnosis(store, &example.snapshot, &example.diagnosis));
    screen_expect(screen, "HANG: PARITY_WRONG (proven)");
    example_ok(wsdbg_store_end(store, &example.end));
    screen_expect(screen, "finished");
    wsdbg_store_close(store);
    view_leave(screen);
    example_free(&example);
}

static void damage_found_later_is_told_and_the_picture_stays(void **state)
{
    (void)state;
    struct example example;
    example_hang(&example, 2, 2);
    example.end = (struct wsdbg_session_end){0};
    unlink("damaged.db");
    example_store(&example, "damaged.db");
    example_free(&example);
    struct screen *screen = view_open("damaged");
    screen_expect(screen, "no end");
    const int fd = open("damaged.db", O_WRONLY);
    char rubbish[4096];
    memset(rubbish, 0x5a, sizeof rubbish);
    assert_int_equal(write(fd, rubbish, sizeof rubbish), sizeof rubbish);
    close(fd);
    screen_expect(screen, "damaged.db: ");
    screen_expect(screen, "HANG: PARITY_WRONG");
    view_leave(screen);
}

static void a_closed_window_ends_the_viewer(void **state)
{
    (void)state;
    struct screen *screen = open_hang(80, 24, NULL);
    screen_expect(screen, "overview]");
    const pid_t pid = screen_pid(screen);
    screen_hang_up(screen);
    screen_finish(screen);
    assert_false(process_lives(pid));
}

static void a_signal_gives_the_terminal_back_first(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct screen *screen = open_hang(80, 24, NULL);
        screen_expect(screen, "overview]");
        kill(screen_pid(screen), signals[i]);
        screen_expect_restored(screen);
        assert_int_equal(screen_finish(screen), -signals[i]);
    }
}

static void control_c_leaves(void **state)
{
    (void)state;
    struct screen *screen = open_hang(80, 24, NULL);
    screen_expect(screen, "overview]");
    screen_press(screen, "\x03");
    screen_expect_restored(screen);
    assert_int_equal(screen_finish(screen), 0);
}

static void control_z_stops_and_the_screen_comes_back(void **state)
{
    (void)state;
    struct screen *screen = open_hang(80, 24, NULL);
    screen_expect(screen, "overview]");
    screen_press(screen, "\x1a");
    screen_expect_stopped(screen);
    screen_expect_restored(screen);
    screen_expect_gone(screen, "overview]");
    kill(screen_pid(screen), SIGCONT);
    screen_expect_golden(screen, "overview-80x24");
    view_leave(screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_narrow_terminal_shows_what_fits),
        cmocka_unit_test(any_size_is_drawn_and_left_again),
        cmocka_unit_test(a_resize_midway_is_followed),
        cmocka_unit_test(colours_are_those_of_the_terminal),
        cmocka_unit_test(without_utf8_the_signs_are_ascii),
        cmocka_unit_test(names_of_any_script_keep_the_columns),
        cmocka_unit_test(a_terminal_that_cannot_be_drawn_on_is_refused_in_words),
        cmocka_unit_test(without_a_terminal_it_says_so),
        cmocka_unit_test(a_file_that_is_no_session_is_refused_in_one_line),
        cmocka_unit_test(a_session_without_a_picture_says_so),
        cmocka_unit_test(a_session_that_ends_is_followed_to_its_end),
        cmocka_unit_test(damage_found_later_is_told_and_the_picture_stays),
        cmocka_unit_test(a_closed_window_ends_the_viewer),
        cmocka_unit_test(a_signal_gives_the_terminal_back_first),
        cmocka_unit_test(control_c_leaves),
        cmocka_unit_test(control_z_stops_and_the_screen_comes_back),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
