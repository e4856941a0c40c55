/* host_memory_calls.c - calls that make host memory usable by kernels: allocated for it, or the program's own.
 *
 * Reads: what the call was given, which pages the process has.  Writes: the list that host_memory.c keeps.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libcuda/memory.h"
#include "libcuda/queue.h"

static bool overlaps(const void *address, size_t byte_count)
{
    const char *first = address;
    for (const struct host_memory *memory = driver.host_memory; memory; memory = memory->next)
        if (first < (char *)memory->address + memory->byte_count && (char *)memory->address < first + byte_count)
            return true;
    return false;
}

/* Waits for all work of all contexts: a kernel may still use it. */
static CUresult release(void *address, enum host_memory_kind kind, CUresult not_found)
{
    const struct host_memory *memory = host_memory_find(address);
    if (!memory || memory->kind != kind)
        return not_found;
    for (struct context *context = driver.contexts; context; context = context->next)
        if (context->gpu && !context->failure)
            queue_wait_all(context);
    memory = host_memory_find(address);
    if (!memory) /* another thread released it meanwhile */
        return not_found;
    const size_t byte_count = memory->byte_count;
    host_memory_remove(address);
    if (kind == HOST_MEMORY_ALLOCATED)
        munmap(address, byte_count);
    return CUDA_SUCCESS;
}

ENTRY(cuMemHostAlloc, void **out, size_t byte_count, unsigned flags)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !byte_count || flags > CU_MEMHOSTALLOC_ALL)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    void *memory = mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    result = host_memory_add(memory, byte_count, flags, HOST_MEMORY_ALLOCATED);
    if (result == CUDA_SUCCESS)
        *out = memory;
    else
        munmap(memory, byte_count);
    return driver_leave(result);
}

ENTRY(cuMemAllocHost_v2, void **out, size_t byte_count)
{
    return cuMemHostAlloc(out, byte_count, 0);
}

ENTRY(cuMemFreeHost, void *address)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    return result == CUDA_SUCCESS ? driver_leave(release(address, HOST_MEMORY_ALLOCATED, CUDA_ERROR_INVALID_VALUE))
                                  : result;
}

/* Whether all pages of the range are there. */
static bool is_mapped(const void *address, size_t byte_count)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1, first = (uintptr_t)address & ~page;
    return msync((void *)first, (uintptr_t)address + byte_count - first, MS_ASYNC) == 0 || errno != ENOMEM;
}

ENTRY(cuMemHostRegister_v2, void *address, size_t byte_count, unsigned flags)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!address || !byte_count || flags > CU_MEMHOSTREGISTER_ALL || (uintptr_t)address + byte_count < byte_count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (overlaps(address, byte_count))
        return driver_leave(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    if (!is_mapped(address, byte_count)) {
        driver_say("cuMemHostRegister: not all of the %zu bytes at %p are memory of this process", byte_count, address);
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return driver_leave(host_memory_add(address, byte_count, flags, HOST_MEMORY_REGISTERED));
}

ENTRY(cuMemHostUnregister, void *address)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return driver_leave(release(address, HOST_MEMORY_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
}

ENTRY(cuMemHostGetDevicePointer_v2, CUdeviceptr *out, void *address, unsigned flags)
{
    struct context *context;
    struct memory_place place;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags || !memory_find((uintptr_t)address, 1, &place) || !place.host)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *out = (uintptr_t)address;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuMemHostGetFlags, unsigned *flags, void *address)
{
    struct context *context;
    struct memory_place place;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !memory_find((uintptr_t)address, 1, &place) || !place.host ||
        place.host->kind != HOST_MEMORY_ALLOCATED)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = place.host->flags;
    return driver_leave(CUDA_SUCCESS);
}
