/* run.c - the device's main loop.
 *
 * Turn by turn: CTAs are placed, engines complete, time limits run out, one warp runs.  When no warp can, time jumps to
 * the next engine or limit; when there is none of these either, it is a deadlock, proven.  See deadlock.c for limits.
 */
#include "hopper/gpu.h"
#include "hopper/deadlock.h"
#include "hopper/schedule.h"

#include <fenv.h>
#include <sched.h>

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
    if (next_ns == UINT64_MAX)
        gpu->next_limit_ns = 0; /* some wait has a limit: look for it */
    else if (next_ns > gpu->time_ps / 1000)
        gpu->time_ps = next_ns * 1000;
    return true;
}

/* All work of engines that is due; a grid's CTAs may have waited for it with their memory. */
static void complete_engines(struct wsdbg_gpu *gpu)
{
    struct hopper_grid *grid;
    while ((grid = hopper_engine_complete(gpu)))
        if (grid->has_done_clusters || grid->ctas_done == grid->ctas_total)
            hopper_free_done(gpu, grid);
}

/* The warp that round robin runs next: where its state and its next instructions' registers lie.  With many warps they
 * are in no cache any more. */
static void fetch_ahead(const struct wsdbg_gpu *gpu)
{
    enum { WARPS_IN_CACHE = 256 };
    if (gpu->ready_count < WARPS_IN_CACHE || gpu->options.schedule.kind != WSDBG_SCHEDULE_ROUND_ROBIN)
        return;
    const size_t turn = gpu->turn < gpu->ready_count ? gpu->turn : 0;
    const size_t later = turn + 1 < gpu->ready_count ? turn + 1 : 0;
    __builtin_prefetch(gpu->ready[later]);
    __builtin_prefetch(&gpu->ready[later]->splits[0]);
    hopper_fetch_registers(gpu->ready[turn]);
}

static void run_one(struct wsdbg_gpu *gpu, uint64_t left)
{
    uint32_t quantum;
    const size_t ready_warps = gpu->ready_count;
    struct hopper_warp *warp = hopper_choose_warp(gpu, &quantum);
    struct hopper_grid *grid = warp->cta->grid;
    fetch_ahead(gpu);
    if (gpu->switches)
        hopper_turn_begins(gpu, warp);
    const uint32_t executed = hopper_run_warp(gpu, warp, quantum < left ? quantum : (uint32_t)left);
    hopper_pass_time(gpu, executed, ready_warps);
    if (gpu->switches)
        hopper_turn_ends(gpu, warp, executed);
    if (grid->has_done_clusters)
        hopper_free_done(gpu, grid);
}

static void tell_works(struct wsdbg_gpu *gpu)
{
    enum { EVERY_TURNS = 256 };
    if (gpu->works_told && ++gpu->turns % EVERY_TURNS == 0)
        gpu->works_told(gpu->works_context);
}

static enum wsdbg_gpu_outcome run(struct wsdbg_gpu *gpu, uint64_t end)
{
    enum wsdbg_gpu_outcome outcome = WSDBG_GPU_BUDGET;
    for (;;) {
        tell_works(gpu);
        if (atomic_load_explicit(&gpu->others, memory_order_relaxed))
            let_others_in(gpu);
        if (gpu->may_place)
            hopper_place_ctas(gpu);
        if (gpu->work_count)
            complete_engines(gpu);
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
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV); /* a program may round otherwise, or have subnormal numbers flushed */
    hopper_lock(gpu);
    hopper_changed_global(gpu); /* the host may have written */
    const uint64_t end = gpu->instructions + instructions_most;
    const enum wsdbg_gpu_outcome outcome = run(gpu, end < instructions_most ? UINT64_MAX : end);
    hopper_unlock(gpu);
    fesetenv(&callers);
    return outcome;
}
