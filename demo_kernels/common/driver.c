/* driver.c - see driver.h.  Reads libcuda.so.1; writes nothing but the device. */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SYMBOL_TEXT(symbol) #symbol
#define SYMBOL(function) SYMBOL_TEXT(function)

static struct wsdbg_error *driver_open(struct cuda_driver *out)
{
    /* Never closed: the driver keeps threads of its own. */
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no NVIDIA driver: %s", dlerror());
#define CUDA_FIND(function)                                                  \
    out->function = (__typeof__(&function))dlsym(library, SYMBOL(function)); \
    if (!out->function)                                                      \
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "the NVIDIA driver has no %s", SYMBOL(function));
    CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
    return NULL;
}

struct wsdbg_error *device_check(const struct device *device, CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return NULL;
    const char *text = NULL;
    device->cu.cuGetErrorString(result, &text);
    return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s: CUDA error %d, %s", what, (int)result, text ? text : "unknown");
}

static struct wsdbg_error *find_simulator(struct device *device)
{
    static const char simulated[] = "wsdbg simulated";
    char name[64] = "";
    struct wsdbg_error *error =
        device_check(device, device->cu.cuDeviceGetName(name, sizeof name, device->handle), "cuDeviceGetName");
    device->is_simulated = strncmp(name, simulated, sizeof simulated - 1) == 0;
    return error;
}

static struct wsdbg_error *context_open(struct device *device)
{
    const struct cuda_driver *cu = &device->cu;
    struct wsdbg_error *error = device_check(device, cu->cuInit(0), "cuInit");
    if (!error)
        error = device_check(device, cu->cuDeviceGet(&device->handle, 0), "cuDeviceGet");
    if (!error)
        error = device_check(device,
                             cu->cuDeviceGetAttribute(&device->multiprocessors,
                                                      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device->handle),
                             "cuDeviceGetAttribute");
    if (!error)
        error = find_simulator(device);
    if (!error)
        error = device_check(device, cu->cuDevicePrimaryCtxRetain(&device->context, device->handle),
                             "cuDevicePrimaryCtxRetain");
    if (!error)
        error = device_check(device, cu->cuCtxSetCurrent(device->context), "cuCtxSetCurrent");
    if (!error)
        error = device_check(device, cu->cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    return error;
}

struct wsdbg_error *device_open(struct device *out)
{
    struct device device = {0};
    struct wsdbg_error *error = driver_open(&device.cu);
    if (!error)
        error = context_open(&device);
    if (!error)
        *out = device;
    return error;
}

void device_close(struct device *device)
{
    device->cu.cuStreamDestroy(device->stream);
    device->cu.cuDevicePrimaryCtxRelease(device->handle);
}

struct wsdbg_error *device_upload(const struct device *device, const void *source, size_t bytes, CUdeviceptr *out)
{
    CUdeviceptr memory = 0;
    struct wsdbg_error *error = device_check(device, device->cu.cuMemAlloc(&memory, bytes), "cuMemAlloc");
    if (error)
        return error;
    if (source)
        error = device_check(device, device->cu.cuMemcpyHtoD(memory, source, bytes), "cuMemcpyHtoD");
    else
        error = device_check(device, device->cu.cuMemsetD8(memory, 0, bytes), "cuMemsetD8");
    /* The stream does not wait for the default stream, which the fill may still be running on. */
    if (!error)
        error = device_check(device, device->cu.cuCtxSynchronize(), "cuCtxSynchronize");
    if (error)
        device_free(device, memory);
    else
        *out = memory;
    return error;
}

void device_free(const struct device *device, CUdeviceptr memory)
{
    device->cu.cuMemFree(memory);
}

struct wsdbg_error *device_load(const struct device *device, const void *image, const char *kernel,
                                unsigned shared_bytes, CUmodule *module_out, CUfunction *function_out)
{
    const struct cuda_driver *cu = &device->cu;
    CUmodule module = NULL;
    CUfunction function = NULL;
    struct wsdbg_error *error = device_check(device, cu->cuModuleLoadData(&module, image), "cuModuleLoadData");
    if (error)
        return error;
    error = device_check(device, cu->cuModuleGetFunction(&function, module, kernel), kernel);
    if (!error)
        error = device_check(
            device,
            cu->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared_bytes),
            "cuFuncSetAttribute");
    if (error) {
        cu->cuModuleUnload(module);
        return error;
    }
    *module_out = module;
    *function_out = function;
    return NULL;
}

/* A thread that waits as programs do, so that another one can give up: a synchronisation cannot be left. */
struct waiter {
    CUresult (*synchronize)(CUstream);
    CUresult (*use)(CUcontext);
    CUcontext context;
    CUstream stream;
    CUresult result;
    pthread_mutex_t lock;
    pthread_cond_t done_changed;
    bool done;
};

static void *wait_for_stream(void *argument)
{
    struct waiter *const waiter = argument;
    CUresult result = waiter->use(waiter->context);
    if (result == CUDA_SUCCESS)
        result = waiter->synchronize(waiter->stream);
    pthread_mutex_lock(&waiter->lock);
    waiter->result = result;
    waiter->done = true;
    pthread_cond_signal(&waiter->done_changed);
    pthread_mutex_unlock(&waiter->lock);
    return NULL;
}

/* False when the time is over. */
static bool wait_for_waiter(struct waiter *waiter, long timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&waiter->lock);
    for (int late = 0; !waiter->done && !late;)
        late = pthread_cond_clockwait(&waiter->done_changed, &waiter->lock, CLOCK_MONOTONIC, &until);
    const bool done = waiter->done;
    pthread_mutex_unlock(&waiter->lock);
    return done;
}

static struct wsdbg_error *wait_for(const struct device *device, long timeout_ms, int *completed)
{
    pthread_t thread;
    struct waiter *const waiter = malloc(sizeof *waiter);
    if (!waiter)
        return &wsdbg_error_no_memory;
    *waiter = (struct waiter){.synchronize = device->cu.cuStreamSynchronize,
                              .use = device->cu.cuCtxSetCurrent,
                              .context = device->context,
                              .stream = device->stream,
                              .lock = PTHREAD_MUTEX_INITIALIZER,
                              .done_changed = PTHREAD_COND_INITIALIZER};
    if (pthread_create(&thread, NULL, wait_for_stream, waiter)) {
        free(waiter);
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "no thread to wait with");
    }
    *completed = wait_for_waiter(waiter, timeout_ms);
    if (!*completed) {
        pthread_detach(thread); /* it may come back, and keeps the waiter */
        return NULL;
    }
    pthread_join(thread, NULL);
    const CUresult result = waiter->result;
    free(waiter);
    return device_check(device, result, "the kernel");
}

struct wsdbg_error *device_wait(const struct device *device, const char *program, long timeout_ms)
{
    int completed = 0;
    if (timeout_ms < 0)
        return device_check(device, device->cu.cuStreamSynchronize(device->stream), "the kernel");
    struct wsdbg_error *error = wait_for(device, timeout_ms, &completed);
    if (error || completed)
        return error;
    fprintf(stderr, "%s: no completion after %ld ms\n", program, timeout_ms);
    fflush(NULL);
    _exit(STATUS_TIMED_OUT);
}
