/* device_snapshot.c - the snapshot that the ring would give of the model device.
 *
 * Reads: struct device.  Writes: struct wsdbg_snapshot.
 */
#include <stdlib.h>
#include <string.h>

#include "device_state.h"

static enum wsdbg_warp_state state_of(const struct wsdbg_history_event *last)
{
    switch (last->kind) {
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
        return WSDBG_WARP_WAIT_MBARRIER;
    case WSDBG_EVENT_REGISTERS_REQUEST:
        return WSDBG_WARP_WAIT_REGISTERS;
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
        return WSDBG_WARP_WAIT_NAMED;
    case WSDBG_EVENT_CLUSTER_WAIT_BEGIN:
        return WSDBG_WARP_WAIT_CLUSTER;
    case WSDBG_EVENT_POLL_BEGIN:
        return WSDBG_WARP_SPIN_GLOBAL;
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
        return WSDBG_WARP_WAIT_GRID_DEPENDENCY;
    case WSDBG_EVENT_EXIT:
        return WSDBG_WARP_EXITED;
    default:
        return WSDBG_WARP_RUNNING;
    }
}

static uint32_t find_barrier(struct wsdbg_snapshot *s, uint32_t cta, enum wsdbg_barrier_kind kind, uint32_t id,
                             uint32_t stage)
{
    for (uint32_t i = 0; i < s->barrier_count; i++)
        if (s->barriers[i].cta == cta && s->barriers[i].kind == kind && s->barriers[i].id == id &&
            s->barriers[i].stage == stage)
            return i;
    s->barriers = realloc(s->barriers, (s->barrier_count + 1) * sizeof *s->barriers);
    must(s->barriers);
    s->barriers[s->barrier_count] = (struct wsdbg_barrier){.cta = cta, .kind = kind, .id = id, .stage = stage};
    return (uint32_t)s->barrier_count++;
}

static void add_barriers(struct wsdbg_snapshot *s, struct wsdbg_warp_row *row)
{
    for (uint32_t i = 0; i < row->history_count; i++) {
        const struct wsdbg_history_event *e = &s->history[row->history_first + i];
        if (e->kind < WSDBG_EVENT_MBARRIER_INIT || e->kind > WSDBG_EVENT_TMA_ISSUE)
            continue;
        const uint32_t at = find_barrier(s, row->cta, WSDBG_BARRIER_MBARRIER, e->barrier, e->stage);
        if (e->kind == WSDBG_EVENT_MBARRIER_INIT)
            s->barriers[at].expected_arrivals = wsdbg_known_u32(e->value);
    }
    row->barrier = WSDBG_NONE;
    if (row->state == WSDBG_WARP_WAIT_MBARRIER)
        row->barrier = find_barrier(s, row->cta, WSDBG_BARRIER_MBARRIER, row->last.barrier, row->last.stage);
    if (row->state == WSDBG_WARP_WAIT_REGISTERS)
        row->barrier = find_barrier(s, row->cta, WSDBG_BARRIER_REGISTERS, 0, 0);
    if (row->state == WSDBG_WARP_WAIT_NAMED)
        row->barrier = find_barrier(s, row->cta, WSDBG_BARRIER_NAMED, row->last.barrier, 0);
    if (row->state == WSDBG_WARP_WAIT_CLUSTER)
        row->barrier = find_barrier(s, row->cta, WSDBG_BARRIER_CLUSTER, 0, 0);
    if (row->state == WSDBG_WARP_SPIN_GLOBAL)
        row->barrier = find_barrier(s, row->cta, WSDBG_BARRIER_GLOBAL_FLAG, row->last.barrier, 0);
    if (row->barrier != WSDBG_NONE)
        s->barriers[row->barrier].waiters++;
}

static void add_warp(const struct device *d, uint32_t index, uint32_t depth, struct wsdbg_snapshot *s)
{
    const struct warp *w = &d->warps[index];
    struct wsdbg_warp_row *row = &s->warps[index];
    const uint32_t kept = w->event_count < depth ? (uint32_t)w->event_count : depth;
    *row = (struct wsdbg_warp_row){.cta = index / d->warp_count,
                                   .warp = index % d->warp_count,
                                   .last = w->events[w->event_count - 1],
                                   .history_first = (uint32_t)s->history_count,
                                   .history_count = kept,
                                   .history_whole = kept > 0 && kept == w->event_count,
                                   .changed_ns = 1000000000};
    if (w->role != WSDBG_NONE)
        row->role = wsdbg_known_u32(w->role);
    row->state = state_of(&row->last);
    if (row->state == WSDBG_WARP_WAIT_REGISTERS)
        row->registers_asked = wsdbg_known_u32(row->last.value);
    if (depth)
        row->registers_held = wsdbg_known_u32(w->registers);
    memcpy(s->history + s->history_count, w->events + w->event_count - kept, kept * sizeof *w->events);
    s->history_count += kept;
    add_barriers(s, row);
    s->grids[0].warps_live += row->state != WSDBG_WARP_EXITED;
    s->grids[0].warps_exited += row->state == WSDBG_WARP_EXITED;
}

void device_snapshot(const struct device *d, uint32_t depth, struct wsdbg_snapshot *out)
{
    const uint32_t warps = d->cta_count * d->warp_count;
    struct wsdbg_snapshot s = {.time_ns = 3000000000, .progress_ns = 1000000000, .source = "ring"};
    s.contexts = calloc(1, sizeof *s.contexts);
    s.modules = calloc(1, sizeof *s.modules);
    s.functions = calloc(1, sizeof *s.functions);
    s.grids = calloc(1, sizeof *s.grids);
    s.names = malloc(sizeof d->names);
    s.ctas = calloc(d->cta_count, sizeof *s.ctas);
    s.warps = calloc(warps, sizeof *s.warps);
    size_t events = 1;
    for (uint32_t i = 0; i < warps; i++)
        events += d->warps[i].event_count;
    s.history = malloc(events * sizeof *s.history);
    must(s.contexts && s.modules && s.functions && s.grids && s.names && s.ctas && s.warps && s.history);
    s.context_count = s.module_count = s.function_count = s.grid_count = 1;
    s.contexts[0] = (struct wsdbg_context){.alive = true, .history_depth = depth, .history_read = depth > 0};
    memcpy(s.names, d->names, sizeof d->names);
    s.name_count = s.modules[0].names_count = d->name_count;
    s.functions[0].registers = wsdbg_known_u32(d->launch_registers);
    s.cta_count = d->cta_count;
    s.warp_count = warps;
    s.grids[0] = (struct wsdbg_grid){
        .launch = WSDBG_NONE, .cta_total = d->cta_count, .warps_per_cta = d->warp_count, .cta_count = d->cta_count};
    for (uint32_t i = 0; i < d->cta_count; i++)
        s.ctas[i] = (struct wsdbg_cta){.x = i,
                                       .cluster_id = i / d->cluster,
                                       .cluster_rank = i % d->cluster,
                                       .cluster_size = d->cluster,
                                       .warp_first = i * d->warp_count,
                                       .warp_count = d->warp_count};
    for (uint32_t i = 0; i < warps; i++)
        add_warp(d, i, depth, &s);
    s.grids[0].running = s.grids[0].warps_live > 0;
    for (uint32_t i = 0; i < s.barrier_count; i++)
        if (s.barriers[i].kind == WSDBG_BARRIER_MBARRIER)
            s.barriers[i].name = wsdbg_snapshot_name(&s, 0, WSDBG_NAME_MBARRIER, s.barriers[i].id);
    *out = s;
}
