/* access.h - memory as the lanes of one instruction see it; see access.c. */
#ifndef WSDBG_HOPPER_ACCESS_H
#define WSDBG_HOPPER_ACCESS_H

#include "hopper/device.h"

/* Where each lane's value lies. */
struct hopper_places {
    uint64_t base;                    /* added to each of: */
    uint64_t addresses[HOPPER_LANES]; /* not defined for lanes that take no part */
    enum wsdbg_ptx_space space;       /* of the first lane: GLOBAL, SHARED, LOCAL or PARAM */
    struct hopper_cta *cta;           /* of SHARED: whose */
    uint32_t dense_bytes; /* what each lane accesses, where all take part and one begins behind the other; else 0 */
};
static inline unsigned char *hopper_place_of(const struct hopper_places *places, unsigned lane)
{
    return (unsigned char *)(uintptr_t)(places->base + places->addresses[lane]);
}

/* Resolves ADDRESS operand `number` of the lanes that take part; false after hopper_fault. */
bool hopper_resolve(const struct hopper_step *step, unsigned number, uint32_t byte_count, uint32_t alignment,
                    bool for_writing, struct hopper_places *out);
/* The lanes wrote there; or, for spin detection, read there. */
void hopper_wrote(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count);
void hopper_note_read(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count);

static inline void hopper_read(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    if (step->warp->is_watched)
        hopper_note_read(step, places, byte_count);
}

#endif
