/* stream_test.c - the order of work in streams: events, the default streams, host functions, values in memory.
 *
 * A kernel that polls a flag holds a stream up for as long as a test wants.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "libcuda/kernels.h"

struct gate {
    uint32_t *flag; /* registered memory of the host */
    CUdeviceptr flag_address, out;
};

static CUmodule module;
static struct gate gate;

static int begin(void **state)
{
    api_begin(state);
    module = load_kernels();
    OK(cu.cuMemHostAlloc((void **)&gate.flag, 4, 0));
    OK(cu.cuMemHostGetDevicePointer_v2(&gate.flag_address, gate.flag, 0));
    OK(cu.cuMemAlloc_v2(&gate.out, 4));
    return 0;
}

/* Queues a kernel that ends when the gate is opened. */
static void close_gate(CUstream stream)
{
    void *parameters[] = {&gate.flag_address, &gate.out};
    __atomic_store_n(gate.flag, 0, __ATOMIC_RELEASE);
    OK(launch(find_kernel(module, "poll"), 1, 32, stream, parameters));
}

static void open_gate(void)
{
    __atomic_store_n(gate.flag, 1, __ATOMIC_RELEASE);
}

static CUstream stream_of(unsigned flags)
{
    CUstream stream = NULL;
    OK(cu.cuStreamCreate(&stream, flags));
    return stream;
}

static CUdeviceptr zero(void)
{
    CUdeviceptr memory = 0;
    OK(cu.cuMemAlloc_v2(&memory, 4));
    OK(cu.cuMemsetD32_v2(memory, 0, 1));
    OK(cu.cuCtxSynchronize());
    return memory;
}

static void add(CUdeviceptr to, uint32_t value, CUstream stream)
{
    void *parameters[] = {&to, &value};
    OK(launch(find_kernel(module, "add"), 1, 1, stream, parameters));
}

/* Device memory is memory of the process: what is there now, whatever waits in streams. */
static uint32_t now(CUdeviceptr memory)
{
    return __atomic_load_n((uint32_t *)memory, __ATOMIC_ACQUIRE);
}

static void work_waits_for_what_is_before_it(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = zero();
    uint32_t *pinned = NULL;
    (void)state;
    OK(cu.cuMemHostAlloc((void **)&pinned, 4, 0));
    *pinned = 1;
    close_gate(stream);
    OK(cu.cuMemcpyHtoDAsync_v2(memory, pinned, 4, stream));
    add(memory, 10, stream);
    OK(cu.cuMemcpyDtoHAsync_v2(pinned, memory, 4, stream));
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(stream));
    assert_int_equal(now(memory), 0);
    *pinned = 5; /* pinned memory is read when the copy's turn comes */
    open_gate();
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuStreamQuery(stream));
    assert_int_equal(*pinned, 15);
    OK(cu.cuMemFreeHost(pinned));
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(stream));
}

static void pageable_memory_is_read_at_once(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = zero();
    uint32_t up = 7;
    (void)state;
    close_gate(stream);
    OK(cu.cuMemcpyHtoDAsync_v2(memory, &up, 4, stream));
    up = 8;
    assert_int_equal(now(memory), 0);
    open_gate();
    OK(cu.cuStreamSynchronize(stream));
    assert_int_equal(now(memory), 7);
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(stream));
}

static void streams_do_not_wait_for_each_other(void **state)
{
    CUstream held = stream_of(CU_STREAM_DEFAULT), other = stream_of(CU_STREAM_DEFAULT);
    CUdeviceptr memory = zero();
    (void)state;
    close_gate(held);
    add(memory, 1, other);
    OK(cu.cuStreamSynchronize(other));
    assert_int_equal(now(memory), 1);
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(held));
    open_gate();
    OK(cu.cuCtxSynchronize());
    OK(cu.cuStreamQuery(held));
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(held));
    OK(cu.cuStreamDestroy_v2(other));
}

