/* load_picture.c - reads the shown picture back: grids, CTAs, barriers, warps, threads, notes. */
#include "store/load_internal.h"
#include "store/words.h"

static struct wsdbg_error *load_grids(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, context_id, hardware_grid_id, module_id, launch_id, function_id, cta_total, "
                       "warps_per_cta, warps_live, warps_exited, running FROM grid WHERE snapshot_id = ?1 ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, &loader->grids, &s->grids, &s->grid_count, sizeof *s->grids)) {
        struct wsdbg_grid *g = &s->grids[s->grid_count - 1];
        g->context = wsdbg_id_map_find(&loader->contexts, wsdbg_select_number(&q));
        g->grid_id = (uint64_t)wsdbg_select_number(&q);
        g->module = wsdbg_id_map_find(&loader->modules, wsdbg_select_number(&q));
        g->launch = wsdbg_id_map_find(&loader->launches, wsdbg_select_number(&q));
        g->function = wsdbg_id_map_find(&loader->functions, wsdbg_select_number(&q));
        g->cta_total = (uint32_t)wsdbg_select_number(&q);
        g->warps_per_cta = (uint32_t)wsdbg_select_number(&q);
        g->warps_live = (uint32_t)wsdbg_select_number(&q);
        g->warps_exited = (uint32_t)wsdbg_select_number(&q);
        g->running = wsdbg_select_number(&q) != 0;
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_ctas(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT c.id, c.grid_id, x, y, z, cluster_id, cluster_rank, cluster_size, sm FROM cta c "
                       "JOIN grid g ON g.id = c.grid_id WHERE g.snapshot_id = ?1 ORDER BY c.id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, &loader->ctas, &s->ctas, &s->cta_count, sizeof *s->ctas)) {
        struct wsdbg_cta *c = &s->ctas[s->cta_count - 1];
        c->grid = wsdbg_id_map_find(&loader->grids, wsdbg_select_number(&q));
        c->x = (uint32_t)wsdbg_select_number(&q);
        c->y = (uint32_t)wsdbg_select_number(&q);
        c->z = (uint32_t)wsdbg_select_number(&q);
        c->cluster_id = (uint32_t)wsdbg_select_number(&q);
        c->cluster_rank = (uint32_t)wsdbg_select_number(&q);
        c->cluster_size = (uint32_t)wsdbg_select_number(&q);
        c->sm = wsdbg_select_u32(&q);
        struct wsdbg_grid *g = &s->grids[c->grid];
        wsdbg_load_count(&g->cta_first, &g->cta_count, s->cta_count - 1);
    }
    return wsdbg_select_end(&q);
}

/* Names are not ordered by id, so their map is searched from the front. */
static const struct wsdbg_name *find_name(const struct wsdbg_loader *loader, int64_t id)
{
    for (size_t i = 0; id != 0 && i < loader->names.count; i++)
        if (loader->names.ids[i] == id)
            return &loader->loaded->snapshot.names[i];
    return NULL;
}

static struct wsdbg_error *load_barriers(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT b.id, cta_id, kind, identifier, stage, name_id, expected_arrivals, phase, "
                       "pending_arrivals, completed_phases, pending_tx_bytes, waiters, shared_offset, word FROM "
                       "barrier b JOIN cta c ON "
                       "c.id = b.cta_id JOIN grid g ON g.id = c.grid_id WHERE g.snapshot_id = ?1 ORDER BY b.id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->barriers, &s->barriers, &s->barrier_count, sizeof *s->barriers)) {
        struct wsdbg_barrier *b = &s->barriers[s->barrier_count - 1];
        b->cta = wsdbg_id_map_find(&loader->ctas, wsdbg_select_number(&q));
        b->kind = (enum wsdbg_barrier_kind)wsdbg_word_value(wsdbg_select_string(&q), wsdbg_barrier_word,
                                                            WSDBG_BARRIER_KIND_END, 0);
        b->id = (uint32_t)wsdbg_select_number(&q);
        b->stage = (uint32_t)wsdbg_select_number(&q);
        b->name = find_name(loader, wsdbg_select_number(&q));
        b->expected_arrivals = wsdbg_select_u32(&q);
        b->phase = wsdbg_select_u32(&q);
        b->pending_arrivals = wsdbg_select_u32(&q);
        b->completed_phases = wsdbg_select_u32(&q);
        b->pending_tx_bytes = wsdbg_select_u64(&q);
        b->waiters = (uint32_t)wsdbg_select_number(&q);
        b->shared_offset = wsdbg_select_u32(&q);
        b->word = wsdbg_select_u64(&q);
    }
    return wsdbg_select_end(&q);
}

