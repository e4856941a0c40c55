/* stream.c - streams: made, found by handle, asked, waited for.
 *
 * Reads and writes: the contexts' streams; what is in them is queue.c's.
 */
#include "libcuda/capture.h"
#include "libcuda/context.h"
#include "libcuda/queue.h"

#include <stdlib.h>

enum { PRIORITY_GREATEST = -5 };

CUresult stream_create(struct context *context, enum stream_kind kind, struct stream **out)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream || !handle_add(&driver.handles, stream, HANDLE_STREAM)) {
        free(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    stream->context = context;
    stream->kind = kind;
    stream->id = ++driver.next_id;
    stream->next = context->streams;
    context->streams = stream;
    *out = stream;
    return CUDA_SUCCESS;
}

static CUresult thread_stream(struct context *context, struct stream **out)
{
    const uint64_t thread = context_thread();
    for (struct stream *stream = context->streams; stream; stream = stream->next)
        if (stream->thread == thread) {
            *out = stream;
            return CUDA_SUCCESS;
        }
    CUresult result = stream_create(context, STREAM_BLOCKING, out);
    if (result == CUDA_SUCCESS)
        (*out)->thread = thread;
    return result;
}

CUresult stream_find(struct context *context, CUstream handle, bool per_thread, struct stream **out)
{
    if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread))
        return thread_stream(context, out);
    *out = !handle || handle == CU_STREAM_LEGACY ? context->legacy : handle;
    if (!handle_is(&driver.handles, *out, HANDLE_STREAM) || (*out)->is_destroyed || (*out)->context->is_destroyed)
        return CUDA_ERROR_INVALID_HANDLE;
    return (*out)->context->failure;
}

void stream_sweep(struct context *context)
{
    for (struct stream **link = &context->streams; *link;) {
        struct stream *stream = *link;
        if (stream->is_destroyed && !stream->first && !stream->waiting) {
            *link = stream->next;
            free(stream);
        } else {
            link = &stream->next;
        }
    }
}

CUresult stream_enter(CUstream handle, bool per_thread, struct stream **out)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = stream_find(context, handle, per_thread, out);
    return result == CUDA_SUCCESS ? result : driver_leave(result);
}

ENTRY(cuStreamCreateWithPriority, CUstream *out, unsigned flags, int priority)
{
    struct context *context;
    struct stream *stream = NULL;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags > CU_STREAM_NON_BLOCKING)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    stream_sweep(context);
    result = stream_create(context, flags ? STREAM_NON_BLOCKING : STREAM_BLOCKING, &stream);
    if (result != CUDA_SUCCESS)
        return driver_leave(result);
    stream->flags = flags;
    stream->priority = priority > 0 ? 0 : priority < PRIORITY_GREATEST ? PRIORITY_GREATEST : priority;
    *out = stream;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuStreamCreate, CUstream *out, unsigned flags)
{
    return cuStreamCreateWithPriority(out, flags, 0);
}

/* What is queued is still done. */
ENTRY(cuStreamDestroy_v2, CUstream handle)
{
    struct stream *stream = NULL;
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = stream_enter(handle, false, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture)
        return driver_leave(capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    handle_remove(&driver.handles, stream);
    stream->is_destroyed = true;
    stream_sweep(stream->context);
    return driver_leave(CUDA_SUCCESS);
}

static CUresult query(CUstream handle, bool per_thread)
{
    struct stream *stream = NULL;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture)
        return driver_leave(capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    return driver_leave(queue_is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

STREAM_ENTRY(cuStreamQuery, _ptsz, (CUstream stream), query, stream)

static CUresult synchronize(CUstream handle, bool per_thread)
{
    struct stream *stream = NULL;
    CUresult result = stream_enter(handle, per_thread, &stream);
    return result == CUDA_SUCCESS ? driver_leave(queue_wait(stream)) : result;
}

STREAM_ENTRY(cuStreamSynchronize, _ptsz, (CUstream stream), synchronize, stream)

/* ---- what a stream answers ---- */

static CUresult get_priority(CUstream handle, int *priority, bool per_thread)
{
    struct stream *stream = NULL;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!priority)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *priority = stream->priority;
    return driver_leave(CUDA_SUCCESS);
}

STREAM_ENTRY(cuStreamGetPriority, _ptsz, (CUstream stream, int *priority), get_priority, stream, priority)

static CUresult get_flags(CUstream handle, unsigned *flags, bool per_thread)
{
    struct stream *stream = NULL;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = stream->flags;
    return driver_leave(CUDA_SUCCESS);
}

STREAM_ENTRY(cuStreamGetFlags, _ptsz, (CUstream stream, unsigned *flags), get_flags, stream, flags)

static CUresult get_id(CUstream handle, unsigned long long *id, bool per_thread)
{
    struct stream *stream = NULL;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!id)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *id = stream->id;
    return driver_leave(CUDA_SUCCESS);
}

STREAM_ENTRY(cuStreamGetId, _ptsz, (CUstream stream, unsigned long long *id), get_id, stream, id)

static CUresult get_device(CUstream handle, CUdevice *device, bool per_thread)
{
    struct stream *stream = NULL;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *device = 0;
    return driver_leave(CUDA_SUCCESS);
}

STREAM_ENTRY(cuStreamGetDevice, _ptsz, (CUstream stream, CUdevice *device), get_device, stream, device)

static CUresult get_context(CUstream handle, CUcontext *context, bool per_thread)
{
    struct stream *stream = NULL;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!context)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *context = stream->context;
    return driver_leave(CUDA_SUCCESS);
}

STREAM_ENTRY(cuStreamGetCtx, _ptsz, (CUstream stream, CUcontext *context), get_context, stream, context)

/* There are no green contexts. */
static CUresult get_context_2(CUstream handle, CUcontext *context, void **green, bool per_thread)
{
    if (green)
        *green = NULL;
    return get_context(handle, context, per_thread);
}

STREAM_ENTRY(cuStreamGetCtx_v2, _ptsz, (CUstream stream, CUcontext *context, void **green), get_context_2, stream,
             context, green)
