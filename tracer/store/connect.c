/* connect.c - see connect.h.
 *
 * A finished session is one file and opens anywhere.  One whose run was killed is in WAL mode: SQLite then wants to
 * write an index beside it.  Where it may not, there are two ways: with no WAL beside the file, the file is all there
 * is and cannot change ("immutable"); with one, both are copied to a folder of our own.
 */
#include "store/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "store/guard.h"

static const char read_sql[] = "PRAGMA schema_version";

/* Opens and reads the first page; the status, which the connection keeps as well. */
static int reopen(struct wsdbg_store *store, const char *name, int flags, const char *first_sql)
{
    sqlite3_close(store->db);
    store->db = NULL;
    const int status = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (status != SQLITE_OK)
        return status;
    sqlite3_busy_timeout(store->db, 1000);
    wsdbg_guard_connection(store);
    return sqlite3_exec(store->db, first_sql, NULL, NULL, NULL);
}

/* "file:PATH?immutable=1".  NULL = no memory. */
static char *immutable_uri(const char *path)
{
    char *uri = NULL, *encoded = wsdbg_text_uri_path(path);
    if (encoded && asprintf(&uri, "file:%s?immutable=1", encoded) < 0)
        uri = NULL;
    free(encoded);
    return uri;
}

static struct wsdbg_error *open_immutable(struct wsdbg_store *store)
{
    char *uri = immutable_uri(store->path);
    if (!uri)
        return &wsdbg_error_no_memory;
    reopen(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, read_sql);
    free(uri);
    return NULL;
}

static struct wsdbg_error *copy_file(const char *from, const char *to)
{
    struct stat status;
    const int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool whole = in >= 0 && out >= 0 && fstat(in, &status) == 0;
    for (off_t left = whole ? status.st_size : 0; whole && left > 0;) {
        const ssize_t got = sendfile(out, in, NULL, (size_t)left);
        whole = got > 0;
        left -= got;
    }
    struct wsdbg_error *error = whole ? NULL : wsdbg_error_os(errno, "copy %s to %s", from, to);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return error;
}

/* An exclusive connection keeps the WAL's index in memory, so once it has read, the names can go: the copy lives as
 * long as the connection, however the process ends. */
static struct wsdbg_error *open_copy(struct wsdbg_store *store, const char *wal, const char *folder)
{
    struct wsdbg_error *error = NULL;
    char *name = NULL, *name_wal = NULL;
    if (asprintf(&name, "%s/session.db", folder) < 0 || asprintf(&name_wal, "%s/session.db-wal", folder) < 0)
        error = &wsdbg_error_no_memory;
    if (!error)
        error = copy_file(store->path, name);
    if (!error)
        error = copy_file(wal, name_wal);
    if (!error)
        reopen(store, name, SQLITE_OPEN_READWRITE, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA schema_version");
    if (name && name_wal) {
        unlink(name);
        unlink(name_wal);
    }
    free(name);
    free(name_wal);
    return error;
}

static struct wsdbg_error *open_private_copy(struct wsdbg_store *store, const char *wal)
{
    const char *temporary = getenv("TMPDIR");
    char *folder = NULL;
    struct wsdbg_error *error = NULL;
    if (asprintf(&folder, "%s/wsdbg-copy.XXXXXX", temporary && *temporary ? temporary : "/tmp") < 0)
        return &wsdbg_error_no_memory;
    if (mkdtemp(folder)) {
        error = open_copy(store, wal, folder);
        rmdir(folder);
    } else {
        error = wsdbg_error_os(errno, "%s: make a folder for a copy of %s", folder, store->path);
    }
    free(folder);
    return error;
}

static struct wsdbg_error *open_beside_nothing(struct wsdbg_store *store)
{
    struct stat status;
    char *wal = NULL;
    if (asprintf(&wal, "%s-wal", store->path) < 0)
        return &wsdbg_error_no_memory;
    const bool has_wal = stat(wal, &status) == 0 && status.st_size > 0;
    struct wsdbg_error *error = has_wal ? open_private_copy(store, wal) : open_immutable(store);
    free(wal);
    return error;
}

struct wsdbg_error *wsdbg_store_connect(struct wsdbg_store *store)
{
    const int status = reopen(store, store->path, SQLITE_OPEN_READONLY, read_sql) & 0xff;
    if (status == SQLITE_CANTOPEN || status == SQLITE_READONLY)
        return open_beside_nothing(store);
    return NULL;
}
