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
static inline struct hopper_target hopper_target_of(const struct hopper_step *step, enum wsdbg_ptx_space space,
                                                    uint64_t address)
{
    struct hopper_cta *const own = step->warp->cta;
    if (space == WSDBG_PTX_GENERIC) {
        const uint64_t in_shared = address - HOPPER_SHARED_WINDOW, in_local = address - HOPPER_LOCAL_WINDOW;
        if (in_local < HOPPER_WINDOW_BYTES)
            return (struct hopper_target){.space = WSDBG_PTX_LOCAL, .address = in_local};
        if (in_shared >= HOPPER_WINDOW_BYTES)
            return (struct hopper_target){.space = WSDBG_PTX_GLOBAL, .address = address};
        space = WSDBG_PTX_SHARED_CLUSTER;
        address = in_shared;
    }
    if (space == WSDBG_PTX_SHARED || space == WSDBG_PTX_SHARED_CLUSTER) {
        const uint64_t rank = address >> HOPPER_RANK_SHIFT;
        struct hopper_cta *cta = rank == own->rank ? own : NULL;
        if (!cta && space == WSDBG_PTX_SHARED_CLUSTER && rank < own->cluster->cta_count &&
            own->cluster->ctas[rank]->live_warps > 0)
            cta = own->cluster->ctas[rank];
        return (struct hopper_target){
            .space = WSDBG_PTX_SHARED, .address = address & ((1u << HOPPER_RANK_SHIFT) - 1), .cta = cta};
    }
    return (struct hopper_target){.space = space == WSDBG_PTX_CONST ? WSDBG_PTX_GLOBAL : space, .address = address};
}
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
    bool is_uniform;                  /* all addresses are the same */
};
static inline unsigned char *hopper_place_of(const struct hopper_places *places, unsigned lane)
{
    return (unsigned char *)(uintptr_t)(places->base + places->addresses[lane]);
}

/* Resolves ADDRESS operand `number` of the lanes that take part; false after hopper_fault. */
bool hopper_resolve(const struct hopper_step *step, unsigned number, uint32_t byte_count, uint32_t alignment,
                    bool for_writing, struct hopper_places *out);
/* Values of all 32 lanes, one lane's behind the other's. */
struct hopper_block {
    unsigned char *memory;
    enum wsdbg_ptx_space space; /* GLOBAL or SHARED */
    struct hopper_cta *cta;     /* of SHARED: whose */
};
/* Whether ADDRESS operand `number` is that, inside of one allocation: the usual case, found without a look at each
 * lane.  A lane has 4, 8 or 16 bytes.  False: hopper_resolve tells more. */
bool hopper_find_block(const struct hopper_step *step, unsigned number, uint32_t byte_count, struct hopper_block *out);
/* As hopper_locate, but an address that is none is no fault. */
struct hopper_cta *hopper_find_shared(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                      uint32_t byte_count, uint32_t *offset);
/* The lanes wrote there; or, for spin detection, read there. */
void hopper_wrote(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count);
void hopper_wrote_block(const struct hopper_step *step, const struct hopper_block *block, uint32_t byte_count);
void hopper_note_read(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count);

/* For spin.c, while it watches a loop: what changes from the first look on may end the loop. */
static inline void hopper_looks(const struct hopper_step *step)
{
    struct hopper_read *read = &step->warp->read;
    if (step->warp->watched_lanes && !read->looked) {
        read->looked = true;
        read->changes = step->gpu->changes;
    }
}

/* A store that changed nothing is a look: if others change what is there, it changes it back. */
void hopper_note_same(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count);

static inline void hopper_read(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count)
{
    step->split->reads_global |= places->space == WSDBG_PTX_GLOBAL;
    if (step->warp->watched_lanes)
        hopper_note_read(step, places, byte_count);
}

#endif
