/* control.c - whether the shim records: its state, its one line of text, fork and exit.
 *
 * Reads:  WSDBG_SESSION, WSDBG_SEGMENT_BYTES.
 * Writes: stderr ("wsdbg: ..."), off_reason and notes of the segment.
 */
#include "shim.h"
#include "debug_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOLD_MOST_NS UINT64_C(10000000000)
#define HOLD_LOOK_US 2000

_Atomic int shim_state = SHIM_ASLEEP;
_Atomic bool shim_exiting;
SHIM_THREAD_LOCAL int shim_depth;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char session[64];
static uint64_t limit_bytes = WSDBG_SEGMENT_BYTES_DEFAULT;
static char spool[512];        /* "" = there is none */
static struct stat own_stderr; /* as the program was started with */
static bool has_own_stderr;

void shim_lock(void)
{
    pthread_mutex_lock(&lock);
}

void shim_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uint64_t shim_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t shim_thread_id(void)
{
    static SHIM_THREAD_LOCAL uint32_t id;
    if (id == 0)
        id = (uint32_t)syscall(SYS_gettid);
    return id;
}

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

/* A program may have put a file of its own on that descriptor: nothing of ours belongs there. */
static bool is_own_stderr(void)
{
    struct stat now;
    return has_own_stderr && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == own_stderr.st_dev &&
           now.st_ino == own_stderr.st_ino;
}

static void write_line(const char *text)
{
    if (!is_own_stderr())
        return;
    char line[WSDBG_TEXT_BYTES + 16];
    struct shim_signals signals;
    int length = snprintf(line, sizeof line, "wsdbg: %s\n", text);
    if (length > (int)sizeof line - 1)
        length = (int)sizeof line - 1;
    shim_signals_off(&signals);
    ssize_t written = length > 0 ? write(STDERR_FILENO, line, (size_t)length) : 0;
    (void)written; /* nowhere to complain */
    shim_signals_on(&signals);
}

