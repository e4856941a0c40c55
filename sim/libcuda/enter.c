/* enter.c - how every call enters the stand-in: whether it may, with which context or handle.
 *
 * Reads: the calling thread's current context, the table of handles.  Writes: which threads and processes may not call.
 */
#include <stdatomic.h>

#include "libcuda/context.h"
#include "libcuda/driver.h"

/* Not guarded: read before the lock, which a child process may have inherited locked. */
static atomic_bool is_child;
static _Thread_local bool calls_are_forbidden;

void driver_forbid_calls(void)
{
    calls_are_forbidden = true;
}

void driver_in_child(void)
{
    atomic_store(&is_child, driver.is_initialized);
}

bool driver_is_child(void)
{
    return atomic_load_explicit(&is_child, memory_order_relaxed);
}

CUresult driver_ready(void)
{
    if (driver_is_child())
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
