/* run_test.c - `wsdbg run` around ordinary programs: status, streams, signals, environment, nothing left behind. */
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

static void the_status_is_the_programs(void **state)
{
    static const struct {
        const char *script;
        int status;
    } cases[] = {{"exit 0", 0},      {"exit 7", 7},          {"exit 124", 124},
                 {"kill -9 $$", -9}, {"kill -TERM $$", -15}, {"exit 137", 137}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome run = WSDBG("run", "-q", "sh", "-c", cases[i].script);
        assert_int_equal(run.status, cases[i].status);
        assert_string_equal(run.err, "");
        outcome_free(&run);
    }
}

static void a_program_that_is_not_there_is_127(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "./no-such-program");
    assert_int_equal(run.status, 127);
    assert_string_equal(run.err, "wsdbg: ./no-such-program: No such file or directory\n");
    assert_int_equal(count_files("*.db*"), 0);
    outcome_free(&run);
}

static void a_program_that_cannot_be_executed_is_126(void **state)
{
    (void)state;
    write_file("data", "x", 1);
    struct outcome run = WSDBG("run", "./data");
    assert_int_equal(run.status, 126);
    assert_string_equal(run.err, "wsdbg: ./data: Permission denied\n");
    assert_int_equal(count_files("*.db*"), 0);
    outcome_free(&run);
}

static void streams_pass_untouched(void **state)
{
    (void)state;
    const char *words[] = {"run", "sh", "-c", "cat; echo complaint >&2", NULL};
    struct outcome run = finish(start("line 1\nline 2\n", words));
    assert_string_equal(run.out, "line 1\nline 2\n");
    assert_non_null(strstr(run.err, "complaint\n"));
    assert_non_null(strstr(run.err, "wsdbg: no use of CUDA was seen"));
    assert_int_equal(count_lines(run.err), 2);
    outcome_free(&run);
}

static void the_session_is_named_after_program_and_pid(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--stall", "0.5", "sh", "-c", "echo $$; exec " FAKE_HANG " hang");
    char name[64];
    assert_int_equal(run.status, 124);
    snprintf(name, sizeof name, "wsdbg-sh-%d.db", atoi(run.out));
    assert_int_equal(count_files("*.db*"), 1);
    assert_int_equal(count_files(name), 1);
    outcome_free(&run);
}

static void a_session_in_which_nothing_is_to_be_seen_is_kept_where_its_name_was_given(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "true");
    assert_string_equal(run.err, "wsdbg: no use of CUDA was seen\n");
    assert_int_equal(count_files("*"), 0);
    outcome_free(&run);
    run = WSDBG("run", "-o", "x.db", "true");
    assert_string_equal(run.err, "wsdbg: no use of CUDA was seen; session in x.db\n");
    assert_int_equal(count_files("x.db"), 1);
    outcome_free(&run);
}

static void the_signal_that_killed_the_program_is_named(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "sh", "-c", "kill -SEGV $$");
    assert_int_equal(run.status, -SIGSEGV);
    assert_string_equal(run.err, "wsdbg: the program was killed by SIGSEGV\nwsdbg: no use of CUDA was seen\n");
    outcome_free(&run);
    run = WSDBG("run", "-q", "sh", "-c", "kill -SEGV $$");
    assert_string_equal(run.err, "");
    outcome_free(&run);
}

static void the_program_sees_the_session_and_keeps_its_preload(void **state)
{
    (void)state;
    setenv("LD_PRELOAD", "/nonexistent/other.so", 1);
    struct outcome run = WSDBG("run", "-q", "--history", "16", "env");
    unsetenv("LD_PRELOAD");
    /* Without a GPU the program runs on the simulator, which replaces a static CUDA runtime. */
    assert_non_null(strstr(run.out, "/libwsdbg-shim.so:"));
    assert_non_null(strstr(run.out, ":/nonexistent/other.so\n"));
    assert_non_null(strstr(run.out, "\nWSDBG_SESSION="));
    assert_non_null(strstr(run.out, "WSDBG_HISTORY=16\n"));
    outcome_free(&run);
}

static void the_spool_is_private_and_removed(void **state)
{
    (void)state;
    struct outcome run =
        WSDBG("run", "-q", "sh", "-c", "echo x > $WSDBG_SPOOL/a; stat -c %a $WSDBG_SPOOL; echo $WSDBG_SPOOL");
    assert_memory_equal(run.out, "700\n", 4);
    run.out[strcspn(run.out + 4, "\n") + 4] = '\0';
    assert_int_equal(access(run.out + 4, F_OK), -1);
    outcome_free(&run);
}

static void a_signal_sent_to_wsdbg_reaches_the_program_once(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        char script[256];
        snprintf(script, sizeof script,
                 "trap 'echo got; n=1' %d; echo x > ready; while [ -z \"$n\" ]; do sleep 0.02; done; sleep 0.1; exit 5",
                 signals[i]);
        struct running running = WSDBG_START("run", "-q", "--evidence", "ring", "sh", "-c", script);
        wait_for_file("ready");
        kill(running.pid, signals[i]);
        struct outcome run = finish(running);
        assert_int_equal(run.status, 5);
        assert_string_equal(run.out, "got\n");
        unlink("ready");
        outcome_free(&run);
    }
}

