/* ends_test.c - kernels that never end, and kernels that fault: what the program sees, and how it can still end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcuda/kernels.h"

static CUcontext begin(void)
{
    CUcontext context = NULL;
    if (cu.cuInit(0) || cu.cuCtxCreate_v2(&context, 0, 0))
        _exit(90);
    return context;
}

static CUfunction kernel(const char *name)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    if (cu.cuModuleLoadData(&module, kernels) || cu.cuModuleGetFunction(&function, module, name))
        _exit(91);
    return function;
}

static void expect(bool is_right, int status)
{
    if (!is_right)
        _exit(status);
}

/* ---- hangs ---- */

static void *synchronize(void *context)
{
    cu.cuCtxSetCurrent(context);
    cu.cuCtxSynchronize();
    _exit(1); /* it must not come back */
}

static void hang_and_exit(void)
{
    pthread_t thread;
    CUcontext context = begin();
    expect(launch(kernel("hang"), 2, 32, NULL, NULL) == CUDA_SUCCESS, 2);
    pthread_create(&thread, NULL, synchronize, context);
    for (int i = 0; i < 50; i++) {
        usleep(2000);
        expect(cu.cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY, 3);
    }
}

static void exit_does_not_wait_for_a_hung_kernel(void **state)
{
    char said[512];
    (void)state;
    assert_int_equal(in_child(hang_and_exit, 20, said, sizeof said), 0);
    assert_string_equal(said, "");
}

