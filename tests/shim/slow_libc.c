/* slow_libc.c - preloaded behind the observer: functions of the C library that take their time, as on a busy machine.
 *
 * SLOW_LIBC=name,n   the first call of that function in a process and its children takes n ms more:
 *                    opendir, posix_fallocate, sendmsg
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static void be_slow(const char *name)
{
    static _Atomic int done;
    const char *asked = getenv("SLOW_LIBC");
    const size_t length = strlen(name);
    if (asked && strncmp(asked, name, length) == 0 && asked[length] == ',' && !atomic_exchange(&done, 1))
        usleep((useconds_t)atoi(asked + length + 1) * 1000);
}

SHOWN DIR *opendir(const char *path)
{
    DIR *(*next)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
    be_slow("opendir");
    return next(path);
}

SHOWN int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    int (*next)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
    be_slow("posix_fallocate");
    return next(fd, offset, bytes);
}

SHOWN ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t (*next)(int, const struct msghdr *, int) =
        (ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
    be_slow("sendmsg");
    return next(fd, message, flags);
}
