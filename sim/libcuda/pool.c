/* pool.c - memory pools: handles whose attributes can be set and read; all memory comes from the one device.
 *
 * Reads and writes: pools, what each one's allocations take and took at most.
 */
#include <stdlib.h>
#include <string.h>

#include "libcuda/memory.h"
#include "libcuda/queue.h"

/* CUmemPool_attribute: three policies, a threshold, and bytes: now, and the most there were. */
enum {
    ATTRIBUTE_FIRST = 1,
    ATTRIBUTE_THRESHOLD = 4,
    ATTRIBUTE_RESERVED,
    ATTRIBUTE_RESERVED_MOST,
    ATTRIBUTE_USED,
    ATTRIBUTE_USED_MOST,
    ATTRIBUTE_LAST = ATTRIBUTE_USED_MOST,
    LOCATION_DEVICE = 1
};

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

void pool_count(struct pool *pool, int64_t byte_count)
{
    const uint64_t used = pool->values[ATTRIBUTE_USED] + (uint64_t)byte_count;
    pool->values[ATTRIBUTE_USED] = pool->values[ATTRIBUTE_RESERVED] = used;
    for (int most = ATTRIBUTE_RESERVED_MOST; most <= ATTRIBUTE_USED_MOST; most += 2)
        if (pool->values[most] < used)
            pool->values[most] = used;
}

static CUresult pool_default(struct pool **out)
{
    CUresult result = driver.default_pool ? CUDA_SUCCESS : pool_create(&driver.default_pool);
    if (result == CUDA_SUCCESS)
        *out = driver.default_pool;
    return result;
}

CUresult pool_current(struct pool **out)
{
    *out = driver.current_pool;
    return *out ? CUDA_SUCCESS : pool_default(out);
}

static CUresult give_pool(CUmemoryPool *out, CUdevice device, CUresult (*which)(struct pool **out))
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    driver_lock();
    return driver_leave(which(out));
}

ENTRY(cuDeviceGetDefaultMemPool, CUmemoryPool *out, CUdevice device)
{
    return give_pool(out, device, pool_default);
}

ENTRY(cuDeviceGetMemPool, CUmemoryPool *out, CUdevice device)
{
    return give_pool(out, device, pool_current);
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

ENTRY(cuDeviceSetMemPool, CUdevice device, CUmemoryPool pool)
{
    CUresult result = enter(pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (device != 0)
        return driver_leave(CUDA_ERROR_INVALID_DEVICE);
    driver.current_pool = pool;
    return driver_leave(CUDA_SUCCESS);
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

/* Its allocations are of no pool from now on. */
static void forget_in_notes(const struct pool *pool)
{
    for (struct context *context = driver.contexts; context; context = context->next)
        for (struct noted_memory *note = context->noted; note; note = note->next)
            if (note->pool == pool)
                note->pool = NULL;
}

ENTRY(cuMemPoolDestroy, CUmemoryPool pool)
{
    CUresult result = enter(pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (pool == driver.default_pool)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (pool == driver.current_pool)
        driver.current_pool = NULL;
    forget_in_notes(pool);
    handle_remove(&driver.handles, pool);
    free(pool);
    return driver_leave(CUDA_SUCCESS);
}

/* The policies are ints, the rest 64-bit numbers. */
static size_t bytes_of(int attribute)
{
    return attribute < ATTRIBUTE_THRESHOLD ? sizeof(int) : sizeof(uint64_t);
}

/* Of the counts only the most can be set, to what there is now, by a zero. */
ENTRY(cuMemPoolSetAttribute, CUmemoryPool pool, int attribute, const void *value)
{
    uint64_t zero = 0;
    CUresult result = enter(pool);
    if (result != CUDA_SUCCESS)
        return result;
    const bool is_most = attribute == ATTRIBUTE_RESERVED_MOST || attribute == ATTRIBUTE_USED_MOST;
    if (!value || attribute < ATTRIBUTE_FIRST || (attribute > ATTRIBUTE_THRESHOLD && !is_most) ||
        (is_most && memcmp(value, &zero, sizeof zero) != 0))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (is_most)
        pool->values[attribute] = pool->values[attribute - 1];
    else
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
