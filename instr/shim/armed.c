/* armed.c - an armed process: where its segment is, and how the observer sleeps until a wsdbg attaches.
 *
 * Reads:  WSDBG_ARM, /proc/self/stat and exe; watched_until_ns, watch_begun and watcher_pid of the segment.
 * Writes: the session's folders; armed and start_ticks of the segment; which process may read this one's memory while a
 * wsdbg watches.  Removes the files of ended processes.
 *
 * The observer's threads wait on a futex without a time limit.  So they never wake up while nobody watches.
 */
#include "armed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "wsdbg/armed.h"
#include "clock.h"
#include "own_files.h"
#include "own_threads.h"
#include "segment.h"
#include "segment_file.h"
#include "state.h"
#include "system_calls.h"

static char folder[WSDBG_ARMED_FOLDER_BYTES]; /* "" = this process is not armed */
static bool is_usual_folder;

/* The environment may arm everything, wsdbg too.  It must not be armed, because its inspectors use the driver. If a
 * newer wsdbg has replaced its file, the kernel names the file "/opt/bin/wsdbg (deleted)". */
static bool is_wsdbg(void)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *name = strrchr(path, '/');
    return name && (strcmp(name, "/wsdbg") == 0 || strcmp(name, "/wsdbg (deleted)") == 0);
}

bool armed_begin(char *session, size_t bytes)
{
    char chosen[WSDBG_ARMED_FOLDER_BYTES];
    if (!wsdbg_armed_folder(getenv(WSDBG_ENV_ARM), (unsigned)geteuid(), chosen, &is_usual_folder) || is_wsdbg())
        return false;
    strcpy(folder, chosen);
    wsdbg_armed_session(is_usual_folder, (unsigned)geteuid(), session, bytes);
    return true;
}

bool armed_is_on(void)
{
    return folder[0] != '\0';
}

bool armed_has_folder_of_its_own(void)
{
    return armed_is_on() && !is_usual_folder;
}

const char *armed_or_session_folder(void)
{
    return armed_is_on() ? folder : getenv(WSDBG_ENV_SPOOL);
}

/* ---- the folders ---- */

static bool make_own_folder(const char *path, char *why)
{
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        snprintf(why, WSDBG_TEXT_BYTES, "cannot create %.150s: %s", path, strerror(errno));
        return false;
    }
    const bool is_own = lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                        (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (!is_own)
        snprintf(why, WSDBG_TEXT_BYTES, "%.150s is not a folder of this user alone (mode 0700)", path);
    return is_own;
}

static void remove_files_of(pid_t process, bool with_lock)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (wsdbg_armed_file_process(entry->d_name) == (unsigned long)process &&
            (with_lock || !strstr(entry->d_name, ".attach")))
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

static bool is_gone(pid_t process)
{
    return kill(process, 0) != 0 && errno == ESRCH;
}

/* A wsdbg that is attached may still read the files of an ended process. */
static bool is_attached_to(pid_t process)
{
    char path[WSDBG_ARMED_FOLDER_BYTES + 32];
    struct flock record = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(path, sizeof path, "%s/" WSDBG_ARMED_LOCK_FORMAT, folder, (int)process);
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    const bool is_held = fcntl(fd, F_GETLK, &record) != 0 || record.l_type != F_UNLCK;
    close(fd);
    return is_held;
}

