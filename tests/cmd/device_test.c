/* device_test.c - wsdbg run --device: which libcuda the program gets; programs on the simulator, watched as on a GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

static void what_only_a_gpu_has_is_refused(void **state)
{
    static const char *const words[] = {"--observer=cupti", "--evidence=live", "--evidence=core"};
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

static void a_fault_is_told(void **state)
{
    (void)state;
    struct outcome run = WSDBG("run", "--device", "sim", "-o", "fault.db", SIM_APP, "fault");
    assert_int_equal(run.status, 3);
    assert_non_null(strstr(run.err, "wsdbg simulator: fault: "));
    assert_non_null(strstr(run.err, "GPU fault: CUDA error 700 (illegal memory access)"));
    outcome_free(&run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(sim_puts_the_stand_in_first),
        TEST(gpu_leaves_the_library_path_alone),
        TEST(auto_takes_the_gpu_where_there_is_one),
        TEST(auto_takes_the_simulator_where_there_is_no_gpu),
        TEST(what_only_a_gpu_has_is_refused),
        TEST(a_program_runs_on_the_simulator),
        TEST(a_fault_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
