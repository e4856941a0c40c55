/* unwatched.c - see unwatched.h.  Reads: the spool folder.  Writes: nothing. */
#include "program/unwatched.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of "<pid>.off"; 0 = it is none. */
static pid_t process_of(const char *name)
{
    char *end;
    const long process = strtol(name, &end, 10);
    return process > 0 && strcmp(end, ".off") == 0 ? (pid_t)process : 0;
}

/* False: it is prepared, and nothing has happened that it would be the reason of. */
static bool read_reason(int folder, const char *name, char *reason, size_t size)
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t count = fd >= 0 ? read(fd, reason, size - 1) : -1;
    reason[count > 0 ? count : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return count <= 0 || reason[0];
}

bool wsdbg_unwatched_says(const char *spool, pid_t process)
{
    char path[4096], reason[8];
    snprintf(path, sizeof path, "%s/%ld.off", spool ? spool : "", (long)process);
    return spool && access(path, F_OK) == 0 && read_reason(AT_FDCWD, path, reason, sizeof reason);
}

void wsdbg_unwatched_read(const char *spool, struct wsdbg_unwatched *out)
{
    DIR *folder = spool ? opendir(spool) : NULL;
    *out = (struct wsdbg_unwatched){0};
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char reason[sizeof out->reason];
        const pid_t process = process_of(entry->d_name);
        if (!process || !read_reason(dirfd(folder), entry->d_name, reason, sizeof reason))
            continue;
        if (!out->count || process < out->process) {
            out->process = process;
            memcpy(out->reason, reason, sizeof reason);
        }
        out->count++;
    }
    if (folder)
        closedir(folder);
}