static void a_destroyed_stream_does_its_work(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = zero();
    (void)state;
    close_gate(stream);
    add(memory, 4, stream);
    OK(cu.cuStreamDestroy_v2(stream));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuStreamQuery(stream));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuStreamDestroy_v2(stream));
    open_gate();
    OK(cu.cuCtxSynchronize());
    assert_int_equal(now(memory), 4);
    OK(cu.cuMemFree_v2(memory));
}

/* ---- the default streams ---- */

static void the_legacy_stream_waits_for_blocking_streams(void **state)
{
    CUstream blocking = stream_of(CU_STREAM_DEFAULT), other = stream_of(CU_STREAM_DEFAULT);
    CUdeviceptr memory = zero();
    (void)state;
    close_gate(blocking);
    add(memory, 1, NULL);
    add(memory, 1, other); /* behind the legacy stream's */
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(NULL));
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(CU_STREAM_LEGACY));
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(other));
    assert_int_equal(now(memory), 0);
    open_gate();
    OK(cu.cuStreamSynchronize(other));
    assert_int_equal(now(memory), 2);
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(blocking));
    OK(cu.cuStreamDestroy_v2(other));
}

static void a_non_blocking_stream_does_not_know_the_legacy_stream(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = zero();
    (void)state;
    close_gate(NULL);
    add(memory, 1, stream);
    OK(cu.cuStreamSynchronize(stream));
    assert_int_equal(now(memory), 1);
    open_gate();
    OK(cu.cuCtxSynchronize());
    close_gate(stream);
    add(memory, 1, NULL);
    OK(cu.cuStreamSynchronize(NULL));
    assert_int_equal(now(memory), 2);
    open_gate();
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(stream));
}

static void *use_own_stream(void *context)
{
    CUdeviceptr memory = 0;
    cu.cuCtxSetCurrent(context);
    cu.cuMemAlloc_v2(&memory, 4);
    cu.cuMemsetD32Async(memory, 6, 1, CU_STREAM_PER_THREAD);
    return (void *)(uintptr_t)(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD) ? 0 : memory);
}

static void each_thread_has_a_default_stream(void **state)
{
    pthread_t thread;
    void *memory = NULL;
    close_gate(CU_STREAM_PER_THREAD);
    pthread_create(&thread, NULL, use_own_stream, *state);
    pthread_join(thread, &memory); /* its stream is not the one that is held up */
    assert_non_null(memory);
    assert_int_equal(now((CUdeviceptr)memory), 6);
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(CU_STREAM_PER_THREAD));
    open_gate();
    OK(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

/* ---- events ---- */

static void an_event_is_done_when_its_place_is_reached(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = NULL;
    (void)state;
    OK(cu.cuEventCreate(&event, 0));
    OK(cu.cuEventQuery(event)); /* never recorded */
    close_gate(stream);
    OK(cu.cuEventRecord(event, stream));
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuEventQuery(event));
    open_gate();
    OK(cu.cuEventSynchronize(event));
    OK(cu.cuEventQuery(event));
    OK(cu.cuEventDestroy_v2(event));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuEventQuery(event));
    OK(cu.cuStreamDestroy_v2(stream));
}

static void a_stream_waits_for_an_event_of_another(void **state)
{
    CUstream first = stream_of(CU_STREAM_NON_BLOCKING), second = stream_of(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = zero();
    CUevent event = NULL;
    (void)state;
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    close_gate(first);
    OK(cu.cuEventRecord(event, first));
    OK(cu.cuStreamWaitEvent(second, event, 0));
    add(memory, 1, second);
    OK(cu.cuEventDestroy_v2(event)); /* the wait stays */
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(second));
    assert_int_equal(now(memory), 0);
    open_gate();
    OK(cu.cuStreamSynchronize(second));
    assert_int_equal(now(memory), 1);
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(first));
    OK(cu.cuStreamDestroy_v2(second));
}

