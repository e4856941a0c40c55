/* managed.c - what programs say about managed memory and to profilers: accepted, without effect, since device memory is
 * memory of the host here and there is no profiler.
 *
 * Reads: addresses, which must be memory.
 */
#include "libcuda/memory.h"
#include "libcuda/queue.h"

static CUresult accept_range(CUdeviceptr address, size_t byte_count)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return driver_leave(memory_is_known(address, byte_count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

ENTRY(cuMemAdvise, CUdeviceptr address, size_t byte_count, int advice, CUdevice device)
{
    (void)advice, (void)device;
    return accept_range(address, byte_count);
}

ENTRY(cuMemAdvise_v2, CUdeviceptr address, size_t byte_count, int advice, struct cu_memory_location location)
{
    (void)advice, (void)location;
    return accept_range(address, byte_count);
}

static CUresult prefetch(CUdeviceptr address, size_t byte_count, struct cu_memory_location location, CUstream handle,
                         bool per_thread)
{
    (void)location;
    struct stream *stream;
    const CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    return driver_leave(memory_is_known(address, byte_count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

#define DEVICE(number)          \
    (struct cu_memory_location) \
    {                           \
        1, number               \
    }

STREAM_ENTRY(cuMemPrefetchAsync, _ptsz, (CUdeviceptr address, size_t byte_count, CUdevice device, CUstream stream),
             prefetch, address, byte_count, DEVICE(device), stream)
STREAM_ENTRY(cuMemPrefetchAsync_v2, _ptsz,
             (CUdeviceptr address, size_t byte_count, struct cu_memory_location location, unsigned flags,
              CUstream stream),
             prefetch, address, byte_count + 0 * flags, location, stream)
STREAM_ENTRY(cuStreamAttachMemAsync, _ptsz, (CUstream stream, CUdeviceptr address, size_t byte_count, unsigned flags),
             prefetch, address, byte_count + 0 * flags, DEVICE(0), stream)

ENTRY(cuProfilerStart, void)
{
    return driver_ready();
}

ENTRY(cuProfilerStop, void)
{
    return driver_ready();
}
