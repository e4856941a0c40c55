/* guard.c - see guard.h.  Reads the schema; writes views of the connection alone, never the file. */
#include "store/guard.h"

#include <string.h>

#include "base/limits.h"

enum {
    CELL_BYTES_MOST = 64 << 20,  /* a source file has 4 MiB at most */
    STEPS_BETWEEN_LOOKS = 20000, /* of SQLite's machine: some tenths of a millisecond */
};

static int is_late(void *context)
{
    const struct wsdbg_store *store = context;
    return wsdbg_limits_is_late(store->began_ns) && !store->is_untimed;
}

void wsdbg_guard_connection(struct wsdbg_store *store)
{
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, CELL_BYTES_MOST);
    sqlite3_progress_handler(store->db, STEPS_BETWEEN_LOOKS, is_late, store);
}

void wsdbg_store_restart_time(struct wsdbg_store *store)
{
    store->began_ns = wsdbg_limits_clock_ns();
}

void wsdbg_store_lift_time_limit(struct wsdbg_store *store)
{
    store->is_untimed = true;
}

/* ---- tables and views ---- */

/* What this version makes, without a row. */
static struct wsdbg_error *make_reference(struct wsdbg_store *store, sqlite3 **out)
{
    struct wsdbg_error *error = NULL;
    if (sqlite3_open_v2(":memory:", out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        sqlite3_exec(*out, wsdbg_schema_sql, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(*out, wsdbg_views_sql, NULL, NULL, NULL) != SQLITE_OK)
        error = wsdbg_db_error(*out, store->path, "make an empty session to compare it with");
    return error;
}

/* Whether that statement with one text has a row; false as well where it cannot be asked. */
static bool has_row(sqlite3 *db, const char *sql, const char *text)
{
    sqlite3_stmt *statement = NULL;
    const bool found = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
                       sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC) == SQLITE_OK &&
                       sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

static struct wsdbg_error *not_as_made(struct wsdbg_store *store, const char *name, bool is_view)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: '%s' is a %s; wsdbg makes no such session database",
                              store->path, name, is_view ? "view, not a table" : "virtual table");
}

/* A view of another name is nobody's business: no statement of ours names it. */
static struct wsdbg_error *check_object(struct wsdbg_store *store, sqlite3 *reference, const char *name,
                                        const char *type)
{
    static const char our_table[] = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE";
    const bool is_view = strcmp(type, "view") == 0;
    return !is_view || has_row(reference, our_table, name) ? not_as_made(store, name, is_view) : NULL;
}

static struct wsdbg_error *check_tables(struct wsdbg_store *store, sqlite3 *reference)
{
    struct wsdbg_error *error = NULL;
    struct wsdbg_select q;
    /* As SQLite understands the schema: its text may be written in many ways. */
    wsdbg_select_begin(
        &q, store, "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('view', 'virtual')", 0);
    while (!error && wsdbg_select_next(&q)) {
        const char *name = wsdbg_select_string(&q), *type = wsdbg_select_string(&q);
        if (name && type)
            error = check_object(store, reference, name, type);
    }
    if (!error && (q.status & 0xff) == SQLITE_CORRUPT)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: is damaged: %s", store->path, sqlite3_errmsg(store->db));
    struct wsdbg_error *failed = wsdbg_select_end(&q);
    if (!error)
        return failed;
    wsdbg_error_destroy(failed);
    return error;
}

struct wsdbg_error *wsdbg_guard_check_tables(struct wsdbg_store *store)
{
    sqlite3 *reference = NULL;
    struct wsdbg_error *error = make_reference(store, &reference);
    if (!error)
        error = check_tables(store, reference);
    sqlite3_close(reference);
    return error;
}

/* `create` is the statement as SQLite keeps it: it begins with CREATE VIEW. */
static struct wsdbg_error *make_own_view(struct wsdbg_store *store, const char *create)
{
    char *sql = sqlite3_mprintf("CREATE TEMP%s", create + strlen("CREATE"));
    struct wsdbg_error *error = sql ? wsdbg_db_exec(store, sql) : &wsdbg_error_no_memory;
    sqlite3_free(sql);
    return error;
}

static struct wsdbg_error *make_own_views(struct wsdbg_store *store, sqlite3 *reference)
{
    sqlite3_stmt *views = NULL;
    struct wsdbg_error *error = NULL;
    int status = sqlite3_prepare_v2(reference, "SELECT sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid", -1,
                                    &views, NULL);
    while (!error && status != SQLITE_DONE) {
        status = sqlite3_step(views);
        if (status == SQLITE_ROW)
            error = make_own_view(store, (const char *)sqlite3_column_text(views, 0));
        else if (status != SQLITE_DONE)
            error = wsdbg_db_error(reference, store->path, "make the views");
    }
    sqlite3_finalize(views);
    return error;
}

struct wsdbg_error *wsdbg_guard_use_own_views(struct wsdbg_store *store)
{
    sqlite3 *reference = NULL;
    struct wsdbg_error *error = make_reference(store, &reference);
    if (!error)
        error = make_own_views(store, reference);
    sqlite3_close(reference);
    return error;
}
