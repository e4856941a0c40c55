/* event_rows.c - see event_rows.h.  Reads a snapshot; writes the table event.
 *
 * The module is one of SQLite's virtual tables: a cursor that walks the warps' histories and gives a row's columns when
 * asked.  It exists on the writer's connection only, and only while events are written.
 */
#include "store/event_rows.h"

#include <stdlib.h>

#include "store/event_fields.h"

/* What the table shows: the module's data. */
struct source {
    const struct wsdbg_snapshot *snapshot;
    struct wsdbg_picture_ids first;
    struct wsdbg_progress *progress; /* counts warps; NULL = nobody asked */
};

struct table {
    sqlite3_vtab base;
    const struct source *source;
};

/* At event `event` of the history of warp `warp`. */
struct cursor {
    sqlite3_vtab_cursor base;
    const struct source *source;
    size_t warp;
    uint32_t event, count;
};

bool wsdbg_event_value(const struct wsdbg_history_event *e, enum wsdbg_event_column column, int64_t *out)
{
    const unsigned fields = wsdbg_event_fields(e->kind);
    switch (column) {
    case WSDBG_EVENT_KIND:
        *out = e->kind;
        return e->kind < WSDBG_EVENT_KIND_COUNT;
    case WSDBG_EVENT_BARRIER:
        *out = e->barrier;
        return fields & WSDBG_FIELD_BARRIER;
    case WSDBG_EVENT_STAGE:
        *out = e->stage;
        return fields & WSDBG_FIELD_STAGE;
    case WSDBG_EVENT_PARITY:
        *out = e->parity;
        return fields & WSDBG_FIELD_PARITY;
    case WSDBG_EVENT_ITERATION:
        *out = e->iteration;
        return wsdbg_event_has_iteration(e);
    case WSDBG_EVENT_VALUE:
        *out = e->value;
        return fields & WSDBG_FIELD_VALUE;
    case WSDBG_EVENT_LINE:
        *out = WSDBG_SITE_LINE(e->value);
        return fields & WSDBG_FIELD_SITE;
    case WSDBG_EVENT_TIME:
        *out = (int64_t)e->gpu_time_ns;
        return true;
    case WSDBG_EVENT_ID:
    case WSDBG_EVENT_WARP:
        break;
    }
    return false;
}

uint32_t wsdbg_stored_events(const struct wsdbg_snapshot *s, const struct wsdbg_warp_row *w)
{
    if (w->history_first >= s->history_count)
        return 0;
    const size_t rest = s->history_count - w->history_first;
    return w->history_count < rest ? w->history_count : (uint32_t)rest;
}

static int rows_connect(sqlite3 *db, void *source, int count, const char *const *words, sqlite3_vtab **out,
                        char **message)
{
    (void)count, (void)words, (void)message;
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    table->source = source;
    *out = &table->base;
    return sqlite3_declare_vtab(
        db, "CREATE TABLE x (id, warp_id, kind, barrier, stage, parity, iteration, value, line, gpu_time_ns)");
}

static int rows_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

static int rows_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1e7;
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    cursor->source = ((struct table *)table)->source;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

/* To the first event of the next warp that has one, this warp included; past the last warp at the end. */
static void find_warp(struct cursor *c)
{
    const struct wsdbg_snapshot *s = c->source->snapshot;
    c->event = c->count = 0;
    while (c->warp < s->warp_count && (c->count = wsdbg_stored_events(s, &s->warps[c->warp])) == 0)
        c->warp++;
}

static int rows_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values)
{
    (void)number, (void)text, (void)count, (void)values;
    struct cursor *c = (struct cursor *)cursor;
    c->warp = 0;
    find_warp(c);
    return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
    struct cursor *c = (struct cursor *)cursor;
    if (++c->event == c->count) {
        c->warp++;
        find_warp(c);
        wsdbg_progress_advance(c->source->progress, c->warp, c->source->snapshot->warp_count);
    }
    return SQLITE_OK;
}

static int rows_eof(sqlite3_vtab_cursor *cursor)
{
    const struct cursor *c = (const struct cursor *)cursor;
    return c->warp >= c->source->snapshot->warp_count;
}

static int rows_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
    const struct cursor *c = (const struct cursor *)cursor;
    const struct wsdbg_snapshot *s = c->source->snapshot;
    const uint32_t index = s->warps[c->warp].history_first + c->event;
    int64_t value;
    if (column == WSDBG_EVENT_ID)
        sqlite3_result_int64(result, c->source->first.event + index);
    else if (column == WSDBG_EVENT_WARP)
        sqlite3_result_int64(result, c->source->first.warp + (int64_t)c->warp);
    else if (wsdbg_event_value(&s->history[index], (enum wsdbg_event_column)column, &value))
        sqlite3_result_int64(result, value);
    return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    const struct cursor *c = (const struct cursor *)cursor;
    *out = c->source->snapshot->warps[c->warp].history_first + c->event;
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {
    .xConnect = rows_connect,
    .xBestIndex = rows_best_index,
    .xDisconnect = rows_disconnect,
    .xOpen = rows_open,
    .xClose = rows_close,
    .xFilter = rows_filter,
    .xNext = rows_next,
    .xEof = rows_eof,
    .xColumn = rows_column,
    .xRowid = rows_rowid,
};

struct wsdbg_error *wsdbg_write_events(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot)
{
    struct source source = {.snapshot = snapshot, .first = store->first, .progress = store->progress};
    if (sqlite3_create_module(store->db, "snapshot_events", &rows_module, &source) != SQLITE_OK)
        return wsdbg_db_error(store->db, store->path, "write the session database");
    struct wsdbg_error *error = wsdbg_db_exec(store, "INSERT INTO event SELECT * FROM snapshot_events");
    sqlite3_create_module(store->db, "snapshot_events", NULL, NULL);
    return error;
}
