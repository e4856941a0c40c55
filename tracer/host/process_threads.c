/* process_threads.c - see process_threads.h.
 *
 * Reads: /proc/PID/task, and of a thread syscall, schedstat and comm.  Writes: nothing.
 */
#include "host/process_threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/grow.h"

static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

int wsdbg_host_threads_list(pid_t process, uint32_t **out, size_t *count)
{
    char path[64];
    size_t capacity = 0;
    uint32_t *threads = NULL;
    *count = 0;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *folder = opendir(path);
    if (!folder)
        return errno;
    for (struct dirent *entry; *count < WSDBG_HOST_THREADS_MAX && (entry = readdir(folder));) {
        const unsigned long id = strtoul(entry->d_name, NULL, 10);
        if (!id || id > UINT32_MAX)
            continue;
        if (!wsdbg_grow((void **)&threads, &capacity, *count + 1, sizeof *threads))
            break;
        threads[(*count)++] = (uint32_t)id;
    }
    closedir(folder);
    if (*count == 0) {
        free(threads);
        return ESRCH;
    }
    qsort(threads, *count, sizeof *threads, compare);
    *out = threads;
    return 0;
}

bool wsdbg_host_threads_have(const uint32_t *threads, size_t count, uint32_t thread)
{
    return count > 0 && bsearch(&thread, threads, count, sizeof *threads, compare);
}

/* 0, or an errno. */
static int read_file(pid_t process, uint32_t thread, const char *file, char *text, size_t bytes)
{
    char path[80];
    snprintf(path, sizeof path, "/proc/%ld/task/%u/%s", (long)process, thread, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const ssize_t count = read(fd, text, bytes - 1);
    const int error = count < 0 ? errno : 0;
    close(fd);
    text[count > 0 ? count : 0] = '\0';
    return error;
}

/* "running", "-1 0xsp 0xpc", or a number, six arguments, sp and pc. */
static void read_call(const char *text, struct wsdbg_host_moment *out)
{
    unsigned long sp = 0, pc = 0;
    long number = -1;
    if (sscanf(text, "%ld %*x %*x %*x %*x %*x %*x %lx %lx", &number, &sp, &pc) == 3 ||
        sscanf(text, "-1 %lx %lx", &sp, &pc) == 2) {
        out->in_kernel = pc != 0;
        out->call = number;
        out->sp = sp;
        out->pc = pc;
    }
}

struct wsdbg_host_moment wsdbg_host_moment_of(pid_t process, uint32_t thread)
{
    struct wsdbg_host_moment moment = {.call = -1};
    char text[256];
    unsigned long long turns = 0;
    if (read_file(process, thread, "schedstat", text, sizeof text) == 0 && sscanf(text, "%*u %*u %llu", &turns) == 1)
        moment.turns = turns;
    moment.error = read_file(process, thread, "syscall", text, sizeof text);
    if (moment.error)
        return moment;
    moment.known = true;
    read_call(text, &moment);
    return moment;
}

bool wsdbg_host_moments_are_one(const struct wsdbg_host_moment *before, const struct wsdbg_host_moment *after)
{
    return before->known && after->known && before->in_kernel && after->in_kernel && before->turns != 0 &&
           before->turns == after->turns && before->call == after->call && before->sp == after->sp &&
           before->pc == after->pc;
}

void wsdbg_host_thread_name(pid_t process, uint32_t thread, char out[WSDBG_HOST_THREAD_NAME_BYTES])
{
    char text[64];
    out[0] = '\0';
    if (read_file(process, thread, "comm", text, sizeof text) != 0)
        return;
    text[strcspn(text, "\n")] = '\0';
    snprintf(out, WSDBG_HOST_THREAD_NAME_BYTES, "%.15s", text);
}

/* Those in which threads wait. */
static const struct {
    long number;
    const char *name;
} calls[] = {
#ifdef SYS_poll
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_pause, "pause"},
#endif
    {SYS_read, "read"},
    {SYS_readv, "readv"},
    {SYS_pread64, "pread"},
    {SYS_write, "write"},
    {SYS_writev, "writev"},
    {SYS_openat, "openat"},
    {SYS_ioctl, "ioctl"},
    {SYS_fsync, "fsync"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_futex, "futex"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    {SYS_connect, "connect"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_sched_yield, "sched_yield"},
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_restart_syscall, "restart_syscall"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_madvise, "madvise"},
    {SYS_close, "close"},
};

void wsdbg_host_call_name(long number, char *out, size_t bytes)
{
    out[0] = '\0';
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number) {
            snprintf(out, bytes, "%s", calls[i].name);
            return;
        }
    if (number >= 0)
        snprintf(out, bytes, "system call %ld", number);
}
