/* own_files.c - see own_files.h.  Reads: files that are named to it, the thread's pending signals.  Writes: nothing. */
#include "own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

int shim_above_streams(int fd)
{
    const int kept = errno;
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    errno = kept;
    return above;
}

void shim_signals_off(struct shim_signals *kept)
{
    sigset_t pending;
    sigemptyset(&kept->mine);
    sigpending(&pending);
    if (!sigismember(&pending, SIGPIPE))
        sigaddset(&kept->mine, SIGPIPE);
    if (!sigismember(&pending, SIGXFSZ))
        sigaddset(&kept->mine, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &kept->mine, &kept->before);
}

void shim_signals_on(const struct shim_signals *kept)
{
    while (sigtimedwait(&kept->mine, NULL, &(struct timespec){0}) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &kept->before, NULL);
}

bool shim_read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[count > 0 ? count : 0] = '\0';
    return count > 0;
}
