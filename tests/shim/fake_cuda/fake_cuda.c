/* fake_cuda.c - a small libcuda.so.1 for the shim's tests: contexts, modules, launches and streams on the host.
 *
 * A module image is text: "//fake" then lines `function NAME`, `probes`, `names A B ...`; or PTX, of which only the
 * entries' names are read, each at the start of a line.  A "device address" is a host address; what a kernel does goes
 * by its name (fake_kernel.c).
 *
 * It checks its callers: a dead or wrong handle ends the process with a message, and an unsafe call during a
 * capture spoils the capture unless the thread's mode is relaxed, as the driver does.
 *
 * FAKE_CUDA_LOG=file    one line per call: "name result"
 * FAKE_CUDA_FAIL_AT=n   the n-th call (from 1) fails with error 999 and does nothing
 * FAKE_CUDA_FAIL=name, FAKE_CUDA_HANG=name, FAKE_CUDA_CRASH=name   that call fails, never returns, kills the process
 * FAKE_CUDA_ONCE=file   only the process that removes the file hangs or is killed
 * FAKE_CUDA_THUNKS=1    cuGetProcAddress gives addresses that are not exported
 * FAKE_CUDA_SLOW=name,ms   that call takes so long; exit() with one under way ends the process with a message
 * FAKE_CUDA_REUSES=1    a module that is loaded gets the handles of the one that was unloaded last
 * FAKE_CUDA_LOSES=1     what an asynchronous copy should write to the GPU does not arrive there
 * FAKE_CUDA_ERRNO=1     calls that programs of the tests do not make themselves leave an errno
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_calls.h"
#include "fake_internal.h"

static struct context *primary[2];
static int primary_users[2];
static _Atomic int calls, initialised, slow_calls;
static __thread struct context *stack[16];
static __thread int depth;

void fake_complain(const char *what)
{
    fprintf(stderr, "fake_cuda: %s\n", what);
    _exit(97);
}

void *fake_need(void *handle, uint32_t kind, const char *call)
{
    char text[128];
    if (handle && *(uint32_t *)handle == kind)
        return handle;
    snprintf(text, sizeof text, "%s got a dead or wrong handle", call);
    fake_complain(text);
}

static int is_asked(const char *variable, const char *name)
{
    const char *asked = getenv(variable);
    return asked && strcmp(asked, name) == 0;
}

static int is_in_trouble(const char *variable, const char *name)
{
    const char *once = getenv("FAKE_CUDA_ONCE");
    return is_asked(variable, name) && (!once || unlink(once) == 0);
}

static int is_programs(const char *name)
{
    static const char *const names[] = {
#define X(symbol, exported, types) #exported,
        FAKE_CALLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return 0;
}

static void be_slow(const char *name)
{
    const char *asked = getenv("FAKE_CUDA_SLOW");
    const size_t length = strlen(name);
    if (!asked || strncmp(asked, name, length) != 0 || asked[length] != ',')
        return;
    atomic_fetch_add(&slow_calls, 1);
    usleep((useconds_t)atoi(asked + length + 1) * 1000);
    atomic_fetch_sub(&slow_calls, 1);
}

/* As the driver's exit handlers: they take down what a call still uses. */
static void end(void)
{
    if (atomic_load(&slow_calls))
        fake_complain("exit while a call is under way");
}

int fake_enter(const char *name)
{
    const char *fail_at = getenv("FAKE_CUDA_FAIL_AT");
    int call = atomic_fetch_add(&calls, 1) + 1;
    if (is_in_trouble("FAKE_CUDA_HANG", name))
        for (;;)
            pause();
    if (is_in_trouble("FAKE_CUDA_CRASH", name))
        raise(SIGKILL);
    be_slow(name);
    if (getenv("FAKE_CUDA_ERRNO") && !is_programs(name))
        errno = EBADMSG;
    return (fail_at && call == atoi(fail_at)) || is_asked("FAKE_CUDA_FAIL", name) ? 999 : 0;
}

void fake_log(const char *name, int result)
{
    static _Atomic int fd = -2;
    if (fd == -2) {
        const char *path = getenv("FAKE_CUDA_LOG");
        fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    }
    char line[96];
    int length = snprintf(line, sizeof line, "%s %d\n", name, result);
    if (fd >= 0 && write(fd, line, (size_t)length) != length)
        fake_complain("cannot write the log");
}

struct context *fake_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

/* 0, or why nothing can be done in the current context. */
int fake_context_error(void)
{
    if (!initialised)
        return 3;
    struct context *context = fake_current();
    if (!context)
        return 201;
    fake_need(context, CONTEXT, "a call in the current context");
    return context->error;
}

uint64_t fake_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- start, devices, contexts ---- */

FAKE(cuInit, (unsigned flags), (flags))
{
    if (!atomic_exchange(&initialised, 1))
        atexit(end);
    return flags ? 1 : 0;
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **name);
EXPORT CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = error ? "CUDA_ERROR_FAKE" : "CUDA_SUCCESS";
    return 0;
}

FAKE(cuDriverGetVersion, (int *version), (version))
{
    *version = 13000;
    return 0;
}

static int capability_major(void)
{
    const char *asked = getenv("FAKE_CUDA_MAJOR");
    return asked ? atoi(asked) : 9;
}

FAKE(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device), (value, attribute, device))
{
    if (device < 0 || device > 1)
        return 101;
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT             ? FAKE_SM_COUNT
             : attribute == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? FAKE_WARPS_PER_SM * 32
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR       ? capability_major()
                                                                               : 0;
    return 0;
}

FAKE(cuDeviceGetCount, (int *count), (count))
{
    *count = 2;
    return 0;
}

FAKE(cuDeviceGetName, (char *name, int length, CUdevice device), (name, length, device))
{
    snprintf(name, (size_t)length, "Fake GPU %d", device);
    return 0;
}

FAKE(cuDeviceGetPCIBusId, (char *bus, int length, CUdevice device), (bus, length, device))
{
    snprintf(bus, (size_t)length, "0000:F%d:00.0", device);
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
    struct context *context = fake_need(handle, CONTEXT, "cuCtxDestroy");
    if (fake_current() == context)
        depth--;
    context->kind = DEAD;
    return 0;
}

FAKE(cuCtxGetCurrent, (CUcontext * context), (context))
{
    *context = fake_current();
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
    stack[depth++] = fake_need(context, CONTEXT, "cuCtxPushCurrent");
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
    if (!fake_current())
        return 201;
    *device = fake_current()->device;
    return 0;
}

FAKE(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))
{
    if (device < 0 || device > 1)
        return 101;
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
