/* fake_cuda.c - a small libcuda.so.1 for the shim's tests: contexts, modules, launches and streams on the host.
 *
 * A module image is text: "//fake" then lines `function NAME`, `probes`, `names A B ...`.  A "device address" is
 * a host address; a launched function of a probed module writes the slot and history of warp slot 0 as a
 * probe would.  Kernels by name: `slow` keeps its stream busy for 1.5 s, `fault` ends the context with 719.
 *
 * It checks its callers: a dead or wrong handle ends the process with a message, and an unsafe call during a
 * capture spoils the capture unless the thread's mode is relaxed, as the driver does.
 *
 * FAKE_CUDA_LOG=file    one line per call: "name result"
 * FAKE_CUDA_FAIL_AT=n   the n-th call (from 1) fails with error 999 and does nothing
 * FAKE_CUDA_THUNKS=1    cuGetProcAddress gives addresses that are not exported
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver_api.h"
#include "fake_cuda.h"
#include "wsdbg/ring.h"

#define EXPORT __attribute__((visibility("default")))

enum kind { DEAD = 0xdead, CONTEXT = 0xc0de01, MODULE, LIBRARY, KERNEL, FUNCTION, STREAM, GRAPH };

struct context {
    uint32_t kind;
    int device;
    int error; /* sticky */
};

struct module {
    uint32_t kind; /* MODULE */
    struct context *context;
    int probed;
    struct wsdbg_config config;
    struct wsdbg_name names[8];
    int name_count;
    struct function *functions[8];
    int function_count;
};

struct function {
    uint32_t kind;
    struct module *module;
    char name[64];
    uint32_t count; /* events written so far */
};

struct library {
    uint32_t kind;
    char *image;
    struct module *in[16]; /* one module per context that used it */
    struct kernel *kernels[8];
    int kernel_count;
};

struct kernel {
    uint32_t kind;
    struct library *library;
    char name[64];
};

struct stream {
    uint32_t kind;
    uint64_t busy_until_ns;
    struct graph *capture;
};

struct graph {
    uint32_t kind;
    struct function *functions[64];
    int count;
};

static struct context *primary[2];
static int primary_users[2];
static _Atomic int calls, initialised, launches_done;
static _Atomic int capturing, capture_spoiled;
static struct stream default_stream = {.kind = STREAM};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct context *stack[16];
static __thread int depth;
static __thread int capture_mode; /* 0 global, 2 relaxed */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void complain(const char *what)
{
    fprintf(stderr, "fake_cuda: %s\n", what);
    _exit(97);
}

static void *need(void *handle, uint32_t kind, const char *call)
{
    char text[128];
    if (handle && *(uint32_t *)handle == kind)
        return handle;
    snprintf(text, sizeof text, "%s got a dead or wrong handle", call);
    complain(text);
    return NULL;
}

static int enter(void)
{
    const char *fail_at = getenv("FAKE_CUDA_FAIL_AT");
    int call = atomic_fetch_add(&calls, 1) + 1;
    return fail_at && call == atoi(fail_at) ? 999 : 0;
}

static void log_call(const char *name, int result)
{
    static _Atomic int fd = -2;
    if (fd == -2) {
        const char *path = getenv("FAKE_CUDA_LOG");
        fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    }
    char line[96];
    int length = snprintf(line, sizeof line, "%s %d\n", name, result);
    if (fd >= 0 && write(fd, line, (size_t)length) != length)
        complain("cannot write the log");
}

/* What the driver refuses while a stream is captured. */
static int unsafe(void)
{
    if (atomic_load(&capturing) && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
        atomic_store(&capture_spoiled, 1);
        return 900;
    }
    return 0;
}

static struct context *current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

/* 0, or why nothing can be done in the current context. */
static int context_error(void)
{
    if (!initialised)
        return 3;
    struct context *context = current();
    if (!context)
        return 201;
    need(context, CONTEXT, "a call in the current context");
    return context->error;
}

