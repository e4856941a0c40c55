/* memory.c - device memory: allocated, freed (also in stream order), described.
 *
 * An address is looked up in the gpus of all contexts and in host memory.
 * Reads and writes: the gpus' memory, notes of what is managed or of a pool.
 */
#include "libcuda/memory.h"

#include <stdlib.h>

#include "libcuda/queue.h"

enum { ALIGNMENT_BYTES = 512, PITCH_BYTES = 512 };
static const uint64_t device_bytes = (uint64_t)MEMORY_DEVICE_BYTES_GIB << 30;

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
                   (unsigned long long)byte_count, (unsigned long long)device_bytes,
                   (unsigned long long)context->allocated_bytes);
        wsdbg_error_destroy(error);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->allocated_bytes += byte_count;
    *out = address;
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

void memory_forget_pool(const struct pool *pool)
{
    for (struct context *context = driver.contexts; context; context = context->next)
        for (struct noted_memory *note = context->noted; note; note = note->next)
            if (note->pool == pool)
                note->pool = NULL;
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

ENTRY(cuMemAlloc_v2, CUdeviceptr *out, size_t byte_count)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    return result == CUDA_SUCCESS ? driver_leave(memory_allocate(context, byte_count, out)) : result;
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

/* Managed, or of a pool. */
static CUresult allocate_noted(struct context *context, size_t byte_count, struct pool *pool, CUdeviceptr *out)
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

/* The host reaches device memory at the device's addresses, so managed memory needs nothing but its name. */
ENTRY(cuMemAllocManaged, CUdeviceptr *out, size_t byte_count, unsigned flags)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    return driver_leave(allocate_noted(context, byte_count, NULL, out));
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
    struct context *context;
    struct stream *stream;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = stream_find(context, handle, per_thread, &stream);
    if (result == CUDA_SUCCESS)
        result = !pool                                           ? pool_current(&pool)
                 : handle_is(&driver.handles, pool, HANDLE_POOL) ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_VALUE;
    return driver_leave(result == CUDA_SUCCESS ? allocate_noted(stream->context, byte_count, pool, out) : result);
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
    struct context *context;
    struct stream *stream;
    struct memory_place place;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = stream_find(context, handle, per_thread, &stream);
    if (result == CUDA_SUCCESS &&
        (!is_allocation(address, &place) || place.context != stream->context || queue_frees(stream->context, address)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return driver_leave(result);
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
        *free_bytes = context->allocated_bytes < device_bytes ? device_bytes - context->allocated_bytes : 0;
    if (total_bytes)
        *total_bytes = device_bytes;
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
        *bytes = device_bytes;
    return result;
}
