/* threads_test.c - many threads of a program use the driver at once: each its own context, all the primary one, and one
 * that ends under them. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "libcuda/kernels.h"

enum { THREADS = 6, ROUNDS = 20 };

/* A thread's failure: the first call that did not do what it should, by its line; 0 = none. */
#define TRY(call)                              \
    do {                                       \
        if ((call) != CUDA_SUCCESS)            \
            return (void *)(intptr_t)__LINE__; \
    } while (0)

static void run_threads(void *(*body)(void *), void *argument)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, argument), 0);
    for (int i = 0; i < THREADS; i++) {
        void *line = NULL;
        pthread_join(threads[i], &line);
        if (line)
            fail_msg("thread %d: line %d", i, (int)(intptr_t)line);
    }
}

static void *use_own_context(void *unused)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    uint32_t first = 9, down = 0;
    void *parameters[] = {&memory, &first};
    (void)unused;
    for (int i = 0; i < ROUNDS / 4; i++) {
        TRY(cu.cuCtxCreate_v2(&context, 0, 0));
        TRY(cu.cuModuleLoadData(&module, kernels));
        TRY(cu.cuModuleGetFunction(&function, module, "number"));
        TRY(cu.cuMemAlloc_v2(&memory, 4 * 64));
        TRY(launch(function, 2, 32, NULL, parameters));
        TRY(cu.cuMemcpyDtoH_v2(&down, memory + 4 * 63, 4));
        TRY(down == 9 + 63 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
        TRY(cu.cuCtxDestroy_v2(context));
    }
    return NULL;
}

static void each_thread_has_a_context(void **state)
{
    (void)state;
    run_threads(use_own_context, NULL);
}

static void *use_primary_context(void *kernel)
{
    CUcontext context;
    CUdeviceptr memory;
    CUevent event;
    CUfunction add;
    uint32_t one = 1, down = 0;
    void *parameters[] = {&memory, &one};
    TRY(cu.cuDevicePrimaryCtxRetain(&context, 0));
    TRY(cu.cuCtxPushCurrent_v2(context));
    TRY(cu.cuMemAlloc_v2(&memory, 4));
    TRY(cu.cuMemsetD32Async(memory, 0, 1, CU_STREAM_PER_THREAD));
    TRY(cu.cuKernelGetFunction(&add, kernel));
    TRY(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < ROUNDS; i++) {
        TRY(launch(add, 1, 1, CU_STREAM_PER_THREAD, parameters));
        TRY(cu.cuEventRecord(event, CU_STREAM_PER_THREAD));
        TRY(cu.cuStreamWaitEvent(NULL, event, 0)); /* the legacy stream, which all others wait for */
    }
    TRY(cu.cuEventSynchronize(event));
    TRY(cu.cuMemcpyDtoH_v2(&down, memory, 4));
    TRY(down == ROUNDS ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
    TRY(cu.cuEventDestroy_v2(event));
    TRY(cu.cuMemFree_v2(memory));
    TRY(cu.cuCtxPopCurrent_v2(NULL));
    TRY(cu.cuDevicePrimaryCtxRelease_v2(0));
    return NULL;
}

static void all_threads_share_the_primary_context(void **state)
{
    CUcontext primary;
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    (void)state;
    OK(cu.cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cu.cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu.cuLibraryGetKernel(&kernel, library, "add"));
    run_threads(use_primary_context, kernel);
    OK(cu.cuLibraryUnload(library));
    OK(cu.cuDevicePrimaryCtxRelease_v2(0));
}

/* Modules come and go while other threads' kernels run in the same context. */
static void *load_and_unload(void *context)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    uint32_t one = 1, down = 0;
    void *parameters[] = {&memory, &one};
    TRY(cu.cuCtxSetCurrent(context));
    TRY(cu.cuMemAlloc_v2(&memory, 4));
    for (int i = 0; i < ROUNDS / 2; i++) {
        TRY(cu.cuModuleLoadData(&module, kernels));
        TRY(cu.cuModuleGetFunction(&function, module, "number"));
        TRY(launch(function, 1, 1, CU_STREAM_PER_THREAD, parameters));
        TRY(cu.cuModuleUnload(module)); /* waits for the kernel */
        TRY(cu.cuMemcpyDtoH_v2(&down, memory, 4));
        TRY(down == 1 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
    }
    TRY(cu.cuMemFree_v2(memory));
    return NULL;
}

static void modules_come_and_go(void **state)
{
    run_threads(load_and_unload, *state);
}

/* ---- a module that another thread still launches ---- */

static atomic_bool is_unloaded;

static void *launch_until_it_is_gone(void *function)
{
    CUdeviceptr memory = 0;
    uint32_t one = 1;
    void *parameters[] = {&memory, &one};
    CUcontext context;
    CUresult result = CUDA_SUCCESS;
    TRY(cu.cuDevicePrimaryCtxRetain(&context, 0));
    TRY(cu.cuCtxSetCurrent(context));
    TRY(cu.cuMemAlloc_v2(&memory, 4));
    while (result == CUDA_SUCCESS && !atomic_load(&is_unloaded))
        result = launch(function, 1, 1, CU_STREAM_PER_THREAD, parameters);
    TRY(result == CUDA_ERROR_INVALID_HANDLE ? CUDA_SUCCESS : result);
    TRY(cu.cuCtxSynchronize());
    return NULL;
}

static void unload_under_launches(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    pthread_t threads[2];
    if (cu.cuInit(0) || cu.cuDevicePrimaryCtxRetain(&context, 0) || cu.cuCtxSetCurrent(context) ||
        cu.cuModuleLoadData(&module, kernels) || cu.cuModuleGetFunction(&function, module, "number"))
        _exit(1);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, launch_until_it_is_gone, function);
    usleep(20000);
    CUresult result = cu.cuModuleUnload(module);
    atomic_store(&is_unloaded, true);
    for (int i = 0; i < 2; i++) {
        void *line = NULL;
        pthread_join(threads[i], &line);
        if (line)
            _exit(2);
    }
    _exit(result == CUDA_SUCCESS ? 0 : 3);
}

