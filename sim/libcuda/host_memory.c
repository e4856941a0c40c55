/* host_memory.c - memory of the host that kernels use at its own address: known to the gpus of all contexts.
 *
 * Reads and writes: the list of such memory, the ranges of every context's gpu.  Registered memory must stay mapped:
 * what the program unmaps is gone for kernels too.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libcuda/memory.h"

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
    return true;
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

const struct host_memory *host_memory_find(const void *address)
{
    const struct host_memory *memory = driver.host_memory;
    while (memory && memory->address != address)
        memory = memory->next;
    return memory;
}

void host_memory_remove(void *address)
{
    struct host_memory **link = &driver.host_memory;
    while ((*link)->address != address)
        link = &(*link)->next;
    struct host_memory *memory = *link;
    *link = memory->next;
    unmap_everywhere(memory);
    free(memory);
}
