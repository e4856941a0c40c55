/* access.h - memory as the lanes of one instruction see it; see access.c. */
#ifndef WSDBG_HOPPER_ACCESS_H
#define WSDBG_HOPPER_ACCESS_H

#include "hopper/device.h"

/* One access of one lane: the space that a generic address falls in. */
struct hopper_target {
    enum wsdbg_ptx_space space; /* GLOBAL, SHARED, LOCAL or PARAM */
    uint64_t address;           /* in it */
    struct hopper_cta *cta;     /* of SHARED; NULL = of no CTA it may use */
};
struct hopper_target hopper_target_of(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address);
/* Its memory; NULL after hopper_fault. */
unsigned char *hopper_resolve_lane(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                   uint32_t byte_count, uint32_t alignment, unsigned lane, bool for_writing,
                                   struct hopper_target *target);

/* Where each lane's value lies. */
struct hopper_places {
    uint64_t base;                    /* added to each of: */
    uint64_t addresses[HOPPER_LANES]; /* not defined for lanes that take no part */
    enum wsdbg_ptx_space space;       /* of the first lane: GLOBAL, SHARED, LOCAL or PARAM */
    struct hopper_cta *cta;           /* of SHARED: whose */
    uint32_t dense_bytes; /* not 0: all lanes take part and one begins behind the other, so many bytes each; only
                             addresses[0] is defined then */
    bool is_uniform;      /* all addresses are the same */
};
static inline unsigned char *hopper_place_of(const struct hopper_places *places, unsigned lane)
{
    return (unsigned char *)(uintptr_t)(places->base + places->addresses[lane]);
}

/* Resolves ADDRESS operand `number` of the lanes that take part; false after hopper_fault. */
bool hopper_resolve(const struct hopper_step *step, unsigned number, uint32_t byte_count, uint32_t alignment,
                    bool for_writing, struct hopper_places *out);
/* The same for one value of 4 or 8 bytes a lane: may find it dense. */
bool hopper_resolve_values(const struct hopper_step *step, unsigned number, uint32_t byte_count, bool for_writing,
                           struct hopper_places *out);
/* As hopper_locate, but an address that is none is no fault. */
struct hopper_cta *hopper_find_shared(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                      uint32_t byte_count, uint32_t *offset);
/* The lanes wrote there; or, for spin detection, read there. */
void hopper_wrote(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count);
void hopper_note_read(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count);

static inline void hopper_read(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    if (step->warp->is_watched)
        hopper_note_read(step, places, byte_count);
}

#endif
