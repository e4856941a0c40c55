/* armed.c - see armed.h.
 *
 * A record lock (fcntl) tells which wsdbg is attached.  The kernel releases it when that wsdbg ends, and its inspectors
 * do not inherit it.
 */
#include "program/armed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/grow.h"

enum { ENVIRONMENT_BYTES = 1 << 20, PARENTS_MOST = 64 };

/* ---- one process ---- */

/* The whole of a small file of /proc/<process>; -1 = it cannot be read. */
static ssize_t read_of(pid_t process, const char *name, char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    const size_t count = fread(text, 1, bytes - 1, file);
    fclose(file);
    text[count] = '\0';
    return (ssize_t)count;
}

/* Field `number` of /proc/<process>/stat, from 3; 0 = not known. */
static uint64_t stat_field(pid_t process, int number)
{
    char text[1024];
    unsigned long long value = 0;
    const char *behind = read_of(process, "stat", text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    for (int field = 2; behind && field < number; field++)
        behind = strchr(behind + 1, ' ');
    return behind && sscanf(behind, " %llu", &value) == 1 ? value : 0;
}

/* Also true before its parent has asked how it ended.  A file of /proc that cannot be read just now says nothing of
 * that. */
static bool is_gone(uint32_t process)
{
    const int fd = (int)syscall(SYS_pidfd_open, (pid_t)process, 0);
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    if (fd < 0)
        return errno == ESRCH;
    const bool has_ended = poll(&poller, 1, 0) == 1;
    close(fd);
    return has_ended;
}

/* A variable of the environment with which the process started; "" = not set.  False: it cannot be read. */
static bool variable_of(pid_t process, const char *name, char *value, size_t bytes)
{
    const size_t length = strlen(name);
    char *text = malloc(ENVIRONMENT_BYTES);
    const ssize_t count = text ? read_of(process, "environ", text, ENVIRONMENT_BYTES) : -1;
    value[0] = '\0';
    for (ssize_t at = 0; at < count; at += (ssize_t)strlen(text + at) + 1)
        if (strncmp(text + at, name, length) == 0 && text[at + (ssize_t)length] == '=')
            snprintf(value, bytes, "%s", text + at + length + 1);
    free(text);
    return count >= 0;
}

/* kind: "pid", "mnt", "user".  0 = not known. */
static ino_t namespace_of(const char *process, const char *kind)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%s/ns/%s", process, kind);
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

static bool is_of_other_namespace(pid_t process, const char *kind)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)process);
    const ino_t own = namespace_of("self", kind), its = namespace_of(number, kind);
    return own && its && own != its;
}

/* Two mount namespaces may have the same root and different folders below it. */
static bool has_other_files(pid_t process)
{
    char path[64];
    struct stat own, its;
    snprintf(path, sizeof path, "/proc/%d/root/", (int)process);
    if (stat("/", &own) != 0 || stat(path, &its) != 0)
        return false;
    return own.st_dev != its.st_dev || own.st_ino != its.st_ino || is_of_other_namespace(process, "mnt");
}

/* This user's number inside the process's user namespace, where it may be another one. */
static unsigned user_inside(pid_t process)
{
    char text[4096];
    const unsigned user = (unsigned)geteuid();
    if (!is_of_other_namespace(process, "user") || read_of(process, "uid_map", text, sizeof text) <= 0)
        return user;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        unsigned inside, outside, count;
        if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && user >= outside && user - outside < count)
            return inside + (user - outside);
    }
    return user;
}

