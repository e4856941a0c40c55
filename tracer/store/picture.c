/* picture.c - writes one picture of the device: grids, CTAs, barriers, warps, host threads, notes.  event_rows.c
 * writes the events, machine_rows.c what comes from the machine's own state.
 * Reads a snapshot and the ids of the session tables.  The first ids stay in the store for the diagnosis that may
 * follow. */
#include "store/tables.h"

#include "store/event_rows.h"
#include "wsdbg/session.h"

static struct wsdbg_error *write_grids(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                       const struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT INTO grid VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->grid_count; i++) {
        const struct wsdbg_grid *g = &s->grids[i];
        wsdbg_insert_number(&insert, store->first.grid + (int64_t)i);
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_reference(&insert, ids->contexts, s->context_count, g->context);
        wsdbg_insert_number(&insert, (int64_t)g->grid_id);
        wsdbg_insert_reference(&insert, ids->modules, s->module_count, g->module);
        wsdbg_insert_reference(&insert, ids->launches, s->launch_count, g->launch);
        wsdbg_insert_reference(&insert, ids->functions, s->function_count, g->function);
        wsdbg_insert_u32(&insert, (struct wsdbg_optional_u32){.value = g->cta_total, .known = g->cta_total != 0});
        wsdbg_insert_number(&insert, g->warps_per_cta);
        wsdbg_insert_number(&insert, g->warps_live);
        wsdbg_insert_number(&insert, g->warps_exited);
        wsdbg_insert_number(&insert, g->running);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_ctas(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT INTO cta VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->cta_count; i++) {
        const struct wsdbg_cta *c = &s->ctas[i];
        wsdbg_insert_number(&insert, store->first.cta + (int64_t)i);
        wsdbg_insert_offset(&insert, store->first.grid, s->grid_count, c->grid);
        wsdbg_insert_number(&insert, c->x);
        wsdbg_insert_number(&insert, c->y);
        wsdbg_insert_number(&insert, c->z);
        wsdbg_insert_number(&insert, c->cluster_id);
        wsdbg_insert_number(&insert, c->cluster_rank);
        wsdbg_insert_number(&insert, c->cluster_size);
        wsdbg_insert_u32(&insert, c->sm);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static uint32_t name_index(const struct wsdbg_snapshot *s, const struct wsdbg_name *name)
{
    return name ? (uint32_t)(name - s->names) : WSDBG_NONE;
}

static struct wsdbg_error *write_barriers(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                          const struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT INTO barrier VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->barrier_count; i++) {
        const struct wsdbg_barrier *b = &s->barriers[i];
        const bool mbarrier = b->kind == WSDBG_BARRIER_MBARRIER;
        wsdbg_insert_number(&insert, store->first.barrier + (int64_t)i);
        wsdbg_insert_offset(&insert, store->first.cta, s->cta_count, b->cta);
        wsdbg_insert_string(&insert, wsdbg_barrier_kind_name(b->kind));
        wsdbg_insert_maybe(&insert, mbarrier || b->kind == WSDBG_BARRIER_NAMED, b->id);
        wsdbg_insert_maybe(&insert, mbarrier, b->stage);
        wsdbg_insert_reference(&insert, ids->names, s->name_count, name_index(s, b->name));
        wsdbg_insert_u32(&insert, b->expected_arrivals);
        wsdbg_insert_u32(&insert, b->phase);
        wsdbg_insert_u32(&insert, b->pending_arrivals);
        wsdbg_insert_u32(&insert, b->completed_phases);
        wsdbg_insert_u64(&insert, b->pending_tx_bytes);
        wsdbg_insert_number(&insert, b->waiters);
        wsdbg_insert_u32(&insert, b->shared_offset);
        wsdbg_insert_u64(&insert, b->word);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

/* Binds barrier, stage, parity, iteration, value: each NULL where this kind of event has none. */
static void bind_event_fields(struct wsdbg_insert *insert, const struct wsdbg_history_event *e)
{
    for (enum wsdbg_event_column column = WSDBG_EVENT_BARRIER; column <= WSDBG_EVENT_VALUE; column++) {
        int64_t value = 0;
        const bool known = wsdbg_event_value(e, column, &value);
        wsdbg_insert_maybe(insert, known, value);
    }
}

static void write_warp(struct wsdbg_insert *insert, struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                       size_t index)
{
    const struct wsdbg_warp_row *w = &s->warps[index];
    const bool seen = w->last.kind != WSDBG_EVENT_NONE;
    wsdbg_insert_number(insert, store->first.warp + (int64_t)index);
    wsdbg_insert_offset(insert, store->first.cta, s->cta_count, w->cta);
    wsdbg_insert_number(insert, w->warp);
    wsdbg_insert_string(insert, wsdbg_warp_state_name(w->state));
    wsdbg_insert_u32(insert, w->role);
    wsdbg_insert_offset(insert, store->first.barrier, s->barrier_count, w->barrier);
    wsdbg_insert_u32(insert, w->line);
    wsdbg_insert_u32(insert, w->lanes);
    wsdbg_insert_u32(insert, w->registers_held);
    wsdbg_insert_u32(insert, w->registers_asked);
    wsdbg_insert_maybe(insert, w->changed_ns != 0, (int64_t)w->changed_ns);
    wsdbg_insert_number(insert, w->history_whole);
    wsdbg_insert_maybe(insert, seen && w->last.kind < WSDBG_EVENT_KIND_COUNT, w->last.kind);
    bind_event_fields(insert, &w->last);
    wsdbg_insert_maybe(insert, seen, (int64_t)w->last.gpu_time_ns);
    const uint32_t events = wsdbg_stored_events(s, w);
    wsdbg_insert_maybe(insert, events > 0, store->first.event + w->history_first);
    wsdbg_insert_number(insert, events);
    wsdbg_insert_offset(insert, store->first.site, s->site_count, w->site);
    wsdbg_insert_u32(insert, w->parity);
    wsdbg_insert_row(insert);
}

static struct wsdbg_error *write_warps(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO warp VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->warp_count; i++)
        write_warp(&insert, store, s, i);
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_threads(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                         const struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO host_thread (snapshot_id, process_id, thread_id, context_id, call, since_ns, "
                       "stream) VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->thread_count; i++) {
        const struct wsdbg_host_thread *t = &s->threads[i];
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_number(&insert, t->process_id);
        wsdbg_insert_number(&insert, t->thread_id);
        wsdbg_insert_reference(&insert, ids->contexts, s->context_count, t->context);
        wsdbg_insert_string(&insert, t->call);
        wsdbg_insert_number(&insert, (int64_t)t->since_ns);
        wsdbg_insert_u64(&insert, t->stream);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_notes(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT INTO note (snapshot_id, text) VALUES (?, ?)");
    for (size_t i = 0; i < s->note_count; i++) {
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_string(&insert, s->notes[i]);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

struct wsdbg_error *wsdbg_write_picture(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                        const struct wsdbg_table_ids *ids)
{
    store->first = store->next;
    store->next.grid += (int64_t)snapshot->grid_count;
    store->next.cta += (int64_t)snapshot->cta_count;
    store->next.barrier += (int64_t)snapshot->barrier_count;
    store->next.warp += (int64_t)snapshot->warp_count;
    store->next.event += (int64_t)snapshot->history_count;
    store->next.site += (int64_t)snapshot->site_count;
    store->next.access += (int64_t)snapshot->access_count;
    struct wsdbg_error *error = write_grids(store, snapshot, ids);
    if (!error)
        error = wsdbg_write_members(store, snapshot);
    if (!error)
        error = write_ctas(store, snapshot);
    if (!error)
        error = wsdbg_write_sites(store, snapshot, ids);
    if (!error)
        error = write_barriers(store, snapshot, ids);
    if (!error)
        error = write_warps(store, snapshot);
    if (!error)
        error = wsdbg_write_events(store, snapshot);
    if (!error)
        error = wsdbg_write_machine(store, snapshot, ids);
    if (!error)
        error = wsdbg_write_allocations(store, snapshot, ids);
    if (!error)
        error = write_threads(store, snapshot, ids);
    if (!error)
        error = wsdbg_write_communicators(store, snapshot, ids);
    if (!error)
        error = wsdbg_write_host(store, snapshot);
    if (!error)
        error = wsdbg_write_launch_sites(store, snapshot, ids);
    if (!error)
        error = write_notes(store, snapshot);
    return error;
}
