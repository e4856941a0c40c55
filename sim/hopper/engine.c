/* engine.c - work that goes on beside the warps: kept by due time, completed by the run loop.
 *
 * Under schedules other than round robin the schedule decides how long each takes and which of two due ones is first.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "hopper/device.h"

static bool is_earlier(const struct hopper_engine_work *a, const struct hopper_engine_work *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void swap(struct wsdbg_gpu *gpu, size_t a, size_t b)
{
    const struct hopper_engine_work work = gpu->works[a];
    gpu->works[a] = gpu->works[b];
    gpu->works[b] = work;
}

static void sift_up(struct wsdbg_gpu *gpu, size_t at)
{
    for (; at > 0 && is_earlier(&gpu->works[at], &gpu->works[(at - 1) / 2]); at = (at - 1) / 2)
        swap(gpu, at, (at - 1) / 2);
}

static void sift_down(struct wsdbg_gpu *gpu, size_t at)
{
    for (;;) {
        size_t first = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < gpu->work_count; child++)
            if (is_earlier(&gpu->works[child], &gpu->works[first]))
                first = child;
        if (first == at)
            return;
        swap(gpu, at, first);
        at = first;
    }
}

/* Quarters of the usual latency: on time, early, late, very late. */
static uint64_t latency_of(struct wsdbg_gpu *gpu, uint64_t latency_ns)
{
    static const uint64_t quarters[] = {4, 1, 8, 32};
    if (gpu->options.schedule.kind == WSDBG_SCHEDULE_ROUND_ROBIN)
        return latency_ns;
    return latency_ns * quarters[hopper_decide(gpu, sizeof quarters / sizeof *quarters)] / 4;
}

struct wsdbg_error *hopper_engine_add(struct wsdbg_gpu *gpu, struct hopper_grid *grid, uint64_t latency_ns,
                                      void (*complete)(struct wsdbg_gpu *gpu, void *work), void *work)
{
    if (!wsdbg_grow((void **)&gpu->works, &gpu->work_capacity, gpu->work_count + 1, sizeof *gpu->works))
        return &wsdbg_error_no_memory;
    gpu->works[gpu->work_count] = (struct hopper_engine_work){
        .due_ns = hopper_time_ns(gpu) + latency_of(gpu, latency_ns),
        .order = gpu->next_work++,
        .grid = grid,
        .complete = complete,
        .work = work,
    };
    sift_up(gpu, gpu->work_count++);
    grid->works_pending++;
    return NULL;
}

struct hopper_grid *hopper_engine_complete(struct wsdbg_gpu *gpu)
{
    if (!gpu->work_count || gpu->works[0].due_ns > hopper_time_ns(gpu) || gpu->has_fault)
        return NULL;
    const struct hopper_engine_work work = gpu->works[0];
    gpu->works[0] = gpu->works[--gpu->work_count];
    sift_down(gpu, 0);
    work.grid->works_pending--;
    work.complete(gpu, work.work);
    return work.grid;
}

void hopper_engines_drop(struct wsdbg_gpu *gpu, const struct hopper_grid *grid)
{
    size_t kept = 0;
    for (size_t i = 0; i < gpu->work_count; i++) {
        if (gpu->works[i].grid == grid) {
            free(gpu->works[i].work);
            continue;
        }
        gpu->works[kept++] = gpu->works[i];
    }
    gpu->work_count = kept;
    for (size_t i = kept / 2; i-- > 0;)
        sift_down(gpu, i);
}
