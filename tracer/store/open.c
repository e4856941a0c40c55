/* open.c - opens an existing session database for reading, after checking that it is one.
 * Reads the file; writes nothing.  Every refusal is one line: the file and the reason. */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    const int64_t version = wsdbg_db_number(store->db, "PRAGMA user_version", -1);
    if (version != WSDBG_STORE_SCHEMA_VERSION)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "%s: made by schema version %lld, this wsdbg reads %d",
                                  store->path, (long long)version, WSDBG_STORE_SCHEMA_VERSION);
    return NULL;
}

/* SQLite's own check, cut at its first complaint. */
static struct wsdbg_error *check_whole(struct wsdbg_store *store)
{
    struct wsdbg_error *error = NULL;
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    const char *answer = status == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (!answer)
        error = corrupt(store, sqlite3_errmsg(store->db));
    else if (strcmp(answer, "ok") != 0)
        error = corrupt(store, answer + (strncmp(answer, "*** ", 4) == 0 ? strcspn(answer, "\n") + 1 : 0));
    sqlite3_finalize(statement);
    if (!error && wsdbg_db_number(store->db, "SELECT count(*) FROM session", -1) != 1)
        error = corrupt(store, "holds no session");
    return error;
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
    if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return wsdbg_db_error(store->db, store->path, "open the session database");
    sqlite3_busy_timeout(store->db, 1000);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    struct wsdbg_error *error = check_identity(store);
    if (!error)
        error = check_whole(store);
    if (!error)
        error = wsdbg_db_exec(store, "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY");
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
    else
        error = open_checked(store);
    if (error) {
        wsdbg_store_close(store);
        return error;
    }
    *out = store;
    return NULL;
}
