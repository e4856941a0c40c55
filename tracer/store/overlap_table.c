/* overlap_table.c - the table wgmma_stage: what overlap.c makes of the shown picture's histories, as rows for SQL.
 * Reads the database of its own connection, a warp at a time; writes nothing. */
#include "store/overlap.h"

#include <stdlib.h>

#include "store/load_internal.h"

static const char warps_sql[] =
    "SELECT w.id, g.id, w.event_first, w.event_count FROM shown_snapshot s JOIN session x "
    "JOIN grid g ON g.snapshot_id = s.id JOIN cta c ON c.grid_id = g.id JOIN warp w ON w.cta_id = c.id "
    "WHERE w.event_count > 0 AND NOT (s.names_inferred AND x.device IS 'sim')";

/* wsdbg/ring.h: 17 issue, 18 commit, 19 and 20 wait begin and end. */
static const char events_sql[] = "SELECT kind, barrier, stage, parity, iteration, value, gpu_time_ns FROM event "
                                 "WHERE id >= ?1 AND id < ?2 AND (kind = 8 OR kind BETWEEN 17 AND 20) ORDER BY id";

struct table {
    sqlite3_vtab base;
    struct wsdbg_store *store;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct wsdbg_select warps, events;
    bool open, at_end;
    int64_t warp, grid, row;
    struct wsdbg_overlap overlap;
    struct wsdbg_overlap_stage stage;
};

static int table_connect(sqlite3 *db, void *store, int count, const char *const *words, sqlite3_vtab **out,
                         char **message)
{
    (void)count, (void)words, (void)message;
    const int status = sqlite3_declare_vtab(
        db, "CREATE TABLE wgmma_stage (grid_id INTEGER, warp_id INTEGER, issued_gpu_ns INTEGER, wait_begin_gpu_ns "
            "INTEGER, wait_end_gpu_ns INTEGER, rounds INTEGER, earlier_waits INTEGER, earlier_wait_ns INTEGER)");
    struct table *table = status == SQLITE_OK ? sqlite3_malloc64(sizeof *table) : NULL;
    if (!table)
        return status == SQLITE_OK ? SQLITE_NOMEM : status;
    *table = (struct table){.store = store};
    *out = &table->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* There is one way to read it: from its first row to its last. */
static int table_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1e6;
    info->estimatedRows = 10000;
    return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    (void)table;
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct cursor){.at_end = true};
    *out = &cursor->base;
    return SQLITE_OK;
}

/* The first of both selects' failures. */
static int end_selects(struct cursor *cursor)
{
    if (!cursor->open)
        return SQLITE_OK;
    const int warps = cursor->warps.status, events = cursor->events.status;
    wsdbg_error_destroy(wsdbg_select_end(&cursor->warps));
    wsdbg_error_destroy(wsdbg_select_end(&cursor->events));
    cursor->open = false;
    return warps != SQLITE_OK ? warps : events;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
    end_selects((struct cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static bool next_warp(struct cursor *cursor)
{
    if (!wsdbg_select_next(&cursor->warps))
        return false;
    cursor->warp = wsdbg_select_number(&cursor->warps);
    cursor->grid = wsdbg_select_number(&cursor->warps);
    const int64_t first = wsdbg_select_number(&cursor->warps), count = wsdbg_select_number(&cursor->warps);
    wsdbg_select_restart(&cursor->events);
    wsdbg_select_bind(&cursor->events, 1, first);
    wsdbg_select_bind(&cursor->events, 2, first > INT64_MAX - count ? INT64_MAX : first + count);
    cursor->overlap = (struct wsdbg_overlap){0};
    return true;
}

/* To the next stage, of this warp or of a later one. */
static int cursor_next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct wsdbg_history_event event;
    cursor->row++;
    do {
        while (wsdbg_select_next(&cursor->events)) {
            wsdbg_select_event(&cursor->events, &event);
            if (wsdbg_overlap_add(&cursor->overlap, &event, &cursor->stage))
                return SQLITE_OK;
        }
    } while (next_warp(cursor));
    cursor->at_end = true;
    return end_selects(cursor);
}

static int cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    struct wsdbg_store *store = ((struct table *)base->pVtab)->store;
    (void)number, (void)text, (void)count, (void)values;
    end_selects(cursor);
    wsdbg_select_begin(&cursor->warps, store, warps_sql, 0);
    wsdbg_select_begin(&cursor->events, store, events_sql, 0);
    wsdbg_select_bind(&cursor->events, 2, 0); /* no row before there is a warp */
    cursor->open = true;
    cursor->at_end = false;
    cursor->row = 0;
    return cursor_next(base);
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->at_end;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    const struct cursor *c = (const struct cursor *)base;
    const struct wsdbg_overlap_stage *stage = &c->stage;
    const int64_t values[] = {c->grid,
                              c->warp,
                              (int64_t)stage->issued_ns,
                              (int64_t)stage->wait_begin_ns,
                              (int64_t)stage->wait_end_ns,
                              stage->rounds,
                              stage->earlier_waits,
                              (int64_t)stage->earlier_wait_ns};
    enum { ROUNDS = 5 };
    if (column != ROUNDS || stage->rounds > 0)
        sqlite3_result_int64(out, values[column]);
    return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((struct cursor *)base)->row;
    return SQLITE_OK;
}

/* Without xCreate the table is there by its name alone. */
static const sqlite3_module module = {.xConnect = table_connect,
                                      .xDisconnect = table_disconnect,
                                      .xBestIndex = table_best_index,
                                      .xOpen = cursor_open,
                                      .xClose = cursor_close,
                                      .xFilter = cursor_filter,
                                      .xNext = cursor_next,
                                      .xEof = cursor_eof,
                                      .xColumn = cursor_column,
                                      .xRowid = cursor_rowid};

struct wsdbg_error *wsdbg_overlap_register(struct wsdbg_store *store)
{
    /* Declaring the table counts as writing: it is done with its first use, before the connection refuses to write. */
    sqlite3_stmt *first_use = NULL;
    int status = sqlite3_create_module(store->db, "wgmma_stage", &module, store);
    if (status == SQLITE_OK)
        status = sqlite3_prepare_v2(store->db, "SELECT 1 FROM wgmma_stage", -1, &first_use, NULL);
    sqlite3_finalize(first_use);
    return status == SQLITE_OK ? NULL : wsdbg_db_error(store->db, store->path, "add the table wgmma_stage");
}
