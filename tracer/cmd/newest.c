/* newest.c - see newest.h.
 *
 * Reads: the current folder, the first bytes of its *.db files.  Writes: one line on stderr.
 */
#include "cmd/newest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/console.h"

/* The file format of SQLite: "application ID", 4 bytes, most significant first.  The number is
 * WSDBG_STORE_APPLICATION_ID of store/database.h. */
enum { APPLICATION_AT = 68 };
static const char application[4] = {'W', 'S', 'D', 'B'};

/* What may not be read, or went away meanwhile, is none; anything else that fails must not make another one the newest.
 */
static struct wsdbg_error *look_at(const char *path, bool *is_session)
{
    char bytes[sizeof application];
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *is_session = false;
    if (file < 0)
        return errno == EACCES || errno == ENOENT || errno == ELOOP ? NULL : wsdbg_error_os(errno, "%s", path);
    const ssize_t count = pread(file, bytes, sizeof bytes, APPLICATION_AT);
    struct wsdbg_error *error = count < 0 ? wsdbg_error_os(errno, "%s", path) : NULL;
    close(file);
    *is_session = count == (ssize_t)sizeof bytes && memcmp(bytes, application, sizeof bytes) == 0;
    return error;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* What was written last may still be in the file beside it.  False: it is no file of this user's. */
static bool written_at(const char *path, struct timespec *out)
{
    char beside[NAME_MAX + sizeof "-wal"];
    struct stat file, log;
    if (lstat(path, &file) != 0 || !S_ISREG(file.st_mode) || file.st_uid != geteuid())
        return false;
    *out = file.st_mtim;
    snprintf(beside, sizeof beside, "%s-wal", path);
    if (lstat(beside, &log) == 0 && is_later(&log.st_mtim, out))
        *out = log.st_mtim;
    return true;
}

static bool ends_in_db(const char *name)
{
    const size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".db") == 0;
}

static struct wsdbg_error *find_newest(char **out)
{
    struct timespec newest = {0}, at;
    struct wsdbg_error *error = NULL;
    bool is_session;
    *out = NULL;
    DIR *folder = opendir(".");
    if (!folder)
        return wsdbg_error_os(errno, "the current folder");
    for (struct dirent *entry; !error && (entry = readdir(folder));) {
        if (!ends_in_db(entry->d_name) || !written_at(entry->d_name, &at) || (*out && !is_later(&at, &newest)))
            continue;
        error = look_at(entry->d_name, &is_session);
        if (error || !is_session)
            continue;
        free(*out);
        *out = strdup(entry->d_name);
        error = *out ? NULL : &wsdbg_error_no_memory;
        newest = at;
    }
    closedir(folder);
    if (!error && !*out)
        error = wsdbg_error_create(WSDBG_ERROR_NOT_FOUND,
                                   "no session database of yours is in this folder: name one as FILE.db");
    if (error) {
        free(*out);
        *out = NULL;
    }
    return error;
}

struct wsdbg_error *wsdbg_session_hint(struct wsdbg_error *error, bool named)
{
    if (!error || named || wsdbg_error_code(error) != WSDBG_ERROR_BAD_INPUT)
        return error;
    struct wsdbg_error *hinted =
        wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s; name another session as FILE.db", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return hinted;
}

struct wsdbg_error *wsdbg_session_file(const struct wsdbg_invocation *invocation, bool named, char **out)
{
    if (named) {
        *out = strdup(invocation->operands[0]);
        return *out ? NULL : &wsdbg_error_no_memory;
    }
    struct wsdbg_error *error = find_newest(out);
    if (!error)
        wsdbg_say("the newest session here is %s", *out);
    return error;
}
