/* slow_libc.c - preloaded behind the observer: functions of the C library that take their time, as on a busy machine.
 *
 * SLOW_LIBC_MS=n   the first posix_fallocate of a process and its children takes n ms more
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    static _Atomic int called;
    int (*next)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
    const char *ms = getenv("SLOW_LIBC_MS");
    if (ms && !atomic_exchange(&called, 1))
        usleep((useconds_t)atoi(ms) * 1000);
    return next(fd, offset, bytes);
}
