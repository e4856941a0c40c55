/* memory.c - device memory: allocated, found, freed.
 *
 * An address is looked up in the gpus of all contexts and in host memory.
 * Reads and writes: the gpus' memory, notes of what is managed or of a pool.
 */
#include "libcuda/memory.h"

#include <stdlib.h>

enum { ALIGNMENT_BYTES = 512 };

static bool find_in_host(uint64_t address, uint64_t byte_count, struct memory_place *out)
{
    for (struct host_memory *memory = driver.host_memory; memory; memory = memory->next) {
        const uint64_t first = (uint64_t)(uintptr_t)memory->address;
        if (address >= first && address - first <= memory->byte_count &&
            byte_count <= memory->byte_count - (address - first)) {
            *out = (struct memory_place){.host = memory->kind == HOST_MEMORY_MAPPING ? NULL : memory,
                                         .first = first,
                                         .byte_count = memory->byte_count};
            return true;
        }
    }
    return false;
}

/* The link to what is noted of an allocation, to NULL where nothing is. */
static struct noted_memory **find_note(struct context *context, uint64_t address)
{
    struct noted_memory **link = &context->noted;
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    return link;
}

bool memory_find(uint64_t address, uint64_t byte_count, struct memory_place *out)
{
    struct memory_place place = {0};
    bool is_host;
    if (find_in_host(address, byte_count, out))
        return true;
    for (struct context *context = driver.contexts; context; context = context->next)
        if (context->gpu &&
            wsdbg_gpu_find_memory(context->gpu, address, byte_count, &place.first, &place.byte_count, &is_host)) {
            place.context = context;
            const struct noted_memory *note = *find_note(context, place.first);
            place.is_managed = note && note->is_managed;
            place.pool = note ? note->pool : NULL;
            *out = place;
            return true;
        }
    return false;
}

/* Mappings side by side are memory from one to the other. */
bool memory_is_known(uint64_t address, uint64_t byte_count)
{
    struct memory_place place;
    if (byte_count == 0)
        return memory_find(address, 0, &place);
    while (byte_count) {
        if (!memory_find(address, 1, &place))
            return false;
        const uint64_t here = place.first + place.byte_count - address;
        address += here;
        byte_count -= here < byte_count ? here : byte_count;
    }
    return true;
}

CUresult memory_allocate(struct context *context, uint64_t byte_count, CUdeviceptr *out)
{
    uint64_t address;
    if (!out || !byte_count)
        return CUDA_ERROR_INVALID_VALUE;
    struct wsdbg_error *error = wsdbg_gpu_allocate(context->gpu, byte_count, ALIGNMENT_BYTES, &address);
    if (error) {
        driver_say("no room for %llu bytes: the simulated device has %llu, of which %llu are in use",
                   (unsigned long long)byte_count, (unsigned long long)MEMORY_DEVICE_BYTES,
                   (unsigned long long)context->allocated_bytes);
        wsdbg_error_destroy(error);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->allocated_bytes += byte_count;
    *out = address;
    return CUDA_SUCCESS;
}

CUresult memory_allocate_noted(struct context *context, size_t byte_count, struct pool *pool, CUdeviceptr *out)
{
    struct noted_memory *note = malloc(sizeof *note);
    CUresult result = note ? memory_allocate(context, byte_count, out) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        free(note);
        return result;
    }
    *note = (struct noted_memory){context->noted, *out, pool == NULL, pool};
    context->noted = note;
    if (pool)
        pool_count(pool, (int64_t)byte_count);
    return CUDA_SUCCESS;
}

static void forget_note(struct noted_memory **link, uint64_t byte_count)
{
    struct noted_memory *note = *link;
    if (note->pool)
        pool_count(note->pool, -(int64_t)byte_count);
    *link = note->next;
    free(note);
}

void memory_forget_notes(struct context *context)
{
    while (context->noted) {
        struct memory_place place = {0};
        memory_find(context->noted->address, 1, &place);
        forget_note(&context->noted, place.byte_count);
    }
}

void memory_free(struct context *context, uint64_t address)
{
    struct memory_place place;
    if (!memory_find(address, 0, &place) || place.context != context || !wsdbg_gpu_free(context->gpu, address))
        return;
    context->allocated_bytes -=
        place.byte_count < context->allocated_bytes ? place.byte_count : context->allocated_bytes;
    struct noted_memory **note = find_note(context, address);
    if (*note)
        forget_note(note, place.byte_count);
}
