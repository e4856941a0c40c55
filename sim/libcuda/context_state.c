/* context_state.c - what a context answers and can be told: device, flags, limits, waiting for all of its work.
 *
 * Flags and limits are kept and given back; none changes how kernels run.
 * Reads and writes: the current context.
 */
#include "libcuda/context.h"
#include "libcuda/queue.h"

enum { CACHE_PREFER_MOST = 3, SHARED_CONFIG_MOST = 2, STREAM_PRIORITY_GREATEST = -5 };

/* Takes the lock; the context of the handle, NULL = the current one, which must not have failed. */
static CUresult enter(CUcontext handle, struct context **out)
{
    if (!handle)
        return driver_enter(out);
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    result = context_find(handle, out);
    if (result == CUDA_SUCCESS)
        result = (*out)->failure;
    return result == CUDA_SUCCESS ? result : driver_leave(result);
}

static CUresult get_device(CUdevice *out, CUcontext handle)
{
    struct context *context;
    CUresult result = enter(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *out = 0;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuCtxGetDevice, CUdevice *out)
{
    return get_device(out, NULL);
}

ENTRY(cuCtxGetDevice_v2, CUdevice *out, CUcontext handle)
{
    return get_device(out, handle);
}

static CUresult synchronize(CUcontext handle)
{
    struct context *context;
    CUresult result = enter(handle, &context);
    return result == CUDA_SUCCESS ? driver_leave(queue_wait_all(context)) : result;
}

ENTRY(cuCtxSynchronize, void)
{
    return synchronize(NULL);
}

ENTRY(cuCtxSynchronize_v2, CUcontext handle)
{
    return synchronize(handle);
}

ENTRY(cuCtxGetFlags, unsigned *flags)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = context->flags;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuCtxSetFlags, unsigned flags)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags & ~(unsigned)CU_CTX_FLAGS_ALL)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    context->flags = flags;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuCtxGetId, CUcontext handle, unsigned long long *id)
{
    struct context *context;
    CUresult result = enter(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!id)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *id = context->id;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuCtxGetApiVersion, CUcontext handle, unsigned *version)
{
    struct context *context;
    CUresult result = enter(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!version)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *version = context->api_version;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuCtxGetLimit, size_t *value, int limit)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (limit < 0 || limit >= DRIVER_LIMITS)
        return driver_leave(CUDA_ERROR_UNSUPPORTED_LIMIT);
    *value = context->limits[limit];
    return driver_leave(CUDA_SUCCESS);
}

/* Kept and told, without effect: local memory is as large as a kernel says. */
ENTRY(cuCtxSetLimit, int limit, size_t value)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (limit < 0 || limit >= DRIVER_LIMITS)
        return driver_leave(CUDA_ERROR_UNSUPPORTED_LIMIT);
    context->limits[limit] = value;
    return driver_leave(CUDA_SUCCESS);
}

static CUresult read_setting(int *out, size_t offset)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *out = *(const int *)((const char *)context + offset);
    return driver_leave(CUDA_SUCCESS);
}

static CUresult write_setting(int value, int most, size_t offset)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (value < 0 || value > most)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *(int *)((char *)context + offset) = value;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuCtxGetCacheConfig, int *config)
{
    return read_setting(config, offsetof(struct context, cache_config));
}

ENTRY(cuCtxSetCacheConfig, int config)
{
    return write_setting(config, CACHE_PREFER_MOST, offsetof(struct context, cache_config));
}

ENTRY(cuCtxGetSharedMemConfig, int *config)
{
    return read_setting(config, offsetof(struct context, shared_config));
}

ENTRY(cuCtxSetSharedMemConfig, int config)
{
    return write_setting(config, SHARED_CONFIG_MOST, offsetof(struct context, shared_config));
}

ENTRY(cuCtxGetStreamPriorityRange, int *least, int *greatest)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = STREAM_PRIORITY_GREATEST;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuCtxResetPersistingL2Cache, void)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    return result == CUDA_SUCCESS ? driver_leave(result) : result;
}
