/* race_state.h - the race checker's rows; see race.h.  Private to the files race_*.c. */
#ifndef WSDBG_HOPPER_RACE_STATE_H
#define WSDBG_HOPPER_RACE_STATE_H

#include "hopper/gpu.h"
#include "hopper/race.h"

/* One generation of a barrier: what those who arrived knew.  Even and odd ones take turns. */
struct hopper_race_turn {
    uint64_t generation;
    struct race_knowledge known;
};
/* What is released at an address: of an mbarrier (arrivals of the phase that is open; of those that are over), or of a
 * word that strong operations use (in the CTA `owner`; for all). */
struct hopper_race_place {
    uint64_t key;
    struct race_knowledge released[2];
    const struct hopper_cta *owner;
    bool has_owners; /* several CTAs wrote it: what each released in itself is no longer told apart */
    /* Of an mbarrier: the component of copies that complete on it, how many were issued, those still on their way. */
    uint32_t component, issued;
    struct hopper_race_pending {
        uint32_t number, bytes_left;
    } *copies;
    size_t copy_count, copy_capacity;
};
struct hopper_race_places { /* open addressing */
    struct hopper_race_place **rows;
    size_t count, capacity;
};
struct hopper_race_named {
    struct hopper_race_turn turns[HOPPER_NAMED_BARRIERS][2];
};
struct hopper_race_cluster {
    struct race_shadow *shadow; /* rank << 24 | offset */
    uint32_t next_component[2]; /* of warps; of asynchronous work */
    struct hopper_race_named *named;
    struct hopper_race_turn cluster[2];
    struct hopper_race_places places;
};
struct hopper_race_grid {
    struct race_shadow *shadow;
    struct hopper_race_places places;
    struct hopper_race_who *who;
    size_t who_count, who_capacity;
};
struct hopper_races {
    uint32_t blocks;
    struct wsdbg_gpu_race *rows;
    size_t count, capacity;
};

struct hopper_race_cluster *hopper_race_cluster(struct hopper_cluster *cluster);
struct hopper_race_grid *hopper_race_grid(struct hopper_grid *grid);

static inline uint64_t hopper_race_key(const struct hopper_cta *cta, uint32_t offset)
{
    return (uint64_t)cta->rank << HOPPER_RANK_SHIFT | offset;
}

#endif
