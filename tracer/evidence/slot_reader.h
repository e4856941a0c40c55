/* slot_reader.h - what one slot says: who its warp is and what the warp does.
 *
 * Reads: a slot that a device may be writing.  Writes: a decoded copy.
 */
#ifndef WSDBG_EVIDENCE_SLOT_READER_H
#define WSDBG_EVIDENCE_SLOT_READER_H

#include "model/snapshot.h"

enum wsdbg_slot_result {
    WSDBG_SLOT_EMPTY,   /* no warp ever began here */
    WSDBG_SLOT_READ,    /* state and identity belong together */
    WSDBG_SLOT_FOREIGN, /* the identity fails its check or contradicts itself */
    WSDBG_SLOT_TORN     /* the slot kept changing between the two reads */
};

/* Reads slot `index` of a context with `warps_per_sm` slots an SM; *out is set for READ only. */
enum wsdbg_slot_result wsdbg_slot_read(const struct wsdbg_slot *slot, uint32_t index, uint32_t warps_per_sm,
                                       struct wsdbg_slot *out);

/* The state that follows from a warp's last event (ring.h). */
enum wsdbg_warp_state wsdbg_event_state(uint8_t kind);

static inline uint32_t wsdbg_slot_warp(const struct wsdbg_slot *slot)
{
    return slot->warp_in_cta & 0xffu;
}
static inline uint32_t wsdbg_slot_warps(const struct wsdbg_slot *slot)
{
    return slot->warp_in_cta >> 8 & 0xffu;
}
static inline uint32_t wsdbg_slot_cluster_rank(const struct wsdbg_slot *slot)
{
    return slot->warp_in_cta >> 16 & 0xffu;
}
static inline uint32_t wsdbg_slot_cluster_size(const struct wsdbg_slot *slot)
{
    return slot->warp_in_cta >> 24;
}

#endif
