/* top_test.c - `wsdbg top`: running sessions, seen from other terminals. */
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
#include "viewer/sessions.h"

#define TOP(word) SCREEN(80, 24, WSDBG_BINARY, "top", word)

/* A run in the background, watched once it is known that its program runs. */
static struct running start_run(const char *mode, const char *on_stall)
{
    struct running run = WSDBG_START("run", "-o", "x.db", "--stall", "1", "--on-stall", on_stall, FAKE_HANG, mode);
    wait_for_file("pid");
    return run;
}

/* The word that names a run among all the sessions of this machine. */
static const char *name_of(const struct running *run)
{
    static char name[16];
    snprintf(name, sizeof name, "%d", (int)run->pid);
    return name;
}

static void leave(struct screen *screen)
{
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 0);
}

static void the_verdict_and_the_end_of_the_run_are_seen(void **state)
{
    (void)state;
    struct running run = start_run("hang", "kill");
    struct screen *screen = TOP(name_of(&run));
    screen_expect(screen, "live");
    screen_expect(screen, "HANG: WAKER_EXITED (proven)");
    screen_expect(screen, "finished");
    struct outcome outcome = finish(run);
    assert_int_equal(outcome.status, 124);
    screen_press(screen, "L");
    screen_expect(screen, "after the 1.0 s threshold");
    leave(screen);
    /* Being looked at leaves no trace: one file, as without. */
    assert_int_equal(count_files("x.db*"), 1);
    outcome_free(&outcome);
}

static void many_look_at_once_and_the_run_does_not_care(void **state)
{
    struct screen *screens[3];
    (void)state;
    struct running run = start_run("leaves", "wait");
    for (size_t i = 0; i < 3; i++)
        screens[i] = TOP(name_of(&run));
    for (size_t i = 0; i < 3; i++)
        screen_expect(screens[i], "live");
    for (size_t i = 0; i < 3; i++)
        screen_expect(screens[i], "finished");
    for (size_t i = 0; i < 3; i++)
        leave(screens[i]);
    struct outcome outcome = finish(run);
    assert_int_equal(count_files("x.db*"), 1);
    outcome_free(&outcome);
}

static void a_session_is_found_by_the_programs_process_and_by_its_database(void **state)
{
    char program[16];
    (void)state;
    struct running run = start_run("hang", "wait");
    snprintf(program, sizeof program, "%d", (int)read_pid("pid"));
    struct screen *screen = TOP(program);
    screen_expect(screen, "fake_hang");
    leave(screen);
    screen = TOP("x.db");
    screen_expect(screen, "fake_hang");
    leave(screen);
    kill(run.pid, SIGTERM);
    struct outcome outcome = finish(run);
    outcome_free(&outcome);
}

/* The list of sessions, once the run is in it. */
static struct outcome list_with(const struct running *run)
{
    struct outcome list = WSDBG("top", "--list");
    for (int tries = 0; tries < 100 && !strstr(list.out, name_of(run)); tries++) {
        outcome_free(&list);
        list = WSDBG("top", "--list");
    }
    return list;
}

static void several_sessions_are_listed(void **state)
{
    (void)state;
    struct running first = start_run("hang", "wait");
    struct running second = WSDBG_START("run", "-o", "y.db", "--on-stall", "wait", FAKE_HANG, "hang");
    struct outcome list = list_with(&second);
    assert_int_equal(list.status, 0);
    assert_non_null(strstr(list.out, "SESSION"));
    assert_non_null(strstr(list.out, name_of(&first)));
    assert_non_null(strstr(list.out, name_of(&second)));
    assert_non_null(strstr(list.out, "running"));
    outcome_free(&list);
    kill(first.pid, SIGTERM);
    kill(second.pid, SIGTERM);
    struct outcome outcome = finish(first);
    outcome_free(&outcome);
    outcome = finish(second);
    outcome_free(&outcome);
}

static void a_verdict_is_listed_until_something_moves(void **state)
{
    (void)state;
    struct running run = start_run("hang", "wait");
    struct outcome list = list_with(&run);
    for (int tries = 0; tries < 1000 && !strstr(list.out, "hang: WAKER_EXITED"); tries++) {
        outcome_free(&list);
        list = WSDBG("top", "--list");
        usleep(20000);
    }
    assert_non_null(strstr(list.out, "hang: WAKER_EXITED"));
    outcome_free(&list);
    for (int tries = 0; tries < 20;
         tries++) { /* wsdbg may write another picture, in which nothing has moved, behind it */
        session_change("x", "INSERT INTO snapshot (id, time_ns, launches_total, torn_events, foreign_slots, lost_rows, "
                            "progress_ns) SELECT id + 1000, time_ns + 1, launches_total, torn_events, foreign_slots, "
                            "lost_rows, progress_ns + 1 FROM shown_snapshot");
        list = WSDBG("top", "--list");
        if (!strstr(list.out, "hang: WAKER_EXITED"))
            break;
        outcome_free(&list);
        list.out = NULL;
    }
    assert_non_null(list.out);
    outcome_free(&list);
    kill(run.pid, SIGTERM);
    struct outcome outcome = finish(run);
    outcome_free(&outcome);
}

static void a_run_that_was_killed_is_said_to_be_gone(void **state)
{
    (void)state;
    struct running run = start_run("hang", "wait");
    struct screen *screen = TOP(name_of(&run));
    screen_expect(screen, "HANG: WAKER_EXITED");
    kill(run.pid, SIGKILL);
    screen_expect(screen, "is gone and did not finish the session");
    leave(screen);
    struct outcome outcome = finish(run);
    outcome_free(&outcome);
}

static void what_is_not_running_is_one_line(void **state)
{
    (void)state;
    write_file("z.db", "x", 1);
    struct outcome top = WSDBG("top", "no-such-session");
    assert_int_equal(top.status, 125);
    assert_non_null(strstr(top.err, "no running session of yours has this name, process or file"));
    assert_int_equal(count_lines(top.err), 1);
    outcome_free(&top);
    top = WSDBG("top", "z.db");
    assert_int_equal(top.status, 125);
    assert_non_null(strstr(top.err, "wsdbg view z.db"));
    outcome_free(&top);
}

static void it_needs_a_terminal(void **state)
{
    (void)state;
    struct running run = start_run("leaves", "wait");
    struct outcome top = WSDBG("top", "x.db");
    assert_int_equal(top.status, 125);
    assert_non_null(strstr(top.err, "needs a terminal"));
    outcome_free(&top);
    struct outcome outcome = finish(run);
    outcome_free(&outcome);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_verdict_and_the_end_of_the_run_are_seen),
        TEST(many_look_at_once_and_the_run_does_not_care),
        TEST(a_session_is_found_by_the_programs_process_and_by_its_database),
        TEST(several_sessions_are_listed),
        TEST(a_verdict_is_listed_until_something_moves),
        TEST(a_run_that_was_killed_is_said_to_be_gone),
        TEST(what_is_not_running_is_one_line),
        TEST(it_needs_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
