/* stream_calls.c - driver calls that put other work than launches and copies into a stream: host functions, writes of a
 * value to memory and waits for one.
 *
 * Reads: the call's arguments.  Writes: operations of streams.
 */
#include "libcuda/memory.h"
#include "libcuda/queue.h"

enum { WAIT_COMPARISONS = 3, WAIT_FLUSH = 1 << 30 };

static CUresult add_call(CUstream handle, const struct call_operation *call, bool per_thread)
{
    struct context *context;
    struct stream *stream;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!call->function && !call->callback)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    result = stream_find(context, handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return driver_leave(result);
    struct operation *operation = calls_start() ? operation_create(OPERATION_CALL) : NULL;
    if (!operation)
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    operation->call = *call;
    return driver_leave(queue_add(stream, operation));
}

static CUresult launch_function(CUstream stream, void (*function)(void *), void *user, bool per_thread)
{
    const struct call_operation call = {.function = function, .user = user};
    return add_call(stream, &call, per_thread);
}

STREAM_ENTRY(cuLaunchHostFunc, _ptsz, (CUstream stream, void (*function)(void *), void *user), launch_function, stream,
             function, user)

static CUresult add_callback(CUstream stream, void (*callback)(CUstream, CUresult, void *), void *user, unsigned flags,
                             bool per_thread)
{
    const struct call_operation call = {.callback = callback, .user = user, .stream = stream};
    return flags ? CUDA_ERROR_INVALID_VALUE : add_call(stream, &call, per_thread);
}

STREAM_ENTRY(cuStreamAddCallback, _ptsz,
             (CUstream stream, void (*callback)(CUstream, CUresult, void *), void *user, unsigned flags), add_callback,
             stream, callback, user, flags)

/* ---- values in memory ---- */

static CUresult add_value(enum operation_kind kind, CUstream handle, const struct value_operation *value,
                          bool per_thread)
{
    struct stream *stream;
    const CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (value->address % value->bytes || !memory_is_known(value->address, value->bytes))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    struct operation *operation = operation_create(kind);
    if (!operation)
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    operation->value = *value;
    return driver_leave(queue_add(stream, operation));
}

static CUresult write_value(CUstream stream, CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags,
                            bool per_thread)
{
    const struct value_operation write = {.address = address, .value = value, .bytes = bytes};
    return flags > 1 ? CUDA_ERROR_INVALID_VALUE : add_value(OPERATION_WRITE_VALUE, stream, &write, per_thread);
}

STREAM_ENTRY(cuStreamWriteValue32_v2, _ptsz, (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags),
             write_value, stream, address, value, 4, flags)
STREAM_ENTRY(cuStreamWriteValue64_v2, _ptsz, (CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags),
             write_value, stream, address, value, 8, flags)

static CUresult wait_value(CUstream stream, CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags,
                           bool per_thread)
{
    const struct value_operation wait = {
        .address = address, .value = value, .bytes = bytes, .comparison = flags & WAIT_COMPARISONS};
    if (flags & ~(unsigned)(WAIT_COMPARISONS | WAIT_FLUSH))
        return CUDA_ERROR_INVALID_VALUE;
    return add_value(OPERATION_WAIT_VALUE, stream, &wait, per_thread);
}

STREAM_ENTRY(cuStreamWaitValue32_v2, _ptsz, (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags),
             wait_value, stream, address, value, 4, flags)
STREAM_ENTRY(cuStreamWaitValue64_v2, _ptsz, (CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags),
             wait_value, stream, address, value, 8, flags)