/* Each context has a thread of its own, which must hear of the other's event. */
static void a_stream_waits_for_an_event_of_another_context(void **state)
{
    CUstream first = stream_of(CU_STREAM_NON_BLOCKING), second = NULL;
    CUdeviceptr memory = 0;
    CUcontext other = NULL;
    CUevent event = NULL;
    uint32_t down = 0;
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuCtxCreate_v2(&other, 0, 0));
    OK(cu.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAlloc_v2(&memory, 4));
    OK(cu.cuMemsetD32_v2(memory, 0, 1));
    OK(cu.cuCtxPushCurrent_v2(*state));
    close_gate(first);
    OK(cu.cuEventRecord(event, first));
    OK(cu.cuCtxPopCurrent_v2(NULL));
    OK(cu.cuStreamWaitEvent(second, event, 0));
    OK(cu.cuMemsetD32Async(memory, 7, 1, second));
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(second));
    assert_int_equal(now(memory), 0);
    open_gate();
    OK(cu.cuStreamSynchronize(second));
    OK(cu.cuMemcpyDtoH_v2(&down, memory, 4));
    assert_int_equal(down, 7);
    OK(cu.cuCtxDestroy_v2(other));
    OK(cu.cuEventDestroy_v2(event));
    OK(cu.cuStreamDestroy_v2(first));
}

/* What ended with its context never comes: nobody waits for it for ever. */
static void an_event_of_a_context_that_ended_is_not_waited_for(void **state)
{
    CUcontext other = NULL;
    CUstream held = NULL, waits = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = NULL;
    CUmodule there = NULL;
    OK(cu.cuCtxCreate_v2(&other, 0, 0));
    OK(cu.cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuModuleLoadData(&there, kernels));
    OK(launch(find_kernel(there, "hang"), 1, 32, held, NULL));
    OK(cu.cuEventRecord(event, held));
    OK(cu.cuCtxPushCurrent_v2(*state));
    OK(cu.cuStreamWaitEvent(waits, event, 0));
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(waits));
    OK(cu.cuCtxPopCurrent_v2(NULL));
    OK(cu.cuCtxDestroy_v2(other));
    OK(cu.cuStreamSynchronize(waits));
    OK(cu.cuStreamDestroy_v2(waits));
}

static void a_context_records_all_of_its_streams(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = NULL;
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    close_gate(stream);
    OK(cu.cuCtxRecordEvent(*state, event));
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuEventQuery(event));
    open_gate();
    OK(cu.cuEventSynchronize(event));
    OK(cu.cuStreamQuery(stream));
    OK(cu.cuEventDestroy_v2(event));
    OK(cu.cuStreamDestroy_v2(stream));
}

static void time_passes_between_events(void **state)
{
    CUevent start = NULL, end = NULL, untimed = NULL;
    CUdeviceptr memory = zero();
    float milliseconds = -1;
    (void)state;
    OK(cu.cuEventCreate(&start, 0));
    OK(cu.cuEventCreate(&end, 0));
    OK(cu.cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuEventElapsedTime_v2(&milliseconds, start, end));
    OK(cu.cuEventRecord(start, NULL));
    add(memory, 1, NULL);
    OK(cu.cuEventRecord(end, NULL));
    OK(cu.cuEventRecord(untimed, NULL));
    OK(cu.cuEventSynchronize(end));
    OK(cu.cuEventElapsedTime_v2(&milliseconds, start, end));
    assert_true(milliseconds > 0);
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuEventElapsedTime_v2(&milliseconds, start, untimed));
    OK(cu.cuEventDestroy_v2(start));
    OK(cu.cuEventDestroy_v2(end));
    OK(cu.cuEventDestroy_v2(untimed));
    OK(cu.cuMemFree_v2(memory));
}

/* ---- functions of the host ---- */

struct seen {
    CUdeviceptr memory;
    uint32_t value;
    CUresult inside, status;
    atomic_int calls;
};

