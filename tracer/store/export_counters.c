/* export_counters.c - an mbarrier's pending arrivals over time, counted from the histories of its CTA's warps.
 *
 * Only where that count is all of them: every warp seen with its whole history, no cluster, whose other CTAs could
 * arrive too.  After the last arrival of a phase it stays at 0: when the phase completed, histories do not tell.
 */
#include "store/export_internal.h"

#include <stdlib.h>

/* An arrival or an init; `count` 0 = an init. */
struct step {
    uint64_t gpu_time_ns;
    uint32_t count;
    uint8_t barrier, stage;
};

static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->gpu_time_ns != b->gpu_time_ns)
        return a->gpu_time_ns < b->gpu_time_ns ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static bool tells_all(const struct wsdbg_snapshot *s, uint32_t cta)
{
    const struct wsdbg_cta *c = &s->ctas[cta];
    bool whole = c->cluster_size <= 1 && c->warp_count == s->grids[c->grid].warps_per_cta;
    for (uint32_t i = 0; whole && i < c->warp_count; i++)
        whole = s->warps[c->warp_first + i].history_whole;
    return whole;
}

static size_t read_steps(const struct wsdbg_cta_events *events, struct step *out)
{
    size_t count = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct wsdbg_history_event *event = &events->events[i];
        struct step step = {event->gpu_time_ns, 1, event->barrier, event->stage};
        if (event->kind == WSDBG_EVENT_MBARRIER_ARRIVE)
            step.count = WSDBG_SITE_LANES(event->value);
        else if (event->kind == WSDBG_EVENT_MBARRIER_INIT)
            step.count = 0;
        else if (event->kind != WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX)
            continue;
        out[count++] = step;
    }
    qsort(out, count, sizeof *out, compare_steps);
    return count;
}

static void counter_name(const struct wsdbg_trace_export *e, const struct wsdbg_barrier *b, char *out, size_t bytes)
{
    const struct wsdbg_cta *c = &e->loaded.snapshot.ctas[b->cta];
    char number[32], grid[320] = "";
    snprintf(number, sizeof number, "mbarrier %u", b->id);
    if (wsdbg_export_is_of_rank(e, c->grid))
        wsdbg_export_grid_text(e, c->grid, grid, sizeof grid);
    snprintf(out, bytes, "%s[%u] of CTA (%u,%u,%u)%s%s%s", b->name && b->name->name[0] ? b->name->name : number,
             b->stage, c->x, c->y, c->z, grid[0] ? " of " : "", grid, grid[0] ? " (GPU clock)" : "");
}

static void put_barrier(struct wsdbg_trace_export *e, const struct wsdbg_barrier *b, const struct step *steps,
                        size_t count)
{
    const uint32_t grid = e->loaded.snapshot.ctas[b->cta].grid, expected = b->expected_arrivals.value;
    uint64_t arrivals = 0;
    char name[512];
    counter_name(e, b, name, sizeof name);
    for (size_t i = 0; i < count; i++) {
        if (steps[i].barrier != b->id || steps[i].stage != b->stage)
            continue;
        arrivals = steps[i].count ? arrivals + steps[i].count : 0;
        wsdbg_trace_counter(&e->trace, (struct wsdbg_track){wsdbg_export_grid_pid(e, grid), 0}, name,
                            wsdbg_export_gpu_time(e, grid, steps[i].gpu_time_ns));
        wsdbg_trace_number(&e->trace, "pending arrivals",
                           arrivals ? expected - 1 - (arrivals - 1) % expected : expected);
        wsdbg_trace_number(&e->trace, "rounds of arrivals", arrivals / expected);
        wsdbg_trace_end(&e->trace);
    }
}

struct wsdbg_error *wsdbg_export_counters(struct wsdbg_trace_export *e, uint32_t cta,
                                          const struct wsdbg_cta_events *events)
{
    const struct wsdbg_snapshot *s = &e->loaded.snapshot;
    struct step *steps = malloc((events->count + 1) * sizeof *steps);
    if (!steps)
        return &wsdbg_error_no_memory;
    const bool whole = tells_all(s, cta);
    const size_t count = whole ? read_steps(events, steps) : 0;
    /* Barriers come CTA by CTA, as CTAs do. */
    for (; e->next_barrier < s->barrier_count && s->barriers[e->next_barrier].cta <= cta; e->next_barrier++) {
        const struct wsdbg_barrier *b = &s->barriers[e->next_barrier];
        if (whole && b->kind == WSDBG_BARRIER_MBARRIER && b->expected_arrivals.known && b->expected_arrivals.value > 0)
            put_barrier(e, b, steps, count);
    }
    free(steps);
    return NULL;
}
