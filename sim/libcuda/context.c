/* context.c - contexts: made with all that they hold, current on a thread, ended.
 *
 * A context brings its own gpu and thread.  Its struct outlives cuCtxDestroy for calls that still wait in it.
 * Reads and writes: the driver's list of contexts, the calling thread's stack.
 */
#include "libcuda/context.h"

#include <stdlib.h>

#include "libcuda/capture.h"
#include "libcuda/image.h"
#include "libcuda/memory.h"
#include "libcuda/queue.h"
#include "libcuda/state_file.h"

/* ---- making and ending ---- */

/* What an H200 says where nothing was set; 0 where the simulator has no such thing. */
static const size_t default_limits[DRIVER_LIMITS] = {1024, 1 << 20, 8 << 20, 0, 2048, 64, 0, 0, 0, 0};

static struct wsdbg_error *fill_in(struct context *context)
{
    struct wsdbg_error *error = wsdbg_gpu_create(&driver.gpu_options, &context->gpu);
    if (!error)
        error = host_memory_map_all(context->gpu);
    if (!error && (stream_create(context, STREAM_LEGACY, &context->legacy) != CUDA_SUCCESS ||
                   stream_create(context, STREAM_EVERYTHING, &context->everything) != CUDA_SUCCESS))
        error = &wsdbg_error_no_memory;
    if (!error && !handle_add(&driver.handles, context, HANDLE_CONTEXT))
        error = &wsdbg_error_no_memory;
    if (!error)
        error = device_thread_start(context);
    return error;
}

static void free_streams(struct context *context)
{
    while (context->streams) {
        struct stream *stream = context->streams;
        context->streams = stream->next;
        handle_remove(&driver.handles, stream);
        capture_forget_stream(stream);
        free(stream);
    }
}

static void free_events(struct context *context)
{
    while (context->events) {
        struct event *event = context->events;
        context->events = event->next;
        handle_remove(&driver.handles, event);
        mark_release(event->mark);
        free(event->nodes.rows);
        free(event);
    }
}

CUresult context_create(unsigned flags, unsigned api_version, struct context **out)
{
    struct context *context = calloc(1, sizeof *context);
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->id = ++driver.next_id;
    context->flags = flags;
    context->api_version = api_version;
    pthread_cond_init(&context->work, NULL);
    for (int i = 0; i < DRIVER_LIMITS; i++)
        context->limits[i] = default_limits[i];
    struct wsdbg_error *error = fill_in(context);
    if (error) {
        driver_say_error("no context can be made", error);
        handle_remove(&driver.handles, context);
        free_streams(context);
        wsdbg_gpu_destroy(context->gpu);
        pthread_cond_destroy(&context->work);
        free(context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->next = driver.contexts;
    driver.contexts = context;
    *out = context;
    return CUDA_SUCCESS;
}

/* The struct itself stays: threads may have it on their stacks.  A thread that waits for one of its streams finds the
 * context destroyed before the stream goes. */
void context_destroy(struct context *context)
{
    context->is_destroyed = true;
    device_thread_stop(context);
    state_file_withdraw(context);
    calls_finish(context);
    queue_drop(context);
    pthread_cond_broadcast(&driver.progress);
    for (struct stream *stream = context->streams; stream; stream = stream->next)
        while (stream->waiting)
            driver_wait();
    while (context->modules)
        module_destroy(context->modules);
    free_streams(context);
    free_events(context);
    memory_forget_notes(context);
    wsdbg_gpu_destroy(context->gpu);
    context->gpu = NULL;
    while (context_current() == context)
        context_pop();
    pthread_cond_broadcast(&driver.progress);
}

/* ---- the calling thread's stack ---- */

/* Takes the lock and finds the context.  With an error the lock is not held. */
static CUresult enter_context(CUcontext handle, struct context **out)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    driver_lock();
    result = context_find(handle, out);
    return result == CUDA_SUCCESS ? result : driver_leave(result);
}

ENTRY(cuCtxPushCurrent_v2, CUcontext handle)
{
    struct context *context;
    const CUresult result = enter_context(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    return driver_leave(context_push(context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

ENTRY(cuCtxPopCurrent_v2, CUcontext *out)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!context_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (out)
        *out = context_current();
    context_pop();
    return CUDA_SUCCESS;
}

ENTRY(cuCtxSetCurrent, CUcontext handle)
{
    struct context *context = NULL;
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    if (handle)
        result = context_find(handle, &context);
    driver_unlock();
    if (result != CUDA_SUCCESS)
        return result;
    context_pop();
    return !context || context_push(context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ENTRY(cuCtxGetCurrent, CUcontext *out)
{
    CUresult result = driver_ready();
    if (result == CUDA_SUCCESS && !out)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = context_current();
    return result;
}

/* ---- contexts of the program's own ---- */

static CUresult create_and_push(CUcontext *out, unsigned flags, CUdevice device, unsigned api_version)
{
    struct context *context;
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags & ~(unsigned)CU_CTX_FLAGS_ALL)
        return CUDA_ERROR_INVALID_VALUE;
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    if (context_stack_is_full())
        return CUDA_ERROR_OUT_OF_MEMORY;
    driver_lock();
    result = context_create(flags, api_version, &context);
    if (result == CUDA_SUCCESS) {
        context_push(context);
        *out = context;
    }
    return driver_leave(result);
}

ENTRY(cuCtxCreate_v2, CUcontext *out, unsigned flags, CUdevice device)
{
    return create_and_push(out, flags, device, 3020);
}

/* Execution affinity is for MPS, which there is none of. */
ENTRY(cuCtxCreate_v3, CUcontext *out, const void *affinity, int count, unsigned flags, CUdevice device)
{
    return affinity || count ? CUDA_ERROR_NOT_SUPPORTED : create_and_push(out, flags, device, 3020);
}

ENTRY(cuCtxCreate_v4, CUcontext *out, const void *parameters, unsigned flags, CUdevice device)
{
    return parameters ? CUDA_ERROR_NOT_SUPPORTED : create_and_push(out, flags, device, 4);
}

ENTRY(cuCtxDestroy_v2, CUcontext handle)
{
    struct context *context;
    const CUresult result = enter_context(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (context->is_primary)
        return driver_leave(CUDA_ERROR_INVALID_CONTEXT);
    context_destroy(context);
    return driver_leave(CUDA_SUCCESS);
}
