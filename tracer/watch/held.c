/* held.c - see held.h.  Reads: snapshots, the processes' state.  Writes: its own struct. */
#include "watch/held.h"

#include <stdlib.h>

static bool is_same_stop(const struct wsdbg_held *held, const struct wsdbg_process_stop *stop)
{
    for (size_t i = 0; i < held->stop_count; i++)
        if (held->stops[i].process == stop->process && held->stops[i].switches == stop->switches &&
            held->stops[i].cpu_ticks == stop->cpu_ticks)
            return true;
    return false;
}

/* *lasts: one of them was found by the tick before.  NULL = out of memory. */
static struct wsdbg_process_stop *find_stops(const struct wsdbg_held *held, const struct wsdbg_snapshot *snapshot,
                                             size_t *count, bool *lasts)
{
    struct wsdbg_process_stop *stops = calloc(snapshot->context_count + 1, sizeof *stops);
    *count = 0;
    *lasts = false;
    for (size_t i = 0; stops && i < snapshot->context_count; i++)
        if (wsdbg_process_is_stopped((pid_t)snapshot->contexts[i].process_id, &stops[*count]))
            *lasts |= is_same_stop(held, &stops[(*count)++]);
    return stops;
}

uint64_t wsdbg_held_tick(struct wsdbg_held *held, const struct wsdbg_snapshot *snapshot, uint64_t now_ns)
{
    size_t count;
    bool lasts;
    struct wsdbg_process_stop *stops = find_stops(held, snapshot, &count, &lasts);
    const uint64_t passed_ns = held->ticked_ns && now_ns > held->ticked_ns ? now_ns - held->ticked_ns : 0;
    const uint64_t held_ns = lasts ? held->part_ns + passed_ns : 0;
    free(held->stops);
    held->stops = stops;
    held->stop_count = count;
    held->ticked_ns = now_ns;
    held->part_ns = lasts ? 0 : passed_ns;
    return held_ns;
}

bool wsdbg_held_by_signals(const struct wsdbg_held *held)
{
    for (size_t i = 0; i < held->stop_count; i++)
        if (held->stops[i].is_traced)
            return false;
    return held->stop_count > 0;
}

void wsdbg_held_deinit(struct wsdbg_held *held)
{
    free(held->stops);
    *held = (struct wsdbg_held){0};
}