static void a_module_is_unloaded_when_nothing_of_it_runs(void **state)
{
    char said[512];
    (void)state;
    assert_int_equal(in_child(unload_under_launches, 30, said, sizeof said), 0);
}

/* ---- a context ends while threads wait in it ---- */

struct waiter {
    CUcontext context;
    CUevent event;
    CUresult (*wait)(const struct waiter *);
    atomic_bool *begins;
    CUresult result;
};

static CUresult wait_for_context(const struct waiter *waiter)
{
    (void)waiter;
    return cu.cuCtxSynchronize();
}

static CUresult wait_for_stream(const struct waiter *waiter)
{
    (void)waiter;
    return cu.cuStreamSynchronize(NULL);
}

static CUresult wait_for_event(const struct waiter *waiter)
{
    return cu.cuEventSynchronize(waiter->event);
}

static CUresult wait_for_copy(const struct waiter *waiter)
{
    uint32_t down;
    (void)waiter;
    return cu.cuMemcpy((CUdeviceptr)&down, (CUdeviceptr)&down, sizeof down);
}

static void *wait_in_context(void *argument)
{
    struct waiter *waiter = argument;
    cu.cuCtxSetCurrent(waiter->context);
    atomic_store(waiter->begins, true);
    waiter->result = waiter->wait(waiter);
    return NULL;
}

static void destroy_under_waiting_threads(void)
{
    static CUresult (*const waits[])(const struct waiter *) = {wait_for_context, wait_for_stream, wait_for_event,
                                                               wait_for_copy};
    enum { WAITS = sizeof waits / sizeof waits[0] };
    CUcontext context;
    CUmodule module;
    CUfunction hang;
    CUevent event;
    pthread_t threads[WAITS];
    struct waiter waiters[WAITS];
    atomic_bool begins[WAITS];
    if (cu.cuInit(0) || cu.cuCtxCreate_v2(&context, 0, 0) || cu.cuModuleLoadData(&module, kernels) ||
        cu.cuModuleGetFunction(&hang, module, "hang") || cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) ||
        launch(hang, 1, 32, NULL, NULL) || cu.cuEventRecord(event, NULL))
        _exit(1);
    for (int i = 0; i < WAITS; i++) {
        atomic_init(&begins[i], false);
        waiters[i] = (struct waiter){context, event, waits[i], &begins[i], CUDA_ERROR_UNKNOWN};
        pthread_create(&threads[i], NULL, wait_in_context, &waiters[i]);
    }
    for (int i = 0; i < WAITS; i++)
        while (!atomic_load(&begins[i]))
            usleep(100);
    usleep(50000);
    if (cu.cuCtxDestroy_v2(context))
        _exit(2);
    for (int i = 0; i < WAITS; i++) {
        pthread_join(threads[i], NULL);
        if (waiters[i].result != CUDA_ERROR_CONTEXT_IS_DESTROYED)
            _exit(10 + i);
    }
    _exit(0);
}

static void threads_that_wait_are_told_that_the_context_ended(void **state)
{
    char said[512];
    (void)state;
    assert_int_equal(in_child(destroy_under_waiting_threads, 30, said, sizeof said), 0);
}

static int open_only(void **state)
{
    (void)state;
    api_open();
    return 0;
}

int main(void)
{
    const struct CMUnitTest before[] = {
        cmocka_unit_test(a_module_is_unloaded_when_nothing_of_it_runs),
        cmocka_unit_test(threads_that_wait_are_told_that_the_context_ended),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_a_context),
        cmocka_unit_test(all_threads_share_the_primary_context),
        cmocka_unit_test(modules_come_and_go),
    };
    return cmocka_run_group_tests(before, open_only, NULL) + cmocka_run_group_tests(tests, api_begin, api_end);
}
