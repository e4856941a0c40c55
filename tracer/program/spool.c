/* spool.c - see spool.h.  Reads: TMPDIR, the folders of other runs.  Writes: one folder; what the observer put there is
 * removed with it. */
#include "program/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "wsdbg/session.h"

#define PREFIX "wsdbg-spool."
#define LOCK_NAME "lock"
/* A folder without a lock file is being made, or an older wsdbg made it. */
enum { UNLOCKED_STALE_S = 86400 };

static const char *parent_folder(void)
{
    const char *temporary = getenv("TMPDIR");
    return temporary && temporary[0] ? temporary : "/tmp";
}

/* -1 = it is no folder, or not this user's. */
static int open_own_folder(int parent, const char *name)
{
    struct stat status;
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid())
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Takes the descriptor. */
static void remove_files(int folder)
{
    DIR *listing = fdopendir(folder);
    if (!listing)
        close(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        unlinkat(dirfd(listing), entry->d_name, 0);
    if (listing)
        closedir(listing);
}

static void remove_folder(int parent, const char *name)
{
    const int folder = open_own_folder(parent, name);
    if (folder < 0)
        return;
    const int segments = open_own_folder(folder, WSDBG_SEGMENT_SPOOLED);
    if (segments >= 0)
        remove_files(segments);
    unlinkat(folder, WSDBG_SEGMENT_SPOOLED, AT_REMOVEDIR);
    remove_files(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* The lock is gone with the run that held it. */
static bool is_stale(int parent, const char *name)
{
    struct stat status;
    const int folder = open_own_folder(parent, name);
    const int lock = folder >= 0 ? openat(folder, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    bool stale = false;
    if (lock >= 0)
        stale = flock(lock, LOCK_SH | LOCK_NB) == 0;
    else if (folder >= 0 && errno == ENOENT && fstat(folder, &status) == 0)
        stale = time(NULL) - status.st_mtime > UNLOCKED_STALE_S;
    if (lock >= 0)
        close(lock);
    if (folder >= 0)
        close(folder);
    return stale;
}

static void remove_stale(void)
{
    DIR *listing = opendir(parent_folder());
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0 && is_stale(dirfd(listing), entry->d_name))
            remove_folder(dirfd(listing), entry->d_name);
    if (listing)
        closedir(listing);
}

/* Locked before it has its name, so that nobody takes it for a killed run's.  -1 = errno says why not. */
static int make_lock(int folder)
{
    const int fd = openat(folder, LOCK_NAME ".draft", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || (flock(fd, LOCK_EX | LOCK_NB) == 0 && renameat(folder, LOCK_NAME ".draft", folder, LOCK_NAME) == 0))
        return fd;
    close(fd);
    return -1;
}

static struct wsdbg_error *fill(struct wsdbg_spool *spool)
{
    struct wsdbg_error *error = NULL;
    const int folder = open_own_folder(AT_FDCWD, spool->path);
    if (folder >= 0)
        spool->lock = make_lock(folder);
    if (spool->lock < 0 || mkdirat(folder, WSDBG_SEGMENT_SPOOLED, 0700) != 0)
        error = wsdbg_error_os(errno, "cannot create files in the folder %s", spool->path);
    if (folder >= 0)
        close(folder);
    return error;
}

struct wsdbg_error *wsdbg_spool_create(struct wsdbg_spool *out)
{
    struct wsdbg_spool spool = {.lock = -1};
    remove_stale();
    if (asprintf(&spool.path, "%s/" PREFIX "XXXXXX", parent_folder()) < 0)
        return &wsdbg_error_no_memory;
    if (!mkdtemp(spool.path)) {
        struct wsdbg_error *error = wsdbg_error_os(errno, "cannot create the folder %s", spool.path);
        free(spool.path);
        return error;
    }
    struct wsdbg_error *error = fill(&spool);
    if (error)
        wsdbg_spool_destroy(&spool);
    else
        *out = spool;
    return error;
}

void wsdbg_spool_destroy(struct wsdbg_spool *spool)
{
    if (!spool->path)
        return;
    remove_folder(AT_FDCWD, spool->path);
    if (spool->lock >= 0)
        close(spool->lock);
    free(spool->path);
    *spool = (struct wsdbg_spool){.lock = -1};
}
