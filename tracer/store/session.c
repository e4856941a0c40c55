/* session.c - the life of a session database: created, ended, closed; and one snapshot as one transaction.
 * Reads the session's facts from the caller; writes the file and the tables session, snapshot, event_kind. */
#include "store/database.h"
#include "store/tables.h"

#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file_limit.h"

/* O_EXCL makes "nothing is overwritten" hold even between two wsdbg started at once. */
static struct wsdbg_error *claim_file(const char *path)
{
    wsdbg_file_limit_is_an_error();
    const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: exists already, not overwritten", path);
    if (fd < 0)
        return wsdbg_error_os(errno, "%s: create the session database", path);
    close(fd);
    return NULL;
}

static struct wsdbg_error *write_event_kinds(struct wsdbg_store *store)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT INTO event_kind VALUES (?, ?)");
    for (int kind = 0; kind < WSDBG_EVENT_KIND_COUNT; kind++) {
        wsdbg_insert_number(&insert, kind);
        wsdbg_insert_string(&insert, wsdbg_event_kind_name(kind));
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_session(struct wsdbg_store *store, const struct wsdbg_session_info *info)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO session (id, command, wsdbg_version, device, observer, evidence, hostname, "
                       "started_unix_ns, started_ns, stall_seconds) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    wsdbg_insert_text(&insert, info->command);
    wsdbg_insert_text(&insert, info->wsdbg_version);
    wsdbg_insert_text(&insert, info->device);
    wsdbg_insert_text(&insert, info->observer);
    wsdbg_insert_text(&insert, info->evidence);
    wsdbg_insert_text(&insert, info->hostname);
    wsdbg_insert_number(&insert, (int64_t)info->started_unix_ns);
    wsdbg_insert_number(&insert, (int64_t)info->started_ns);
    wsdbg_insert_real(&insert, info->stall_seconds);
    wsdbg_insert_row(&insert);
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *create_tables(struct wsdbg_store *store, const struct wsdbg_session_info *info)
{
    /* The id comes before the write-ahead log: it must be in the file itself, where cmd/newest.c reads it, also while
     * the session runs. */
    char pragmas[192];
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA synchronous=OFF; PRAGMA application_id=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
             "PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY",
             WSDBG_STORE_APPLICATION_ID);
    struct wsdbg_error *error = wsdbg_db_exec(store, pragmas);
    if (!error)
        error = wsdbg_db_begin(store);
    if (error)
        return error;
    error = wsdbg_db_exec(store, wsdbg_schema_sql);
    if (!error)
        error = wsdbg_db_exec(store, wsdbg_views_sql);
    if (!error)
        error = write_event_kinds(store);
    if (!error)
        error = write_session(store, info);
    return wsdbg_db_end(store, error);
}

struct wsdbg_error *wsdbg_store_create(const char *path, const struct wsdbg_session_info *info,
                                       struct wsdbg_store **out)
{
    struct wsdbg_error *error = claim_file(path);
    if (error)
        return error;
    struct wsdbg_store *store = calloc(1, sizeof *store);
    if (!store || !(store->path = strdup(path))) {
        error = &wsdbg_error_no_memory;
    } else {
        store->writing = true;
        store->next = (struct wsdbg_picture_ids){1, 1, 1, 1, 1, 1, 1};
        if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
            error = wsdbg_db_error(store->db, path, "create the session database");
        else
            error = create_tables(store, info);
    }
    if (error) {
        wsdbg_store_close(store);
        unlink(path);
        return error;
    }
    *out = store;
    return NULL;
}

/* Keeps the newest diagnosed picture and what it is compared with; whatever else is there is replaced by the one that
 * comes. */
static struct wsdbg_error *drop_old_pictures(struct wsdbg_store *store)
{
    return wsdbg_db_exec(store, "WITH kept AS (SELECT * FROM snapshot WHERE id = (SELECT max(id) FROM snapshot "
                                "WHERE diagnosed)) DELETE FROM snapshot WHERE id NOT IN (SELECT id FROM kept) "
                                "AND id IS NOT (SELECT before_id FROM kept)");
}

/* Of the tables that grow for as long as a program works, the newest rows stay, and those that a picture holds. */
#define ROWS_KEPT "65536"
#define NO_LONGER_KEPT(table)                                                            \
    "DELETE FROM " table " WHERE id <= (SELECT max(id) FROM " table ") - " ROWS_KEPT " " \
    "AND NOT EXISTS (SELECT 1 FROM snapshot WHERE snapshot.id BETWEEN first_snapshot AND last_snapshot)"

static struct wsdbg_error *drop_old_rows(struct wsdbg_store *store)
{
    return wsdbg_db_exec(store, NO_LONGER_KEPT("launch") " AND id NOT IN (SELECT launch_id FROM grid "
                                                         "WHERE launch_id IS NOT NULL); " NO_LONGER_KEPT("activity"));
}

static struct wsdbg_error *write_snapshot_row(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                              int64_t before_id)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO snapshot (time_ns, source, launches_total, torn_events, foreign_slots, lost_rows, "
                       "progress_ns, names_inferred, before_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");
    wsdbg_insert_number(&insert, (int64_t)snapshot->time_ns);
    wsdbg_insert_text(&insert, snapshot->source);
    wsdbg_insert_number(&insert, (int64_t)snapshot->launches_total);
    wsdbg_insert_number(&insert, (int64_t)snapshot->torn_events);
    wsdbg_insert_number(&insert, (int64_t)snapshot->foreign_slots);
    wsdbg_insert_number(&insert, (int64_t)snapshot->lost_rows);
    wsdbg_insert_maybe(&insert, snapshot->progress_ns != 0, (int64_t)snapshot->progress_ns);
    wsdbg_insert_number(&insert, snapshot->names_inferred);
    wsdbg_insert_maybe(&insert, before_id != 0, before_id);
    store->snapshot_id = wsdbg_insert_row(&insert);
    return wsdbg_insert_end(&insert);
}

