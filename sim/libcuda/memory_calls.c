/* memory_calls.c - driver calls that allocate and free device memory, at once or in stream order, and that ask how
 * much there is.
 *
 * Reads: the call's arguments.  Writes: device memory, through memory.c; operations of streams.
 */
#include "libcuda/capture.h"
#include "libcuda/memory.h"
#include "libcuda/queue.h"

enum { PITCH_BYTES = 512 };

ENTRY(cuMemAlloc_v2, CUdeviceptr *out, size_t byte_count)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = capture_forbids_unsafe();
    return driver_leave(result == CUDA_SUCCESS ? memory_allocate(context, byte_count, out) : result);
}

ENTRY(cuMemAllocPitch_v2, CUdeviceptr *out, size_t *pitch, size_t width_bytes, size_t height, unsigned element_bytes)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const bool is_element = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    size_t row = width_bytes + PITCH_BYTES - 1, total;
    row -= row % PITCH_BYTES;
    if (!out || !pitch || !is_element || row < width_bytes || __builtin_mul_overflow(row, height, &total))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    result = memory_allocate(context, total, out);
    if (result == CUDA_SUCCESS)
        *pitch = row;
    return driver_leave(result);
}

/* The host reaches device memory at the device's addresses, so managed memory needs nothing but its name. */
ENTRY(cuMemAllocManaged, CUdeviceptr *out, size_t byte_count, unsigned flags)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    return driver_leave(memory_allocate_noted(context, byte_count, NULL, out));
}

/* An allocation's first byte in device memory. */
static bool is_allocation(CUdeviceptr address, struct memory_place *place)
{
    return memory_find(address, 0, place) && place->context && place->first == address;
}

/* Waits for all work first, as the driver does: a kernel may still use it. */
ENTRY(cuMemFree_v2, CUdeviceptr address)
{
    struct context *context;
    struct memory_place place;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS || !address)
        return result == CUDA_SUCCESS ? driver_leave(result) : result;
    if (!is_allocation(address, &place))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    result = queue_wait_all(place.context);
    if (result == CUDA_SUCCESS)
        memory_free(place.context, address);
    return driver_leave(result);
}

/* ---- in stream order: memory is had at once, given back when the stream gets there ---- */

/* `pool`: NULL = the current one. */
static CUresult allocate_from_pool(CUdeviceptr *out, size_t byte_count, CUmemoryPool pool, CUstream handle,
                                   bool per_thread)
{
    struct stream *stream;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture) {
        driver_say("memory that a graph allocates is not simulated: cuMemAllocAsync in a capture");
        result = capture_spoil(stream->capture, CUDA_ERROR_NOT_SUPPORTED);
    }
    if (result == CUDA_SUCCESS)
        result = !pool                                           ? pool_current(&pool)
                 : handle_is(&driver.handles, pool, HANDLE_POOL) ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_VALUE;
    return driver_leave(result == CUDA_SUCCESS ? memory_allocate_noted(stream->context, byte_count, pool, out)
                                               : result);
}

STREAM_ENTRY(cuMemAllocAsync, _ptsz, (CUdeviceptr * out, size_t byte_count, CUstream stream), allocate_from_pool, out,
             byte_count, NULL, stream)

static CUresult allocate_from_given_pool(CUdeviceptr *out, size_t byte_count, CUmemoryPool pool, CUstream stream,
                                         bool per_thread)
{
    return pool ? allocate_from_pool(out, byte_count, pool, stream, per_thread) : CUDA_ERROR_INVALID_VALUE;
}

STREAM_ENTRY(cuMemAllocFromPoolAsync, _ptsz, (CUdeviceptr * out, size_t byte_count, CUmemoryPool pool, CUstream stream),
             allocate_from_given_pool, out, byte_count, pool, stream)

static CUresult free_async(CUdeviceptr address, CUstream handle, bool per_thread)
{
    struct stream *stream;
    struct memory_place place;
    const CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!is_allocation(address, &place) || place.context != stream->context || queue_frees(stream->context, address))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    struct operation *operation = operation_create(OPERATION_FREE);
    if (!operation)
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    operation->address = address;
    return driver_leave(queue_add(stream, operation));
}

STREAM_ENTRY(cuMemFreeAsync, _ptsz, (CUdeviceptr address, CUstream stream), free_async, address, stream)

/* ---- what there is ---- */

ENTRY(cuMemGetInfo_v2, size_t *free_bytes, size_t *total_bytes)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (free_bytes)
        *free_bytes =
            context->allocated_bytes < MEMORY_DEVICE_BYTES ? MEMORY_DEVICE_BYTES - context->allocated_bytes : 0;
    if (total_bytes)
        *total_bytes = MEMORY_DEVICE_BYTES;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuMemGetAddressRange_v2, CUdeviceptr *first, size_t *byte_count, CUdeviceptr address)
{
    struct context *context;
    struct memory_place place;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!memory_find(address, 1, &place))
        return driver_leave(CUDA_ERROR_NOT_FOUND);
    if (first)
        *first = place.first;
    if (byte_count)
        *byte_count = place.byte_count;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuDeviceTotalMem_v2, size_t *bytes, CUdevice device)
{
    CUresult result = driver_ready();
    if (result == CUDA_SUCCESS && !bytes)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && device != 0)
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        *bytes = MEMORY_DEVICE_BYTES;
    return result;
}
