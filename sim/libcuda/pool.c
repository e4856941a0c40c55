/* pool.c - memory pools: handles whose attributes can be set and read; all memory comes from the one device. */
#include <stdlib.h>
#include <string.h>

#include "libcuda/memory.h"
#include "libcuda/queue.h"

enum { ATTRIBUTE_FIRST = 1, ATTRIBUTE_THRESHOLD = 4, ATTRIBUTE_LAST = 8, LOCATION_DEVICE = 1 };

struct cu_pool_properties {
    int32_t allocation_type, handle_types;
    struct cu_memory_location location;
};

static CUresult pool_create(struct pool **out)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool || !handle_add(&driver.handles, pool, HANDLE_POOL)) {
        free(pool);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (int i = ATTRIBUTE_FIRST; i < ATTRIBUTE_THRESHOLD; i++)
        pool->values[i] = 1; /* the reuse policies are on */
    *out = pool;
    return CUDA_SUCCESS;
}

static CUresult give_default(CUmemoryPool *out, CUdevice device)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    driver_lock();
    if (!driver.default_pool)
        result = pool_create(&driver.default_pool);
    if (result == CUDA_SUCCESS)
        *out = driver.default_pool;
    return driver_leave(result);
}

ENTRY(cuDeviceGetDefaultMemPool, CUmemoryPool *out, CUdevice device)
{
    return give_default(out, device);
}

ENTRY(cuDeviceGetMemPool, CUmemoryPool *out, CUdevice device)
{
    return give_default(out, device);
}

/* Takes the lock. */
static CUresult enter(CUmemoryPool pool)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    return handle_is(&driver.handles, pool, HANDLE_POOL) ? CUDA_SUCCESS : driver_leave(CUDA_ERROR_INVALID_VALUE);
}

/* All pools are the same. */
ENTRY(cuDeviceSetMemPool, CUdevice device, CUmemoryPool pool)
{
    CUresult result = enter(pool);
    if (result != CUDA_SUCCESS)
        return result;
    return driver_leave(device != 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
}

ENTRY(cuMemPoolCreate, CUmemoryPool *out, const struct cu_pool_properties *properties)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !properties || properties->location.type != LOCATION_DEVICE || properties->location.id != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->handle_types)
        return CUDA_ERROR_NOT_SUPPORTED;
    driver_lock();
    return driver_leave(pool_create(out));
}

ENTRY(cuMemPoolDestroy, CUmemoryPool pool)
{
    CUresult result = enter(pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (pool == driver.default_pool)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    handle_remove(&driver.handles, pool);
    free(pool);
    return driver_leave(CUDA_SUCCESS);
}

/* The policies are ints, the rest 64-bit numbers. */
static size_t bytes_of(int attribute)
{
    return attribute < ATTRIBUTE_THRESHOLD ? sizeof(int) : sizeof(uint64_t);
}

ENTRY(cuMemPoolSetAttribute, CUmemoryPool pool, int attribute, const void *value)
{
    CUresult result = enter(pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute < ATTRIBUTE_FIRST || attribute > ATTRIBUTE_LAST)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (attribute <= ATTRIBUTE_THRESHOLD)
        memcpy(&pool->values[attribute], value, bytes_of(attribute));
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuMemPoolGetAttribute, CUmemoryPool pool, int attribute, void *value)
{
    CUresult result = enter(pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute < ATTRIBUTE_FIRST || attribute > ATTRIBUTE_LAST)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    memcpy(value, &pool->values[attribute], bytes_of(attribute));
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuMemPoolTrimTo, CUmemoryPool pool, size_t bytes_to_keep)
{
    (void)bytes_to_keep;
    CUresult result = enter(pool);
    return result == CUDA_SUCCESS ? driver_leave(result) : result;
}
