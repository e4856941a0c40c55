/* state.c - what the runtime keeps for a thread and a device: the thread's device and last error, the devices' primary
 * contexts.
 *
 * Reads: the driver.  Writes: which context is current in the calling thread.  Calls of several threads may come at
 * once.
 *
 * No lock is held while the driver is called: a thread in the driver may wait for the dynamic loader, whose lock
 * another thread holds that opens a library with constructors of CUDA.
 */
#include "libcudart/runtime.h"

#include <pthread.h>

enum { DEVICES_MAX = 64 };

static struct {
    pthread_mutex_t lock;
    _Atomic CUresult initialized;   /* CUDA_ERROR_NOT_INITIALIZED = not tried yet */
    CUcontext primary[DEVICES_MAX]; /* retained until the process ends, NULL = not yet */
    CUresult fault[DEVICES_MAX];    /* of the primary context: stays until cudaDeviceReset */
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER, .initialized = CUDA_ERROR_NOT_INITIALIZED};

static _Thread_local CUdevice thread_device;
static _Thread_local cudaError_t thread_error;
static _Thread_local CUcontext thread_primary; /* the primary context that the runtime made current */

/* Threads that come at the same time all call cuInit, which does it once. */
static CUresult initialize(void)
{
    if (runtime.initialized == CUDA_ERROR_NOT_INITIALIZED)
        runtime.initialized = cuInit(0);
    return runtime.initialized;
}

static CUresult primary_context(CUdevice device, CUcontext *out)
{
    if (device < 0 || device >= DEVICES_MAX)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&runtime.lock);
    *out = runtime.primary[device];
    pthread_mutex_unlock(&runtime.lock);
    if (*out)
        return CUDA_SUCCESS;
    const CUresult result = cuDevicePrimaryCtxRetain(out, device);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&runtime.lock);
    const bool is_second = runtime.primary[device] == *out; /* another thread was faster */
    runtime.primary[device] = *out;
    pthread_mutex_unlock(&runtime.lock);
    return is_second ? cuDevicePrimaryCtxRelease_v2(device) : CUDA_SUCCESS;
}

static CUresult make_current(CUdevice device)
{
    CUcontext context;
    CUresult result = primary_context(device, &context);
    if (result == CUDA_SUCCESS)
        result = cuCtxSetCurrent(context);
    if (result == CUDA_SUCCESS)
        thread_primary = context;
    return result;
}

/* Another thread has reset the device: its primary context is another one now, or none. */
static bool is_reset(CUcontext current)
{
    if (!current || current != thread_primary || thread_device < 0 || thread_device >= DEVICES_MAX)
        return false;
    pthread_mutex_lock(&runtime.lock);
    const bool is_another = runtime.primary[thread_device] != current;
    pthread_mutex_unlock(&runtime.lock);
    return is_another;
}

/* Errors after which a context is of no use. */
static bool is_fault(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
        return true;
    }
    return false;
}

/* The device whose primary context the runtime has made current in this thread, -1 = the program's own is current. */
static CUdevice primary_device(void)
{
    CUcontext current = NULL;
    const bool is_primary = runtime.initialized == CUDA_SUCCESS && cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
                            current && current == thread_primary && thread_device >= 0 && thread_device < DEVICES_MAX;
    return is_primary ? thread_device : -1;
}

static CUresult fault_of(CUdevice device)
{
    if (device < 0)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&runtime.lock);
    const CUresult fault = runtime.fault[device];
    pthread_mutex_unlock(&runtime.lock);
    return fault;
}

static void keep_fault(CUresult fault)
{
    const CUdevice device = primary_device();
    if (device < 0)
        return;
    pthread_mutex_lock(&runtime.lock);
    runtime.fault[device] = fault;
    pthread_mutex_unlock(&runtime.lock);
}

CUresult runtime_enter(void)
{
    CUcontext current = NULL;
    CUresult result = initialize();
    if (result == CUDA_SUCCESS)
        result = cuCtxGetCurrent(&current);
    if (result == CUDA_SUCCESS && (!current || is_reset(current)))
        return make_current(thread_device);
    return result == CUDA_SUCCESS ? fault_of(primary_device()) : result;
}

cudaError_t runtime_done(CUresult result)
{
    if (is_fault(result))
        keep_fault(result);
    return result == CUDA_SUCCESS ? cudaSuccess : runtime_fail(result);
}

cudaError_t runtime_fail(cudaError_t error)
{
    /* That something is not ready yet is an answer and no error. */
    if (error != cudaErrorNotReady)
        thread_error = error;
    return error;
}

CUdevice runtime_device(void)
{
    CUdevice device;
    CUcontext current = NULL;
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current && cuCtxGetDevice(&device) == CUDA_SUCCESS)
        return device;
    return thread_device;
}

RUNTIME(cudaGetLastError, void)
{
    const cudaError_t error = runtime_last_error();
    thread_error = cudaSuccess;
    return error;
}

/* A fault is every thread's last error, whatever else went wrong before it. */
cudaError_t runtime_last_error(void)
{
    const CUresult fault = fault_of(primary_device());
    return fault ? fault : thread_error;
}

RUNTIME(cudaPeekAtLastError, void)
{
    return runtime_last_error();
}

RUNTIME(cudaGetDevice, int *device)
{
    const CUresult result = initialize();
    if (!device)
        return runtime_fail(cudaErrorInvalidValue);
    *device = runtime_device();
    return runtime_done(result);
}

RUNTIME(cudaSetDevice, int device)
{
    int count = 0;
    CUresult result = initialize();
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetCount(&count);
    if (result == CUDA_SUCCESS && (device < 0 || device >= count))
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        result = make_current(device);
    if (result == CUDA_SUCCESS)
        thread_device = device;
    return runtime_done(result);
}

RUNTIME(cudaInitDevice, int device, unsigned device_flags, unsigned flags)
{
    CUcontext context;
    if (flags > 1)
        return runtime_fail(cudaErrorInvalidValue);
    CUresult result = initialize();
    if (result == CUDA_SUCCESS && flags)
        result = cuDevicePrimaryCtxSetFlags_v2(device, device_flags);
    return runtime_done(result == CUDA_SUCCESS ? primary_context(device, &context) : result);
}

RUNTIME(cudaGetDeviceCount, int *count)
{
    const CUresult result = initialize();
    return runtime_done(result == CUDA_SUCCESS ? cuDeviceGetCount(count) : result);
}

RUNTIME(cudaDeviceReset, void)
{
    CUresult result = initialize();
    const CUdevice device = runtime_device();
    if (result == CUDA_SUCCESS)
        result = cuDevicePrimaryCtxReset_v2(device);
    pthread_mutex_lock(&runtime.lock);
    if (result == CUDA_SUCCESS && device >= 0 && device < DEVICES_MAX) {
        runtime.primary[device] = NULL;
        runtime.fault[device] = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&runtime.lock);
    if (result == CUDA_SUCCESS)
        result = cuCtxSetCurrent(NULL);
    if (result == CUDA_SUCCESS && is_fault(thread_error))
        thread_error = cudaSuccess;
    return runtime_done(result);
}
