/* registers_test.c - setmaxnreg on the simulator, where the machine code beside the PTX has none. */
#include <stdint.h>

#include "libcuda/kernels.h"

enum { THREADS = 384 };

static void a_request_that_ptxas_ignored_is_served(void **state)
{
    (void)state;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr out = 0;
    uint32_t numbers[THREADS] = {0};
    OK(cu.cuModuleLoad(&module, WSDBG_KEEPS_REGISTERS));
    OK(cu.cuModuleGetFunction(&function, module, "asks"));
    OK(cu.cuMemAlloc_v2(&out, sizeof numbers));
    void *arguments[] = {&out};
    OK(cu.cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemcpyDtoH_v2(numbers, out, sizeof numbers));
    assert_int_equal(numbers[THREADS - 1], THREADS);
    OK(cu.cuMemFree_v2(out));
    OK(cu.cuModuleUnload(module));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_ptxas_ignored_is_served),
    };
    return cmocka_run_group_tests(tests, api_begin, api_end);
}
