/* enter.c - cuInit, and how every other call enters the stand-in: whether it may, with which context or handle.
 *
 * Reads: the environment (see options.c, and why wsdbg chose the simulator).  Writes: lines on stderr.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "libcuda/context.h"
#include "libcuda/driver.h"
#include "libcuda/explore.h"
#include "libcuda/options.h"
#include "wsdbg/session.h"

/* Not guarded: read before the lock, which a child process may have inherited locked. */
static atomic_bool is_child;
static _Thread_local bool calls_are_forbidden;

void driver_forbid_calls(void)
{
    calls_are_forbidden = true;
}

CUresult driver_ready(void)
{
    if (atomic_load_explicit(&is_child, memory_order_relaxed))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (calls_are_forbidden)
        return CUDA_ERROR_NOT_PERMITTED;
    driver_lock();
    const bool initialized = driver.is_initialized;
    driver_unlock();
    return initialized ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult driver_enter(struct context **out)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    struct context *context = context_current();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    driver_lock();
    result = context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : context->failure;
    if (result != CUDA_SUCCESS)
        return driver_leave(result);
    *out = context;
    return CUDA_SUCCESS;
}

CUresult driver_enter_handle(const void *handle, enum handle_kind kind)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    return handle_is(&driver.handles, handle, kind) ? CUDA_SUCCESS : driver_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult driver_leave(CUresult result)
{
    driver_unlock();
    return result;
}

static void in_child(void)
{
    atomic_store(&is_child, driver.is_initialized);
}

/* At once: there is no buffer that a hung kernel would leave full. */
static void print(const char *text, size_t length)
{
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

static CUresult initialize(void)
{
    struct wsdbg_error *error = options_read(&driver.gpu_options);
    if (error) {
        driver_say_error("the environment", error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    driver.gpu_options.print = print;
    error = explore_begin();
    if (error) {
        driver_say_error("the environment", error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    const char *reason = getenv(WSDBG_ENV_SIM_REASON);
    if (reason && *reason)
        fprintf(stderr, "wsdbg: kernels run on the simulated sm_90 (%s)\n", reason);
    if (pthread_atfork(NULL, NULL, in_child) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    driver.is_initialized = true;
    return CUDA_SUCCESS;
}

ENTRY(cuInit, unsigned flags)
{
    if (atomic_load(&is_child))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    driver_lock();
    return driver_leave(driver.is_initialized ? CUDA_SUCCESS : initialize());
}

ENTRY(cuDriverGetVersion, int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}