#define FAKE(name, parameters, arguments)   \
    EXPORT CUresult name parameters;        \
    static CUresult impl_##name parameters; \
    EXPORT CUresult name parameters         \
    {                                       \
        CUresult result = enter();          \
        if (!result)                        \
            result = impl_##name arguments; \
        log_call(#name, result);            \
        return result;                      \
    }                                       \
    static CUresult impl_##name parameters

/* ---- start, devices, contexts ---- */

FAKE(cuInit, (unsigned flags), (flags))
{
    initialised = 1;
    return flags ? 1 : 0;
}

FAKE(cuDriverGetVersion, (int *version), (version))
{
    *version = 13000;
    return 0;
}

FAKE(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device), (value, attribute, device))
{
    if (device < 0 || device > 1)
        return 101;
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT             ? FAKE_SM_COUNT
             : attribute == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? FAKE_WARPS_PER_SM * 32
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR       ? 9
                                                                               : 0;
    return 0;
}

FAKE(cuDeviceGetName, (char *name, int length, CUdevice device), (name, length, device))
{
    snprintf(name, (size_t)length, "Fake GPU %d", device);
    return 0;
}

static CUresult create_context(CUcontext *context, CUdevice device)
{
    if (!initialised)
        return 3;
    struct context *made = calloc(1, sizeof *made);
    made->kind = CONTEXT;
    made->device = device;
    stack[depth++] = made;
    *context = made;
    return 0;
}

FAKE(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device), (context, flags, device))
{
    (void)flags;
    return create_context(context, device);
}

FAKE(cuCtxCreate_v4, (CUcontext * context, void *parameters, unsigned flags, CUdevice device),
     (context, parameters, flags, device))
{
    (void)parameters;
    (void)flags;
    return create_context(context, device);
}

FAKE(cuCtxDestroy_v2, (CUcontext handle), (handle))
{
    struct context *context = need(handle, CONTEXT, "cuCtxDestroy");
    if (current() == context)
        depth--;
    context->kind = DEAD;
    return 0;
}

FAKE(cuCtxGetCurrent, (CUcontext * context), (context))
{
    *context = current();
    return initialised ? 0 : 3;
}

FAKE(cuCtxSetCurrent, (CUcontext context), (context))
{
    if (!depth)
        depth = 1;
    stack[depth - 1] = context;
    if (!context)
        depth--;
    return 0;
}

FAKE(cuCtxPushCurrent_v2, (CUcontext context), (context))
{
    stack[depth++] = need(context, CONTEXT, "cuCtxPushCurrent");
    return 0;
}

FAKE(cuCtxPopCurrent_v2, (CUcontext * context), (context))
{
    if (!depth)
        return 201;
    *context = stack[--depth];
    return 0;
}

FAKE(cuCtxGetDevice, (CUdevice * device), (device))
{
    if (!current())
        return 201;
    *device = current()->device;
    return 0;
}

FAKE(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))
{
    if (!primary[device]) {
        primary[device] = calloc(1, sizeof *primary[device]);
        primary[device]->device = device;
    }
    primary[device]->kind = CONTEXT; /* the same handle comes back to life, as the driver does it */
    primary[device]->error = 0;
    primary_users[device]++;
    *context = primary[device];
    return 0;
}

FAKE(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
{
    if (!primary_users[device])
        return 201;
    if (--primary_users[device] == 0)
        primary[device]->kind = DEAD;
    return 0;
}

FAKE(cuDevicePrimaryCtxReset_v2, (CUdevice device), (device))
{
    primary_users[device] = 0;
    if (primary[device])
        primary[device]->kind = DEAD;
    return 0;
}

FAKE(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active), (device, flags, active))
{
    *flags = 0;
    *active = primary_users[device] > 0;
    return 0;
}

/* ---- modules, libraries, functions ---- */

