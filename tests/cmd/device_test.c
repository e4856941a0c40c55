/* device_test.c - wsdbg run --device: which libcuda the program gets; programs on the simulator, watched as on a GPU.
 */
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

static void sim_puts_the_stand_in_first(void **state)
{
    (void)state;
    setenv("LD_LIBRARY_PATH", "/opt/mine", 1);
    struct outcome run = WSDBG("run", "-q", "--device", "sim", "sh", "-c", "echo $LD_LIBRARY_PATH");
    unsetenv("LD_LIBRARY_PATH");
    assert_int_equal(run.status, 0);
    assert_string_equal(run.out, SIMULATOR ":/opt/mine\n");
    assert_string_equal(run.err, "");
    outcome_free(&run);
}

static void gpu_leaves_the_library_path_alone(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "-q", "--device", "gpu", "sh", "-c", "echo \"<$LD_LIBRARY_PATH>\"");
    assert_string_equal(run.out, "<>\n");
    outcome_free(&run);
}

/* The shim tests' fake libcuda has a device: it counts as the GPU. */
static void auto_takes_the_gpu_where_there_is_one(void **state)
{
    (void)state;
    setenv("LD_LIBRARY_PATH", FAKE_CUDA_FOLDER, 1);
    struct outcome run = WSDBG("run", "-q", "--device", "auto", "sh", "-c", "echo $LD_LIBRARY_PATH");
    unsetenv("LD_LIBRARY_PATH");
    assert_string_equal(run.out, FAKE_CUDA_FOLDER "\n");
    assert_non_null(strstr(run.err, "wsdbg: kernels run on the GPU ("));
    outcome_free(&run);
}

/* On a machine with a driver these say something else. */
static void auto_takes_the_simulator_where_there_is_no_gpu(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "-q", "--device", "auto", "sh", "-c", "echo $LD_LIBRARY_PATH");
    if (strstr(run.err, "on the GPU")) {
        outcome_free(&run);
        skip();
    }
    assert_string_equal(run.out, SIMULATOR "\n");
    assert_string_equal(run.err, "wsdbg: kernels run on the simulated sm_90 (no NVIDIA driver)\n");
    outcome_free(&run);
    run = WSDBG("run", "-q", SIM_APP, "number");
    assert_int_equal(run.status, 0);
    assert_string_equal(run.err, "wsdbg: kernels run on the simulated sm_90 (no NVIDIA driver)\n");
    outcome_free(&run);
}

/* The program would only see that CUDA fails. */
static void settings_that_mean_nothing_are_refused_before_the_program_starts(void **state)
{
    static const struct {
        const char *name, *value, *says;
    } rows[] = {
        {"WSDBG_SIM_SCHEDULE", "bogus", "'bogus' is not round-robin, random or priority"},
        {"WSDBG_SIM_SCHEDULE", "priority:3:", "'' is not a number from 1 to "},
        {"WSDBG_SIM_SEED", "abc", "'abc' is not a number from 0 to "},
        {"WSDBG_SIM_MULTIPROCESSORS", "133", "'133' is not a number from 1 to 132"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv(rows[i].name, rows[i].value, 1);
        const char *const commands[] = {"run", "arm"};
        for (size_t k = 0; k < 2; k++) {
            struct outcome run = WSDBG(commands[k], "--device", "sim", "sh", "-c", "echo started");
            assert_int_equal(run.status, 125);
            assert_string_equal(run.out, "");
            assert_non_null(strstr(run.err, rows[i].name));
            assert_non_null(strstr(run.err, rows[i].says));
            assert_null(strstr(run.err, "no use of CUDA"));
            outcome_free(&run);
        }
        struct outcome run = WSDBG("run", "--device", "gpu", "-q", "true");
        assert_int_equal(run.status, 0);
        outcome_free(&run);
        unsetenv(rows[i].name);
    }
}

/* On a machine with a driver nothing is said. */
static void the_lack_of_a_driver_is_said_where_a_gpu_is_needed(void **state)
{
    (void)state;
    struct outcome run = WSDBG("arm", "sh", "-c", "exit 3");
    assert_int_equal(run.status, 3);
    if (run.err[0] == '\0') {
        outcome_free(&run);
        skip();
    }
    assert_string_equal(run.err,
                        "wsdbg: no NVIDIA driver was found here; wsdbg arm --device sim arms the program on the "
                        "simulator\n");
    outcome_free(&run);
    run = WSDBG("arm", "--env");
    assert_int_equal(run.status, 0);
    assert_non_null(strstr(run.err,
                           "these settings are for a machine with a GPU, those of wsdbg arm --env --device sim "
                           "for the simulator\n"));
    outcome_free(&run);
    run = WSDBG("run", "--device", "gpu", "true");
    assert_string_equal(run.err,
                        "wsdbg: no use of CUDA was seen: there is no NVIDIA driver here; without --device gpu the "
                        "program runs on the simulator\n");
    outcome_free(&run);
}

static void a_driver_or_the_choice_of_a_device_keeps_that_quiet(void **state)
{
    static const char *const devices[] = {"gpu", "sim"};
    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        struct outcome run = WSDBG("arm", "--device", devices[i], "true");
        assert_string_equal(run.err, "");
        outcome_free(&run);
        run = WSDBG("arm", "--env", "--device", devices[i]);
        assert_string_equal(run.err, "");
        outcome_free(&run);
    }
    setenv("LD_LIBRARY_PATH", FAKE_CUDA_FOLDER, 1);
    struct outcome run = WSDBG("arm", "true");
    assert_string_equal(run.err, "");
    outcome_free(&run);
    run = WSDBG("run", "--device", "gpu", "true");
    unsetenv("LD_LIBRARY_PATH");
    assert_string_equal(run.err, "wsdbg: no use of CUDA was seen\n");
    outcome_free(&run);
}

