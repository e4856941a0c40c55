/* schedule.c - which warp runs next, and for how long: round robin, random, by priorities that change (PCT), or by
 * given switches (switches.c).
 *
 * All decisions come from one seeded generator or from a list of an earlier run, and are kept.  Simulated time goes on
 * with instructions: a warp's instruction takes INSTRUCTION_PS, and the schedulers of all busy multiprocessors work
 * side by side.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "hopper/gpu.h"
#include "hopper/schedule.h"

enum { INSTRUCTION_PS = 2000, SM_SCHEDULERS = 4, QUANTUM = 16, RANDOM_QUANTUM = 32, STREAK_MOST = 1 << 20 };
enum { DECISIONS_MOST = 1 << 26 };

/* ---- decisions ---- */

static uint64_t next_random(struct wsdbg_gpu *gpu)
{
    uint64_t value = gpu->random += 0x9e3779b97f4a7c15; /* splitmix64 */
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

static uint32_t decide(struct wsdbg_gpu *gpu, uint32_t choices)
{
    const bool by_switches = gpu->options.schedule.kind == WSDBG_SCHEDULE_SWITCHES;
    if (gpu->options.schedule.kind == WSDBG_SCHEDULE_ROUND_ROBIN || choices <= 1)
        return 0;
    const uint64_t drawn = by_switches ? 0 : next_random(gpu);
    const size_t at = gpu->decision_count;
    const uint32_t decision = (uint32_t)((at < gpu->replay_count ? gpu->replay[at] : drawn) % choices);
    if (at < DECISIONS_MOST &&
        wsdbg_grow((void **)&gpu->decisions, &gpu->decision_capacity, at + 1, sizeof *gpu->decisions))
        gpu->decisions[gpu->decision_count++] = decision;
    return decision;
}

/* What is drawn for engines; 0 is what is usual. */
uint32_t hopper_decide(struct wsdbg_gpu *gpu, uint32_t choices)
{
    const uint32_t decision = gpu->options.schedule.usual_engines ? 0 : decide(gpu, choices);
    if (gpu->switches && choices > 1)
        hopper_keep_engine_decision(gpu->switches, decision);
    return decision;
}

const uint32_t *wsdbg_gpu_decisions(const struct wsdbg_gpu *gpu, size_t *count)
{
    *count = gpu->decision_count;
    return gpu->decisions;
}

static int compare_points(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static struct wsdbg_error *draw_change_points(struct wsdbg_gpu *gpu)
{
    const struct wsdbg_schedule_options *options = &gpu->options.schedule;
    if (options->kind != WSDBG_SCHEDULE_PRIORITY || options->change_points == 0)
        return NULL;
    gpu->points = calloc(options->change_points, sizeof *gpu->points);
    if (!gpu->points)
        return &wsdbg_error_no_memory;
    const uint32_t length = options->length == 0           ? 1u << 20
                            : options->length > UINT32_MAX ? UINT32_MAX
                                                           : (uint32_t)options->length;
    gpu->point_count = options->change_points;
    for (size_t i = 0; i < gpu->point_count; i++)
        gpu->points[i] = gpu->instructions + decide(gpu, length);
    qsort(gpu->points, gpu->point_count, sizeof *gpu->points, compare_points);
    return NULL;
}

struct wsdbg_error *hopper_schedule_begin(struct wsdbg_gpu *gpu)
{
    struct wsdbg_schedule_options *options = &gpu->options.schedule;
    gpu->random = options->seed;
    gpu->next_limit_ns = UINT64_MAX;
    gpu->lowest_priority = UINT32_MAX / 2;
    if (options->replay_count) {
        gpu->replay = malloc(options->replay_count * sizeof *gpu->replay);
        if (!gpu->replay)
            return &wsdbg_error_no_memory;
        memcpy(gpu->replay, options->replay, options->replay_count * sizeof *gpu->replay);
        gpu->replay_count = options->replay_count;
    }
    options->replay = NULL;
    struct wsdbg_error *error = NULL;
    if (options->keeps_switches || options->kind == WSDBG_SCHEDULE_SWITCHES)
        error = hopper_switches_create(options, &gpu->switches);
    options->switches = NULL;
    return error ? error : draw_change_points(gpu);
}

static void forget_schedule(struct wsdbg_gpu *gpu)
{
    free(gpu->decisions);
    free(gpu->replay);
    free(gpu->points);
    hopper_switches_destroy(gpu->switches);
    gpu->decisions = gpu->replay = NULL;
    gpu->points = NULL;
    gpu->switches = NULL;
    gpu->decision_count = gpu->decision_capacity = gpu->replay_count = gpu->point_count = gpu->next_point = 0;
    gpu->turn = gpu->streak = 0;
    gpu->streak_of = NULL;
}

struct wsdbg_error *wsdbg_gpu_set_schedule(struct wsdbg_gpu *gpu, const struct wsdbg_schedule_options *schedule)
{
    hopper_lock(gpu);
    forget_schedule(gpu);
    gpu->options.schedule = *schedule;
    struct wsdbg_error *error = hopper_schedule_begin(gpu);
    hopper_unlock(gpu);
    return error;
}

void hopper_schedule_end(struct wsdbg_gpu *gpu)
{
    free(gpu->ready);
    free(gpu->spins.rows);
    forget_schedule(gpu);
}

uint32_t hopper_new_priority(struct wsdbg_gpu *gpu)
{
    const bool is_wanted = gpu->options.schedule.kind != WSDBG_SCHEDULE_SWITCHES;
    return UINT32_MAX / 2 + (is_wanted ? decide(gpu, UINT32_MAX / 2) : 0);
}

/* ---- who is ready ---- */

bool hopper_make_ready(struct wsdbg_gpu *gpu, struct hopper_warp *warp)
{
    if (warp->ready_at != WSDBG_PTX_NONE)
        return true;
    if (!wsdbg_grow((void **)&gpu->ready, &gpu->ready_capacity, gpu->ready_count + 1, sizeof(struct hopper_warp *)))
        return false;
    warp->ready_at = (uint32_t)gpu->ready_count;
    gpu->ready[gpu->ready_count++] = warp;
    return true;
}

void hopper_not_ready(struct wsdbg_gpu *gpu, struct hopper_warp *warp)
{
    if (warp->ready_at == WSDBG_PTX_NONE)
        return;
    if (gpu->streak_of == warp)
        gpu->streak_of = NULL;
    struct hopper_warp *last = gpu->ready[--gpu->ready_count];
    gpu->ready[warp->ready_at] = last;
    last->ready_at = warp->ready_at;
    warp->ready_at = WSDBG_PTX_NONE;
}

static struct hopper_warp *highest_priority(const struct wsdbg_gpu *gpu)
{
    struct hopper_warp *highest = gpu->ready[0];
    for (size_t i = 1; i < gpu->ready_count; i++)
        if (gpu->ready[i]->priority > highest->priority)
            highest = gpu->ready[i];
    return highest;
}

/* The warp with the highest priority, until the next change point; one that runs very long gives way, for it may wait
 * for another in a loop that looks like work. */
static struct hopper_warp *choose_by_priority(struct wsdbg_gpu *gpu, uint32_t *quantum)
{
    struct hopper_warp *warp = highest_priority(gpu);
    const bool is_point = gpu->next_point < gpu->point_count && gpu->instructions >= gpu->points[gpu->next_point];
    gpu->streak = warp == gpu->streak_of ? gpu->streak : 0;
    gpu->streak_of = warp;
    if (is_point || gpu->streak >= STREAK_MOST) {
        gpu->next_point += is_point;
        gpu->streak = 0;
        warp->priority = --gpu->lowest_priority;
        warp = highest_priority(gpu);
    }
    uint64_t most = STREAK_MOST;
    if (gpu->next_point < gpu->point_count && gpu->points[gpu->next_point] - gpu->instructions < most)
        most = gpu->points[gpu->next_point] - gpu->instructions;
    *quantum = most > QUANTUM ? QUANTUM : most ? (uint32_t)most : 1;
    gpu->streak += *quantum;
    return warp;
}

struct hopper_warp *hopper_choose_warp(struct wsdbg_gpu *gpu, uint32_t *quantum)
{
    switch (gpu->options.schedule.kind) {
    case WSDBG_SCHEDULE_RANDOM: {
        struct hopper_warp *warp = gpu->ready[decide(gpu, (uint32_t)gpu->ready_count)];
        *quantum = 1 + decide(gpu, RANDOM_QUANTUM);
        return warp;
    }
    case WSDBG_SCHEDULE_PRIORITY:
        return choose_by_priority(gpu, quantum);
    case WSDBG_SCHEDULE_SWITCHES:
        return hopper_choose_by_switches(gpu, quantum);
    default:
        *quantum = QUANTUM;
        if (gpu->turn >= gpu->ready_count)
            gpu->turn = 0;
        return gpu->ready[gpu->turn++];
    }
}

/* ---- time ---- */

void hopper_pass_time(struct wsdbg_gpu *gpu, uint32_t instructions, size_t ready_warps)
{
    const uint64_t busy_sms = gpu->resident_ctas < gpu->sm_count ? gpu->resident_ctas : gpu->sm_count;
    uint64_t side_by_side = busy_sms * SM_SCHEDULERS;
    if (ready_warps < side_by_side)
        side_by_side = ready_warps;
    gpu->time_ps += (uint64_t)instructions * INSTRUCTION_PS / (side_by_side ? side_by_side : 1);
    gpu->instructions += instructions;
}
