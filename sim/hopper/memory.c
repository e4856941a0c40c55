/* memory.c - device memory: one reserved range of addresses, allocations in it, host memory mapped beside it.
 *
 * Device addresses are this process's own.  Allocations begin at pages and at least a page between two is left out,
 * so that a kernel that runs over an end is found.  Freed pages go back, so a new allocation is all zeros.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"
#include "hopper/gpu.h"
#include "hopper/device.h"

enum { PAGE_BYTES = 4096 };
#define NEAR_BYTES (1ull << 32)

/* The first range whose end is behind `address`. */
static size_t find(const struct hopper_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ranges->rows[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hopper_look_up_range(struct wsdbg_gpu *gpu, uint64_t address)
{
    const size_t i = find(&gpu->ranges, address);
    if (i == gpu->ranges.count || gpu->ranges.rows[i].first > address)
        return false;
    gpu->found = gpu->ranges.rows[i];
    return true;
}

bool hopper_ranges_go_on(const struct wsdbg_gpu *gpu, uint64_t address, uint64_t byte_count)
{
    const struct hopper_ranges *ranges = &gpu->ranges;
    size_t i = find(ranges, address);
    while (byte_count > ranges->rows[i].end - address) {
        if (++i == ranges->count || ranges->rows[i].first != ranges->rows[i - 1].end)
            return false;
    }
    return true;
}

static struct wsdbg_error *insert(struct wsdbg_gpu *gpu, struct hopper_range range)
{
    struct hopper_ranges *ranges = &gpu->ranges;
    const size_t at = find(ranges, range.first);
    if (at < ranges->count && ranges->rows[at].first < range.end)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "memory 0x%llx is in use already",
                                  (unsigned long long)range.first);
    if (!wsdbg_grow((void **)&ranges->rows, &ranges->capacity, ranges->count + 1, sizeof *ranges->rows))
        return &wsdbg_error_no_memory;
    memmove(ranges->rows + at + 1, ranges->rows + at, (ranges->count - at) * sizeof *ranges->rows);
    ranges->rows[at] = range;
    ranges->count++;
    gpu->found = (struct hopper_range){0};
    return NULL;
}

static bool drop(struct wsdbg_gpu *gpu, uint64_t address, bool is_host, struct hopper_range *out)
{
    struct hopper_ranges *ranges = &gpu->ranges;
    const size_t at = find(ranges, address);
    if (at == ranges->count || ranges->rows[at].first != address || ranges->rows[at].is_host != is_host)
        return false;
    *out = ranges->rows[at];
    memmove(ranges->rows + at, ranges->rows + at + 1, (ranges->count - at - 1) * sizeof *ranges->rows);
    ranges->count--;
    gpu->found = (struct hopper_range){0};
    return true;
}

static uint64_t page_up(uint64_t address)
{
    return (address + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

struct wsdbg_error *hopper_allocate(struct wsdbg_gpu *gpu, uint64_t byte_count, uint64_t alignment, uint64_t *address)
{
    const uint64_t begin = (uint64_t)(uintptr_t)gpu->space, end = begin + gpu->space_bytes;
    if (byte_count == 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "an allocation of 0 bytes");
    if (alignment & (alignment - 1))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "alignment %llu is no power of two",
                                  (unsigned long long)alignment);
    if (alignment < PAGE_BYTES)
        alignment = PAGE_BYTES;
    if (byte_count > gpu->space_bytes || alignment > gpu->space_bytes)
        return &wsdbg_error_no_memory;
    uint64_t at = begin;
    for (size_t i = find(&gpu->ranges, begin);; i++) {
        at = (at + alignment - 1) & ~(alignment - 1);
        const bool is_last = i == gpu->ranges.count || gpu->ranges.rows[i].first >= end;
        const uint64_t until = is_last ? end : gpu->ranges.rows[i].first;
        if (at < until && page_up(byte_count) + PAGE_BYTES <= until - at) {
            struct wsdbg_error *error = insert(gpu, (struct hopper_range){.first = at, .end = at + byte_count});
            if (!error)
                *address = at;
            return error;
        }
        if (is_last)
            return &wsdbg_error_no_memory;
        at = page_up(gpu->ranges.rows[i].end) + PAGE_BYTES;
    }
}

bool hopper_free(struct wsdbg_gpu *gpu, uint64_t address)
{
    struct hopper_range range;
    if (!drop(gpu, address, false, &range))
        return false;
    madvise((void *)(uintptr_t)range.first, page_up(range.end) - range.first, MADV_DONTNEED);
    return true;
}

void hopper_describe_address(const struct wsdbg_gpu *gpu, uint64_t address, char *out, size_t byte_count)
{
    const size_t at = find(&gpu->ranges, address);
    const struct hopper_range *above = at < gpu->ranges.count ? &gpu->ranges.rows[at] : NULL;
    const struct hopper_range *below = at > 0 ? &gpu->ranges.rows[at - 1] : NULL;
    const struct hopper_range *nearest = below;
    if (above && (above->first <= address || !below || above->first - address < address - below->end))
        nearest = above;
    if (!nearest) {
        snprintf(out, byte_count, "no memory is allocated");
        return;
    }
    const bool is_near = address + NEAR_BYTES > nearest->first && address - NEAR_BYTES < nearest->end;
    const char *what = nearest->is_host ? "host memory" : "allocation";
    const unsigned long long first = nearest->first, length = nearest->end - nearest->first;
    if (!is_near)
        snprintf(out, byte_count, "no allocation is near; the nearest is %s 0x%llx of %llu bytes", what, first, length);
    else if (address < nearest->first)
        snprintf(out, byte_count, "%llu bytes before %s 0x%llx of %llu bytes", first - (unsigned long long)address,
                 what, first, length);
    else if (address < nearest->end)
        snprintf(out, byte_count, "%llu bytes into %s 0x%llx of %llu bytes", (unsigned long long)address - first, what,
                 first, length);
    else
        snprintf(out, byte_count, "%llu bytes behind the end of %s 0x%llx of %llu bytes",
                 (unsigned long long)(address - nearest->end), what, first, length);
}

/* ---- of gpu.h ---- */

struct wsdbg_error *wsdbg_gpu_allocate(struct wsdbg_gpu *gpu, uint64_t byte_count, uint64_t alignment,
                                       uint64_t *address)
{
    hopper_lock(gpu);
    struct wsdbg_error *error = hopper_allocate(gpu, byte_count, alignment, address);
    hopper_unlock(gpu);
    return error;
}

bool wsdbg_gpu_free(struct wsdbg_gpu *gpu, uint64_t address)
{
    hopper_lock(gpu);
    const bool is_freed = hopper_free(gpu, address);
    hopper_unlock(gpu);
    return is_freed;
}

struct wsdbg_error *wsdbg_gpu_map_host(struct wsdbg_gpu *gpu, void *memory, uint64_t byte_count)
{
    const uint64_t first = (uint64_t)(uintptr_t)memory;
    if (!memory || byte_count == 0 || byte_count > UINT64_MAX - first)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "host memory of %llu bytes at %p",
                                  (unsigned long long)byte_count, memory);
    hopper_lock(gpu);
    struct wsdbg_error *error =
        insert(gpu, (struct hopper_range){.first = first, .end = first + byte_count, .is_host = true});
    hopper_unlock(gpu);
    return error;
}

bool wsdbg_gpu_unmap_host(struct wsdbg_gpu *gpu, void *memory)
{
    struct hopper_range range;
    hopper_lock(gpu);
    const bool is_dropped = drop(gpu, (uint64_t)(uintptr_t)memory, true, &range);
    hopper_unlock(gpu);
    return is_dropped;
}

static bool tell_range(const struct hopper_range *range, uint64_t *first, uint64_t *length, bool *is_host)
{
    if (range) {
        *first = range->first;
        *length = range->end - range->first;
        *is_host = range->is_host;
    }
    return range != NULL;
}

bool wsdbg_gpu_find_memory(struct wsdbg_gpu *gpu, uint64_t address, uint64_t byte_count, uint64_t *first,
                           uint64_t *length, bool *is_host)
{
    hopper_lock(gpu);
    const bool is_found = tell_range(hopper_find_range(gpu, address, byte_count), first, length, is_host);
    hopper_unlock(gpu);
    return is_found;
}

bool wsdbg_gpu_next_memory(struct wsdbg_gpu *gpu, uint64_t address, uint64_t *first, uint64_t *length, bool *is_host)
{
    hopper_lock(gpu);
    const size_t i = find(&gpu->ranges, address);
    const bool is_found = tell_range(i < gpu->ranges.count ? &gpu->ranges.rows[i] : NULL, first, length, is_host);
    hopper_unlock(gpu);
    return is_found;
}
