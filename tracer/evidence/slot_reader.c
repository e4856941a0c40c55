/* slot_reader.c - see slot_reader.h.
 *
 * The state is 16 bytes read as two words, so it is read before and after the identity: both reads equal
 * means that neither the event nor the occupant changed in between.
 */
#include "evidence/slot_reader.h"

#include <string.h>

#include "evidence/segment_reader.h"

#define SLOT_READ_ATTEMPTS 4

static uint32_t identity_check(const struct wsdbg_slot *slot)
{
    return WSDBG_IDENTITY_SEED ^ (uint32_t)slot->grid_id ^ (uint32_t)(slot->grid_id >> 32) ^ slot->cta_x ^ slot->cta_y ^
           slot->cta_z ^ slot->warp_in_cta ^ slot->placement ^ slot->module_id ^ slot->cluster_id ^ slot->grid_ctas;
}

static bool identity_is_empty(const struct wsdbg_slot *slot)
{
    static const struct wsdbg_slot zero;
    return memcmp(&slot->grid_id, &zero.grid_id, sizeof zero - sizeof zero.state) == 0;
}

/* A right check over impossible fields is still nobody of ours. */
static bool identity_makes_sense(const struct wsdbg_slot *slot, uint32_t index, uint32_t warps_per_sm)
{
    const uint64_t placed = (uint64_t)(slot->placement & 0xffffu) * warps_per_sm + (slot->placement >> 16);
    return wsdbg_slot_warp(slot) < wsdbg_slot_warps(slot) && wsdbg_slot_warps(slot) <= 32 &&
           wsdbg_slot_cluster_rank(slot) < wsdbg_slot_cluster_size(slot) && placed == index;
}

/* Most slots of a chip never had a warp: they are looked at fifty times a second and need no copy. */
static bool is_untouched(const struct wsdbg_slot *slot)
{
    const uint64_t *words = (const uint64_t *)slot;
    uint64_t any = 0;
    for (size_t i = 0; i < sizeof *slot / sizeof *words; i++)
        any |= __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    return any == 0;
}

enum wsdbg_slot_result wsdbg_slot_read(const struct wsdbg_slot *slot, uint32_t index, uint32_t warps_per_sm,
                                       struct wsdbg_slot *out)
{
    enum wsdbg_slot_result result = WSDBG_SLOT_TORN;
    if (is_untouched(slot))
        return WSDBG_SLOT_EMPTY;
    for (int attempt = 0; attempt < SLOT_READ_ATTEMPTS; attempt++) {
        struct wsdbg_slot copy;
        struct wsdbg_event again;
        wsdbg_segment_copy(&copy, slot, sizeof copy);
        wsdbg_segment_copy(&again, &slot->state, sizeof again);
        if (memcmp(&copy.state, &again, sizeof again) != 0)
            continue;
        if (identity_is_empty(&copy))
            return WSDBG_SLOT_EMPTY;
        if (identity_check(&copy) == copy.check && identity_makes_sense(&copy, index, warps_per_sm)) {
            *out = copy;
            return WSDBG_SLOT_READ;
        }
        result = WSDBG_SLOT_FOREIGN;
    }
    return result;
}

enum wsdbg_warp_state wsdbg_event_state(uint8_t kind)
{
    switch (kind) {
    case WSDBG_EVENT_REGISTERS_REQUEST:
        return WSDBG_WARP_WAIT_REGISTERS;
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
        return WSDBG_WARP_WAIT_MBARRIER;
    case WSDBG_EVENT_BULK_WAIT_BEGIN:
        return WSDBG_WARP_WAIT_BULK;
    case WSDBG_EVENT_WGMMA_WAIT_BEGIN:
        return WSDBG_WARP_WAIT_WGMMA;
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
        return WSDBG_WARP_WAIT_NAMED;
    case WSDBG_EVENT_CLUSTER_WAIT_BEGIN:
        return WSDBG_WARP_WAIT_CLUSTER;
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
        return WSDBG_WARP_WAIT_GRID_DEPENDENCY;
    case WSDBG_EVENT_POLL_BEGIN:
        return WSDBG_WARP_SPIN_GLOBAL;
    case WSDBG_EVENT_EXIT:
        return WSDBG_WARP_EXITED;
    default:
        return kind < WSDBG_EVENT_KIND_COUNT ? WSDBG_WARP_RUNNING : WSDBG_WARP_UNKNOWN;
    }
}
