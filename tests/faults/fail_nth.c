/* fail_nth.c - a preloaded library that makes the Nth allocation, or the Nth system call of some kinds, fail.
 *
 * Reads:  FAIL_ALLOCATION=N or FAIL_CALL=N (from 1), FAIL_ALL_AFTER (set: all from the Nth on), FAIL_REPORT (a file),
 *         FAIL_IN (wsdbg: in its processes alone; observer: in others, and there what the observer calls itself;
 *         unset: everywhere), /proc/self/maps.
 * Writes: FAIL_REPORT, empty, once something was made to fail.
 *
 * Counts in the whole process tree separately: each process begins at 0.  Calls that the C library makes for itself
 * (stdio) do not come by here; those of SQLite, zstd and wsdbg do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* glibc's own names, so that no look-up needs an allocation. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static long allocation_limit, call_limit; /* 0 = none fails */
static bool all_after;
static const char *report;
static _Atomic long allocations, calls;
static uintptr_t first_caller, last_caller = UINTPTR_MAX; /* who is counted */

/* Of the observer's library; nobody is counted where it is not. */
static void count_observer_alone(void)
{
    static char text[1 << 17];
    size_t bytes = 0;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (long got; fd >= 0 && (got = syscall(SYS_read, fd, text + bytes, sizeof text - 1 - bytes)) > 0;)
        bytes += (size_t)got;
    if (fd >= 0)
        syscall(SYS_close, fd);
    first_caller = UINTPTR_MAX;
    last_caller = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        unsigned long first, past;
        *end = '\0';
        if (!strstr(line, "libwsdbg-shim") || sscanf(line, "%lx-%lx", &first, &past) != 2)
            continue;
        first_caller = first < first_caller ? first : first_caller;
        last_caller = past - 1;
    }
}

__attribute__((constructor)) static void start(void)
{
    const char *allocation = getenv("FAIL_ALLOCATION"), *call = getenv("FAIL_CALL");
    allocation_limit = allocation ? strtol(allocation, NULL, 10) : 0;
    call_limit = call ? strtol(call, NULL, 10) : 0;
    all_after = getenv("FAIL_ALL_AFTER") != NULL;
    report = getenv("FAIL_REPORT");
    const char *where = getenv("FAIL_IN");
    const bool is_wsdbg = strcmp(program_invocation_short_name, "wsdbg") == 0;
    if (where && is_wsdbg != (strcmp(where, "wsdbg") == 0))
        allocation_limit = call_limit = 0;
    else if (where && !is_wsdbg && (allocation_limit || call_limit))
        count_observer_alone();
}

static bool fails(_Atomic long *count, long limit, const void *caller)
{
    if (!limit || (uintptr_t)caller < first_caller || (uintptr_t)caller > last_caller)
        return false;
    const long number = atomic_fetch_add(count, 1) + 1;
    if (number != limit && !(all_after && number > limit))
        return false;
    const long fd = report ? syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return true;
}

static bool no_memory(const void *caller)
{
    if (!fails(&allocations, allocation_limit, caller))
        return false;
    errno = ENOMEM;
    return true;
}

EXPORT void *malloc(size_t size)
{
    return no_memory(CALLER) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    return no_memory(CALLER) ? NULL : __libc_calloc(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    return no_memory(CALLER) ? NULL : __libc_realloc(old, size);
}

/* ---- system calls: each fails as it may fail for want of something ---- */

static bool call_fails_for(const void *caller, int error)
{
    if (!fails(&calls, call_limit, caller))
        return false;
    errno = error;
    return true;
}

#define call_fails(error) call_fails_for(CALLER, error)

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                              \
    EXPORT int name(const char *path, int flags, ...)                                           \
    {                                                                                           \
        va_list arguments;                                                                      \
        va_start(arguments, flags);                                                             \
        const mode_t mode = mode_of(flags, arguments);                                          \
        va_end(arguments);                                                                      \
        return call_fails(EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return call_fails(EMFILE) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

EXPORT ssize_t read(int fd, void *bytes, size_t count)
{
    return call_fails(EIO) ? -1 : syscall(SYS_read, fd, bytes, count);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t count)
{
    return call_fails(ENOSPC) ? -1 : syscall(SYS_write, fd, bytes, count);
}

#define AT_OFFSET(name, number, type, error)                                       \
    EXPORT ssize_t name(int fd, type bytes, size_t count, off_t offset)            \
    {                                                                              \
        return call_fails(error) ? -1 : syscall(number, fd, bytes, count, offset); \
    }
AT_OFFSET(pread, SYS_pread64, void *, EIO)
AT_OFFSET(pread64, SYS_pread64, void *, EIO)
AT_OFFSET(pwrite, SYS_pwrite64, const void *, ENOSPC)
AT_OFFSET(pwrite64, SYS_pwrite64, const void *, ENOSPC)

#define MAP(name)                                                                                \
    EXPORT void *name(void *place, size_t size, int protection, int flags, int fd, off_t offset) \
    {                                                                                            \
        if (call_fails(ENOMEM))                                                                  \
            return MAP_FAILED;                                                                   \
        return (void *)syscall(SYS_mmap, place, size, protection, flags, fd, offset);            \
    }
MAP(mmap)
MAP(mmap64)

EXPORT int ftruncate(int fd, off_t length)
{
    return call_fails(EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

EXPORT int fsync(int fd)
{
    return call_fails(EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

EXPORT int fdatasync(int fd)
{
    return call_fails(EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

EXPORT int rename(const char *from, const char *to)
{
    return call_fails(ENOSPC) ? -1 : (int)syscall(SYS_rename, from, to);
}

EXPORT int pipe2(int ends[2], int flags)
{
    return call_fails(EMFILE) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

EXPORT int socketpair(int domain, int type, int protocol, int ends[2])
{
    return call_fails(EMFILE) ? -1 : (int)syscall(SYS_socketpair, domain, type, protocol, ends);
}
