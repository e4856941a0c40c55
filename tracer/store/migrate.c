/* migrate.c - see migrate.h.  Reads a database of an older version; writes a temporary one.
 *
 * A new schema version adds one script, migrate_N.sql, which leads from version N to N + 1; scripts of the past are
 * never changed. */
#include "store/migrate.h"

#include "store/guard.h"

extern const char wsdbg_migrate_1_sql[], wsdbg_migrate_2_sql[], wsdbg_migrate_3_sql[], wsdbg_migrate_4_sql[],
    wsdbg_migrate_5_sql[], wsdbg_migrate_6_sql[], wsdbg_migrate_7_sql[], wsdbg_migrate_8_sql[], wsdbg_migrate_9_sql[],
    wsdbg_migrate_10_sql[];

static const char *const steps[] = {wsdbg_migrate_1_sql, wsdbg_migrate_2_sql, wsdbg_migrate_3_sql, wsdbg_migrate_4_sql,
                                    wsdbg_migrate_5_sql, wsdbg_migrate_6_sql, wsdbg_migrate_7_sql, wsdbg_migrate_8_sql,
                                    wsdbg_migrate_9_sql, wsdbg_migrate_10_sql};

_Static_assert(sizeof steps / sizeof *steps == WSDBG_STORE_SCHEMA_VERSION - 1, "a step from every older version");

static struct wsdbg_error *copy_failed(struct wsdbg_store *store, sqlite3 *copy)
{
    return wsdbg_db_error(copy, store->path, "copy the session database of an older version");
}

/* SQLite gives the file "" no name in the folder: it is gone with the process, however that ends. */
static struct wsdbg_error *copy_database(struct wsdbg_store *store, sqlite3 **out)
{
    struct wsdbg_error *error = NULL;
    if (sqlite3_open_v2("", out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return copy_failed(store, *out);
    sqlite3_backup *backup = sqlite3_backup_init(*out, "main", store->db, "main");
    if (!backup)
        return copy_failed(store, *out);
    const int status = sqlite3_backup_step(backup, -1);
    if (sqlite3_backup_finish(backup) != SQLITE_OK || status != SQLITE_DONE)
        error = copy_failed(store, *out);
    return error;
}

static struct wsdbg_error *run_steps(struct wsdbg_store *store, int64_t from)
{
    struct wsdbg_error *error = wsdbg_db_exec(store, "BEGIN");
    for (int64_t version = from; !error && version < WSDBG_STORE_SCHEMA_VERSION; version++)
        error = wsdbg_db_exec(store, steps[version - 1]);
    if (!error)
        error = wsdbg_db_exec(store, wsdbg_views_sql);
    return wsdbg_db_end(store, error);
}

struct wsdbg_error *wsdbg_store_migrate(struct wsdbg_store *store, int64_t from)
{
    sqlite3 *copy = NULL;
    struct wsdbg_error *error = copy_database(store, &copy);
    if (error) {
        sqlite3_close(copy);
        return error;
    }
    sqlite3_close(store->db);
    store->db = copy;
    wsdbg_guard_connection(store);
    return wsdbg_error_prefix(run_steps(store, from), "read schema version %lld", (long long)from);
}