static void look(void *user)
{
    struct seen *seen = user;
    seen->value = now(seen->memory);
    seen->inside = cu.cuCtxSynchronize();
    atomic_fetch_add(&seen->calls, 1);
}

static void look_back(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    ((struct seen *)user)->status = status;
    look(user);
}

static void host_functions_are_called_in_their_turn(void **state)
{
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    struct seen seen = {.memory = zero(), .status = -1};
    (void)state;
    close_gate(stream);
    add(seen.memory, 1, stream);
    OK(cu.cuLaunchHostFunc(stream, look, &seen));
    add(seen.memory, 1, stream);
    assert_int_equal(atomic_load(&seen.calls), 0);
    open_gate();
    OK(cu.cuStreamSynchronize(stream));
    assert_int_equal(seen.value, 1);
    assert_int_equal(seen.inside, CUDA_ERROR_NOT_PERMITTED);
    OK(cu.cuStreamAddCallback(stream, look_back, &seen, 0));
    OK(cu.cuStreamSynchronize(stream));
    assert_int_equal(atomic_load(&seen.calls), 2);
    assert_int_equal(seen.status, CUDA_SUCCESS);
    assert_int_equal(seen.value, 2);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchHostFunc(stream, NULL, NULL));
    OK(cu.cuMemFree_v2(seen.memory));
    OK(cu.cuStreamDestroy_v2(stream));
}

static void a_stream_waits_for_a_value(void **state)
{
    enum { EQUAL = 1 };
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = zero();
    (void)state;
    *gate.flag = 0;
    OK(cu.cuStreamWaitValue32_v2(stream, gate.flag_address, 3, EQUAL));
    add(memory, 1, stream);
    assert_cuda(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(stream));
    __atomic_store_n(gate.flag, 3, __ATOMIC_RELEASE);
    OK(cu.cuStreamSynchronize(stream));
    assert_int_equal(now(memory), 1);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuStreamWaitValue32_v2(stream, gate.flag_address + 1, 3, EQUAL));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuStreamWaitValue32_v2(stream, 0x1000, 3, EQUAL));
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(stream));
}

static void priorities_are_clamped_and_nothing_is_captured(void **state)
{
    CUstream stream = NULL;
    int priority = 1, capturing = -1;
    (void)state;
    OK(cu.cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, -100));
    OK(cu.cuStreamGetPriority(stream, &priority));
    assert_int_equal(priority, -5);
    OK(cu.cuStreamIsCapturing(stream, &capturing));
    assert_int_equal(capturing, 0);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuStreamCreate(&stream, 2));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuStreamSynchronize((CUstream)&stream));
    OK(cu.cuStreamDestroy_v2(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_waits_for_what_is_before_it),
        cmocka_unit_test(pageable_memory_is_read_at_once),
        cmocka_unit_test(streams_do_not_wait_for_each_other),
        cmocka_unit_test(a_destroyed_stream_does_its_work),
        cmocka_unit_test(the_legacy_stream_waits_for_blocking_streams),
        cmocka_unit_test(a_non_blocking_stream_does_not_know_the_legacy_stream),
        cmocka_unit_test(each_thread_has_a_default_stream),
        cmocka_unit_test(an_event_is_done_when_its_place_is_reached),
        cmocka_unit_test(a_stream_waits_for_an_event_of_another),
        cmocka_unit_test(a_stream_waits_for_an_event_of_another_context),
        cmocka_unit_test(an_event_of_a_context_that_ended_is_not_waited_for),
        cmocka_unit_test(a_context_records_all_of_its_streams),
        cmocka_unit_test(time_passes_between_events),
        cmocka_unit_test(host_functions_are_called_in_their_turn),
        cmocka_unit_test(a_stream_waits_for_a_value),
        cmocka_unit_test(priorities_are_clamped_and_nothing_is_captured),
    };
    return cmocka_run_group_tests(tests, begin, api_end);
}