/* Where wsdbg can look at the GPU, SIGQUIT is a question to it. */
static void sigquit_sent_to_wsdbg_asks_for_a_look(void **state)
{
    (void)state;
    struct running running = WSDBG_START("run", "-q", "--device", "gpu", "sh", "-c",
                                         "trap 'echo got' QUIT; echo x > ready; sleep 0.5; exit 5");
    wait_for_file("ready");
    kill(running.pid, SIGQUIT);
    struct outcome run = finish(running);
    assert_int_equal(run.status, 5);
    assert_string_equal(run.out, "");
    assert_string_equal(run.err, "wsdbg: looked, and saw no warp of a kernel\n");
    outcome_free(&run);
}

static void evidence_that_needs_the_debuggers_place_is_refused_beside_cupti(void **state)
{
    (void)state;
    struct outcome live = WSDBG("run", "--evidence", "live", "--observer", "cupti", "true");
    assert_int_equal(live.status, 125);
    assert_non_null(strstr(live.err, "--evidence=live: not with --observer=cupti"));
    assert_int_equal(count_lines(live.err), 1);
    struct outcome core = WSDBG("run", "--evidence=core", "--observer=cupti", "true");
    assert_int_equal(core.status, 125);
    assert_non_null(strstr(core.err, "--evidence=core: not with --observer=cupti"));
    outcome_free(&live);
    outcome_free(&core);
    assert_int_equal(count_files("*.db"), 0);
}

static void a_group_signal_of_the_program_is_not_doubled(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "-q", "sh", "-c", "trap 'echo got' USR1; kill -USR1 0; sleep 0.2; exit 6");
    assert_int_equal(run.status, 6);
    assert_string_equal(run.out, "got\n");
    outcome_free(&run);
}

static void a_background_child_outlives_a_healthy_run(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "-q", "sh", "-c", "sleep 5 >/dev/null 2>&1 & echo $! > pid; exit 0");
    pid_t child = read_pid("pid");
    assert_int_equal(run.status, 0);
    assert_true(process_lives(child));
    kill(child, SIGKILL);
    outcome_free(&run);
}

static bool goes(pid_t process)
{
    for (int i = 0; i < 300 && process_lives(process); i++)
        usleep(10000);
    return !process_lives(process);
}

/* Also what it has started, in a session of its own or not. */
static void the_program_goes_when_wsdbg_is_killed(void **state)
{
    (void)state;
    static const char program[] =
        "sleep 30 & echo $! > pid2; setsid sh -c 'echo $$ > pid3; exec sleep 30' & echo $$ > pid; exec sleep 30";
    struct running running = WSDBG_START("run", "-q", "sh", "-c", program);
    const pid_t processes[] = {read_pid("pid"), read_pid("pid2"), read_pid("pid3")};
    kill(running.pid, SIGKILL);
    struct outcome run = finish(running);
    assert_int_equal(run.status, -SIGKILL);
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++)
        assert_true(goes(processes[i]));
    outcome_free(&run);
}

static void with_detach_the_program_outlives_a_killed_wsdbg(void **state)
{
    (void)state;
    static const char program[] = "sleep 30 & echo $! > pid2; echo $$ > pid; exec sleep 30";
    struct running running = WSDBG_START("run", "-q", "--on-stall", "detach", "sh", "-c", program);
    const pid_t processes[] = {read_pid("pid"), read_pid("pid2")};
    kill(running.pid, SIGKILL);
    struct outcome run = finish(running);
    usleep(300000);
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++) {
        assert_true(process_lives(processes[i]));
        kill(processes[i], SIGKILL);
    }
    outcome_free(&run);
}

static void json_is_all_there_is_on_stdout(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "-q", "--json", "true");
    assert_int_equal(run.status, 0);
    assert_int_equal(run.out[0], '{');
    outcome_free(&run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_status_is_the_programs),
        TEST(a_program_that_is_not_there_is_127),
        TEST(a_program_that_cannot_be_executed_is_126),
        TEST(streams_pass_untouched),
        TEST(the_session_is_named_after_program_and_pid),
        TEST(a_session_in_which_nothing_is_to_be_seen_is_kept_where_its_name_was_given),
        TEST(the_signal_that_killed_the_program_is_named),
        TEST(the_program_sees_the_session_and_keeps_its_preload),
        TEST(the_spool_is_private_and_removed),
        TEST(a_signal_sent_to_wsdbg_reaches_the_program_once),
        TEST(sigquit_sent_to_wsdbg_asks_for_a_look),
        TEST(evidence_that_needs_the_debuggers_place_is_refused_beside_cupti),
        TEST(a_group_signal_of_the_program_is_not_doubled),
        TEST(a_background_child_outlives_a_healthy_run),
        TEST(the_program_goes_when_wsdbg_is_killed),
        TEST(with_detach_the_program_outlives_a_killed_wsdbg),
        TEST(json_is_all_there_is_on_stdout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