static struct wsdbg_error *check_process(pid_t process)
{
    char path[64], text[4096];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", (int)process);
    if (stat(path, &status) != 0)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%d: there is no such process", (int)process);
    if (status.st_uid != geteuid())
        return wsdbg_error_create(WSDBG_ERROR_FOREIGN,
                                  "%d: the process is user %u's; only that user's wsdbg may attach to it", (int)process,
                                  (unsigned)status.st_uid);
    if (!is_of_other_namespace(process, "pid"))
        return NULL;
    const char *line = read_of(process, "status", text, sizeof text) > 0 ? strstr(text, "\nNSpid:") : NULL;
    const char *end = line ? line + 1 + strcspn(line + 1, "\n") : NULL;
    while (end && end > line && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return wsdbg_error_create(
        WSDBG_ERROR_BAD_INPUT,
        "%d: the process lives in a PID namespace of its own (a container): start wsdbg attach %d "
        "inside of it (docker exec, kubectl exec, nsenter)",
        (int)process, end ? atoi(end) : 1);
}

/* ---- places ---- */

static struct wsdbg_error *place_for(const char *folder, unsigned user, struct wsdbg_armed_place *out)
{
    char chosen[WSDBG_ARMED_FOLDER_BYTES];
    bool is_default;
    *out = (struct wsdbg_armed_place){0};
    if (!wsdbg_armed_folder(folder ? folder : "1", user, chosen, &is_default))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: no absolute path of less than %d bytes", folder,
                                  WSDBG_ARMED_FOLDER_BYTES);
    snprintf(out->folder, sizeof out->folder, "%s", chosen);
    wsdbg_armed_session(is_default, user, out->session, sizeof out->session);
    return NULL;
}

struct wsdbg_error *wsdbg_armed_place(const char *folder, struct wsdbg_armed_place *out)
{
    return place_for(folder, (unsigned)geteuid(), out);
}

struct wsdbg_error *wsdbg_armed_place_of(pid_t process, struct wsdbg_armed_place *out, bool *is_armed)
{
    char session[64], armed[WSDBG_ARMED_FOLDER_BYTES], unused[WSDBG_ARMED_FOLDER_BYTES];
    bool is_default;
    struct wsdbg_error *error = check_process(process);
    if (error)
        return error;
    if (variable_of(process, WSDBG_ENV_SESSION, session, sizeof session) && session[0])
        return wsdbg_error_create(WSDBG_ERROR_BUSY, "%d: a wsdbg watches it already; wsdbg top shows it", (int)process);
    variable_of(process, WSDBG_ENV_ARM, armed, sizeof armed);
    const unsigned user = user_inside(process);
    *is_armed = wsdbg_armed_folder(armed, user, unused, &is_default);
    error = place_for(*is_armed && !is_default ? armed : NULL, user, out);
    if (error || !has_other_files(process))
        return error;
    char inside[sizeof out->folder];
    snprintf(out->root, sizeof out->root, "/proc/%d/root", (int)process);
    snprintf(inside, sizeof inside, "%s", out->folder);
    const int length = snprintf(out->folder, sizeof out->folder, "%s%s", out->root, inside);
    return length < (int)sizeof out->folder
               ? NULL
               : wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: the path is too long", inside);
}

/* The process that a segment file belongs to, by the file's name; 0 = it is no segment file.  *is_left: the process has
 * executed another program since. */
static uint32_t process_of(const struct wsdbg_armed_place *place, const char *name, bool *is_left)
{
    char prefix[80], *end;
    const int length = snprintf(prefix, sizeof prefix, "wsdbg.%s.", place->session);
    if (strncmp(name, prefix, (size_t)length) != 0 || name[length] < '1' || name[length] > '9')
        return 0;
    const unsigned long process = strtoul(name + length, &end, 10);
    *is_left = strncmp(end, WSDBG_SEGMENT_LEFT, sizeof WSDBG_SEGMENT_LEFT - 1) == 0;
    return process <= INT32_MAX && (*end == '\0' || *is_left) ? (uint32_t)process : 0;
}

/* A folder of this user alone; NULL = it is none.  Anybody may write to /tmp: what another user made there first is not
 * read, and nothing is removed behind a link. */
static DIR *open_folder_at(int at, const char *path)
{
    struct stat status;
    const int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    const bool is_own =
        fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    DIR *folder = is_own ? fdopendir(fd) : NULL;
    if (!folder) {
        close(fd);
        errno = is_own ? ENOMEM : EPERM;
    }
    return folder;
}

static DIR *open_folder(const struct wsdbg_armed_place *place)
{
    return open_folder_at(AT_FDCWD, place->folder);
}

