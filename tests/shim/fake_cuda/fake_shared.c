/* fake_shared.c - memory of the fake libcuda that others than one GPU may write: of the host, of pools, of other
 * processes and GPUs; and work that is given to a stream.
 *
 * An IPC handle is the address.  What is given to a stream is done at once.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_internal.h"

static CUresult allocate(void **memory, size_t bytes)
{
    CUresult error = fake_context_error();
    if (error)
        return error;
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *memory = malloc(bytes);
    return *memory ? 0 : 2;
}

static CUresult allocate_device(CUdeviceptr *address, size_t bytes)
{
    void *memory = NULL;
    CUresult error = allocate(&memory, bytes);
    if (!error)
        *address = (CUdeviceptr)(uintptr_t)memory;
    return error;
}

static CUresult release(void *memory)
{
    free(memory);
    return fake_context_error();
}

FAKE(cuMemAllocPitch_v2, (CUdeviceptr * address, size_t *pitch, size_t width, size_t height, unsigned element),
     (address, pitch, width, height, element))
{
    (void)element;
    *pitch = (width + 511) / 512 * 512;
    return allocate_device(address, *pitch * height);
}

FAKE(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream), (address, bytes, stream))
{
    fake_need(stream, STREAM, "cuMemAllocAsync");
    return allocate_device(address, bytes);
}

FAKE(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), (address, stream))
{
    fake_need(stream, STREAM, "cuMemFreeAsync");
    return ((struct stream *)stream)->capture ? 0 : release((void *)(uintptr_t)address);
}

FAKE(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags), (address, bytes, flags))
{
    (void)flags;
    return allocate_device(address, bytes);
}

FAKE(cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags))
{
    (void)flags;
    return allocate(memory, bytes);
}

FAKE(cuMemAllocHost_v2, (void **memory, size_t bytes), (memory, bytes))
{
    return allocate(memory, bytes);
}

FAKE(cuMemFreeHost, (void *memory), (memory))
{
    return release(memory);
}

FAKE(cuMemHostUnregister, (void *memory), (memory))
{
    (void)memory;
    return fake_context_error();
}

FAKE(cuIpcGetMemHandle, (struct cu_ipc_handle * handle, CUdeviceptr address), (handle, address))
{
    memcpy(handle->bytes, &address, sizeof address);
    return fake_context_error();
}

FAKE(cuIpcOpenMemHandle_v2, (CUdeviceptr * address, struct cu_ipc_handle handle, unsigned flags),
     (address, handle, flags))
{
    (void)flags;
    memcpy(address, handle.bytes, sizeof *address);
    return fake_context_error();
}

FAKE(cuExternalMemoryGetMappedBuffer, (CUdeviceptr * address, void *memory, const struct cu_external_buffer *buffer),
     (address, memory, buffer))
{
    *address = (CUdeviceptr)(uintptr_t)memory + buffer->offset;
    return fake_context_error();
}

FAKE(cuGraphicsResourceGetMappedPointer_v2, (CUdeviceptr * address, size_t *bytes, void *resource),
     (address, bytes, resource))
{
    *address = (CUdeviceptr)(uintptr_t)resource;
    *bytes = 512;
    return fake_context_error();
}

FAKE(cuIpcCloseMemHandle, (CUdeviceptr address), (address))
{
    (void)address;
    return fake_context_error();
}

FAKE(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t *bytes, CUdeviceptr address), (base, bytes, address))
{
    *base = address;
    *bytes = 256;
    return fake_context_error();
}

FAKE(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags), (peer, flags))
{
    fake_need(peer, CONTEXT, "cuCtxEnablePeerAccess");
    return flags ? CUDA_ERROR_INVALID_VALUE : fake_context_error();
}

FAKE(cuMemRetainAllocationHandle, (uint64_t * handle, void *address), (handle, address))
{
    *handle = (uint64_t)(uintptr_t)address | 1; /* no handle that cuMemCreate gives is odd */
    return fake_context_error();
}

FAKE(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream))
{
    CUresult error = fake_context_error();
    fake_need(stream, STREAM, "cuMemcpyAsync");
    if (!error)
        memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return error;
}

FAKE(cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t count, CUstream stream), (to, value, count, stream))
{
    CUresult error = fake_context_error();
    fake_need(stream, STREAM, "cuMemsetD32Async");
    for (size_t i = 0; !error && i < count; i++)
        ((unsigned *)(uintptr_t)to)[i] = value;
    return error;
}

FAKE(cuStreamWriteValue32_v2, (CUstream stream, CUdeviceptr to, uint32_t value, unsigned flags),
     (stream, to, value, flags))
{
    CUresult error = fake_context_error();
    fake_need(stream, STREAM, "cuStreamWriteValue32_v2");
    if (!error && flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!error)
        *(uint32_t *)(uintptr_t)to = value;
    return error;
}

FAKE(cuLaunchHostFunc, (CUstream stream, void (*function)(void *), void *data), (stream, function, data))
{
    CUresult error = fake_context_error();
    fake_need(stream, STREAM, "cuLaunchHostFunc");
    if (!error)
        function(data);
    return error;
}
