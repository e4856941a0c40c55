/* load.c - see load.h: the session row, the shown snapshot's row, and the ids of the rest.
 * Reads a session database; writes a struct wsdbg_loaded. */
#include "store/load_internal.h"

#include <stdlib.h>
#include <string.h>

static void read_session(struct wsdbg_loader *loader, struct wsdbg_select *select)
{
    struct wsdbg_session_info *info = &loader->loaded->info;
    info->command = wsdbg_loader_string(loader, select);
    info->wsdbg_version = wsdbg_loader_string(loader, select);
    info->device = wsdbg_loader_string(loader, select);
    info->observer = wsdbg_loader_string(loader, select);
    info->evidence = wsdbg_loader_string(loader, select);
    info->hostname = wsdbg_loader_string(loader, select);
    info->started_unix_ns = (uint64_t)wsdbg_select_number(select);
    info->started_ns = (uint64_t)wsdbg_select_number(select);
    info->stall_seconds = wsdbg_select_real(select);
    const struct wsdbg_optional_u64 ended = wsdbg_select_u64(select);
    loader->loaded->ended = ended.known;
    loader->loaded->end = (struct wsdbg_session_end){.ended_ns = ended.value};
    loader->loaded->end.exit_status = (int)wsdbg_select_number(select);
    loader->loaded->end.hang = wsdbg_select_number(select) != 0;
    loader->loaded->end.outcome = wsdbg_loader_string(loader, select);
    loader->loaded->end.stalled_ns = (uint64_t)wsdbg_select_number(select);
    loader->loaded->end.verdict_ns = (uint64_t)wsdbg_select_number(select);
    info->stall_proven = loader->loaded->end.stall_proven = wsdbg_select_number(select) != 0;
}

static struct wsdbg_error *load_session(struct wsdbg_loader *loader)
{
    struct wsdbg_select select;
    wsdbg_select_begin(&select, loader->store,
                       "SELECT command, wsdbg_version, device, observer, evidence, hostname, started_unix_ns, "
                       "started_ns, stall_seconds, ended_ns, exit_status, hang, outcome, stalled_ns, verdict_ns, "
                       "stall_proven FROM session",
                       0);
    const bool found = wsdbg_select_next(&select);
    if (found)
        read_session(loader, &select);
    struct wsdbg_error *error = wsdbg_select_end(&select);
    if (!error && !found)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: holds no session", loader->store->path);
    return error;
}

#define COLUMNS                                                                           \
    "SELECT id, time_ns, source, launches_total, torn_events, foreign_slots, lost_rows, " \
    "progress_ns, diagnosed, hang, names_inferred FROM "

static struct wsdbg_error *load_snapshot_row(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select select;
    wsdbg_select_begin(&select, loader->store,
                       loader->newest ? COLUMNS "snapshot ORDER BY id DESC LIMIT 1" : COLUMNS "shown_snapshot", 0);
    if (wsdbg_select_next(&select)) {
        loader->loaded->has_snapshot = true;
        loader->snapshot_id = wsdbg_select_number(&select);
        s->time_ns = (uint64_t)wsdbg_select_number(&select);
        s->source = wsdbg_loader_string(loader, &select);
        s->launches_total = (uint64_t)wsdbg_select_number(&select);
        s->torn_events = (uint64_t)wsdbg_select_number(&select);
        s->foreign_slots = (uint64_t)wsdbg_select_number(&select);
        s->lost_rows = (uint64_t)wsdbg_select_number(&select);
        s->progress_ns = (uint64_t)wsdbg_select_number(&select);
        loader->loaded->diagnosed = wsdbg_select_number(&select) != 0 && !loader->newest;
        loader->loaded->diagnosis.hang = wsdbg_select_number(&select) != 0;
        s->names_inferred = wsdbg_select_number(&select) != 0;
    }
    return wsdbg_select_end(&select);
}

