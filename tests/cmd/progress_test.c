/* progress_test.c - long work says how far it is on a terminal, cleans up after itself, and is silent in a pipe. */
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "base/progress_line.h"

enum { STEPS = 20000 };

static void work(void)
{
    struct wsdbg_progress_line line;
    wsdbg_progress_begin(&line, "exporting", 0);
    for (uint64_t i = 1; i <= STEPS; i++)
        wsdbg_progress_advance(&line.progress, i, STEPS);
    wsdbg_progress_end(&line);
    dprintf(STDERR_FILENO, "<end>");
}

/* What the work writes to a terminal. */
static void screen_of(void (*act)(void), char *screen, size_t bytes)
{
    int master;
    size_t have = 0;
    ssize_t got;
    const pid_t child = forkpty(&master, NULL, NULL, NULL);
    assert_true(child >= 0);
    if (child == 0) {
        act();
        _exit(0);
    }
    while (have + 1 < bytes && (got = read(master, screen + have, bytes - have - 1)) > 0)
        have += (size_t)got;
    screen[have] = '\0';
    waitpid(child, NULL, 0);
    close(master);
}

static void a_terminal_sees_it_and_keeps_nothing(void **state)
{
    (void)state;
    static char screen[1 << 20];
    screen_of(work, screen, sizeof screen);
    assert_memory_equal(screen, "\r\033[Kexporting: 0 %", 17);
    assert_non_null(strstr(screen, "\r\033[K<end>"));
    assert_null(strchr(screen, '\n'));
}

static void work_with_words(void)
{
    struct wsdbg_progress_line line;
    wsdbg_progress_begin(&line, "reading", 0);
    wsdbg_progress_advance(&line.progress, 1, 4);
    wsdbg_progress_hide(&line);
    dprintf(STDERR_FILENO, "<words>");
    wsdbg_progress_advance(&line.progress, 2, 4);
    wsdbg_progress_end(&line);
}

static void it_makes_room_for_words_and_comes_back(void **state)
{
    (void)state;
    char screen[1024];
    screen_of(work_with_words, screen, sizeof screen);
    assert_string_equal(screen, "\r\033[Kreading: 25 % [##########                              ]\r\033[K<words>"
                                "\r\033[Kreading: 50 % [####################                    ]\r\033[K");
}

static void it_is_shown_now_and_then_only(void **state)
{
    (void)state;
    static char screen[1 << 20];
    size_t shown = 0;
    screen_of(work, screen, sizeof screen);
    for (const char *at = screen; (at = strstr(at, "exporting")); at++)
        shown++;
    assert_in_range(shown, 1, STEPS / 10);
}

static void work_without_a_size_shows_nothing(void **state)
{
    (void)state;
    struct wsdbg_progress_line line;
    wsdbg_progress_begin(&line, "exporting", 0);
    line.terminal = true;
    wsdbg_progress_advance(&line.progress, 0, 0);
    assert_int_equal(line.shown_ns, 0);
    wsdbg_progress_end(&line);
}

static void soon_done(void)
{
    struct wsdbg_progress_line line;
    wsdbg_progress_begin(&line, "storing", UINT64_MAX);
    for (uint64_t i = 1; i <= STEPS; i++)
        wsdbg_progress_advance(&line.progress, i, STEPS);
    wsdbg_progress_end(&line);
    dprintf(STDERR_FILENO, "<end>");
}

static void work_that_is_soon_done_shows_nothing(void **state)
{
    (void)state;
    char screen[4096];
    screen_of(soon_done, screen, sizeof screen);
    assert_string_equal(screen, "<end>");
}

static void make_hang(void)
{
    struct outcome replay = WSDBG("replay", WSDBG_SOURCE "/tests/recorded/arrive-missing.wsrec", "-o", "hang.db");
    assert_int_equal(replay.status, 124);
    outcome_free(&replay);
}

static void a_pipe_sees_the_file_and_nothing_else(void **state)
{
    (void)state;
    make_hang();
    struct outcome piped = WSDBG("export", "hang.db", "--perfetto", "-");
    assert_int_equal(piped.status, 0);
    assert_string_equal(piped.err, "");
    assert_int_equal(piped.out[0], '{');
    outcome_free(&piped);
}

static void export_in_a_terminal(void)
{
    execl(WSDBG_BINARY, "wsdbg", "export", "hang.db", "--perfetto", "trace.json", (char *)NULL);
    _exit(99);
}

static void export_shows_it_in_a_terminal(void **state)
{
    (void)state;
    char screen[4096];
    make_hang();
    screen_of(export_in_a_terminal, screen, sizeof screen);
    assert_non_null(strstr(screen, "exporting: "));
    assert_string_equal(screen + strlen(screen) - 4, "\r\033[K");
    assert_int_equal(count_files("trace.json"), 1);
}

/* start() runs wsdbg alone; a shell redirects. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    char said[512] = "";
    make_hang();
    FILE *shell = popen(WSDBG_BINARY " export hang.db --perfetto - 2>&1 >/dev/full", "r");
    assert_non_null(shell);
    said[fread(said, 1, sizeof said - 1, shell)] = '\0';
    assert_int_equal(WEXITSTATUS(pclose(shell)), 125);
    assert_non_null(strstr(said, "No space left on device"));
    assert_int_equal(count_lines(said), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_sees_it_and_keeps_nothing),
        cmocka_unit_test(it_makes_room_for_words_and_comes_back),
        cmocka_unit_test(it_is_shown_now_and_then_only),
        cmocka_unit_test(work_without_a_size_shows_nothing),
        cmocka_unit_test(work_that_is_soon_done_shows_nothing),
        TEST(a_pipe_sees_the_file_and_nothing_else),
        TEST(export_shows_it_in_a_terminal),
        TEST(a_full_disk_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
