/* look_test.c - `wsdbg run` around a program whose kernel has no probes: the GPU itself is looked at.  Program, shim,
 * inspector and GPU are those of the fake libcuda; the GPU holds six warps of a kernel without code. */
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

#define HANG "sleep 1.8 | APP_WAITS=1 " SHIM_APP " proc hang"
#define RUN(...) WSDBG("run", "-o", "x.db", __VA_ARGS__)

/* The state of the fake GPU is a file that all its processes share. */
static int set_up(void **state)
{
    static char path[512];
    const int failed = scratch_setup(state);
    char folder[400];
    if (failed || !getcwd(folder, sizeof folder))
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

static void assert_says(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in: %s", words, text);
}

static int look_count(void)
{
    struct outcome query = WSDBG("query", "x.db", "--csv", "SELECT count(*) FROM look");
    const int count = atoi(strchr(query.out, '\n') + 1);
    outcome_free(&query);
    return count;
}

static void work_that_is_not_done_is_looked_at(void **state)
{
    (void)state;
    struct outcome run = RUN("--evidence", "live", "--stall", "0.5", "sh", "-c", HANG);
    assert_int_equal(run.status, 0);
    assert_says(run.err, "nothing has moved for 0.5 s; not known to be a hang: ");
    assert_says(run.err, "1 kernel launch seen, no hang; session in x.db\n");
    assert_true(look_count() >= 2);
    outcome_free(&run);
}

/* The inspector came before the launch, so its look holds nothing back. */
static void a_kernel_that_the_program_may_feed_is_looked_at_and_goes_on(void **state)
{
    (void)state;
    struct outcome run = RUN("--stall", "0.5", "sh", "-c", HANG);
    assert_int_equal(run.status, 0);
    assert_says(run.err, "nothing has moved for 0.5 s; not known to be a hang");
    assert_says(run.err, "1 kernel launch seen, no hang; session in x.db\n");
    assert_true(look_count() > 0);
    outcome_free(&run);
}

/* Nobody waits for the kernel: it may wait for what the program gives the GPU next, and would not get it. */
static void nobody_comes_late_to_a_kernel_that_the_program_may_feed(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_FAIL", "setKernelLaunchNotificationMode", 1); /* so nobody can come before */
    struct outcome run = RUN("--stall", "0.5", "sh", "-c", HANG);
    unsetenv("FAKE_CUDA_FAIL");
    assert_int_equal(run.status, 0);
    assert_says(run.err, "but it was not looked at: no thread of the program waits for it. ");
    assert_says(run.err,
                "1 kernel launch seen, no hang seen, but a stall was not looked at: a kernel may have waited for "
                "new work; session in x.db\n");
    assert_int_equal(look_count(), 0);
    outcome_free(&run);
}

static void a_program_that_only_waits_a_while_is_left_alone(void **state)
{
    (void)state;
    struct outcome run = RUN("sh", "-c", HANG); /* ten seconds are the default */
    assert_string_equal(without_account(run.err), "wsdbg: 1 kernel launch seen, no hang; session in x.db\n");
    assert_int_equal(look_count(), 0);
    outcome_free(&run);
}

static void ring_evidence_never_looks(void **state)
{
    (void)state;
    struct outcome run = RUN("--evidence", "ring", "--stall", "0.5", "sh", "-c", HANG);
    assert_string_equal(run.err, "wsdbg: 1 kernel launch seen, none with probes: a hang would not have been noticed; "
                                 "session in x.db\n");
    assert_int_equal(look_count(), 0);
    outcome_free(&run);
}

static void what_is_in_the_way_is_named(void **state)
{
    (void)state;
    setenv("FAKE_DEBUG_TAKEN", "1", 1);
    struct outcome run = RUN("--evidence", "live", "--stall", "0.5", "sh", "-c", HANG);
    unsetenv("FAKE_DEBUG_TAKEN");
    assert_says(run.err, "another tool in the program");
    assert_says(run.err, "no look at it succeeded, the program goes on");
    assert_says(run.err, "no hang seen, but the GPU could not be looked at; session in x.db\n");
    outcome_free(&run);
}

/* Nothing marks what is launched beside it; two looks see the same kernel. */
static void a_kernel_beside_a_capture_that_never_ends_is_looked_at(void **state)
{
    (void)state;
    struct outcome run = RUN("--stall", "0.5", "sh", "-c", "sleep 3 | APP_WAITS=1 " SHIM_APP " proc capture-left");
    assert_int_equal(run.status, 0);
    assert_says(run.err, "wsdbg: stream captures have hidden for ");
    assert_says(run.err, " s whether the GPU does its work; it looks at the GPU itself");
    assert_says(run.err, "; not known to be a hang: ");
    assert_says(run.err, "2 kernel launches seen, no hang; session in x.db\n");
    assert_true(look_count() >= 2);
    outcome_free(&run);
}

/* The program says that it has launched its kernels, and waits until the file `seen` is there. */
static void assert_sigquit_shows_where_warps_stand(const char *program)
{
    static const char shown[] = "wsdbg: where every warp stands now; no verdict\n";
    char command[512];
    snprintf(command, sizeof command,
             "for i in $(seq 600); do [ -e seen ] && break; sleep 0.05; done | APP_WAITS=1 " SHIM_APP " proc %s >said",
             program);
    struct running running = WSDBG_START("run", "-o", "x.db", "sh", "-c", command);
    assert_int_equal(system("for i in $(seq 600); do grep -sqx ready said && exit; sleep 0.05; done; exit 1"), 0);
    kill(running.pid, SIGQUIT);
    wait_for_words(running, shown);
    write_file("seen", "x", 1);
    struct outcome run = finish(running);
    assert_int_equal(run.status, 0);
    assert_says(run.err, shown);
    assert_says(run.err, "2 of 2 CTAs seen, 6 of 6 warps");
    assert_null(strstr(run.err, "STALL"));
    outcome_free(&run);
}

static void sigquit_shows_where_warps_stand(void **state)
{
    (void)state;
    assert_sigquit_shows_where_warps_stand("hang");
}

static void sigquit_shows_where_warps_stand_during_a_capture(void **state)
{
    (void)state;
    assert_sigquit_shows_where_warps_stand("capture-left");
}

/* The driver takes the question for a dump and never answers; the program lives through the signal that ends the wait.
 * Its contexts are lost all the same. */
static void a_program_whose_dump_does_not_come_is_ended(void **state)
{
    (void)state;
    struct running running =
        WSDBG_START("run", "-o", "x.db", "--evidence=core", "--stall", "0.5", "--", "sh", "-c",
                    "pipe=$(echo $CUDA_COREDUMP_PIPE | sed s/%p/$$/); mkfifo $pipe waits; trap '' TERM;"
                    "sleep 50 > waits & (head -c 1 $pipe > asked; echo >> asked) & APP_WAITS=1 exec " SHIM_APP
                    " proc hang < waits");
    wait_for_file("asked");
    kill(running.pid, SIGTERM);
    struct outcome run = finish(running);
    assert_int_equal(run.status, 124);
    assert_says(run.err, "a signal ended the wait for the GPU core dump of process ");
    assert_says(run.err, "still costs the program its contexts; the program is ended now\n");
    assert_says(run.err, "driver 580 can stand still like this when a kernel uses a bad address");
    assert_says(run.err, "no hang seen, but the GPU could not be looked at; session in x.db\n");
    outcome_free(&run);
}

/* The program with a driver that answers the question for a dump with one that an H200 wrote. */
#define ANSWERED_BY(dump)                                                                                   \
    "pipe=$(echo $CUDA_COREDUMP_PIPE | sed s/%p/$$/); core=$(echo $CUDA_COREDUMP_FILE | sed s/%p/$$/);"     \
    "mkfifo $pipe waits; sleep 50 > waits & (head -c 1 $pipe > asked; cp " WSDBG_DUMPS "/" dump " $core) &" \
    "APP_WAITS=1 exec " SHIM_APP " proc hang < waits"

static void assert_dump_ends_program(const char *script, int status, const char *verdict)
{
    struct outcome run = WSDBG("run", "-o", "x.db", "--evidence=core", "--stall", "0.5", "--", "sh", "-c", script);
    assert_says(run.err, verdict);
    assert_int_equal(run.status, status);
    assert_null(strstr(run.err, "the program goes on"));
    assert_says(run.err, "the program is ended now\n");
    assert_int_equal(strstr(run.err, "the GPU core dump has ended the program's work on the GPU") != NULL,
                     status == 125);
    outcome_free(&run);
}

static void a_dump_that_shows_a_hang_ends_the_program_as_one(void **state)
{
    (void)state;
    assert_dump_ends_program(ANSWERED_BY("gemm-arrive-missing.core.gz"), 124, "HANG: ARRIVE_MISSING (likely)");
}

/* One picture does not show whether the word will be written. */
static void a_dump_whose_cause_is_only_possible_ends_the_program_without_a_hang(void **state)
{
    (void)state;
    assert_dump_ends_program(ANSWERED_BY("waits-global-flag.core.gz"), 125, "STALL: GLOBAL_SPIN (possible)");
}

static void a_dump_of_a_kernel_that_works_ends_the_program_without_a_hang(void **state)
{
    (void)state;
    assert_dump_ends_program(ANSWERED_BY("waits-long-work.core.gz"), 125,
                             "STALL: cause not known (UNKNOWN; that it hangs is possible)");
}

/* ---- armed programs ---- */

/* Starts it armed, with a kernel that hangs; the program waits for its standard input, not for the kernel. */
static void start_armed(char process[16])
{
    FILE *file;
    assert_int_equal(system("mkfifo in; sleep 30 >in & echo $! >sleep.pid; APP_WAITS=1 " WSDBG_BINARY
                            " arm --folder \"$PWD/armed\" -- " SHIM_APP
                            " proc hang <in >app.out 2>&1 & echo $! >app.pid; "
                            "for i in $(seq 100); do grep -q ready app.out && break; sleep 0.1; done"),
                     0);
    file = fopen("app.pid", "r");
    assert_non_null(file);
    assert_non_null(fgets(process, 16, file));
    fclose(file);
    process[strcspn(process, "\n")] = '\0';
}

static void end_armed(const char *process)
{
    assert_int_equal(kill((pid_t)atoi(process), SIGKILL), 0); /* it lived until now */
    assert_int_equal(system("kill $(cat sleep.pid)"), 0);
}

/* Every look at an armed program comes late, and nobody waits for this kernel. */
static void an_armed_program_that_may_feed_its_kernel_is_not_looked_at(void **state)
{
    char process[16];
    (void)state;
    start_armed(process);
    struct outcome attach = WSDBG("attach", "--stall", "0.5", process);
    assert_int_equal(attach.status, 0);
    assert_says(attach.err, "but it was not looked at: no thread of the program waits for it. ");
    assert_says(attach.err, "--look-anyway looks all the same\n");
    assert_says(attach.err, "a hang is possible, the GPU was not looked at; ");
    assert_says(attach.err, "its newest launch is hang, ");
    assert_says(attach.err, "wait_if_asked");
    outcome_free(&attach);
    end_armed(process);
}

static void an_armed_program_is_looked_at_on_request_and_left(void **state)
{
    char process[16];
    (void)state;
    start_armed(process);
    struct outcome attach = WSDBG("attach", "--stall", "0.5", "--look-anyway", "-o", "x.db", process);
    assert_int_equal(attach.status, 0);
    assert_says(attach.err, "nothing has moved for 0.5 s; not known to be a hang: ");
    assert_says(attach.err, "what stands still is not known to be a hang; watched 1 process ");
    assert_true(look_count() >= 2);
    outcome_free(&attach);
    end_armed(process);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(work_that_is_not_done_is_looked_at),
        TEST(a_program_that_only_waits_a_while_is_left_alone),
        TEST(ring_evidence_never_looks),
        TEST(a_kernel_that_the_program_may_feed_is_looked_at_and_goes_on),
        TEST(nobody_comes_late_to_a_kernel_that_the_program_may_feed),
        TEST(an_armed_program_that_may_feed_its_kernel_is_not_looked_at),
        TEST(an_armed_program_is_looked_at_on_request_and_left),
        TEST(what_is_in_the_way_is_named),
        TEST(sigquit_shows_where_warps_stand),
        TEST(sigquit_shows_where_warps_stand_during_a_capture),
        TEST(a_kernel_beside_a_capture_that_never_ends_is_looked_at),
        TEST(a_program_whose_dump_does_not_come_is_ended),
        TEST(a_dump_that_shows_a_hang_ends_the_program_as_one),
        TEST(a_dump_whose_cause_is_only_possible_ends_the_program_without_a_hang),
        TEST(a_dump_of_a_kernel_that_works_ends_the_program_without_a_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