static void read_warp(struct wsdbg_loader *loader, struct wsdbg_select *q, struct wsdbg_warp_row *w)
{
    w->cta = wsdbg_id_map_find(&loader->ctas, wsdbg_select_number(q));
    w->warp = (uint32_t)wsdbg_select_number(q);
    w->state = (enum wsdbg_warp_state)wsdbg_word_value(wsdbg_select_string(q), wsdbg_state_word, WSDBG_WARP_STATE_COUNT,
                                                       WSDBG_WARP_UNKNOWN);
    w->role = wsdbg_select_u32(q);
    w->barrier = wsdbg_id_map_find(&loader->barriers, wsdbg_select_number(q));
    w->line = wsdbg_select_u32(q);
    w->lanes = wsdbg_select_u32(q);
    w->registers_held = wsdbg_select_u32(q);
    w->registers_asked = wsdbg_select_u32(q);
    w->site = wsdbg_id_map_find(&loader->sites, wsdbg_select_number(q));
    w->parity = wsdbg_select_u32(q);
    w->changed_ns = (uint64_t)wsdbg_select_number(q);
    w->history_whole = wsdbg_select_number(q) != 0;
    wsdbg_select_event(q, &w->last);
}

/* None where a damaged file says what cannot be; *left is how many events there can be beside those of other warps. */
static struct wsdbg_event_range read_range(struct wsdbg_select *q, uint64_t *left)
{
    const int64_t first = wsdbg_select_number(q), count = wsdbg_select_number(q);
    if (first <= 0 || first > INT64_MAX - UINT32_MAX || count <= 0 || count > UINT32_MAX || (uint64_t)count > *left)
        return (struct wsdbg_event_range){0};
    *left -= (uint64_t)count;
    return (struct wsdbg_event_range){.first_id = first, .count = (uint32_t)count};
}

static struct wsdbg_error *load_warps(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    size_t ranges = 0;
    uint64_t events_left = wsdbg_db_rows_most(loader->store);
    wsdbg_select_begin(
        &q, loader->store,
        "SELECT w.id, cta_id, warp, state, role, barrier_id, line, lanes, registers_held, "
        "registers_asked, site_id, w.parity, changed_ns, history_whole, last_kind, last_barrier, "
        "last_stage, last_parity, last_iteration, last_value, last_gpu_time_ns, event_first, event_count "
        "FROM warp w JOIN cta c ON c.id = w.cta_id "
        "JOIN grid g ON g.id = c.grid_id WHERE g.snapshot_id = ?1 ORDER BY w.id",
        loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, &loader->warps, &s->warps, &s->warp_count, sizeof *s->warps)) {
        struct wsdbg_warp_row *w = &s->warps[s->warp_count - 1];
        read_warp(loader, &q, w);
        if (!wsdbg_array_push(&loader->loaded->events, &ranges, sizeof *loader->loaded->events)) {
            wsdbg_select_fail(&q, SQLITE_NOMEM);
            break;
        }
        loader->loaded->events[ranges - 1] = read_range(&q, &events_left);
        wsdbg_load_count(&s->ctas[w->cta].warp_first, &s->ctas[w->cta].warp_count, s->warp_count - 1);
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_threads(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT process_id, thread_id, context_id, call, since_ns, stream FROM host_thread "
                       "WHERE snapshot_id = ?1 ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, NULL, &s->threads, &s->thread_count, sizeof *s->threads)) {
        struct wsdbg_host_thread *t = &s->threads[s->thread_count - 1];
        t->process_id = (uint32_t)wsdbg_select_number(&q);
        t->thread_id = (uint32_t)wsdbg_select_number(&q);
        t->context = wsdbg_id_map_find(&loader->contexts, wsdbg_select_number(&q));
        wsdbg_select_text(&q, t->call, sizeof t->call);
        t->since_ns = (uint64_t)wsdbg_select_number(&q);
        t->stream = wsdbg_select_u64(&q);
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_notes(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store, "SELECT text FROM note WHERE snapshot_id = ?1 ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, NULL, &s->notes, &s->note_count, sizeof *s->notes))
        wsdbg_select_text(&q, s->notes[s->note_count - 1], sizeof *s->notes);
    return wsdbg_select_end(&q);
}

struct wsdbg_error *wsdbg_load_picture(struct wsdbg_loader *loader, bool histories)
{
    struct wsdbg_error *error = load_grids(loader);
    if (!error)
        error = load_ctas(loader);
    if (!error)
        error = load_barriers(loader);
    if (!error)
        error = wsdbg_load_sites(loader);
    if (!error)
        error = load_warps(loader);
    if (!error)
        error = wsdbg_load_machine(loader);
    if (!error && histories)
        error = wsdbg_load_histories(loader);
    if (!error)
        error = wsdbg_load_allocations(loader);
    if (!error)
        error = load_threads(loader);
    if (!error)
        error = wsdbg_load_communicators(loader);
    if (!error)
        error = wsdbg_load_host(loader);
    if (!error)
        error = wsdbg_load_launch_sites(loader);
    if (!error)
        error = load_notes(loader);
    return error;
}