/* Segments are in memory or beside the other files. */
enum segment_folder { IN_MEMORY, BESIDE, SEGMENT_FOLDERS };

static DIR *open_segments(const struct wsdbg_armed_place *place, int which)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s" WSDBG_SEGMENT_OWN_FORMAT, place->root, place->session);
    if (which == IN_MEMORY)
        return open_folder_at(AT_FDCWD, path);
    DIR *folder = open_folder(place);
    DIR *segments = folder ? open_folder_at(dirfd(folder), WSDBG_SEGMENT_SPOOLED) : NULL;
    if (folder)
        closedir(folder);
    return segments;
}

enum life { LIVES, HAS_ENDED, NOT_KNOWN };

/* Another process may have the same number: a later one, or one in another PID namespace. */
static enum life life_of(int folder, const char *name, uint32_t process)
{
    struct stat status;
    uint64_t fixed_bytes = 0, namespace = 0, ticks = 0;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        pread(fd, &fixed_bytes, sizeof fixed_bytes, offsetof(struct wsdbg_segment, fixed_bytes)) !=
            sizeof fixed_bytes ||
        !WSDBG_SEGMENT_HAS(fixed_bytes, armed) ||
        pread(fd, &namespace, sizeof namespace, offsetof(struct wsdbg_segment, pid_namespace)) != sizeof namespace ||
        pread(fd, &ticks, sizeof ticks, offsetof(struct wsdbg_segment, start_ticks)) != sizeof ticks) {
        if (fd >= 0)
            close(fd);
        return NOT_KNOWN;
    }
    close(fd);
    if (!namespace || namespace != namespace_of("self", "pid"))
        return NOT_KNOWN;
    const uint64_t now_ticks = stat_field((pid_t)process, 22);
    if (is_gone(process) || (ticks && now_ticks && now_ticks != ticks))
        return HAS_ENDED;
    return ticks && now_ticks ? LIVES : NOT_KNOWN;
}

static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

struct wsdbg_error *wsdbg_armed_list(const struct wsdbg_armed_place *place, uint32_t **out, size_t *count)
{
    uint32_t *list = NULL;
    size_t found = 0, capacity = 0;
    struct wsdbg_error *error = NULL;
    for (int which = 0; which < SEGMENT_FOLDERS; which++) {
        DIR *folder = open_segments(place, which);
        bool is_left;
        for (struct dirent *entry; folder && !error && (entry = readdir(folder));) {
            const uint32_t process = process_of(place, entry->d_name, &is_left);
            if (!process || is_left || life_of(dirfd(folder), entry->d_name, process) != LIVES)
                continue;
            if (!wsdbg_grow((void **)&list, &capacity, found + 1, sizeof *list))
                error = &wsdbg_error_no_memory;
            else
                list[found++] = process;
        }
        if (folder)
            closedir(folder);
    }
    if (error) {
        free(list);
        return error;
    }
    if (found)
        qsort(list, found, sizeof *list, compare);
    *out = list;
    *count = found;
    return NULL;
}