static void what_only_a_gpu_has_is_refused(void **state)
{
    static const char *const words[] = {"--observer=cupti", "--evidence=core"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct outcome run = WSDBG("run", "--device", "sim", words[i], "true");
        assert_int_equal(run.status, 125);
        assert_non_null(strstr(run.err, words[i]));
        assert_non_null(strstr(run.err, "not with --device=sim"));
        outcome_free(&run);
    }
}

static void a_program_runs_on_the_simulator(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "number.db", SIM_APP, "number");
    assert_int_equal(run.status, 0);
    assert_string_equal(run.out, "41 on wsdbg simulated sm_90\n");
    assert_non_null(strstr(run.err, "1 kernel launch seen"));
    outcome_free(&run);
    struct outcome query = WSDBG("query", "number.db", "--csv", "SELECT device FROM session");
    assert_string_equal(query.out, "device\r\nsim\r\n");
    outcome_free(&query);
}

static void a_program_that_launches_nothing_is_said_to(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "none.db", SIM_APP, "none");
    assert_int_equal(run.status, 0);
    assert_non_null(strstr(run.err, "wsdbg: no kernel launch was seen; session in none.db\n"));
    outcome_free(&run);
}

/* It is a question to wsdbg there, too. */
static void sigquit_does_not_reach_the_program(void **state)
{
    (void)state;
    struct running running = WSDBG_START("run", "--device", "sim", "-o", "asked.db", "sh", "-c",
                                         SIM_APP " number; echo x > asked; sleep 1; exit 5");
    while (access("asked", F_OK) != 0)
        usleep(10000);
    kill(running.pid, SIGQUIT);
    struct outcome run = finish(running);
    assert_int_equal(run.status, 5);
    if (!strstr(run.err, "where every warp stands now") && !strstr(run.err, "looked, and saw no warp of a kernel"))
        fail_msg("%s", run.err);
    outcome_free(&run);
}

/* A run without a hang, with its context released or not. */
static void the_last_histories_are_kept_on_request(void **state)
{
    static const char *const kernels[] = {"kept", "released"};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        struct outcome run =
            WSDBG("run", "-q", "--device", "sim", "--keep-history", "-o", "history.db", SIM_APP, kernels[i]);
        assert_int_equal(run.status, 0);
        assert_string_equal(run.err, "");
        outcome_free(&run);
        struct outcome query = WSDBG("query", "history.db", "--csv",
                                     "SELECT warp, group_concat(event) AS events FROM event_named GROUP BY warp");
        assert_string_equal(query.out,
                            "warp,events\r\n"
                            "0,\"kernel begin,mbarrier init,named barrier sync begin,named barrier sync end,mbarrier "
                            "arrive,exit\"\r\n"
                            "1,\"kernel begin,named barrier sync begin,named barrier sync end,mbarrier wait "
                            "begin,mbarrier wait end,exit\"\r\n");
        outcome_free(&query);
        struct outcome report = WSDBG("report", "history.db");
        assert_true(strncmp(report.out, "No stall seen.\n", 15) == 0);
        outcome_free(&report);
        assert_int_equal(remove("history.db"), 0);
    }
    struct outcome run = WSDBG("run", "-q", "--device", "sim", "-o", "history.db", SIM_APP, "kept");
    outcome_free(&run);
    struct outcome query = WSDBG("query", "history.db", "--csv", "SELECT count(*) AS events FROM event");
    assert_string_equal(query.out, "events\r\n0\r\n");
    outcome_free(&query);
}

static void a_fault_is_told(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "fault.db", SIM_APP, "fault");
    assert_int_equal(run.status, 3);
    assert_non_null(strstr(run.err, "wsdbg simulator: fault: "));
    assert_non_null(strstr(run.err, "GPU fault: CUDA error 700 (illegal memory access)"));
    assert_null(strstr(run.err, "--evidence core")); /* the simulator has none, and said where it was already */
    outcome_free(&run);
    struct outcome query = WSDBG("query", "fault.db", "--csv", "SELECT count(*) > 0 AS kept FROM event");
    assert_string_equal(query.out, "kept\r\n1\r\n"); /* the ring outlives the context */
    outcome_free(&query);
}

/* ---- the shim and the stand-in: ways to use the driver ---- */