static void add_names(struct module *module, char *words)
{
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word && module->name_count < 8; word = strtok_r(NULL, " ", &rest)) {
        struct wsdbg_name *name = &module->names[module->name_count];
        name->kind = WSDBG_NAME_ROLE;
        name->id = (uint8_t)module->name_count++;
        snprintf(name->name, sizeof name->name, "%s", word);
    }
}

static struct module *parse(const char *image)
{
    struct module *module = calloc(1, sizeof *module);
    char *copy = strdup(image), *rest = NULL;
    module->kind = MODULE;
    module->context = current();
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "function ", 9) == 0 && module->function_count < 8) {
            struct function *function = calloc(1, sizeof *function);
            function->kind = FUNCTION;
            function->module = module;
            snprintf(function->name, sizeof function->name, "%s", line + 9);
            module->functions[module->function_count++] = function;
        } else if (strcmp(line, "probes") == 0) {
            module->probed = 1;
        } else if (strncmp(line, "names ", 6) == 0) {
            add_names(module, line + 6);
        }
    }
    free(copy);
    return module;
}

static CUresult load_module(CUmodule *module, const void *image)
{
    int error = context_error();
    if (!error)
        error = unsafe();
    if (error)
        return error;
    if (strncmp(image, "//fake", 6) != 0)
        return 200;
    *module = parse(image);
    return 0;
}

FAKE(cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
{
    return load_module(module, image);
}

FAKE(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned count, void *options, void **values),
     (module, image, count, options, values))
{
    (void)count;
    (void)options;
    (void)values;
    return load_module(module, image);
}

FAKE(cuModuleUnload, (CUmodule handle), (handle))
{
    struct module *module = need(handle, MODULE, "cuModuleUnload");
    module->kind = DEAD;
    for (int i = 0; i < module->function_count; i++)
        module->functions[i]->kind = DEAD;
    return 0;
}

static struct function *find_function(struct module *module, const char *name)
{
    for (int i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

FAKE(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name), (function, module, name))
{
    *function = find_function(need(module, MODULE, "cuModuleGetFunction"), name);
    return *function ? 0 : 500;
}

FAKE(cuModuleGetGlobal_v2, (CUdeviceptr * address, size_t *bytes, CUmodule handle, const char *name),
     (address, bytes, handle, name))
{
    struct module *module = need(handle, MODULE, "cuModuleGetGlobal");
    int error = unsafe();
    if (error)
        return error;
    if (module->probed && strcmp(name, WSDBG_CONFIG_SYMBOL) == 0) {
        *address = (CUdeviceptr)(uintptr_t)&module->config;
        *bytes = sizeof module->config;
        return 0;
    }
    if (module->name_count && strcmp(name, WSDBG_NAMES_SYMBOL) == 0) {
        *address = (CUdeviceptr)(uintptr_t)module->names;
        *bytes = (size_t)module->name_count * sizeof *module->names;
        return 0;
    }
    return 500;
}

FAKE(cuFuncGetModule, (CUmodule * module, CUfunction function), (module, function))
{
    *module = ((struct function *)need(function, FUNCTION, "cuFuncGetModule"))->module;
    return 0;
}

FAKE(cuFuncGetName, (const char **name, CUfunction function), (name, function))
{
    *name = ((struct function *)need(function, FUNCTION, "cuFuncGetName"))->name;
    return 0;
}

FAKE(cuFuncGetAttribute, (int *value, int attribute, CUfunction function), (value, attribute, function))
{
    need(function, FUNCTION, "cuFuncGetAttribute");
    *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS                ? FAKE_REGISTERS
             : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
             : attribute == CU_FUNC_ATTRIBUTE_BINARY_VERSION        ? 90
                                                                    : 0;
    return 0;
}

FAKE(cuLibraryLoadData,
     (CUlibrary * handle, const void *code, void *jit, void **jit_values, unsigned jit_count, void *options,
      void **values, unsigned count),
     (handle, code, jit, jit_values, jit_count, options, values, count))
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    struct library *library = calloc(1, sizeof *library);
    library->kind = LIBRARY;
    library->image = strdup(code);
    *handle = library;
    return strncmp(code, "//fake", 6) == 0 ? 0 : 200;
}