/* Processor time, not elapsed: a machine under load makes it no longer. */
static void hang_and_rest(void)
{
    struct timespec before, after;
    begin();
    expect(launch(kernel("hang"), 4, 256, NULL, NULL) == CUDA_SUCCESS, 2);
    usleep(100000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    usleep(500000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double spent = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    expect(spent < 0.1, 3);
    expect(cu.cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY, 4);
}

static void a_hung_kernel_takes_no_processor(void **state)
{
    char said[512];
    (void)state;
    assert_int_equal(in_child(hang_and_rest, 20, said, sizeof said), 0);
}

/* Other streams go on beside it, as on hardware. */
static void hang_beside_work(void)
{
    CUstream held, other;
    CUdeviceptr memory;
    uint32_t first = 5, down = 0;
    void *parameters[] = {&memory, &first};
    begin();
    cu.cuStreamCreate(&held, CU_STREAM_NON_BLOCKING);
    cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    expect(!cu.cuMemAlloc_v2(&memory, 4), 2);
    expect(!launch(kernel("hang"), 1, 32, held, NULL), 3);
    expect(!launch(kernel("number"), 1, 1, other, parameters), 4);
    expect(!cu.cuMemcpyDtoHAsync_v2(&down, memory, 4, other), 5);
    expect(!cu.cuStreamSynchronize(other) && down == 5, 6);
    expect(cu.cuStreamQuery(held) == CUDA_ERROR_NOT_READY, 7);
}

static void work_goes_on_beside_a_hung_kernel(void **state)
{
    char said[512];
    (void)state;
    assert_int_equal(in_child(hang_beside_work, 20, said, sizeof said), 0);
}

static void hang_and_destroy(void)
{
    CUdeviceptr memory;
    CUcontext context = begin();
    expect(launch(kernel("hang"), 2, 32, NULL, NULL) == CUDA_SUCCESS, 2);
    expect(cu.cuCtxDestroy_v2(context) == CUDA_SUCCESS, 3);
    begin();
    expect(cu.cuMemAlloc_v2(&memory, 16) == CUDA_SUCCESS, 4);
    expect(cu.cuCtxSynchronize() == CUDA_SUCCESS, 5);
}

static void a_context_ends_under_a_hung_kernel(void **state)
{
    char said[512];
    (void)state;
    assert_int_equal(in_child(hang_and_destroy, 20, said, sizeof said), 0);
}

/* ---- faults ---- */

static CUresult fault_at(uint64_t address)
{
    void *parameters[] = {&address};
    expect(launch(kernel("fault"), 1, 32, NULL, parameters) == CUDA_SUCCESS, 80);
    return cu.cuCtxSynchronize();
}

static void fault_and_go_on(void)
{
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CUcontext context = begin(), current = NULL;
    CUfunction other = kernel("big");
    expect(!cu.cuEventCreate(&event, 0), 2);
    expect(fault_at(0x10) == CUDA_ERROR_ILLEGAL_ADDRESS, 3);
    expect(cu.cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS, 4);
    expect(cu.cuMemAlloc_v2(&memory, 16) == CUDA_ERROR_ILLEGAL_ADDRESS, 5);
    expect(cu.cuStreamCreate(&stream, 0) == CUDA_ERROR_ILLEGAL_ADDRESS, 6);
    expect(cu.cuEventQuery(event) == CUDA_ERROR_ILLEGAL_ADDRESS, 7);
    expect(launch(other, 1, 32, NULL, NULL) == CUDA_ERROR_ILLEGAL_ADDRESS, 8);
    expect(!cu.cuCtxGetCurrent(&current) && current == context, 9);
    /* A new context is not concerned. */
    expect(!cu.cuCtxDestroy_v2(context), 10);
    begin();
    expect(!launch(kernel("big"), 1, 32, NULL, NULL) && !cu.cuCtxSynchronize(), 11);
}

static void a_fault_stays(void **state)
{
    char said[2048];
    (void)state;
    assert_int_equal(in_child(fault_and_go_on, 20, said, sizeof said), 0);
    char *first = strstr(said, "wsdbg simulator: fault");
    assert_non_null(first);
    assert_null(strstr(first + 1, "wsdbg simulator: "));
    assert_non_null(strstr(said, "st.global.u32"));
    assert_non_null(strstr(said, "0x10"));
}

static void misaligned(void)
{
    CUdeviceptr memory;
    begin();
    expect(!cu.cuMemAlloc_v2(&memory, 16), 2);
    expect(fault_at(memory + 2) == CUDA_ERROR_MISALIGNED_ADDRESS, 3);
}

static void a_misaligned_store_has_its_own_error(void **state)
{
    char said[2048];
    (void)state;
    assert_int_equal(in_child(misaligned, 20, said, sizeof said), 0);
}

/* One behind the end of an allocation: whose it nearly is, is said. */
static void behind_the_end(void)
{
    CUdeviceptr memory;
    begin();
    expect(!cu.cuMemAlloc_v2(&memory, 16), 2);
    expect(fault_at(memory + 16) == CUDA_ERROR_ILLEGAL_ADDRESS, 3);
}

static void a_store_behind_an_allocation_names_it(void **state)
{
    char said[2048];
    (void)state;
    assert_int_equal(in_child(behind_the_end, 20, said, sizeof said), 0);
    assert_non_null(strstr(said, "16 bytes"));
}

/* A fault ends hung kernels of its context too, and threads that wait for them. */
static void fault_beside_a_hang(void)
{
    CUstream stream;
    begin();
    expect(!cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 2);
    expect(!launch(kernel("hang"), 1, 32, stream, NULL), 3);
    expect(fault_at(0x10) == CUDA_ERROR_ILLEGAL_ADDRESS, 4);
    expect(cu.cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS, 5);
}

static void a_fault_ends_a_hang(void **state)
{
    char said[2048];
    (void)state;
    assert_int_equal(in_child(fault_beside_a_hang, 20, said, sizeof said), 0);
}

static CUresult told = -1;
static void listen(CUstream stream, CUresult status, void *user)
{
    (void)stream, (void)user;
    told = status;
}

static void fault_before_a_callback(void)
{
    uint64_t address = 0x10;
    void *parameters[] = {&address};
    CUcontext context = begin();
    expect(!launch(kernel("fault"), 1, 32, NULL, parameters), 2);
    cu.cuStreamAddCallback(NULL, listen, NULL, 0); /* the context may have failed by now */
    cu.cuCtxSynchronize();
    cu.cuCtxDestroy_v2(context); /* waits for callbacks */
    expect(told == CUDA_ERROR_ILLEGAL_ADDRESS || told == -1, 3);
}

static void callbacks_are_told_of_a_fault(void **state)
{
    char said[2048];
    (void)state;
    assert_int_equal(in_child(fault_before_a_callback, 20, said, sizeof said), 0);
}

static int open_only(void **state)
{
    (void)state;
    api_open();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_does_not_wait_for_a_hung_kernel),
        cmocka_unit_test(a_hung_kernel_takes_no_processor),
        cmocka_unit_test(work_goes_on_beside_a_hung_kernel),
        cmocka_unit_test(a_context_ends_under_a_hung_kernel),
        cmocka_unit_test(a_fault_stays),
        cmocka_unit_test(a_misaligned_store_has_its_own_error),
        cmocka_unit_test(a_store_behind_an_allocation_names_it),
        cmocka_unit_test(a_fault_ends_a_hang),
        cmocka_unit_test(callbacks_are_told_of_a_fault),
    };
    return cmocka_run_group_tests(tests, open_only, NULL);
}