void shim_say(const char *format, ...)
{
    int kept = errno;
    char text[WSDBG_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_line(text);
    errno = kept;
}

/* For wsdbg's closing line: a program that was not watched is not one that used no CUDA. */
int shim_open_reason(int access)
{
    char path[sizeof spool + 32];
    snprintf(path, sizeof path, "%s/%d.off", spool, (int)getpid());
    return spool[0] ? shim_above_streams(open(path, access | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)) : -1;
}

static void leave_reason(const char *text)
{
    struct shim_signals signals;
    shim_signals_off(&signals);
    const int fd = shim_open_reason(O_WRONLY);
    ssize_t written = fd >= 0 ? write(fd, text, strlen(text)) : 0;
    (void)written;
    if (fd >= 0)
        close(fd);
    shim_signals_on(&signals);
}

void shim_off(const char *format, ...)
{
    int kept = errno;
    if (atomic_exchange(&shim_state, SHIM_OFF) == SHIM_OFF)
        return;
    char text[WSDBG_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_line(text);
    leave_reason(text);
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    if (segment) {
        memcpy(segment->off_reason, text, sizeof text);
        __atomic_store_n(&segment->observer_state, WSDBG_OBSERVER_OFF, __ATOMIC_RELEASE);
    }
    errno = kept;
}

void shim_note(const char *format, ...)
{
    int kept = errno;
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    char text[WSDBG_TEXT_BYTES] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (segment) {
        shim_lock();
        uint32_t count = segment->note_count;
        uint32_t same = 0;
        while (same < count && strcmp(segment->notes[same], text) != 0)
            same++;
        if (same == count && count < WSDBG_NOTE_ROWS) {
            memcpy(segment->notes[count], text, sizeof text);
            __atomic_store_n(&segment->note_count, count + 1, __ATOMIC_RELEASE);
        }
        shim_unlock();
    }
    errno = kept;
}

/* The GPU's mapping and our thread stay with the parent.  A child forked before the parent touched CUDA may
 * use CUDA itself: it gets its own segment. */
static void after_fork(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    debug_attach_forget();
    shim_threads_forget();
    stand_aside_is_process();
    if (atomic_load(&shim_state) == SHIM_ON)
        atomic_store(&shim_state, SHIM_OFF);
}

/* A GPU core dump ends the contexts before it is whole: a program that leaves for that would cut it short.  wsdbg says
 * while it waits for one; a child that fork() made has no dump. */
static void hold_for_dump(void)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    const uint64_t most_ns = shim_now_ns() + HOLD_MOST_NS;
    uint64_t now_ns;
    if (atomic_load(&shim_state) != SHIM_ON || !segment)
        return;
    while ((now_ns = shim_now_ns()) < most_ns &&
           now_ns < __atomic_load_n(&segment->hold_exit_until_ns, __ATOMIC_ACQUIRE))
        shim_sleep_us(HOLD_LOOK_US);
}

/* Our thread gets a moment to leave the driver before the driver's own exit handlers run. */
static void at_exit(void)
{
    atomic_store(&shim_exiting, true);
    hold_for_dump();
    debug_attach_stop();
    for (int i = 0; i < WSDBG_CONTEXT_ROWS * 50; i++)
        if (atomic_load(&shim_contexts[i % WSDBG_CONTEXT_ROWS].users))
            shim_sleep_us(100);
}

void shim_start(void)
{
    const char *name = getenv(WSDBG_ENV_SESSION), *folder = getenv(WSDBG_ENV_SPOOL);
    if (!name || !*name)
        return;
    has_own_stderr = fstat(STDERR_FILENO, &own_stderr) == 0;
    if (folder && strlen(folder) < sizeof spool)
        strcpy(spool, folder);
    if (strlen(name) >= sizeof session || strchr(name, '/')) {
        shim_off("%s is not a session name; not observing this process", WSDBG_ENV_SESSION);
        return;
    }
    if (debug_attach_is_helper(name))
        return;
    segment_file_leave_earlier(name);
    strcpy(session, name);
    const char *limit = getenv(WSDBG_ENV_SEGMENT_BYTES);
    if (limit && *limit)
        limit_bytes = strtoull(limit, NULL, 10);
    pthread_atfork(NULL, NULL, after_fork);
    stand_aside_is_process();
    atomic_store(&shim_state, SHIM_AWAKE);
}

static void choose_observer(struct wsdbg_segment *segment)
{
    const char *observer = getenv(WSDBG_ENV_OBSERVER);
    segment->observer_kind = WSDBG_OBSERVER_DRIVER;
    if (!observer || strcmp(observer, "cupti") != 0)
        return;
    char why[WSDBG_TEXT_BYTES] = "this is libwsdbg-shim.so, which has no CUPTI observer";
    if (cupti_start && cupti_start(why)) {
        segment->observer_kind = WSDBG_OBSERVER_CUPTI;
        atomic_store(&shim_hooks_record_launches, false);
        return;
    }
    shim_say("CUPTI observer not available: %s; using the driver observer", why);
    shim_note("CUPTI observer not available: %s", why);
    snprintf(segment->off_reason, sizeof segment->off_reason, "%s", why);
}

static void create_segment(void)
{
    char why[WSDBG_TEXT_BYTES] = "";
    bool created = false;
    shim_lock();
    if (atomic_load(&shim_state) == SHIM_AWAKE && segment_file_session_is_over(session)) {
        atomic_store(&shim_state, SHIM_OFF);
    } else if (atomic_load(&shim_state) == SHIM_AWAKE) {
        created = segment_create(session, limit_bytes, why);
        if (created)
            atomic_store(&shim_state, SHIM_ON);
    }
    shim_unlock();
    if (why[0])
        shim_off("%s", why);
    if (!created)
        return;
    atexit(at_exit); /* registered after the driver's own handlers, so it runs before them */
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    int version = 0;
    if (shim_driver.cuDriverGetVersion(&version) == CUDA_SUCCESS)
        segment->driver_version = (uint32_t)version;
    choose_observer(segment);
    debug_attach_start();
    __atomic_store_n(&segment->observer_state, WSDBG_OBSERVER_ACTIVE, __ATOMIC_RELEASE);
}

bool shim_recording(void)
{
    int state = atomic_load_explicit(&shim_state, memory_order_acquire);
    if (state == SHIM_ASIDE)
        stand_aside_tell();
    if (state == SHIM_ASIDE || state == SHIM_ASLEEP || state == SHIM_OFF || shim_depth > 1)
        return false;
    if (state == SHIM_ON)
        return true;
    int kept = errno;
    if (stand_aside_is_limited())
        atomic_store(&shim_state, SHIM_OFF);
    else if (interpose_ready())
        create_segment();
    errno = kept;
    return atomic_load(&shim_state) == SHIM_ON;
}
