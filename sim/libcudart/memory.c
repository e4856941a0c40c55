/* memory.c - memory of devices and the host: taken, given back, described. */
#include "libcudart/runtime.h"

enum {
    CU_POINTER_MEMORY_TYPE = 2,
    CU_POINTER_DEVICE_POINTER = 3,
    CU_POINTER_HOST_POINTER = 4,
    CU_POINTER_IS_MANAGED = 8,
    CU_POINTER_DEVICE = 9
};
enum { MEMORY_UNREGISTERED, MEMORY_HOST, MEMORY_DEVICE, MEMORY_MANAGED };
enum { POINTER_ATTRIBUTES = 5 };

struct pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
#if RUNTIME_VERSION >= 13000
    long reserved[8];
#endif
};

static cudaError_t give(CUresult result, CUdeviceptr address, void **out)
{
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return runtime_done(result);
}

RUNTIME(cudaMalloc, void **out, size_t byte_count)
{
    CUdeviceptr address = 0;
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && byte_count)
        result = cuMemAlloc_v2(&address, byte_count);
    return give(result, address, out);
}

RUNTIME(cudaMallocPitch, void **out, size_t *pitch_bytes, size_t width_bytes, size_t height)
{
    CUdeviceptr address = 0;
    CUresult result = out && pitch_bytes ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && width_bytes && height)
        result = cuMemAllocPitch_v2(&address, pitch_bytes, width_bytes, height, 4);
    return give(result, address, out);
}

RUNTIME(cudaMallocManaged, void **out, size_t byte_count, unsigned flags)
{
    CUdeviceptr address = 0;
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuMemAllocManaged(&address, byte_count, flags);
    return give(result, address, out);
}

RUNTIME(cudaFree, void *address)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS && address ? cuMemFree_v2((CUdeviceptr)(uintptr_t)address) : result);
}

static cudaError_t allocate_async(void **out, size_t byte_count, CUstream stream, CUstream default_stream)
{
    CUdeviceptr address = 0;
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && byte_count)
        result = cuMemAllocAsync(&address, byte_count, runtime_stream(stream, default_stream));
    return give(result, address, out);
}

STREAM_RUNTIME(cudaMallocAsync, _ptsz, (void **out, size_t byte_count, CUstream stream), allocate_async, out,
               byte_count, stream)

static cudaError_t allocate_from(void **out, size_t byte_count, CUmemoryPool pool, CUstream stream,
                                 CUstream default_stream)
{
    CUdeviceptr address = 0;
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && byte_count)
        result = cuMemAllocFromPoolAsync(&address, byte_count, pool, runtime_stream(stream, default_stream));
    return give(result, address, out);
}

STREAM_RUNTIME(cudaMallocFromPoolAsync, _ptsz, (void **out, size_t byte_count, CUmemoryPool pool, CUstream stream),
               allocate_from, out, byte_count, pool, stream)

static cudaError_t free_async(void *address, CUstream stream, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS || !address)
        return runtime_done(result);
    return runtime_done(cuMemFreeAsync((CUdeviceptr)(uintptr_t)address, runtime_stream(stream, default_stream)));
}

STREAM_RUNTIME(cudaFreeAsync, _ptsz, (void *address, CUstream stream), free_async, address, stream)

RUNTIME(cudaHostAlloc, void **out, size_t byte_count, unsigned flags)
{
    const CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    return runtime_done(result == CUDA_SUCCESS ? cuMemHostAlloc(out, byte_count, flags) : result);
}

RUNTIME(cudaMallocHost, void **out, size_t byte_count)
{
    return cudaHostAlloc(out, byte_count, 0);
}

RUNTIME(cudaFreeHost, void *address)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS && address ? cuMemFreeHost(address) : result);
}

RUNTIME_CALLS(cudaHostRegister, (void *address, size_t byte_count, unsigned flags),
              cuMemHostRegister_v2(address, byte_count, flags))

RUNTIME_CALLS(cudaHostUnregister, (void *address), cuMemHostUnregister(address))

RUNTIME(cudaHostGetDevicePointer, void **out, void *host, unsigned flags)
{
    CUdeviceptr address = 0;
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuMemHostGetDevicePointer_v2(&address, host, flags);
    return give(result, address, out);
}

