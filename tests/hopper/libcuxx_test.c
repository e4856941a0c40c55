/* libcuxx_test.c - waits of libcu++ (libcuxx.cu), as nvcc compiles them: a lost one is proven dead at once, others end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/machine.h"

enum { TEXT_BYTES_MOST = 1 << 20, THREADS = 64, INSTRUCTIONS_MOST = 5000000 };
#define DEAD_BEFORE_NS UINT64_C(100000000)

static char text[TEXT_BYTES_MOST];

static int read_text(void **state)
{
    (void)state;
    FILE *const file = fopen(LIBCUXX_PTX, "r");
    if (!file)
        return -1;
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return length == sizeof text - 1 ? -1 : 0;
}

static void ends(const char *kernel, enum wsdbg_gpu_outcome wanted, uint32_t word)
{
    struct machine machine;
    int driver_error = 0;
    machine_create(&machine, text, NULL);
    const struct wsdbg_gpu_launch launch = {.module = machine.module,
                                            .function = wsdbg_ptx_find_function(machine.program, kernel),
                                            .parameters = &machine.out,
                                            .grid = {4, 1, 1},
                                            .block = {THREADS, 1, 1}};
    assert_non_null(launch.function);
    assert_null(wsdbg_gpu_submit(machine.gpu, &launch, &driver_error, &machine.run));
    const enum wsdbg_gpu_outcome outcome = wsdbg_gpu_run(machine.gpu, INSTRUCTIONS_MOST);
    if (outcome != wanted || wsdbg_gpu_time_ns(machine.gpu) > DEAD_BEFORE_NS)
        fail_msg("%s: outcome %d after %llu ns", kernel, (int)outcome,
                 (unsigned long long)wsdbg_gpu_time_ns(machine.gpu));
    for (unsigned i = 0; i < THREADS && word; i++)
        assert_int_equal(machine_word(&machine, i), word);
    machine_destroy(&machine);
}

static void lost_arrivals_are_deadlocks(void **state)
{
    (void)state;
    ends("lost_arrival", WSDBG_GPU_DEADLOCK, 0);
    ends("lost_parity", WSDBG_GPU_DEADLOCK, 0);
}

static void lost_stages_are_deadlocks(void **state)
{
    (void)state;
    ends("lost_commit", WSDBG_GPU_DEADLOCK, 0);
    ends("lost_release", WSDBG_GPU_DEADLOCK, 0);
}

static void what_comes_late_ends_a_wait(void **state)
{
    (void)state;
    ends("arrival", WSDBG_GPU_IDLE, 1);
    ends("pipeline", WSDBG_GPU_IDLE, 1);
}

static void a_timeout_ends_a_wait(void **state)
{
    (void)state;
    ends("timeout", WSDBG_GPU_IDLE, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_arrivals_are_deadlocks),
        cmocka_unit_test(lost_stages_are_deadlocks),
        cmocka_unit_test(what_comes_late_ends_a_wait),
        cmocka_unit_test(a_timeout_ends_a_wait),
    };
    return cmocka_run_group_tests(tests, read_text, NULL);
}