/* In another PID namespace a living process may have the same number. */
static bool is_of_ended(int segments, const char *name, pid_t process)
{
    uint64_t namespace = 0;
    if (!is_gone(process) || is_attached_to(process))
        return false;
    const int fd = openat(segments, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_known = fd >= 0 && pread(fd, &namespace, sizeof namespace,
                                           offsetof(struct wsdbg_segment, pid_namespace)) == sizeof namespace;
    if (fd >= 0)
        close(fd);
    return is_known && namespace && namespace == segment_file_pid_namespace() && is_gone(process);
}

/* Killed processes leave their files.  If nobody ever attaches, these files would fill the memory.  The program waits
 * meanwhile, so the next one removes the rest. */
enum { REMOVED_MOST = 16 };

static void remove_ended_in(const char *segments)
{
    int removed = 0;
    char session[64], prefix[80];
    wsdbg_armed_session(is_usual_folder, (unsigned)geteuid(), session, sizeof session);
    const int length = snprintf(prefix, sizeof prefix, "wsdbg.%s.", session);
    const int fd = shim_above_streams(open(segments, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !entries)
        close(fd);
    for (struct dirent *entry; entries && removed < REMOVED_MOST && (entry = readdir(entries));) {
        const char *number = entry->d_name + length;
        if (strncmp(entry->d_name, prefix, (size_t)length) != 0 || *number < '1' || *number > '9')
            continue;
        const pid_t process = (pid_t)strtol(number, NULL, 10);
        if (process > 0 && is_of_ended(dirfd(entries), entry->d_name, process)) {
            unlinkat(dirfd(entries), entry->d_name, 0);
            remove_files_of(process, true);
            removed++;
        }
    }
    if (entries)
        closedir(entries);
}

static void remove_ended(const char *spooled)
{
    char session[64], in_memory[128];
    wsdbg_armed_session(is_usual_folder, (unsigned)geteuid(), session, sizeof session);
    snprintf(in_memory, sizeof in_memory, WSDBG_SEGMENT_OWN_FORMAT, session);
    remove_ended_in(in_memory);
    remove_ended_in(spooled);
}

/* NFS, SMB (three kinds), Lustre, GPFS, Ceph, BeeGFS.  There a process of another machine may have the same number. And
 * if the server fails, an access to a mapped file ends the program. */
static bool is_of_several_machines(const char *path)
{
    static const uint32_t kinds[] = {0x6969,     0x517b,     0xff534d42, 0xfe534d42,
                                     0x0bd00bd0, 0x47504653, 0x00c36400, 0x19830326};
    struct statfs system;
    bool found = false;
    if (statfs(path, &system) == 0)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            found |= (uint32_t)system.f_type == kinds[i];
    return found;
}

bool armed_make_place(char *why)
{
    char segments[WSDBG_ARMED_FOLDER_BYTES + 16];
    snprintf(segments, sizeof segments, "%s/" WSDBG_SEGMENT_SPOOLED, folder);
    if (!make_own_folder(folder, why))
        return false;
    if (is_of_several_machines(folder)) {
        snprintf(why, WSDBG_TEXT_BYTES, "%.150s is on a network file system; armed programs need a local folder",
                 folder);
        return false;
    }
    if (!make_own_folder(segments, why))
        return false;
    remove_ended(segments);
    /* Those of an earlier process with this number.  The lock file stays: a wsdbg may hold it for this process. */
    remove_files_of(getpid(), false);
    return true;
}

void armed_leave_earlier(const char *session)
{
    const int kept = errno;
    if (segment_file_leave_earlier(session) && armed_is_on())
        remove_files_of(getpid(), false);
    errno = kept;
}

/* The 20th field behind the name.  The name may hold spaces and brackets. */
static uint64_t start_ticks(void)
{
    char text[1024];
    unsigned long long ticks = 0;
    const char *behind = shim_read_text("/proc/self/stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    for (int field = 0; behind && field < 20; field++)
        behind = strchr(behind + 1, ' ');
    return behind && sscanf(behind, " %llu", &ticks) == 1 ? ticks : 0;
}

void armed_sign_segment(void)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    if (!armed_is_on())
        return;
    segment->start_ticks = start_ticks();
    __atomic_store_n(&segment->armed, 1, __ATOMIC_RELEASE);
}

void armed_leave(void)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    if (!armed_is_on() || atomic_load(&shim_state) != SHIM_ON || !segment ||
        segment->process_id != (uint32_t)getpid() || !armed_is_unwatched())
        return;
    segment_file_remove();
    remove_files_of(getpid(), true);
}

/* ---- sleeping until a wsdbg watches ---- */

bool armed_is_unwatched(void)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    return armed_is_on() && shim_now_ns() >= __atomic_load_n(&segment->watched_until_ns, __ATOMIC_ACQUIRE);
}

void armed_await_watcher(void)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    if (!armed_is_on())
        return;
    if (armed_is_unwatched())
        system_calls_let_read(0);
    while (armed_is_unwatched() && !atomic_load(&shim_exiting) && atomic_load(&shim_state) == SHIM_ON) {
        const uint32_t seen = __atomic_load_n(&segment->watch_begun, __ATOMIC_ACQUIRE);
        if (armed_is_unwatched())
            syscall(SYS_futex, &segment->watch_begun, FUTEX_WAIT, seen, NULL, NULL, 0);
        shim_sleep_us(1);
    }
    /* With Yama's scope 1 only ancestors may read a process's memory, and wsdbg needs the stacks. */
    if (!armed_is_unwatched())
        system_calls_let_read(segment->watcher_pid);
}

void armed_wake(void)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    if (armed_is_on() && segment)
        syscall(SYS_futex, &segment->watch_begun, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
