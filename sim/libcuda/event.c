/* event.c - events and the marks they leave in streams.
 *
 * A record leaves a mark that outlives the event; time between two is the simulated device's, not the host's.
 * Reads and writes: events, marks; queues operations.
 */
#include <stdlib.h>

#include "libcuda/capture.h"
#include "libcuda/context.h"
#include "libcuda/queue.h"

static bool is_event(const struct event *event)
{
    return handle_is(&driver.handles, event, HANDLE_EVENT);
}

/* Takes the lock; the event's own context counts, not the current one. */
static CUresult enter(CUevent event)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    if (!is_event(event))
        return driver_leave(CUDA_ERROR_INVALID_HANDLE);
    return event->context->failure ? driver_leave(event->context->failure) : CUDA_SUCCESS;
}

ENTRY(cuEventCreate, CUevent *out, unsigned flags)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags & ~7u || (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (flags & CU_EVENT_INTERPROCESS)
        return driver_leave(CUDA_ERROR_NOT_SUPPORTED);
    struct event *event = calloc(1, sizeof *event);
    if (!event || !handle_add(&driver.handles, event, HANDLE_EVENT)) {
        free(event);
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    event->context = context;
    event->flags = flags;
    event->next = context->events;
    context->events = event;
    *out = event;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuEventDestroy_v2, CUevent event)
{
    CUresult result = enter(event);
    if (result != CUDA_SUCCESS)
        return result;
    for (struct event **link = &event->context->events; *link; link = &(*link)->next)
        if (*link == event) {
            *link = event->next;
            break;
        }
    handle_remove(&driver.handles, event);
    mark_release(event->mark);
    free(event->nodes.rows);
    free(event);
    return driver_leave(CUDA_SUCCESS);
}

/* The event is done when all that is before this place in the stream is. */
static CUresult record_in(struct event *event, struct stream *stream)
{
    capture_forget_event(event);
    struct operation *operation = operation_create(OPERATION_RECORD);
    struct mark *mark = mark_create();
    if (!operation || !mark) {
        free(operation);
        mark_release(mark);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mark_release(event->mark);
    event->mark = mark;
    mark->users++;
    operation->mark = mark;
    return queue_add(stream, operation);
}

/* Takes the lock, checks the event and the flags, and finds the stream.  With an error the lock is not held. */
static CUresult enter_with_stream(CUevent event, unsigned flags, CUstream handle, bool per_thread, struct stream **out)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!is_event(event))
        return driver_leave(CUDA_ERROR_INVALID_HANDLE);
    if (flags > 1) /* CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL matter to captures only */
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    result = stream_find(context, handle, per_thread, out);
    return result == CUDA_SUCCESS ? result : driver_leave(result);
}

static CUresult record(CUevent event, CUstream handle, unsigned flags, bool per_thread)
{
    struct stream *stream;
    const CUresult result = enter_with_stream(event, flags, handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->context != event->context)
        return driver_leave(CUDA_ERROR_INVALID_HANDLE);
    return driver_leave(stream->capture ? capture_record(stream, event, flags) : record_in(event, stream));
}

STREAM_ENTRY(cuEventRecord, _ptsz, (CUevent event, CUstream stream), record, event, stream, 0)
STREAM_ENTRY(cuEventRecordWithFlags, _ptsz, (CUevent event, CUstream stream, unsigned flags), record, event, stream,
             flags)

ENTRY(cuCtxRecordEvent, CUcontext handle, CUevent event)
{
    struct context *context;
    CUresult result = enter(event);
    if (result != CUDA_SUCCESS)
        return result;
    result = context_find(handle, &context);
    if (result == CUDA_SUCCESS && context != event->context)
        result = CUDA_ERROR_INVALID_HANDLE;
    return driver_leave(result == CUDA_SUCCESS ? record_in(event, context->everything) : result);
}

ENTRY(cuEventQuery, CUevent event)
{
    CUresult result = enter(event);
    if (result != CUDA_SUCCESS)
        return result;
    if (event->capture)
        return driver_leave(CUDA_ERROR_CAPTURED_EVENT);
    return driver_leave(!event->mark || event->mark->is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

ENTRY(cuEventSynchronize, CUevent event)
{
    CUresult result = enter(event);
    if (result != CUDA_SUCCESS)
        return result;
    if (event->capture)
        return driver_leave(CUDA_ERROR_CAPTURED_EVENT);
    struct context *context = event->context;
    struct mark *mark = event->mark;
    if (!mark)
        return driver_leave(CUDA_SUCCESS);
    mark->users++;
    while (!mark->is_done && !context->failure && !context->is_destroyed)
        driver_wait();
    result = mark->is_done ? CUDA_SUCCESS : context->failure;
    if (result == CUDA_SUCCESS && !mark->is_done)
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    mark_release(mark);
    return driver_leave(result);
}

/* In simulated time. */
ENTRY(cuEventElapsedTime_v2, float *milliseconds, CUevent start, CUevent end)
{
    CUresult result = enter(start);
    if (result != CUDA_SUCCESS)
        return result;
    const bool are_timed = is_event(end) && start->context == end->context && start->mark && end->mark &&
                           !((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING);
    if (!are_timed)
        return driver_leave(CUDA_ERROR_INVALID_HANDLE);
    if (!milliseconds)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (!start->mark->is_done || !end->mark->is_done)
        return driver_leave(CUDA_ERROR_NOT_READY);
    *milliseconds = (float)(((double)end->mark->time_ns - (double)start->mark->time_ns) / 1e6);
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuEventElapsedTime, float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

static CUresult wait_in(struct stream *stream, struct event *event)
{
    if (!event->mark || event->mark->is_done)
        return CUDA_SUCCESS;
    struct operation *operation = operation_create(OPERATION_WAIT_EVENT);
    if (!operation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    operation->mark = event->mark;
    event->mark->users++;
    return queue_add(stream, operation);
}

static CUresult wait_event(CUstream handle, CUevent event, unsigned flags, bool per_thread)
{
    struct stream *stream;
    const CUresult result = enter_with_stream(event, flags, handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture || event->capture)
        return driver_leave(capture_wait(stream, event, flags));
    return driver_leave(wait_in(stream, event));
}

STREAM_ENTRY(cuStreamWaitEvent, _ptsz, (CUstream stream, CUevent event, unsigned flags), wait_event, stream, event,
             flags)
