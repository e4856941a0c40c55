/* host_memory.c - memory of the host that kernels use at its own address: allocated here, or the program's own.
 *
 * Reads and writes: the list of such memory, the ranges of every context's gpu.  Registered memory must stay mapped:
 * what the program unmaps is gone for kernels too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libcuda/memory.h"
#include "libcuda/queue.h"

struct wsdbg_error *host_memory_map_all(struct wsdbg_gpu *gpu)
{
    struct wsdbg_error *error = NULL;
    for (struct host_memory *memory = driver.host_memory; memory && !error; memory = memory->next)
        error = wsdbg_gpu_map_host(gpu, memory->address, memory->byte_count);
    return error;
}

bool host_memory_make_own(void)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    for (const struct host_memory *memory = driver.host_memory; memory; memory = memory->next) {
        const uintptr_t first = (uintptr_t)memory->address & ~page;
        const size_t byte_count = (((uintptr_t)memory->address + memory->byte_count + page) & ~page) - first;
        if (memory->kind != HOST_MEMORY_REGISTERED)
            continue;
        void *copy = mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy == MAP_FAILED)
            return false;
        memcpy(copy, (const void *)first, byte_count);
        if (mremap(copy, byte_count, byte_count, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)first) == MAP_FAILED)
            return false;
    }
    return mappings_make_own();
}

static void unmap_everywhere(const struct host_memory *memory)
{
    for (struct context *context = driver.contexts; context; context = context->next)
        if (context->gpu)
            wsdbg_gpu_unmap_host(context->gpu, memory->address);
}

CUresult host_memory_add(void *address, size_t byte_count, unsigned flags, enum host_memory_kind kind)
{
    struct host_memory *memory = malloc(sizeof *memory);
    struct wsdbg_error *error = memory ? NULL : &wsdbg_error_no_memory;
    if (memory)
        *memory = (struct host_memory){driver.host_memory, address, byte_count, flags, kind};
    for (struct context *context = driver.contexts; context && !error; context = context->next)
        if (context->gpu)
            error = wsdbg_gpu_map_host(context->gpu, address, byte_count);
    if (!error) {
        driver.host_memory = memory;
        return CUDA_SUCCESS;
    }
    if (memory)
        unmap_everywhere(memory);
    driver_say_error("host memory", error);
    free(memory);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static struct host_memory **find_link(const void *address)
{
    for (struct host_memory **link = &driver.host_memory; *link; link = &(*link)->next)
        if ((*link)->address == address)
            return link;
    return NULL;
}

static bool overlaps(const void *address, size_t byte_count)
{
    const char *first = address;
    for (const struct host_memory *memory = driver.host_memory; memory; memory = memory->next)
        if (first < (char *)memory->address + memory->byte_count && (char *)memory->address < first + byte_count)
            return true;
    return false;
}

void host_memory_remove(void *address)
{
    struct host_memory **link = find_link(address), *memory = *link;
    *link = memory->next;
    unmap_everywhere(memory);
    free(memory);
}

/* Waits for all work of all contexts: a kernel may still use it. */
static CUresult release(void *address, enum host_memory_kind kind, CUresult not_found)
{
    struct host_memory **link = find_link(address);
    if (!link || (*link)->kind != kind)
        return not_found;
    for (struct context *context = driver.contexts; context; context = context->next)
        if (context->gpu && !context->failure)
            queue_wait_all(context);
    link = find_link(address);
    if (!link)
        return not_found;
    const size_t byte_count = (*link)->byte_count;
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
