/* state.c - see state.h: the walk over grids, CTAs, warps and their splits.
 *
 * Reads: all of the gpu, with its lock.  Writes: plain structs, of which the caller sees one at a time.
 */
#include "hopper/state.h"

#include <string.h>

#include "hopper/device.h"
#include "hopper/found.h"
#include "hopper/mbarrier.h"
#include "hopper/probe.h"

#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a)
SAME(WSDBG_GPU_RUNS, HOPPER_RUNS);
SAME(WSDBG_GPU_WAITS_LANES, HOPPER_WAITS_LANES);
SAME(WSDBG_GPU_SPINS, HOPPER_SPINS);
SAME(WSDBG_GPU_LANES, HOPPER_SPLITS);
SAME(WSDBG_GPU_NAMED_BARRIERS, HOPPER_NAMED_BARRIERS);
SAME(WSDBG_GPU_RANK_SHIFT, HOPPER_RANK_SHIFT);
_Static_assert(WSDBG_GPU_SHARED_WINDOW == HOPPER_SHARED_WINDOW, "the window of shared memory");

/* A warp in a loop of test_wait waits for the mbarrier, as one in a loop of try_wait does. */
static struct wsdbg_gpu_part part_of(const struct hopper_split *split)
{
    const struct hopper_wait *wait = &split->wait;
    return (struct wsdbg_gpu_part){
        .lanes = split->lanes,
        .instruction = wait->tests ? wait->tests_pc : split->pc,
        .depth = split->depth,
        .returns = split->returns,
        .wait = wait->tests ? WSDBG_GPU_WAITS_MBARRIER : (enum wsdbg_gpu_wait)wait->kind,
        .cta_rank = wait->cta_rank,
        .offset = wait->offset,
        .parity = wait->parity,
        .tests_others = wait->tests_others,
        .id = wait->id,
        .threads = wait->threads,
        .has_arrived = wait->has_arrived,
        .registers = wait->registers,
        .groups = wait->groups,
        .lanes_missing = wait->lanes_missing,
        .address = wait->address,
        .value = wait->value,
        .width_bytes = wait->width_bytes,
        .of_global = wait->of_global,
    };
}

static void visit_warp(const struct wsdbg_gpu_visitor *visitor, void *data, const struct hopper_warp *warp)
{
    struct wsdbg_gpu_warp state = {
        .index = warp->index,
        .slot = warp->slot,
        .live = warp->live,
        .registers_held = warp->registers_held,
        .instructions = warp->instructions,
        .cluster_arrived = warp->cluster_arrived,
        .part_count = warp->live ? warp->split_count : 0,
    };
    const struct hopper_fault_site *site = &warp->cta->grid->gpu->fault_site;
    if (site->warp == warp) {
        state.fault_lanes = site->lanes;
        state.fault_instruction = site->instruction;
    }
    for (uint32_t i = 0; i < state.part_count; i++)
        state.parts[i] = part_of(&warp->splits[i]);
    state.found = hopper_found_rows(warp, &state.found_count);
    visitor->warp(data, &state);
}

static void visit_mbarriers(const struct wsdbg_gpu_visitor *visitor, void *data, const struct hopper_cta *cta)
{
    struct wsdbg_gpu_mbarrier mbarrier = {0};
    while ((mbarrier.offset = hopper_mbarrier_next(cta, mbarrier.offset, &mbarrier.is_initialised)) != 0) {
        const unsigned char *word = hopper_shared(cta, mbarrier.offset, sizeof mbarrier.word);
        if (!word)
            continue;
        memcpy(&mbarrier.word, word, sizeof mbarrier.word);
        visitor->mbarrier(data, &mbarrier);
    }
}

static void visit_cta(const struct wsdbg_gpu_visitor *visitor, void *data, const struct hopper_cta *cta)
{
    struct wsdbg_gpu_cta state = {
        .grid_id = cta->grid->id,
        .index = {cta->index[0], cta->index[1], cta->index[2]},
        .rank = cta->rank,
        .sm = cta->sm,
        .warp_count = cta->warp_count,
        .live_warps = cta->live_warps,
        .is_resident = cta->is_resident,
        .shared = cta->shared,
        .shared_first = HOPPER_SHARED_START,
        .shared_bytes = cta->shared_bytes,
        .cluster_generation = cta->cluster->generation,
    };
    memcpy(state.register_pool, cta->register_pool, sizeof state.register_pool);
    for (unsigned i = 0; i < HOPPER_NAMED_BARRIERS; i++) {
        state.named[i].arrived = cta->named[i].arrived;
        state.named[i].generation = cta->named[i].generation;
    }
    if (visitor->cta)
        visitor->cta(data, &state);
    if (visitor->mbarrier)
        visit_mbarriers(visitor, data, cta);
    for (uint32_t i = 0; visitor->warp && i < cta->warp_count; i++)
        visit_warp(visitor, data, &cta->warps[i]);
}

static void visit_arrays(const struct wsdbg_gpu_visitor *visitor, void *data, const struct hopper_grid *grid)
{
    const struct hopper_probes *probes = grid->launch.module->probes;
    const uint32_t function = (uint32_t)(grid->launch.function - grid->code->program->functions);
    for (uint32_t i = 0; probes && i < probes->family_count; i++) {
        const struct hopper_probe_family *family = &probes->families[i];
        const struct wsdbg_gpu_array array = {i, family->first, family->stride, family->stages};
        if (family->function == function)
            visitor->array(data, &array);
    }
}

static void visit_run(const struct wsdbg_gpu_visitor *visitor, void *data, const struct wsdbg_grid_run *run)
{
    const struct hopper_grid *grid = &run->grid;
    const struct wsdbg_gpu_grid state = {
        .id = grid->id,
        .run = run,
        .launch = &grid->launch,
        .program = grid->code->program,
        .state = wsdbg_gpu_state(run),
        .has_clusters = grid->has_clusters,
        .ctas_total = grid->ctas_total,
        .ctas_started = grid->ctas_started,
        .ctas_done = grid->ctas_done,
        .engine_works = grid->works_pending,
        .fault = wsdbg_gpu_fault(run),
    };
    if (visitor->grid)
        visitor->grid(data, &state);
    if (visitor->array)
        visit_arrays(visitor, data, grid);
    for (const struct hopper_cluster *cluster = grid->clusters; cluster; cluster = cluster->next)
        for (uint32_t i = 0; i < cluster->cta_count; i++)
            visit_cta(visitor, data, cluster->ctas[i]);
}

void wsdbg_gpu_walk(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_visitor *visitor, void *data)
{
    hopper_lock(gpu);
    for (const struct wsdbg_grid_run *run = gpu->runs; run; run = run->next)
        visit_run(visitor, data, run);
    hopper_unlock(gpu);
}
