/* sim_stands.c - see sim_stands.h.  Reads: the heads of the files of wsdbg/device_state.h.  Writes: nothing. */
#include "evidence/sim_stands.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "wsdbg/device_state.h"

/* WSDBG_STATE_NAME up to its first number. */
static const char prefix[] = "state-";

static bool is_proof(int folder, const char *name, uint64_t now_ns, uint64_t least_ns)
{
    struct wsdbg_state_header header;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    const bool whole = read(fd, &header, sizeof header) == sizeof header;
    close(fd);
    return whole && header.magic == WSDBG_STATE_MAGIC && header.version == WSDBG_STATE_VERSION &&
           !header.host_may_help && header.time_ns <= now_ns && now_ns - header.time_ns >= least_ns;
}

bool wsdbg_sim_stands(const char *folder, uint64_t now_ns, uint64_t least_ns)
{
    DIR *entries = opendir(folder);
    bool stands = false;
    if (!entries)
        return false;
    for (const struct dirent *entry; !stands && (entry = readdir(entries));)
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0)
            stands = is_proof(dirfd(entries), entry->d_name, now_ns, least_ns);
    closedir(entries);
    return stands;
}

static const char works_prefix[] = "works-";

/* The clock that files have. */
static int64_t file_time_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool wsdbg_sim_works(const char *folder, uint64_t within_ns)
{
    DIR *entries = opendir(folder);
    struct timespec now;
    bool works = false;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!entries)
        return false;
    for (const struct dirent *entry; !works && (entry = readdir(entries));) {
        struct stat file;
        if (strncmp(entry->d_name, works_prefix, sizeof works_prefix - 1) == 0 &&
            fstatat(dirfd(entries), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0)
            works = file_time_ns(now) - file_time_ns(file.st_mtim) < (int64_t)within_ns;
    }
    closedir(entries);
    return works;
}
