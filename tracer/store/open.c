/* open.c - opens an existing session database for reading, after checking that it is one.
 * Reads the file; changes nothing.  Every refusal is one line: the file and the reason. */
#include "store/connect.h"
#include "store/guard.h"
#include "store/migrate.h"
#include "store/overlap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

#define HEADER_BYTES 100 /* of every SQLite file; SQLite itself reads a shorter one as zeros */

static struct wsdbg_error *bad(const char *path, const char *reason)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: %s", path, reason);
}

/* What the file system and the first bytes say, before SQLite sees the file. */
static struct wsdbg_error *check_file(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char head[16];
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return wsdbg_error_os(errno, "%s: open the session database", path);
    const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    const ssize_t got = regular ? pread(fd, head, sizeof head, 0) : 0;
    close(fd);
    if (!regular)
        return bad(path, S_ISDIR(status.st_mode) ? "is a directory, not a session database" : "is not a regular file");
    if (status.st_size == 0)
        return bad(path, "is empty, not a session database");
    if (got != (ssize_t)sizeof head || memcmp(head, magic, sizeof head) != 0)
        return bad(path, "is not a SQLite database");
    if (status.st_size < HEADER_BYTES)
        return bad(path, "is damaged: cut within its header");
    return NULL;
}

static struct wsdbg_error *corrupt(struct wsdbg_store *store, const char *reason)
{
    if (sqlite3_errcode(store->db) == SQLITE_INTERRUPT)
        return wsdbg_limits_late(store->path);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: is damaged: %s", store->path, reason);
}

static struct wsdbg_error *check_identity(struct wsdbg_store *store)
{
    const int64_t application = wsdbg_db_number(store->db, "PRAGMA application_id", -1);
    if (application == -1) {
        const int code = sqlite3_errcode(store->db);
        if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_BUSY)
            return wsdbg_db_error(store->db, store->path, "open the session database");
        return corrupt(store, sqlite3_errmsg(store->db));
    }
    if (application != WSDBG_STORE_APPLICATION_ID)
        return bad(store->path, "is a SQLite database, but not one made by wsdbg");
    return NULL;
}

/* SQLite's own check of one table, cut at its first complaint. */
static struct wsdbg_error *check_table(struct wsdbg_store *store, const char *table)
{
    struct wsdbg_error *error = NULL;
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("PRAGMA quick_check(%Q)", table);
    int status = sql ? sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    const char *answer = status == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (!answer)
        error = corrupt(store, sqlite3_errmsg(store->db));
    else if (strcmp(answer, "ok") != 0)
        error = corrupt(store, answer + (strncmp(answer, "*** ", 4) == 0 ? strcspn(answer, "\n") + 1 : 0));
    sqlite3_finalize(statement);
    return error;
}

/* Every table but the events and the log: to read millions of rows would take longer than to show what they are about.
 * Damage there is found when they are read. */
static struct wsdbg_error *check_whole(struct wsdbg_store *store)
{
    struct wsdbg_error *error = NULL, *failed = NULL;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, store,
                       "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('event', 'log')", 0);
    while (!error && wsdbg_select_next(&q))
        error = check_table(store, wsdbg_select_string(&q));
    if (!error && q.status != SQLITE_OK)
        error = corrupt(store, sqlite3_errmsg(store->db));
    failed = wsdbg_select_end(&q);
    wsdbg_error_destroy(failed);
    if (!error && wsdbg_db_number(store->db, "SELECT count(*) FROM session", -1) != 1)
        error = corrupt(store, "holds no session");
    return error;
}

static struct wsdbg_error *bring_to_present(struct wsdbg_store *store)
{
    const int64_t version = wsdbg_db_number(store->db, "PRAGMA user_version", -1);
    if (version == WSDBG_STORE_SCHEMA_VERSION)
        return NULL;
    if (version < 1 || version > WSDBG_STORE_SCHEMA_VERSION)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "%s: made by schema version %lld, this wsdbg reads 1 to %d",
                                  store->path, (long long)version, WSDBG_STORE_SCHEMA_VERSION);
    return wsdbg_store_migrate(store, version);
}

/* The only writes SQLite itself needs are to the WAL index of a run that is live or was killed. */
static int allow_reading(void *unused, int action, const char *first, const char *second, const char *database,
                         const char *trigger)
{
    (void)unused, (void)first, (void)database, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
    case SQLITE_SAVEPOINT:
        return SQLITE_OK;
    case SQLITE_PRAGMA: /* with an argument a pragma may change something */
        return second ? SQLITE_DENY : SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

static struct wsdbg_error *open_checked(struct wsdbg_store *store)
{
    struct wsdbg_error *error = wsdbg_store_connect(store);
    if (!error)
        error = check_identity(store);
    if (!error)
        error = wsdbg_guard_check_tables(store);
    if (!error)
        error = check_whole(store);
    if (!error)
        error = bring_to_present(store);
    if (!error)
        error = wsdbg_guard_use_own_views(store);
    if (!error)
        error = wsdbg_overlap_register(store);
    if (!error)
        error = wsdbg_db_exec(store, "PRAGMA query_only = ON");
    if (!error)
        sqlite3_set_authorizer(store->db, allow_reading, NULL);
    return error;
}

struct wsdbg_error *wsdbg_store_open(const char *path, struct wsdbg_store **out)
{
    struct wsdbg_error *error = check_file(path);
    if (error)
        return error;
    struct wsdbg_store *store = calloc(1, sizeof *store);
    if (!store || !(store->path = strdup(path)))
        error = &wsdbg_error_no_memory;
    if (!error) {
        wsdbg_store_restart_time(store);
        error = open_checked(store);
    }
    if (error) {
        wsdbg_store_close(store);
        return error;
    }
    *out = store;
    return NULL;
}