uint64_t wsdbg_armed_age_ns(pid_t process)
{
    struct timespec now;
    const uint64_t ticks = stat_field(process, 22), a_second = (uint64_t)sysconf(_SC_CLK_TCK);
    if (!ticks || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    const uint64_t began_ns = ticks / a_second * 1000000000u + ticks % a_second * (1000000000u / a_second);
    return now_ns > began_ns ? now_ns - began_ns : 0;
}

bool wsdbg_armed_is_below(pid_t process, pid_t above)
{
    for (int i = 0; process > 0 && i < PARENTS_MOST; i++) {
        if (process == above)
            return true;
        process = (pid_t)stat_field(process, 4);
    }
    return false;
}

/* ---- what is left of ended processes ---- */

static void remove_files_of(const struct wsdbg_armed_place *place, uint32_t process)
{
    DIR *folder = open_folder(place);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (wsdbg_armed_file_process(entry->d_name) == process)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

/* -1 = one whose number is not known here; 0 = nobody. */
static pid_t holder_of(int folder, const char *name)
{
    struct flock record = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0;
    const bool is_told = fcntl(fd, F_GETLK, &record) == 0;
    close(fd);
    if (!is_told || record.l_type == F_UNLCK)
        return 0;
    return record.l_pid ? record.l_pid : -1;
}

/* A process may leave its lock file alone: one that ended while a wsdbg was attached, or one that had no tables.  If a
 * process of another PID namespace uses the same folder, the lock may be held. */
static void remove_old_notes(const struct wsdbg_armed_place *place)
{
    DIR *folder = open_folder(place);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const unsigned long process = wsdbg_armed_file_process(entry->d_name);
        const char *kind = strchr(entry->d_name, '.');
        if (process && process <= INT32_MAX && kind && (strcmp(kind, ".attach") == 0 || strcmp(kind, ".off") == 0) &&
            is_gone((uint32_t)process) && !holder_of(dirfd(folder), entry->d_name))
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder)
        closedir(folder);
}

void wsdbg_armed_reason(const struct wsdbg_armed_place *place, uint32_t process, char *out, size_t bytes)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%u.off", place->folder, process);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t count = fd >= 0 ? read(fd, out, bytes - 1) : -1;
    out[count > 0 ? count : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* Another wsdbg that is attached may still read the files of an ended process. */
static void clean_segments(const struct wsdbg_armed_place *place, int which)
{
    DIR *folder = open_segments(place, which);
    bool is_left;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const uint32_t process = process_of(place, entry->d_name, &is_left);
        if (!process || life_of(dirfd(folder), entry->d_name, process) != HAS_ENDED ||
            wsdbg_armed_locked_by(place, process))
            continue;
        unlinkat(dirfd(folder), entry->d_name, 0);
        if (is_gone(process))
            remove_files_of(place, process);
    }
    if (folder)
        closedir(folder);
}

void wsdbg_armed_clean(const struct wsdbg_armed_place *place)
{
    remove_old_notes(place);
    for (int which = 0; which < SEGMENT_FOLDERS; which++)
        clean_segments(place, which);
}

void wsdbg_armed_clean_after(const struct wsdbg_armed_place *place, uint32_t process)
{
    if (is_gone(process) && !wsdbg_armed_locked_by(place, process))
        remove_files_of(place, process);
}

/* ---- who is attached ---- */

/* -1 = it cannot be opened. */
static int open_lock(const struct wsdbg_armed_place *place, uint32_t process)
{
    char name[32];
    DIR *folder = open_folder(place);
    snprintf(name, sizeof name, WSDBG_ARMED_LOCK_FORMAT, (int)process);
    const int fd =
        folder ? openat(dirfd(folder), name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600) : -1;
    const int code = errno;
    if (folder)
        closedir(folder);
    errno = code;
    return fd;
}

struct wsdbg_error *wsdbg_armed_lock(const struct wsdbg_armed_place *place, uint32_t process, int *lock)
{
    struct flock record = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open_lock(place, process);
    if (fd < 0)
        return wsdbg_error_os(errno, "%u: lock it for this wsdbg in %s", process, place->folder);
    if (fcntl(fd, F_SETLK, &record) == 0) {
        *lock = fd;
        return NULL;
    }
    const int code = errno;
    fcntl(fd, F_GETLK, &record);
    close(fd);
    if (code != EAGAIN && code != EACCES)
        return wsdbg_error_os(code, "%u: lock it for this wsdbg in %s", process, place->folder);
    return wsdbg_error_create(WSDBG_ERROR_BUSY, "%u: another wsdbg (process %d) is attached to it", process,
                              record.l_type == F_UNLCK ? 0 : (int)record.l_pid);
}

pid_t wsdbg_armed_locked_by(const struct wsdbg_armed_place *place, uint32_t process)
{
    char name[32];
    DIR *folder = open_folder(place);
    snprintf(name, sizeof name, WSDBG_ARMED_LOCK_FORMAT, (int)process);
    const pid_t holder = folder ? holder_of(dirfd(folder), name) : 0;
    if (folder)
        closedir(folder);
    return holder;
}
