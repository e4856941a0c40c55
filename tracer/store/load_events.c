/* load_events.c - reads histories back: all of the shown picture, or a few events of one warp.
 * Reads the table event by ranges of ids, which the warps give (wsdbg_loaded.events). */
#include "store/load_internal.h"

#include <stdlib.h>

static const char range_sql[] =
    "SELECT kind, barrier, stage, parity, iteration, value, gpu_time_ns FROM event WHERE id >= ?1 AND id < ?2 "
    "ORDER BY id";

void wsdbg_select_event(struct wsdbg_select *select, struct wsdbg_history_event *out)
{
    out->kind = (uint8_t)wsdbg_select_number(select);
    out->barrier = (uint8_t)wsdbg_select_number(select);
    out->stage = (uint8_t)wsdbg_select_number(select);
    out->parity = (uint8_t)wsdbg_select_number(select);
    out->iteration = (uint32_t)wsdbg_select_or(select, WSDBG_NO_ITERATION);
    out->value = (uint32_t)wsdbg_select_number(select);
    out->gpu_time_ns = (uint64_t)wsdbg_select_number(select);
}

/* Appends the stored events of one warp; the statement is ready to be bound. */
static void load_warp_events(struct wsdbg_loader *loader, struct wsdbg_select *q, uint32_t warp)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    const struct wsdbg_event_range *range = &loader->loaded->events[warp];
    s->warps[warp].history_first = (uint32_t)s->history_count;
    wsdbg_select_restart(q);
    wsdbg_select_bind(q, 1, range->first_id);
    wsdbg_select_bind(q, 2, range->first_id + range->count);
    while (wsdbg_select_next(q)) {
        if (!wsdbg_array_push(&s->history, &s->history_count, sizeof *s->history)) {
            wsdbg_select_fail(q, SQLITE_NOMEM);
            return;
        }
        wsdbg_select_event(q, &s->history[s->history_count - 1]);
        s->warps[warp].history_count++;
    }
}

struct wsdbg_error *wsdbg_load_histories(struct wsdbg_loader *loader)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store, range_sql, 0);
    for (uint32_t i = 0; i < loader->loaded->snapshot.warp_count; i++)
        if (loader->loaded->events[i].count > 0)
            load_warp_events(loader, &q, i);
    return wsdbg_select_end(&q);
}

uint32_t wsdbg_loader_event(const struct wsdbg_loader *loader, int64_t id)
{
    const struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    for (uint32_t i = 0; id != 0 && i < s->warp_count; i++) {
        const int64_t offset = id - loader->loaded->events[i].first_id;
        if (offset >= 0 && offset < s->warps[i].history_count)
            return s->warps[i].history_first + (uint32_t)offset;
    }
    return WSDBG_NONE;
}

struct wsdbg_error *wsdbg_store_events(struct wsdbg_store *store, const struct wsdbg_loaded *loaded, uint32_t warp,
                                       uint32_t first, uint32_t count, struct wsdbg_history_event *out, uint32_t *got)
{
    if (warp >= loaded->snapshot.warp_count)
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s: no warp %u", store->path, warp);
    const struct wsdbg_event_range *range = &loaded->events[warp];
    const uint32_t from = first < range->count ? first : range->count;
    const uint32_t most = count < range->count - from ? count : range->count - from;
    uint32_t rows = 0;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, store, range_sql, range->first_id + from);
    wsdbg_select_bind(&q, 2, range->first_id + from + most);
    while (rows < most && wsdbg_select_next(&q)) {
        wsdbg_select_event(&q, &out[rows++]);
    }
    struct wsdbg_error *error = wsdbg_select_end(&q);
    if (!error)
        *got = rows;
    return error;
}