RUNTIME_CALLS(cudaHostGetFlags, (unsigned *flags, void *address), cuMemHostGetFlags(flags, address))

RUNTIME_CALLS(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes), cuMemGetInfo_v2(free_bytes, total_bytes))

static int memory_type(int driver_type, int is_managed)
{
    if (is_managed)
        return MEMORY_MANAGED;
    return driver_type == CU_MEMORYTYPE_DEVICE ? MEMORY_DEVICE
           : driver_type == CU_MEMORYTYPE_HOST ? MEMORY_HOST
                                               : MEMORY_UNREGISTERED;
}

RUNTIME(cudaPointerGetAttributes, struct pointer_attributes *out, const void *address)
{
    int type = 0, is_managed = 0, device = -2;
    void *device_pointer = NULL, *host_pointer = NULL;
    const int asked[POINTER_ATTRIBUTES] = {CU_POINTER_MEMORY_TYPE, CU_POINTER_IS_MANAGED, CU_POINTER_DEVICE,
                                           CU_POINTER_DEVICE_POINTER, CU_POINTER_HOST_POINTER};
    void *values[POINTER_ATTRIBUTES] = {&type, &is_managed, &device, &device_pointer, &host_pointer};
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuPointerGetAttributes(POINTER_ATTRIBUTES, asked, values, (CUdeviceptr)(uintptr_t)address);
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    *out = (struct pointer_attributes){.type = memory_type(type, is_managed)};
    out->device = out->type == MEMORY_UNREGISTERED ? -2 : device;
    out->device_pointer = device_pointer;
    out->host_pointer = out->type == MEMORY_UNREGISTERED ? (void *)(uintptr_t)address : host_pointer;
    return cudaSuccess;
}

/* Managed memory is plain memory on the simulator: advice and prefetches change nothing. */
RUNTIME(cudaMemAdvise, const void *address, size_t byte_count, int advice)
{
    (void)address, (void)byte_count, (void)advice;
    return runtime_done(runtime_enter());
}

RUNTIME(cudaMemPrefetchAsync, const void *address, size_t byte_count)
{
    (void)address, (void)byte_count;
    return runtime_done(runtime_enter());
}

RUNTIME(cudaMemPrefetchAsync_ptsz, const void *address, size_t byte_count)
{
    return cudaMemPrefetchAsync(address, byte_count);
}

#if RUNTIME_VERSION < 13000
RUNTIME(cudaMemAdvise_v2, const void *address, size_t byte_count, int advice)
{
    return cudaMemAdvise(address, byte_count, advice);
}

RUNTIME(cudaMemPrefetchAsync_v2, const void *address, size_t byte_count)
{
    return cudaMemPrefetchAsync(address, byte_count);
}

RUNTIME(cudaMemPrefetchAsync_v2_ptsz, const void *address, size_t byte_count)
{
    return cudaMemPrefetchAsync(address, byte_count);
}
#endif

RUNTIME_CALLS(cudaDeviceGetDefaultMemPool, (CUmemoryPool * pool, int device), cuDeviceGetDefaultMemPool(pool, device))

RUNTIME_CALLS(cudaDeviceGetMemPool, (CUmemoryPool * pool, int device), cuDeviceGetMemPool(pool, device))

RUNTIME_CALLS(cudaDeviceSetMemPool, (int device, CUmemoryPool pool), cuDeviceSetMemPool(device, pool))

RUNTIME_CALLS(cudaMemPoolCreate, (CUmemoryPool * pool, const void *properties), cuMemPoolCreate(pool, properties))

RUNTIME_CALLS(cudaMemPoolDestroy, (CUmemoryPool pool), cuMemPoolDestroy(pool))

RUNTIME_CALLS(cudaMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void *value),
              cuMemPoolSetAttribute(pool, attribute, value))

RUNTIME_CALLS(cudaMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void *value),
              cuMemPoolGetAttribute(pool, attribute, value))

RUNTIME_CALLS(cudaMemPoolTrimTo, (CUmemoryPool pool, size_t bytes_to_keep), cuMemPoolTrimTo(pool, bytes_to_keep))