FAKE(cuLibraryUnload, (CUlibrary handle), (handle))
{
    struct library *library = need(handle, LIBRARY, "cuLibraryUnload");
    library->kind = DEAD;
    for (int i = 0; i < library->kernel_count; i++)
        library->kernels[i]->kind = DEAD;
    for (int i = 0; i < 16 && library->in[i]; i++)
        library->in[i]->kind = DEAD;
    return 0;
}

FAKE(cuLibraryGetKernel, (CUkernel * handle, CUlibrary in, const char *name), (handle, in, name))
{
    struct library *library = need(in, LIBRARY, "cuLibraryGetKernel");
    struct kernel *kernel = calloc(1, sizeof *kernel);
    kernel->kind = KERNEL;
    kernel->library = library;
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    library->kernels[library->kernel_count++] = kernel;
    *handle = kernel;
    return 0;
}

static struct module *library_module(struct library *library)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < 15 && library->in[i] && library->in[i]->context != current())
        i++;
    if (!library->in[i])
        library->in[i] = parse(library->image);
    pthread_mutex_unlock(&lock);
    return library->in[i];
}

FAKE(cuKernelGetFunction, (CUfunction * function, CUkernel handle), (function, handle))
{
    struct kernel *kernel = need(handle, KERNEL, "cuKernelGetFunction");
    *function = find_function(library_module(kernel->library), kernel->name);
    return *function ? 0 : 500;
}

/* ---- memory ---- */

FAKE(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), (address, bytes))
{
    int error = context_error();
    if (!error)
        error = unsafe();
    if (!error)
        *address = (CUdeviceptr)(uintptr_t)malloc(bytes);
    return error;
}

FAKE(cuMemFree_v2, (CUdeviceptr address), (address))
{
    free((void *)(uintptr_t)address);
    return context_error();
}

FAKE(cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags), (memory, bytes, flags))
{
    (void)memory, (void)bytes, (void)flags;
    int error = unsafe();
    return error ? error : context_error();
}

FAKE(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes))
{
    int error = context_error();
    if (!error)
        error = unsafe();
    if (!error)
        memcpy(to, (void *)(uintptr_t)from, bytes);
    return error;
}

FAKE(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes))
{
    int error = context_error();
    if (!error)
        error = unsafe();
    if (!error)
        memcpy((void *)(uintptr_t)to, from, bytes);
    return error;
}

static CUresult copy_async(void *to, const void *from, size_t bytes, CUstream stream)
{
    int error = context_error();
    need(stream, STREAM, "an asynchronous copy");
    if (!error)
        memcpy(to, from, bytes);
    return error;
}

FAKE(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream))
{
    return copy_async(to, (void *)(uintptr_t)from, bytes, stream);
}

FAKE(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream), (to, from, bytes, stream))
{
    return copy_async((void *)(uintptr_t)to, from, bytes, stream);
}

FAKE(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream), (to, value, bytes, stream))
{
    int error = context_error();
    need(stream, STREAM, "cuMemsetD8Async");
    if (!error)
        memset((void *)(uintptr_t)to, value, bytes);
    return error;
}

/* ---- streams, launches, graphs ---- */

static struct stream *stream_of(CUstream handle)
{
    return (uintptr_t)handle <= 2 ? &default_stream : need(handle, STREAM, "a call with a stream");
}

FAKE(cuStreamCreate, (CUstream * stream, unsigned flags), (stream, flags))
{
    struct stream *made = calloc(1, sizeof *made);
    (void)flags;
    made->kind = STREAM;
    *stream = made;
    return context_error();
}

FAKE(cuStreamQuery, (CUstream handle), (handle))
{
    int error = context_error();
    return error ? error : now_ns() < stream_of(handle)->busy_until_ns ? CUDA_ERROR_NOT_READY : 0;
}