void wsdbg_store_show_progress(struct wsdbg_store *store, struct wsdbg_progress *progress)
{
    store->progress = progress;
}

/* One snapshot with all that hangs on it; the ids of its tables go to *ids. */
static struct wsdbg_error *write_snapshot(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                          int64_t before_id, struct wsdbg_table_ids *ids)
{
    struct wsdbg_error *error = write_snapshot_row(store, snapshot, before_id);
    if (!error)
        error = wsdbg_write_processes(store, snapshot);
    if (!error)
        error = wsdbg_write_session_tables(store, snapshot, ids);
    if (!error)
        error = wsdbg_write_picture(store, snapshot, ids);
    return error;
}

static struct wsdbg_error *write_before(struct wsdbg_store *store, const struct wsdbg_snapshot *before, int64_t *id)
{
    struct wsdbg_table_ids ids = {0};
    struct wsdbg_error *error = write_snapshot(store, before, 0, &ids);
    wsdbg_table_ids_deinit(&ids);
    *id = store->snapshot_id;
    return error;
}

struct wsdbg_error *wsdbg_store_snapshot(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_error *error = wsdbg_db_begin(store);
    if (error)
        return error;
    struct wsdbg_table_ids ids = {0};
    int64_t before_id = 0;
    error = drop_old_pictures(store);
    if (!error && snapshot->before)
        error = write_before(store, snapshot->before, &before_id);
    if (!error)
        error = write_snapshot(store, snapshot, before_id, &ids);
    if (!error)
        error = drop_old_rows(store);
    error = wsdbg_db_end(store, error);
    free(store->module_ids);
    store->module_ids = ids.modules;
    store->module_count = ids.modules ? snapshot->module_count : 0;
    ids.modules = NULL;
    wsdbg_table_ids_deinit(&ids);
    if (error)
        store->snapshot_id = 0; /* what was rolled back cannot be diagnosed */
    return error;
}

struct wsdbg_error *wsdbg_store_end(struct wsdbg_store *store, const struct wsdbg_session_end *end)
{
    struct wsdbg_error *error = wsdbg_db_begin(store);
    if (error)
        return error;
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "UPDATE session SET exit_status = ?, hang = ?, outcome = ?, stalled_ns = ?, verdict_ns = ?, "
                       "ended_ns = ?, stall_seconds = coalesce(?, stall_seconds), stall_proven = ?, "
                       "evidence = coalesce(?, evidence)");
    wsdbg_insert_number(&insert, end->exit_status);
    wsdbg_insert_number(&insert, end->hang);
    wsdbg_insert_text(&insert, end->outcome);
    wsdbg_insert_maybe(&insert, end->stalled_ns != 0, (int64_t)end->stalled_ns);
    wsdbg_insert_maybe(&insert, end->verdict_ns != 0, (int64_t)end->verdict_ns);
    wsdbg_insert_number(&insert, (int64_t)end->ended_ns);
    if (end->stall_seconds > 0)
        wsdbg_insert_real(&insert, end->stall_seconds);
    else
        wsdbg_insert_maybe(&insert, false, 0);
    wsdbg_insert_number(&insert, end->stall_proven);
    wsdbg_insert_text(&insert, end->evidence);
    wsdbg_insert_row(&insert);
    return wsdbg_db_end(store, wsdbg_insert_end(&insert));
}

/* From WAL to a single file.  That needs every reader away: those of ours open the file for moments only, so it is
 * tried for a while.  Where one stays, so does the empty WAL beside the file. */
static void become_one_file(struct wsdbg_store *store)
{
    enum { TRIES = 50, PAUSE_NS = 10000000 };
    for (int i = 0; i < TRIES; i++) {
        sqlite3_exec(store->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
        if (sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) == SQLITE_OK)
            return;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
}

void wsdbg_store_close(struct wsdbg_store *store)
{
    if (!store)
        return;
    if (store->db && store->writing)
        become_one_file(store);
    sqlite3_close(store->db);
    free(store->module_ids);
    free(store->kept);
    free(store->path);
    free(store);
}