static void one_stream_hangs_beside_another(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "--stall", "0.5", "-o", "beside.db", SIM_APP, "beside");
    assert_int_equal(run.status, 124);
    assert_non_null(strstr(run.err, "sim_app: beside: 0\n")); /* the other stream came to its end */
    assert_non_null(strstr(run.err, "HANG: "));
    assert_non_null(strstr(run.err, "\nhang, grid 1x1x1, block 64x1x1"));
    assert_non_null(strstr(run.err, "in cuStreamSynchronize for "));
    outcome_free(&run);
    struct outcome query = WSDBG("query", "beside.db", "--csv",
                                 "SELECT count(*) AS launches, count(DISTINCT stream) AS streams FROM launch");
    assert_string_equal(query.out, "launches,streams\r\n21,2\r\n");
    outcome_free(&query);
}

/* One thread waits for a kernel, another one copies what that waits for, seconds later: its first use of the driver, or
 * the first for long.  Only where it sleeps for good the kernel hangs. */
static void a_kernel_is_not_blamed_while_a_thread_may_still_copy_for_it(void **state)
{
    static const struct {
        const char *program;
        int status;
        const char *says;
    } cases[] = {
        {"copied-late", 0, "the program goes on\nSTALL: GLOBAL_SPIN (possible)"},
        {"copied-later", 0, "the program goes on\nSTALL: GLOBAL_SPIN (possible)"},
        {"never-copied", 124, "HANG: GLOBAL_SPIN (likely)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome run =
            WSDBG("run", "--device", "sim", "--stall", "0.5", "-o", cases[i].program, SIM_APP, cases[i].program);
        if (run.status != cases[i].status || !strstr(run.err, cases[i].says))
            print_error("%s: %d, %s", cases[i].program, run.status, run.err);
        assert_int_equal(run.status, cases[i].status);
        assert_non_null(strstr(run.err, cases[i].says));
        outcome_free(&run);
    }
}

static void launches_that_were_looked_up_are_seen(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "number.db", SIM_APP, "looked-up");
    assert_int_equal(run.status, 0);
    assert_string_equal(run.out, "41 on wsdbg simulated sm_90\n");
    assert_non_null(strstr(run.err, "3 kernel launches seen"));
    outcome_free(&run);
}

static void a_program_does_without_what_is_missing(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "missing.db", SIM_APP, "missing");
    assert_int_equal(run.status, 0);
    assert_string_equal(run.out, "41 on wsdbg simulated sm_90\n");
    assert_non_null(strstr(run.err, "wsdbg: the simulated driver has no cuUserObjectCreate\n"));
    assert_non_null(strstr(run.err, "wsdbg: the simulated driver has no cuGraphConditionalHandleCreate\n"));
    assert_non_null(strstr(run.err, "1 kernel launch seen"));
    outcome_free(&run);
}

/* Nobody arrives: the events cannot tell that nobody will. */
static void a_hang_without_probes_is_judged_by_the_device_s_state(void **state)
{
    static const struct {
        const char *evidence, *cause, *place;
    } cases[] = {{"auto", "ARRIVE_MISSING", "PTX:42"}, {"ring", "UNKNOWN", "line 42"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome run = WSDBG("run", "--device", "sim", "--stall", "600", "--evidence", cases[i].evidence, "-o",
                                   cases[i].cause, SIM_APP, "hang");
        assert_int_equal(run.status, 124);
        assert_non_null(strstr(run.err, cases[i].cause));
        assert_non_null(strstr(run.err, cases[i].place));
        assert_non_null(strstr(run.err, " after the simulator proved that nothing can move")); /* not waited for */
        assert_non_null(strstr(run.err, ", stall: proven by the simulator\n"));
        outcome_free(&run);
    }
    struct outcome query = WSDBG("query", "ARRIVE_MISSING", "--csv", "SELECT evidence, stall_proven FROM session");
    assert_string_equal(query.out, "evidence,stall_proven\r\nsimulator,1\r\n");
    outcome_free(&query);
    struct outcome report = WSDBG("report", "ARRIVE_MISSING");
    assert_non_null(strstr(report.out, ", stall: proven by the simulator\n"));
    outcome_free(&report);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(sim_puts_the_stand_in_first),
        TEST(gpu_leaves_the_library_path_alone),
        TEST(auto_takes_the_gpu_where_there_is_one),
        TEST(auto_takes_the_simulator_where_there_is_no_gpu),
        TEST(settings_that_mean_nothing_are_refused_before_the_program_starts),
        TEST(the_lack_of_a_driver_is_said_where_a_gpu_is_needed),
        TEST(a_driver_or_the_choice_of_a_device_keeps_that_quiet),
        TEST(what_only_a_gpu_has_is_refused),
        TEST(a_program_runs_on_the_simulator),
        TEST(a_program_that_launches_nothing_is_said_to),
        TEST(sigquit_does_not_reach_the_program),
        TEST(the_last_histories_are_kept_on_request),
        TEST(a_fault_is_told),
        TEST(a_hang_without_probes_is_judged_by_the_device_s_state),
        TEST(one_stream_hangs_beside_another),
        TEST(a_kernel_is_not_blamed_while_a_thread_may_still_copy_for_it),
        TEST(launches_that_were_looked_up_are_seen),
        TEST(a_program_does_without_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