static CUresult wait_stream(struct stream *stream)
{
    while (now_ns() < stream->busy_until_ns)
        usleep(1000);
    return context_error();
}

FAKE(cuStreamSynchronize, (CUstream handle), (handle))
{
    return wait_stream(stream_of(handle));
}

FAKE(cuStreamSynchronize_ptsz, (CUstream handle), (handle))
{
    return wait_stream(stream_of(handle));
}

FAKE(cuCtxSynchronize, (void), ())
{
    return wait_stream(&default_stream);
}

/* What a probe does: one event, in the slot and in the history. */
static void run_probe(struct function *function)
{
    const struct wsdbg_config *config = &function->module->config;
    if (!config->slot_count)
        return;
    struct wsdbg_slot *slot = (void *)(uintptr_t)config->slots_address;
    struct wsdbg_event *history = (void *)(uintptr_t)config->history_address;
    struct wsdbg_event event = {.kind = WSDBG_EVENT_TILE_BEGIN, .sequence = (uint8_t)function->count};
    event.value = function->count;
    slot->module_id = config->module_id;
    slot->state = event;
    history[function->count & config->history_mask] = event;
    function->count++;
}

static void run(struct function *function, struct stream *stream)
{
    launches_done++;
    if (strcmp(function->name, "slow") == 0)
        stream->busy_until_ns = now_ns() + 1500000000u;
    if (strcmp(function->name, "fault") == 0)
        current()->error = 719;
    if (function->module->probed)
        run_probe(function);
}

static CUresult launch(CUfunction handle, unsigned grid, CUstream on)
{
    int error = context_error();
    if (error)
        return error;
    if (!handle)
        return 400;
    struct function *function = handle;
    if (*(uint32_t *)handle == KERNEL) {
        struct kernel *kernel = handle;
        function = find_function(library_module(kernel->library), kernel->name);
    }
    need(function, FUNCTION, "a launch");
    if (grid == 0)
        return 1;
    struct stream *stream = stream_of(on);
    if (stream->capture)
        stream->capture->functions[stream->capture->count++] = function;
    else
        run(function, stream);
    return 0;
}

#define LAUNCH_LIKE(name)                                                                                              \
    FAKE(name,                                                                                                         \
         (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
          CUstream stream, void **parameters, void **extra),                                                           \
         (f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra))                                               \
    {                                                                                                                  \
        (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)parameters, (void)extra;                 \
        return launch(f, gx, stream);                                                                                  \
    }
LAUNCH_LIKE(cuLaunchKernel)
LAUNCH_LIKE(cuLaunchKernel_ptsz)

FAKE(cuLaunchCooperativeKernel,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
      CUstream stream, void **parameters),
     (f, gx, gy, gz, bx, by, bz, shared, stream, parameters))
{
    (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)parameters;
    return launch(f, gx, stream);
}

FAKE(cuLaunchKernelEx, (const struct cu_launch_config *config, CUfunction f, void **parameters, void **extra),
     (config, f, parameters, extra))
{
    (void)parameters, (void)extra;
    return launch(f, config->grid[0], config->stream);
}

FAKE(cuStreamBeginCapture_v2, (CUstream handle, int mode), (handle, mode))
{
    struct stream *stream = stream_of(handle);
    (void)mode;
    stream->capture = calloc(1, sizeof *stream->capture);
    stream->capture->kind = GRAPH;
    capture_spoiled = 0;
    capturing++;
    return 0;
}

FAKE(cuStreamEndCapture, (CUstream handle, CUgraph *graph), (handle, graph))
{
    struct stream *stream = stream_of(handle);
    capturing--;
    *graph = capture_spoiled ? NULL : stream->capture;
    stream->capture = NULL;
    return capture_spoiled ? 901 : 0;
}

FAKE(cuStreamIsCapturing, (CUstream handle, int *status), (handle, status))
{
    *status = stream_of(handle)->capture != NULL;
    return 0;
}

FAKE(cuThreadExchangeStreamCaptureMode, (int *mode), (mode))
{
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return 0;
}

