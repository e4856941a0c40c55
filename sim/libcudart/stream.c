/* stream.c - streams, events, and functions of the host in streams. */
#include "libcudart/runtime.h"

#include <stdlib.h>

RUNTIME_CALLS(cudaStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
              cuStreamCreateWithPriority(stream, flags, priority))

RUNTIME(cudaStreamCreateWithFlags, CUstream *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

RUNTIME(cudaStreamCreate, CUstream *stream)
{
    return cudaStreamCreateWithPriority(stream, CU_STREAM_DEFAULT, 0);
}

RUNTIME_CALLS(cudaStreamDestroy, (CUstream stream), cuStreamDestroy_v2(stream))

STREAM_RUNTIME_CALLS(cudaStreamSynchronize, _ptsz, (CUstream stream),
                     cuStreamSynchronize(runtime_stream(stream, default_stream)))

STREAM_RUNTIME_CALLS(cudaStreamQuery, _ptsz, (CUstream stream), cuStreamQuery(runtime_stream(stream, default_stream)))

STREAM_RUNTIME_CALLS(cudaStreamWaitEvent, _ptsz, (CUstream stream, CUevent event, unsigned flags),
                     cuStreamWaitEvent(runtime_stream(stream, default_stream), event, flags))

STREAM_RUNTIME_CALLS(cudaStreamGetFlags, _ptsz, (CUstream stream, unsigned *flags),
                     cuStreamGetFlags(runtime_stream(stream, default_stream), flags))

STREAM_RUNTIME_CALLS(cudaStreamGetPriority, _ptsz, (CUstream stream, int *priority),
                     cuStreamGetPriority(runtime_stream(stream, default_stream), priority))

STREAM_RUNTIME_CALLS(cudaStreamGetId, _ptsz, (CUstream stream, unsigned long long *id),
                     cuStreamGetId(runtime_stream(stream, default_stream), id))

STREAM_RUNTIME_CALLS(cudaStreamGetDevice, _ptsz, (CUstream stream, int *device),
                     cuStreamGetDevice(runtime_stream(stream, default_stream), device))

STREAM_RUNTIME_CALLS(cudaStreamIsCapturing, _ptsz, (CUstream stream, int *status),
                     cuStreamIsCapturing(runtime_stream(stream, default_stream), status))

STREAM_RUNTIME_CALLS(cudaStreamAttachMemAsync, _ptsz,
                     (CUstream stream, void *address, size_t byte_count, unsigned flags),
                     cuStreamAttachMemAsync(runtime_stream(stream, default_stream), (CUdeviceptr)(uintptr_t)address,
                                            byte_count, flags))

STREAM_RUNTIME_CALLS(cudaLaunchHostFunc, _ptsz, (CUstream stream, void (*function)(void *), void *user),
                     cuLaunchHostFunc(runtime_stream(stream, default_stream), function, user))

/* The runtime's callback differs from the driver's in the numbers of errors only, and those that can come are the same.
 */
STREAM_RUNTIME_CALLS(cudaStreamAddCallback, _ptsz,
                     (CUstream stream, void (*callback)(CUstream, cudaError_t, void *), void *user, unsigned flags),
                     cuStreamAddCallback(runtime_stream(stream, default_stream), callback, user, flags))

RUNTIME_CALLS(cudaEventCreateWithFlags, (CUevent * event, unsigned flags), cuEventCreate(event, flags))

RUNTIME(cudaEventCreate, CUevent *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

RUNTIME_CALLS(cudaEventDestroy, (CUevent event), cuEventDestroy_v2(event))

STREAM_RUNTIME_CALLS(cudaEventRecord, _ptsz, (CUevent event, CUstream stream),
                     cuEventRecordWithFlags(event, runtime_stream(stream, default_stream), 0))

STREAM_RUNTIME_CALLS(cudaEventRecordWithFlags, _ptsz, (CUevent event, CUstream stream, unsigned flags),
                     cuEventRecordWithFlags(event, runtime_stream(stream, default_stream), flags))

RUNTIME_CALLS(cudaEventQuery, (CUevent event), cuEventQuery(event))

RUNTIME_CALLS(cudaEventSynchronize, (CUevent event), cuEventSynchronize(event))

RUNTIME_CALLS(cudaEventElapsedTime, (float *milliseconds, CUevent start, CUevent end),
              cuEventElapsedTime(milliseconds, start, end))

#if RUNTIME_VERSION < 13000
RUNTIME(cudaEventElapsedTime_v2, float *milliseconds, CUevent start, CUevent end)
{
    return cudaEventElapsedTime(milliseconds, start, end);
}
#endif
