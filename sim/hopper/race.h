/* race.h - what the executors tell the race checker (races/): accesses, synchronisation, fences.
 *
 * Private to hopper/.  gpu->races is NULL unless races are looked for: each call stands behind that one branch.
 * race_agents.c keeps who knows what, race_sync.c what synchronises, race_memory.c accesses, race_report.c the reports.
 */
#ifndef WSDBG_HOPPER_RACE_H
#define WSDBG_HOPPER_RACE_H

#include "hopper/access.h"
#include "hopper/copy_groups.h"
#include "hopper/transfer.h"
#include "hopper/wgmma.h"
#include "races/shadow.h"

struct hopper_race_who {
    uint32_t cta[3], warp;
};
/* Asynchronous work that is waited for in its order. */
enum { RACE_GROUPS = 16 };
enum { HOPPER_RACE_LANE_BYTES = 32 }; /* a vector that one lane stores */
struct hopper_race_warp {
    uint32_t component, agent;
    struct race_knowledge now, pending; /* pending: read by relaxed operations, known behind the next fence */
    struct race_knowledge fenced[2];    /* what relaxed operations release: behind fences of the CTA; and wider ones */
    uint32_t wgmma, copies;             /* components; 0 = none yet */
    uint32_t copies_issued, copy_groups[RACE_GROUPS];
    uint32_t bulk_reads[HOPPER_LANES], bulk_writes[HOPPER_LANES];
    struct hopper_transfer first_store; /* what the first lane stores by the bulk store that is executed */
    bool has_wgmma_fence;
    struct hopper_race_busy {
        uint32_t group, site; /* group 0: not an accumulator of a group that is not waited for */
    } * busy;                 /* one a 32-bit register */
    size_t busy_count;
};

/* ---- race_agents.c; NULL: no memory ---- */
struct hopper_race_warp *hopper_race_warp(struct hopper_warp *warp);
uint32_t hopper_race_component(struct hopper_cluster *cluster, bool is_async);
/* For an agent that synchronises with it now, all that it has done so far has happened before. */
void hopper_race_tick(struct hopper_race_warp *agent);
void hopper_race_warp_freed(struct hopper_warp *warp);
void hopper_race_cluster_freed(struct hopper_cluster *cluster);
void hopper_race_grid_freed(struct hopper_grid *grid);
void hopper_races_destroy(struct hopper_races *races);
struct race_shadow *hopper_race_shared(struct hopper_cluster *cluster);
struct race_shadow *hopper_race_global(struct hopper_grid *grid);
const struct hopper_race_who *hopper_race_who(const struct hopper_grid *grid, uint32_t agent);

/* ---- race_sync.c ---- */
void hopper_race_fence(struct hopper_step *step);
/* Arrives in `generation` of barrier `id`; passes behind it. */
void hopper_race_named_arrive(struct hopper_step *step, uint32_t id, uint64_t generation);
void hopper_race_named_pass(struct hopper_step *step, uint32_t id, uint64_t generation);
void hopper_race_cluster_arrive(struct hopper_step *step);
void hopper_race_cluster_wait(struct hopper_step *step, uint32_t parity);
void hopper_race_mbarrier_init(struct hopper_step *step, struct hopper_cta *cta, uint32_t offset);
void hopper_race_mbarrier_arrive(struct hopper_step *step, struct hopper_cta *cta, uint32_t offset);
void hopper_race_mbarrier_waited(const struct hopper_step *step, struct hopper_cta *cta, uint32_t offset);
void hopper_race_mbarrier_phase(struct hopper_cta *cta, uint32_t offset);
/* A copy that will complete there: its number; so many bytes of it came. */
uint32_t hopper_race_mbarrier_copy(struct hopper_cta *cta, uint32_t offset, uint32_t byte_count, uint32_t *component);
void hopper_race_mbarrier_bytes(struct hopper_cta *cta, uint32_t offset, uint32_t number, uint32_t byte_count);
/* ld, st, atom and red that are strong. */
void hopper_race_strong(const struct hopper_step *step, struct hopper_cta *cta, uint64_t address, bool reads,
                        bool writes);
void hopper_race_wgmma_fence(struct hopper_step *step);
void hopper_race_wgmma_wait(struct hopper_step *step, uint32_t done);
uint32_t hopper_copies_open(const struct hopper_warp *warp, unsigned lane); /* copy_async.c: groups committed */
void hopper_race_bulk_wait(struct hopper_step *step, uint32_t keep, bool reads_only);
void hopper_race_copies_commit(struct hopper_step *step);
void hopper_race_copies_wait(struct hopper_step *step, uint32_t keep, bool all);
void hopper_race_copies_arrive(struct hopper_step *step, uint32_t offset);

/* ---- race_memory.c ---- */
void hopper_race_places(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count,
                        bool reads, bool writes);
void hopper_race_loaded_block(const struct hopper_step *step, const struct hopper_block *block, uint32_t byte_count);
/* A store: what the bytes were before it, then the store. */
struct hopper_race_before {
    uint8_t bytes[HOPPER_LANES * HOPPER_RACE_LANE_BYTES];
};
void hopper_race_before(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count,
                        struct hopper_race_before *before);
void hopper_race_stored(const struct hopper_step *step, const struct hopper_places *places, uint32_t byte_count,
                        const struct hopper_race_before *before);
void hopper_race_before_block(const struct hopper_block *block, uint32_t byte_count, struct hopper_race_before *before);
void hopper_race_stored_block(const struct hopper_step *step, const struct hopper_block *block, uint32_t byte_count,
                              const struct hopper_race_before *before);
/* One lane's bytes of shared or global memory, by an address of the space. */
void hopper_race_lane(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address, uint32_t byte_count,
                      bool writes, uint32_t flags);
/* A copy is issued; sets transfer->race.  Bytes that are stored on their own (st.async) have a `byte_count`. */
void hopper_race_transfer(const struct hopper_step *step, struct hopper_transfer *transfer, uint32_t byte_count);
/* A tensor's map is used. */
void hopper_race_map(const struct hopper_step *step, uint64_t address);
/* cp.async: one number for all lanes of the instruction, then each lane. */
void hopper_race_copies_begin(const struct hopper_step *step);
void hopper_race_copy(const struct hopper_step *step, uint32_t offset, uint32_t byte_count, uint64_t source,
                      uint32_t source_bytes);
void hopper_race_wgmma(struct hopper_step *step, const struct wgmma_operation *operation, uint32_t group);
/* Before an instruction, while groups of wgmma have not been waited for. */
void hopper_race_registers(struct hopper_step *step);

/* ---- race_report.c ---- */
struct hopper_race_context {
    struct hopper_grid *grid;
    struct hopper_cluster *cluster; /* NULL: of global memory */
};
void hopper_race_found(void *context, enum race_kind kind, uint64_t address, const struct race_access *earlier,
                       bool earlier_writes, const struct race_access *later, bool later_writes);

static inline uint32_t hopper_race_site(const struct hopper_step *step)
{
    return (uint32_t)(step->instruction - step->program->instructions);
}

#endif
