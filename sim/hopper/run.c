/* run.c - the device's main loop, and what wakes warps that wait.
 *
 * Turn by turn: CTAs are placed, engines complete, time limits run out, one warp runs.  When no warp can, time jumps to
 * the next engine or limit; when there is none of these either, it is a deadlock, proven.  See deadlock.c for limits.
 */
#include "hopper/deadlock.h"
#include "hopper/mbarrier.h"
#include "hopper/schedule.h"

#include <sched.h>

/* ---- something changed ---- */

/* Whether the split may go on, now that something changed: its wait is for something outside of its warp. */
static bool may_be_over(const struct hopper_warp *warp, const struct hopper_split *split)
{
    switch (split->wait.kind) {
    case HOPPER_RUNS:
    case HOPPER_WAITS_LANES:
    case HOPPER_SLEEPS:
        return false;
    case HOPPER_WAITS_MBARRIER:
        return !hopper_mbarrier_waits(warp, &split->wait);
    default:
        return true;
    }
}

/* Splits whose wait may be over, or only those that spin. */
static void wake(struct wsdbg_gpu *gpu, struct hopper_warp *warp, bool only_spins)
{
    bool can_run = false;
    for (uint32_t i = 0; i < warp->split_count; i++) {
        struct hopper_split *split = &warp->splits[i];
        if (only_spins ? split->wait.kind == HOPPER_SPINS : may_be_over(warp, split))
            split->again = can_run = true;
    }
    if (can_run)
        hopper_make_ready(gpu, warp);
}

static void wake_cluster(struct wsdbg_gpu *gpu, struct hopper_cluster *cluster, bool only_spins)
{
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t k = 0; k < cluster->ctas[i]->warp_count; k++)
            wake(gpu, &cluster->ctas[i]->warps[k], only_spins);
}

static void wake_all(struct wsdbg_gpu *gpu, bool only_spins)
{
    for (struct wsdbg_grid_run *run = gpu->runs; run; run = run->next)
        for (struct hopper_cluster *cluster = run->grid.clusters; cluster; cluster = cluster->next)
            wake_cluster(gpu, cluster, only_spins);
}

void hopper_changed_barrier(struct hopper_cta *cta)
{
    cta->grid->gpu->changes++;
    wake_cluster(cta->grid->gpu, cta->cluster, false);
}

void hopper_changed_shared(struct hopper_cta *cta)
{
    cta->grid->gpu->changes++;
    if (!cta->cluster->spinning_warps)
        return;
    cta->cluster->spinning_warps = 0;
    wake_cluster(cta->grid->gpu, cta->cluster, true);
}

void hopper_changed_global(struct wsdbg_gpu *gpu)
{
    gpu->changes++;
    if (!gpu->global_spinners)
        return;
    gpu->global_spinners = 0;
    wake_all(gpu, true);
}

void hopper_changed(struct wsdbg_gpu *gpu)
{
    gpu->changes++;
    wake_all(gpu, false);
}

/* ---- the loop ---- */

static void let_others_in(struct wsdbg_gpu *gpu)
{
    while (atomic_load(&gpu->others)) {
        pthread_mutex_unlock(&gpu->lock);
        sched_yield();
        pthread_mutex_lock(&gpu->lock);
    }
}

static bool has_unfinished(const struct wsdbg_gpu *gpu)
{
    for (const struct wsdbg_grid_run *run = gpu->runs; run; run = run->next)
        if (wsdbg_gpu_state(run) <= WSDBG_GRID_RUNNING)
            return true;
    return false;
}

/* Nobody can run now: goes on to the next moment when something happens by itself.  False: there is none. */
static bool jump(struct wsdbg_gpu *gpu, enum wsdbg_gpu_outcome *outcome)
{
    uint64_t next_ns = gpu->work_count ? gpu->works[0].due_ns : UINT64_MAX;
    if (next_ns == UINT64_MAX && hopper_is_stuck(gpu)) {
        *outcome = !has_unfinished(gpu)        ? WSDBG_GPU_IDLE
                   : hopper_host_may_help(gpu) ? WSDBG_GPU_STALLED
                                               : WSDBG_GPU_DEADLOCK;
        return false;
    }
    if (gpu->next_limit_ns < next_ns)
        next_ns = gpu->next_limit_ns;
    if (next_ns != UINT64_MAX && next_ns * 1000 > gpu->time_ps)
        gpu->time_ps = next_ns * 1000;
    return true;
}

static void run_one(struct wsdbg_gpu *gpu, uint64_t left)
{
    uint32_t quantum;
    const size_t ready_warps = gpu->ready_count;
    struct hopper_warp *warp = hopper_choose_warp(gpu, &quantum);
    struct hopper_grid *grid = warp->cta->grid;
    hopper_pass_time(gpu, hopper_run_warp(gpu, warp, quantum < left ? quantum : (uint32_t)left), ready_warps);
    if (grid->has_done_clusters)
        hopper_free_done(gpu, grid);
}

static enum wsdbg_gpu_outcome run(struct wsdbg_gpu *gpu, uint64_t end)
{
    enum wsdbg_gpu_outcome outcome = WSDBG_GPU_BUDGET;
    for (;;) {
        if (atomic_load_explicit(&gpu->others, memory_order_relaxed))
            let_others_in(gpu);
        if (gpu->may_place)
            hopper_place_ctas(gpu);
        if (gpu->work_count)
            hopper_engines_complete(gpu);
        if (gpu->next_limit_ns <= hopper_time_ns(gpu))
            hopper_expire_limits(gpu);
        if (gpu->has_fault)
            return WSDBG_GPU_FAULT;
        if (gpu->instructions >= end)
            return WSDBG_GPU_BUDGET;
        if (gpu->ready_count)
            run_one(gpu, end - gpu->instructions);
        else if (!gpu->may_place && !jump(gpu, &outcome))
            return outcome;
    }
}

enum wsdbg_gpu_outcome wsdbg_gpu_run(struct wsdbg_gpu *gpu, uint64_t instructions_most)
{
    hopper_lock(gpu);
    hopper_changed_global(gpu); /* the host may have written */
    const uint64_t end = gpu->instructions + instructions_most;
    const enum wsdbg_gpu_outcome outcome = run(gpu, end < instructions_most ? UINT64_MAX : end);
    hopper_unlock(gpu);
    return outcome;
}
