/* host_call.c - see host_call.h.  Reads: /proc/self/task/<thread>.  Writes: nothing. */
#include "host_call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int host_call_file(uint32_t thread, const char *file, char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u/%s", thread, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const ssize_t count = read(fd, text, bytes - 1);
    const int error = count < 0 ? errno : 0;
    close(fd);
    text[count > 0 ? count : 0] = '\0';
    return error;
}

/* "running" is in no call. */
bool host_call_read(const char *text, struct host_call *out)
{
    unsigned long *a = out->argument;
    *out = (struct host_call){.number = -1};
    return sscanf(text, "%ld %lx %lx %lx %lx %lx %lx %lx %lx", &out->number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5],
                  &out->stack, &out->pc) >= 5;
}

bool host_call_of(uint32_t thread, struct host_call *out)
{
    char text[HOST_CALL_BYTES];
    return !host_call_file(thread, "syscall", text, sizeof text) && host_call_read(text, out);
}

bool host_call_polls(const struct host_call *call)
{
#ifdef SYS_poll
    if (call->number == SYS_poll)
        return true;
#endif
    return call->number == SYS_ppoll;
}

bool host_call_polls_events(const struct host_call *call)
{
#ifdef SYS_epoll_wait
    if (call->number == SYS_epoll_wait)
        return true;
#endif
#ifdef SYS_epoll_pwait2
    if (call->number == SYS_epoll_pwait2)
        return true;
#endif
    return call->number == SYS_epoll_pwait;
}