FAKE(cuGraphLaunch, (void *handle, CUstream stream), (handle, stream))
{
    struct graph *graph = need(handle, GRAPH, "cuGraphLaunch");
    for (int i = 0; i < graph->count; i++)
        run(graph->functions[i], stream_of(stream));
    return 0;
}

/* Not of the driver: for tests. */
EXPORT int fake_cuda_launches(void);
EXPORT int fake_cuda_launches(void)
{
    return launches_done;
}

/* ---- cuGetProcAddress ---- */

static CUresult thunk_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

static CUresult find_address(const char *symbol, void **pointer, int version, uint64_t flags);

FAKE(cuGetProcAddress, (const char *symbol, void **pointer, int version, uint64_t flags),
     (symbol, pointer, version, flags))
{
    return find_address(symbol, pointer, version, flags);
}

FAKE(cuGetProcAddress_v2, (const char *symbol, void **pointer, int version, uint64_t flags, int *status),
     (symbol, pointer, version, flags, status))
{
    CUresult result = find_address(symbol, pointer, version, flags);
    if (status)
        *status = result ? 1 : 0;
    return result;
}

static CUresult find_address(const char *symbol, void **pointer, int version, uint64_t flags)
{
    static const struct {
        const char *symbol;
        int per_thread;
        void *address;
    } table[] = {
#define ROW(symbol, address) {#symbol, 0, (void *)address}
        {"cuLaunchKernel", 1, (void *)cuLaunchKernel_ptsz},
        {"cuStreamSynchronize", 1, (void *)cuStreamSynchronize_ptsz},
        ROW(cuInit, cuInit),
        ROW(cuCtxCreate, cuCtxCreate_v4),
        ROW(cuCtxDestroy, cuCtxDestroy_v2),
        ROW(cuCtxSetCurrent, cuCtxSetCurrent),
        ROW(cuCtxSynchronize, cuCtxSynchronize),
        ROW(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain),
        ROW(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2),
        ROW(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2),
        ROW(cuModuleLoadData, cuModuleLoadData),
        ROW(cuModuleUnload, cuModuleUnload),
        ROW(cuModuleGetFunction, cuModuleGetFunction),
        ROW(cuLibraryLoadData, cuLibraryLoadData),
        ROW(cuLibraryUnload, cuLibraryUnload),
        ROW(cuLibraryGetKernel, cuLibraryGetKernel),
        ROW(cuLaunchKernel, cuLaunchKernel),
        ROW(cuLaunchKernelEx, cuLaunchKernelEx),
        ROW(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel),
        ROW(cuStreamCreate, cuStreamCreate),
        ROW(cuStreamSynchronize, cuStreamSynchronize),
        ROW(cuStreamBeginCapture, cuStreamBeginCapture_v2),
        ROW(cuStreamEndCapture, cuStreamEndCapture),
        ROW(cuGraphLaunch, cuGraphLaunch),
        ROW(cuMemAlloc, cuMemAlloc_v2),
        ROW(cuMemFree, cuMemFree_v2),
        ROW(cuMemcpyDtoH, cuMemcpyDtoH_v2),
        ROW(cuMemcpyHtoD, cuMemcpyHtoD_v2),
        ROW(cuGetProcAddress, cuGetProcAddress_v2),
#undef ROW
    };
    int per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *pointer = NULL;
    if (strcmp(symbol, "cuCtxCreate") == 0 && version < 13000) {
        *pointer = (void *)cuCtxCreate_v2;
        return 0;
    }
    if (strcmp(symbol, "cuLaunchKernel") == 0 && !per_thread && getenv("FAKE_CUDA_THUNKS")) {
        *pointer = (void *)thunk_cuLaunchKernel;
        return 0;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table && !*pointer; i++)
        if (strcmp(table[i].symbol, symbol) == 0 && table[i].per_thread <= per_thread)
            *pointer = table[i].address;
    return *pointer ? 0 : 500;
}
