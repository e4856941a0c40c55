/* region.c - which parts of the segment belong to which context's ring, and their use again.
 *
 * Writes: the segment's size; slot_count and history_depth of a context whose part is taken over.
 *
 * A part stays readable after its context ended.  Only when the segment is at its limit, a part of the same size
 * is taken from a context that the app destroyed in good order: nothing hung in it, its evidence is of no use.
 */
#include "region.h"

#include <string.h>
#include <sys/mman.h>

#include "contexts.h"
#include "segment.h"
#include "state.h"

static struct region {
    uint32_t context; /* row */
    uint64_t bytes;
    uint64_t offset;
    void *memory;
    void *landing;                 /* region_landing(); NULL = not needed yet */
} regions[2 * WSDBG_CONTEXT_ROWS]; /* slots and history of each */
static uint32_t region_count;

/* Lock held. */
static struct region *find_free(uint64_t bytes)
{
    for (uint32_t i = 0; i < region_count; i++) {
        uint32_t owner = regions[i].context;
        const struct wsdbg_context_row *row = &atomic_load(&shim_segment)->contexts[owner];
        if (regions[i].bytes == bytes && !atomic_load(&shim_contexts[owner].handle) &&
            !atomic_load(&shim_contexts[owner].users) &&
            __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == WSDBG_CONTEXT_DESTROYED)
            return &regions[i];
    }
    return NULL;
}

bool region_fits(uint64_t bytes)
{
    shim_lock();
    bool fits = bytes <= segment_room_bytes() || find_free(bytes);
    shim_unlock();
    return fits;
}

/* Lock held. */
static bool take_over(uint32_t context, uint64_t bytes, struct region **taken)
{
    struct region *region = find_free(bytes);
    if (!region)
        return false;
    struct wsdbg_context_row *before = &atomic_load(&shim_segment)->contexts[region->context];
    __atomic_store_n(&before->slot_count, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&before->history_depth, 0, __ATOMIC_SEQ_CST);
    region->context = context;
    memset(region->memory, 0, bytes);
    *taken = region;
    return true;
}

bool region_take(uint32_t context, uint64_t bytes, uint64_t *offset, void **memory, char *why)
{
    bool taken = false;
    shim_lock();
    struct region *region = &regions[region_count];
    if (bytes > segment_room_bytes())
        taken = take_over(context, bytes, &region);
    if (!taken && region_count < 2 * WSDBG_CONTEXT_ROWS && segment_grow(bytes, &region->offset, &region->memory, why)) {
        region->context = context;
        region->bytes = bytes;
        region_count++;
        taken = true;
    }
    if (taken) {
        *offset = region->offset;
        *memory = region->memory;
    }
    shim_unlock();
    return taken;
}

void *region_landing(const void *memory)
{
    void *landing = NULL;
    shim_lock();
    for (uint32_t i = 0; i < region_count; i++) {
        struct region *region = &regions[i];
        if (region->memory != memory)
            continue;
        if (!region->landing) {
            void *mapped = mmap(NULL, region->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
            region->landing = mapped == MAP_FAILED ? NULL : mapped;
        }
        landing = region->landing;
    }
    shim_unlock();
    return landing;
}
