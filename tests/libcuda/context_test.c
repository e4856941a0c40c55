/* context_test.c - contexts: a stack on each thread, the primary one, limits. */
#include <pthread.h>

#include "libcuda/api.h"

static CUcontext current(void)
{
    CUcontext context = NULL;
    OK(cu.cuCtxGetCurrent(&context));
    return context;
}

static void contexts_are_a_stack(void **state)
{
    CUcontext second, popped;
    OK(cu.cuCtxCreate_v2(&second, 0, 0));
    assert_ptr_equal(current(), second);
    OK(cu.cuCtxPushCurrent_v2(*state));
    assert_ptr_equal(current(), *state);
    OK(cu.cuCtxPopCurrent_v2(&popped));
    assert_ptr_equal(popped, *state);
    OK(cu.cuCtxDestroy_v2(second));
    assert_ptr_equal(current(), *state);
}

static void setting_none_pops(void **state)
{
    OK(cu.cuCtxSetCurrent(NULL));
    assert_null(current());
    assert_cuda(CUDA_ERROR_INVALID_CONTEXT, cu.cuCtxSynchronize());
    assert_cuda(CUDA_ERROR_INVALID_CONTEXT, cu.cuCtxPopCurrent_v2(NULL));
    OK(cu.cuCtxSetCurrent(*state));
}

static void *look_on_another_thread(void *out)
{
    cu.cuCtxGetCurrent(out);
    return NULL;
}

static void another_thread_has_none(void **state)
{
    pthread_t thread;
    CUcontext there = *state;
    pthread_create(&thread, NULL, look_on_another_thread, &there);
    pthread_join(thread, NULL);
    assert_null(there);
}

static void *set_and_synchronize(void *context)
{
    CUresult result = cu.cuCtxSetCurrent(context);
    return (void *)(intptr_t)(result ? result : cu.cuCtxSynchronize());
}

static void a_destroyed_context_is_told_from_none(void **state)
{
    CUcontext second;
    (void)state;
    OK(cu.cuCtxCreate_v2(&second, 0, 0));
    OK(cu.cuCtxDestroy_v2(second));
    assert_cuda(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.cuCtxSetCurrent(second));
    assert_cuda(CUDA_ERROR_INVALID_CONTEXT, cu.cuCtxSetCurrent((CUcontext)&second));
}

static void one_context_serves_many_threads(void **state)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, set_and_synchronize, *state);
    for (int i = 0; i < 8; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_int_equal((intptr_t)result, CUDA_SUCCESS);
    }
}

static void the_primary_context_lives_while_it_is_retained(void **state)
{
    CUcontext first, second;
    unsigned flags;
    int active = -1;
    (void)state;
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 0);
    OK(cu.cuDevicePrimaryCtxRetain(&first, 0));
    OK(cu.cuDevicePrimaryCtxRetain(&second, 0));
    assert_ptr_equal(first, second);
    assert_cuda(CUDA_ERROR_INVALID_CONTEXT, cu.cuCtxDestroy_v2(first));
    OK(cu.cuDevicePrimaryCtxRelease_v2(0));
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 1);
    OK(cu.cuDevicePrimaryCtxRelease_v2(0));
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 0);
    assert_cuda(CUDA_ERROR_INVALID_CONTEXT, cu.cuDevicePrimaryCtxRelease_v2(0));
    assert_cuda(CUDA_ERROR_INVALID_DEVICE, cu.cuDevicePrimaryCtxRetain(&first, 1));
}

static void a_limit_is_kept(void **state)
{
    size_t value = 0;
    (void)state;
    OK(cu.cuCtxSetLimit(0, 4096));
    OK(cu.cuCtxGetLimit(&value, 0));
    assert_int_equal(value, 4096);
    assert_cuda(CUDA_ERROR_UNSUPPORTED_LIMIT, cu.cuCtxGetLimit(&value, 99));
    assert_cuda(CUDA_ERROR_UNSUPPORTED_LIMIT, cu.cuCtxSetLimit(-1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_are_a_stack),
        cmocka_unit_test(setting_none_pops),
        cmocka_unit_test(another_thread_has_none),
        cmocka_unit_test(a_destroyed_context_is_told_from_none),
        cmocka_unit_test(one_context_serves_many_threads),
        cmocka_unit_test(the_primary_context_lives_while_it_is_retained),
        cmocka_unit_test(a_limit_is_kept),
    };
    return cmocka_run_group_tests(tests, api_begin, api_end);
}
