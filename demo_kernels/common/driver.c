/* driver.c - see driver.h.  Reads libcuda.so.1; writes nothing but the device. */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
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

/* What is said when the time is over. */
struct limit {
    char message[128];
    size_t bytes;
    timer_t timer;
};

static void give_up(int signal_number, siginfo_t *info, void *context)
{
    const struct limit *const limit = info->si_value.sival_ptr;
    (void)signal_number;
    (void)context;
    const ssize_t written = write(STDERR_FILENO, limit->message, limit->bytes);
    (void)written; /* the status says the same */
    _exit(STATUS_TIMED_OUT);
}

/* A timer ends the program, because a synchronisation cannot be left: so the only thread waits as programs do, and none
 * is there that could still give the GPU work. */
static struct wsdbg_error *begin_limit(struct limit *limit, const char *program, long timeout_ms)
{
    const struct itimerspec until = {.it_value = {timeout_ms / 1000, timeout_ms % 1000 * 1000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM, .sigev_value.sival_ptr = limit};
    struct sigaction action = {.sa_sigaction = give_up, .sa_flags = SA_SIGINFO | SA_RESTART};
    limit->bytes = (size_t)snprintf(limit->message, sizeof limit->message, "%s: no completion after %ld ms\n", program,
                                    timeout_ms);
    if (sigaction(SIGALRM, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &limit->timer))
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "no timer to wait with: %s", strerror(errno));
    fflush(NULL);
    timer_settime(limit->timer, 0, &until, NULL);
    return NULL;
}

struct wsdbg_error *device_wait(const struct device *device, const char *program, long timeout_ms)
{
    struct limit limit;
    struct wsdbg_error *error = timeout_ms < 0 ? NULL : begin_limit(&limit, program, timeout_ms);
    if (error)
        return error;
    error = device_check(device, device->cu.cuStreamSynchronize(device->stream), "the kernel");
    if (timeout_ms >= 0)
        timer_delete(limit.timer);
    return error;
}