static struct wsdbg_error *load_all(struct wsdbg_loader *loader, bool histories)
{
    struct wsdbg_error *error = load_session(loader);
    if (!error)
        error = load_snapshot_row(loader);
    if (!error && loader->loaded->has_snapshot)
        error = wsdbg_load_session_tables(loader);
    if (!error && loader->loaded->has_snapshot)
        error = wsdbg_load_picture(loader, histories);
    if (!error && loader->loaded->diagnosed)
        error = wsdbg_load_diagnosis(loader);
    return error;
}

static void loader_deinit(struct wsdbg_loader *loader)
{
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) free(loader->rows.ids);
#include "model/tables.def"
}

static struct wsdbg_error *load(struct wsdbg_store *store, bool newest, bool histories, struct wsdbg_loaded *out)
{
    struct wsdbg_loaded loaded = {0};
    struct wsdbg_loader loader = {.store = store, .loaded = &loaded, .newest = newest};
    /* One read transaction: a live writer must not change the picture between two tables. */
    sqlite3_exec(store->db, "SAVEPOINT load", NULL, NULL, NULL);
    struct wsdbg_error *error = load_all(&loader, histories);
    sqlite3_exec(store->db, "RELEASE load", NULL, NULL, NULL);
    loader_deinit(&loader);
    if (error)
        wsdbg_loaded_deinit(&loaded);
    else
        *out = loaded;
    return error;
}

struct wsdbg_error *wsdbg_store_load(struct wsdbg_store *store, bool histories, struct wsdbg_loaded *out)
{
    return load(store, false, histories, out);
}

struct wsdbg_error *wsdbg_store_load_newest(struct wsdbg_store *store, struct wsdbg_loaded *out)
{
    return load(store, true, false, out);
}

void wsdbg_loaded_deinit(struct wsdbg_loaded *loaded)
{
    for (size_t i = 0; i < loaded->diagnosis.finding_count; i++)
        free(loaded->diagnosis.findings[i].evidence);
    free(loaded->diagnosis.findings);
    free(loaded->diagnosis.edges);
    wsdbg_snapshot_deinit(&loaded->snapshot);
    free(loaded->events);
    for (size_t i = 0; i < loaded->string_count; i++)
        free(loaded->strings[i]);
    free(loaded->strings);
    *loaded = (struct wsdbg_loaded){0};
}

int64_t wsdbg_store_version(struct wsdbg_store *store)
{
    return wsdbg_db_number(store->db, "PRAGMA data_version", -1);
}

struct wsdbg_error *wsdbg_store_get_state(struct wsdbg_store *store, struct wsdbg_store_state *out)
{
    struct wsdbg_store_state state = {0};
    struct wsdbg_select select;
    wsdbg_select_begin(
        &select, store,
        "SELECT s.id, s.diagnosed, coalesce((SELECT max(progress_ns) FROM snapshot) > s.progress_ns, 0), "
        "(SELECT ended_ns IS NOT NULL FROM session), (SELECT coalesce(max(id), 0) FROM log), "
        "(SELECT coalesce(max(id), 0) FROM snapshot), "
        "EXISTS (SELECT 1 FROM look WHERE snapshot_id = (SELECT max(id) FROM snapshot)) "
        "FROM (SELECT 1) LEFT JOIN shown_snapshot s",
        0);
    if (wsdbg_select_next(&select)) {
        state.shown = wsdbg_select_or(&select, 0);
        state.diagnosed = wsdbg_select_or(&select, 0) != 0;
        state.moved_since = wsdbg_select_or(&select, 0) != 0;
        state.ended = wsdbg_select_or(&select, 0) != 0;
        state.log_lines = (uint64_t)wsdbg_select_or(&select, 0);
        state.newest = wsdbg_select_or(&select, 0);
        state.newest_looked = wsdbg_select_or(&select, 0) != 0;
    }
    struct wsdbg_error *error = wsdbg_select_end(&select);
    if (!error)
        *out = state;
    return error;
}
