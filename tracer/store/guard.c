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

/* Asked of the script, not of an empty session made by it: that would take longer than to open a small file. */
static bool is_our_table(const char *name)
{
    static const char create[] = "\nCREATE TABLE ";
    const char *at = wsdbg_schema_sql;
    while ((at = strstr(at, create))) {
        at += sizeof create - 1;
        const size_t length = strcspn(at, " (");
        if (strlen(name) == length && sqlite3_strnicmp(at, name, (int)length) == 0)
            return true;
    }
    return false;
}

static struct wsdbg_error *not_as_made(struct wsdbg_store *store, const char *name, bool is_view)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: '%s' is a %s; wsdbg makes no such session database",
                              store->path, name, is_view ? "view, not a table" : "virtual table");
}

/* A view of another name is nobody's business: no statement of ours names it. */
static struct wsdbg_error *check_object(struct wsdbg_store *store, const char *name, const char *type)
{
    const bool is_view = strcmp(type, "view") == 0;
    return !is_view || is_our_table(name) ? not_as_made(store, name, is_view) : NULL;
}

struct wsdbg_error *wsdbg_guard_check_tables(struct wsdbg_store *store)
{
    struct wsdbg_error *error = NULL;
    struct wsdbg_select q;
    /* SQLite itself refuses a row whose type is not that of its statement, and keeps no other blank before a name. */
    wsdbg_select_begin(&q, store,
                       "SELECT name, type FROM sqlite_schema WHERE type = 'view' "
                       "OR (type = 'table' AND sql NOT LIKE 'CREATE TABLE %')",
                       0);
    while (!error && wsdbg_select_next(&q)) {
        const char *name = wsdbg_select_string(&q), *type = wsdbg_select_string(&q);
        if (name && type)
            error = check_object(store, name, type);
    }
    if (!error && (q.status & 0xff) == SQLITE_CORRUPT)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: is damaged: %s", store->path, sqlite3_errmsg(store->db));
    struct wsdbg_error *failed = wsdbg_select_end(&q);
    if (!error)
        return failed;
    wsdbg_error_destroy(failed);
    return error;
}

static struct wsdbg_error *make_own_view(struct wsdbg_store *store, const char *after_create, size_t length)
{
    char *sql = sqlite3_mprintf("CREATE TEMP VIEW %.*s", (int)length, after_create);
    struct wsdbg_error *error = sql ? wsdbg_db_exec(store, sql) : &wsdbg_error_no_memory;
    sqlite3_free(sql);
    return error;
}

struct wsdbg_error *wsdbg_guard_use_own_views(struct wsdbg_store *store)
{
    static const char create[] = "CREATE VIEW ";
    struct wsdbg_error *error = wsdbg_db_exec(store, "BEGIN");
    const char *at = wsdbg_views_sql;
    while (!error && (at = strstr(at, create))) {
        at += sizeof create - 1;
        const size_t length = strcspn(at, ";"); /* none is within a view */
        error = make_own_view(store, at, length);
        at += length;
    }
    return wsdbg_db_end(store, error);
}
