/* looks_test.c - kernels without probes on live screens: each picture is a look at the GPU that whoever looks on asked
 * for.  Program, inspector and GPU are those of the fake libcuda. */
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

#define CONTROL_BACKSLASH "\x1c"
#define APP "sh", "-c", "echo x > ready; sleep 20 | APP_WAITS=1 exec " SHIM_APP " proc hang"
#define TUI(...) SCREEN(110, 24, WSDBG_BINARY, "run", "--tui", "-o", "x.db", __VA_ARGS__, APP)
#define TOP(...) SCREEN(110, 24, WSDBG_BINARY, "top", __VA_ARGS__)

/* The state of the fake GPU is a file that all its processes share. */
static int set_up(void **state)
{
    static char path[512];
    char folder[400];
    if (scratch_setup(state) || !getcwd(folder, sizeof folder))
        return -1;
    snprintf(path, sizeof path, "%s/gpu", folder);
    write_file(path, "", 0);
    setenv("FAKE_DEBUG_STATE", path, 1);
    setenv("LD_LIBRARY_PATH", FAKE_CUDA_FOLDER, 1);
    return truncate(path, 1 << 20);
}

static int tear_down(void **state)
{
    unsetenv("FAKE_DEBUG_STATE");
    unsetenv("LD_LIBRARY_PATH");
    return scratch_teardown(state);
}

static void end_program(struct screen *screen)
{
    screen_press(screen, "q");
    screen_expect(screen, "y: end it");
    screen_press(screen, "y");
    screen_finish(screen);
}

static void a_live_view_is_refreshed_by_looks_and_says_what_they_cost(void **state)
{
    (void)state;
    struct screen *screen = TUI("--look", "0.3");
    screen_expect(screen, "look ");
    screen_expect(screen, "2/2"); /* its CTAs */
    screen_expect(screen, " ms ago, ");
    end_program(screen);
}

static void without_look_a_live_view_looks_when_asked(void **state)
{
    (void)state;
    struct screen *screen = TUI("-q");
    screen_expect(screen, "1 kernel launch seen");
    usleep(700000);
    assert_null(strstr(screen_text(screen), "look "));
    screen_press(screen, CONTROL_BACKSLASH);
    screen_expect(screen, "2/2");
    end_program(screen);
}

static void top_asks_the_run_for_looks_and_gets_their_pictures(void **state)
{
    (void)state;
    char pid[16];
    struct running run = WSDBG_START("run", "-q", "-o", "x.db", APP);
    snprintf(pid, sizeof pid, "%d", (int)run.pid);
    wait_for_file("ready");
    struct screen *never = TOP(pid, "--look", "never");
    screen_expect(never, "1 kernel launch seen");
    usleep(500000);
    assert_null(strstr(screen_text(never), "2/2"));
    struct screen *screen = TOP(pid, "--look", "0.3");
    screen_expect(screen, "2/2");
    screen_expect(screen, "look ");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 0);
    screen_press(never, "q");
    assert_int_equal(screen_finish(never), 0);
    kill(run.pid, SIGTERM);
    struct outcome outcome = finish(run);
    outcome_free(&outcome);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_live_view_is_refreshed_by_looks_and_says_what_they_cost),
        TEST(without_look_a_live_view_looks_when_asked),
        TEST(top_asks_the_run_for_looks_and_gets_their_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
