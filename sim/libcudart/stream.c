/* stream.c - streams, events, and functions of the host in streams. */
#include "libcudart/runtime.h"

#include <stdlib.h>

RUNTIME(cudaStreamCreateWithPriority, CUstream *stream, unsigned flags, int priority)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamCreateWithPriority(stream, flags, priority) : result);
}

RUNTIME(cudaStreamCreateWithFlags, CUstream *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

RUNTIME(cudaStreamCreate, CUstream *stream)
{
    return cudaStreamCreateWithPriority(stream, CU_STREAM_DEFAULT, 0);
}

RUNTIME(cudaStreamDestroy, CUstream stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamDestroy_v2(stream) : result);
}

static cudaError_t synchronize(CUstream stream, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamSynchronize(runtime_stream(stream, default_stream)) : result);
}

STREAM_RUNTIME(cudaStreamSynchronize, _ptsz, (CUstream stream), synchronize, stream)

static cudaError_t query(CUstream stream, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamQuery(runtime_stream(stream, default_stream)) : result);
}

STREAM_RUNTIME(cudaStreamQuery, _ptsz, (CUstream stream), query, stream)

static cudaError_t wait_event(CUstream stream, CUevent event, unsigned flags, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamWaitEvent(runtime_stream(stream, default_stream), event, flags)
                                               : result);
}

STREAM_RUNTIME(cudaStreamWaitEvent, _ptsz, (CUstream stream, CUevent event, unsigned flags), wait_event, stream, event,
               flags)

static cudaError_t get_flags(CUstream stream, unsigned *flags, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamGetFlags(runtime_stream(stream, default_stream), flags)
                                               : result);
}

STREAM_RUNTIME(cudaStreamGetFlags, _ptsz, (CUstream stream, unsigned *flags), get_flags, stream, flags)

static cudaError_t get_priority(CUstream stream, int *priority, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamGetPriority(runtime_stream(stream, default_stream), priority)
                                               : result);
}

STREAM_RUNTIME(cudaStreamGetPriority, _ptsz, (CUstream stream, int *priority), get_priority, stream, priority)

static cudaError_t get_id(CUstream stream, unsigned long long *id, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamGetId(runtime_stream(stream, default_stream), id) : result);
}

STREAM_RUNTIME(cudaStreamGetId, _ptsz, (CUstream stream, unsigned long long *id), get_id, stream, id)

static cudaError_t get_device(CUstream stream, int *device, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamGetDevice(runtime_stream(stream, default_stream), device)
                                               : result);
}

STREAM_RUNTIME(cudaStreamGetDevice, _ptsz, (CUstream stream, int *device), get_device, stream, device)

static cudaError_t is_capturing(CUstream stream, int *status, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuStreamIsCapturing(runtime_stream(stream, default_stream), status)
                                               : result);
}

STREAM_RUNTIME(cudaStreamIsCapturing, _ptsz, (CUstream stream, int *status), is_capturing, stream, status)

static cudaError_t attach_memory(CUstream stream, void *address, size_t byte_count, unsigned flags,
                                 CUstream default_stream)
{
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    return runtime_done(cuStreamAttachMemAsync(runtime_stream(stream, default_stream), (CUdeviceptr)(uintptr_t)address,
                                               byte_count, flags));
}

STREAM_RUNTIME(cudaStreamAttachMemAsync, _ptsz, (CUstream stream, void *address, size_t byte_count, unsigned flags),
               attach_memory, stream, address, byte_count, flags)

static cudaError_t launch_function(CUstream stream, void (*function)(void *), void *user, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(
        result == CUDA_SUCCESS ? cuLaunchHostFunc(runtime_stream(stream, default_stream), function, user) : result);
}

STREAM_RUNTIME(cudaLaunchHostFunc, _ptsz, (CUstream stream, void (*function)(void *), void *user), launch_function,
               stream, function, user)

/* The runtime's callback differs from the driver's in the numbers of errors only, and those that can come are the same.
 */
static cudaError_t add_callback(CUstream stream, void (*callback)(CUstream, cudaError_t, void *), void *user,
                                unsigned flags, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    return runtime_done(cuStreamAddCallback(runtime_stream(stream, default_stream), callback, user, flags));
}

STREAM_RUNTIME(cudaStreamAddCallback, _ptsz,
               (CUstream stream, void (*callback)(CUstream, cudaError_t, void *), void *user, unsigned flags),
               add_callback, stream, callback, user, flags)

RUNTIME(cudaEventCreateWithFlags, CUevent *event, unsigned flags)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuEventCreate(event, flags) : result);
}

RUNTIME(cudaEventCreate, CUevent *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

RUNTIME(cudaEventDestroy, CUevent event)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuEventDestroy_v2(event) : result);
}

static cudaError_t record(CUevent event, CUstream stream, unsigned flags, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    return runtime_done(
        result == CUDA_SUCCESS ? cuEventRecordWithFlags(event, runtime_stream(stream, default_stream), flags) : result);
}

STREAM_RUNTIME(cudaEventRecord, _ptsz, (CUevent event, CUstream stream), record, event, stream, 0)
STREAM_RUNTIME(cudaEventRecordWithFlags, _ptsz, (CUevent event, CUstream stream, unsigned flags), record, event, stream,
               flags)

RUNTIME(cudaEventQuery, CUevent event)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuEventQuery(event) : result);
}

RUNTIME(cudaEventSynchronize, CUevent event)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuEventSynchronize(event) : result);
}

RUNTIME(cudaEventElapsedTime, float *milliseconds, CUevent start, CUevent end)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuEventElapsedTime(milliseconds, start, end) : result);
}

#if RUNTIME_VERSION < 13000
RUNTIME(cudaEventElapsedTime_v2, float *milliseconds, CUevent start, CUevent end)
{
    return cudaEventElapsedTime(milliseconds, start, end);
}
#endif
