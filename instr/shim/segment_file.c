/* segment_file.c - the file of the shared segment: in which folder it lies, and what an earlier program left there.
 *
 * Reads:  the room in /dev/shm, WSDBG_SPOOL.
 * Writes: the file's name into one of two folders (the session's own in /dev/shm is made where it lacks); into a file
 * of this process's number that the process is past it, and that file's name.
 *
 * /dev/shm is memory, but the program may need it: with little room in it the segment lies in the session's folder.
 * No descriptor is kept (segment.c), so the file is opened by its name each time.
 */
#include "segment_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "wsdbg/session.h"
#include "armed.h"
#include "clock.h"
#include "own_files.h"

static char own_path[PATH_MAX];

static bool path_of(enum segment_place place, const char *session, int process, char path[PATH_MAX])
{
    const char *spool = armed_or_session_folder();
    int length = -1;
    if (place == SEGMENT_IN_MEMORY)
        length = snprintf(path, PATH_MAX, WSDBG_SEGMENT_PATH_FORMAT, session, session, process);
    else if (spool && *spool)
        length =
            snprintf(path, PATH_MAX, "%s/" WSDBG_SEGMENT_SPOOLED WSDBG_SEGMENT_NAME_FORMAT, spool, session, process);
    return length > 0 && length < PATH_MAX;
}

static bool has_room(void)
{
    struct statfs space;
    return statfs(WSDBG_SEGMENT_FOLDER, &space) == 0 &&
           (uint64_t)space.f_bavail * (uint64_t)space.f_bsize >= WSDBG_SEGMENT_ROOM_BYTES;
}

enum segment_place segment_file_first_place(void)
{
    return has_room() && !armed_has_folder_of_its_own() ? SEGMENT_IN_MEMORY : SEGMENT_IN_SPOOL;
}

/* wsdbg has made it before the program began, as a rule.  One that somebody else has made first is not used. */
static bool has_own_folder(const char *session, char *why)
{
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, WSDBG_SEGMENT_OWN_FORMAT, session);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        snprintf(why, WSDBG_TEXT_BYTES, "cannot create %.150s: %s", path, strerror(errno));
        return false;
    }
    const bool is_folder = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
    const bool own = is_folder && status.st_uid == geteuid() && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (is_folder && status.st_uid != geteuid())
        snprintf(why, WSDBG_TEXT_BYTES, "this process runs as user %u, and %.150s is user %u's; start wsdbg as user %u",
                 (unsigned)geteuid(), path, (unsigned)status.st_uid, (unsigned)geteuid());
    else if (!own)
        snprintf(why, WSDBG_TEXT_BYTES, "%.150s is not this user's alone", path);
    return own;
}

int segment_file_create(enum segment_place place, const char *session, char *why)
{
    if (place == SEGMENT_IN_MEMORY && (armed_has_folder_of_its_own() || !has_own_folder(session, why)))
        return -1;
    if (!path_of(place, session, (int)getpid(), own_path))
        return -1;
    const int fd = shim_above_streams(open(own_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd < 0 && !why[0])
        snprintf(why, WSDBG_TEXT_BYTES, "cannot create %.150s: %s", own_path, strerror(errno));
    return fd;
}

int segment_file_open(void)
{
    return shim_above_streams(open(own_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
}

void segment_file_remove(void)
{
    unlink(own_path);
}

const char *segment_file_name(void)
{
    return own_path;
}

int segment_file_open_of(const char *session, int process)
{
    char path[PATH_MAX];
    int fd = -1;
    for (int place = SEGMENT_IN_MEMORY; place <= SEGMENT_IN_SPOOL && fd < 0; place++)
        if (path_of((enum segment_place)place, session, process, path))
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd;
}

uint64_t segment_file_pid_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* The same number in another namespace is another process, which may live. */
static bool is_earlier(int fd)
{
    struct stat status;
    uint64_t namespace = 0;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1 &&
           pread(fd, &namespace, sizeof namespace, offsetof(struct wsdbg_segment, pid_namespace)) == sizeof namespace &&
           namespace && namespace == segment_file_pid_namespace();
}

/* Whether a wsdbg watches and must be told that the process is past that program. */
static bool is_watched(int fd)
{
    uint64_t until_ns = 0;
    return !armed_is_on() || (pread(fd, &until_ns, sizeof until_ns, offsetof(struct wsdbg_segment, watched_until_ns)) ==
                                  sizeof until_ns &&
                              until_ns > shim_now_ns());
}

/* True: nobody watches, so the table is removed. */
static bool leave_earlier(const char *path)
{
    const uint64_t now_ns = shim_now_ns();
    char left[PATH_MAX + 32];
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    const bool is_own = is_earlier(fd), is_removed = is_own && !is_watched(fd);
    if (is_removed)
        unlink(path);
    else if (is_own && pwrite(fd, &now_ns, sizeof now_ns, offsetof(struct wsdbg_segment, left_ns)) == sizeof now_ns) {
        snprintf(left, sizeof left, "%s" WSDBG_SEGMENT_LEFT "%llx", path, (unsigned long long)now_ns);
        if (rename(path, left) != 0)
            unlink(path);
    }
    close(fd);
    return is_removed;
}

bool segment_file_leave_earlier(const char *session)
{
    char path[PATH_MAX];
    const int kept = errno;
    bool is_removed = false;
    for (int place = SEGMENT_IN_MEMORY; place <= SEGMENT_IN_SPOOL; place++)
        if (path_of((enum segment_place)place, session, (int)getpid(), path))
            is_removed |= leave_earlier(path);
    errno = kept;
    return is_removed;
}

bool segment_file_session_is_over(const char *session)
{
    char path[PATH_MAX];
    const char *spool = armed_or_session_folder();
    if (armed_is_on() || !spool || !*spool || access(spool, F_OK) == 0 || errno != ENOENT)
        return false;
    snprintf(path, sizeof path, WSDBG_SEGMENT_FOLDER "/wsdbg.%s.session", session);
    return access(path, F_OK) != 0 && errno == ENOENT;
}
