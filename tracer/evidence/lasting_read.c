/* lasting_read.c - reads exported device memory, in a child process with a context of its own.
 *
 * Reads: libcuda.so.1 by dlopen, and the memory that the descriptors refer to.  Writes: shared memory of the parent.
 * A child, because a driver that crashes or does not answer must not take wsdbg with it, and because the memory that
 * a context costs is given back with it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "evidence/lasting_memory.h"

/* CUmemAllocationLocation and access, as the driver lays them out. */
struct access {
    int32_t location_type, location_id, flags;
};
enum { LOCATION_DEVICE = 1, ACCESS_READ = 1, HANDLE_POSIX_FILE_DESCRIPTOR = 1 };

/* X(function, parameter types). */
#define DRIVER_CALLS(X)                                                      \
    X(cuInit, (unsigned))                                                    \
    X(cuDeviceGetCount, (int *))                                             \
    X(cuDevicePrimaryCtxRetain, (void **, int))                              \
    X(cuCtxSetCurrent, (void *))                                             \
    X(cuMemImportFromShareableHandle, (uint64_t *, void *, int))             \
    X(cuMemAddressReserve, (uint64_t *, size_t, size_t, uint64_t, uint64_t)) \
    X(cuMemMap, (uint64_t, size_t, size_t, uint64_t, uint64_t))              \
    X(cuMemSetAccess, (uint64_t, size_t, const struct access *, size_t))     \
    X(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))

struct driver {
#define X(symbol, types) int(*symbol) types;
    DRIVER_CALLS(X)
#undef X
    int (*cuDeviceGetUuid_v2)(uint8_t *, int); /* may be missing */
};

static const char *load(struct driver *driver)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return "libcuda.so.1";
#define X(symbol, types)                                 \
    *(void **)&driver->symbol = dlsym(library, #symbol); \
    if (!driver->symbol)                                 \
        return #symbol;
    DRIVER_CALLS(X)
#undef X
    *(void **)&driver->cuDeviceGetUuid_v2 = dlsym(library, "cuDeviceGetUuid_v2");
    return NULL;
}

/* The traced process may number the GPUs in another way: the UUID decides where both sides know it. */
static int device_of(const struct driver *driver, const struct wsdbg_memory_message *message)
{
    static const uint8_t unknown[16];
    uint8_t uuid[16];
    int count = 0;
    if (!driver->cuDeviceGetUuid_v2 || memcmp(message->device_uuid, unknown, 16) == 0 ||
        driver->cuDeviceGetCount(&count) != 0)
        return (int)message->device_ordinal;
    for (int device = 0; device < count; device++)
        if (driver->cuDeviceGetUuid_v2(uuid, device) == 0 && memcmp(uuid, message->device_uuid, 16) == 0)
            return device;
    return (int)message->device_ordinal;
}

/* What the child says: the driver's error and the call that gave it. */
struct answer {
    int error;
    char call[48];
};

static int copy_part(const struct driver *driver, const struct wsdbg_lasting_part *part, int device, void *out,
                     const char **call)
{
    const struct access access = {LOCATION_DEVICE, device, ACCESS_READ};
    const uint64_t bytes = part->message.allocated_bytes;
    uint64_t handle, address;
    int error;
    *call = "cuMemImportFromShareableHandle";
    error = driver->cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)part->fd, HANDLE_POSIX_FILE_DESCRIPTOR);
    if (!error) {
        *call = "cuMemAddressReserve";
        error = driver->cuMemAddressReserve(&address, bytes, 0, 0, 0);
    }
    if (!error) {
        *call = "cuMemMap";
        error = driver->cuMemMap(address, bytes, 0, handle, 0);
    }
    if (!error) {
        *call = "cuMemSetAccess";
        error = driver->cuMemSetAccess(address, bytes, &access, 1);
    }
    if (!error) {
        *call = "cuMemcpyDtoH";
        error = driver->cuMemcpyDtoH_v2(out, address, part->message.used_bytes);
    }
    return error;
}

static int copy_all(const struct wsdbg_lasting_part *parts, size_t count, char *out, const char **call)
{
    struct driver driver = {0};
    void *context = NULL;
    *call = load(&driver);
    if (*call)
        return -1;
    *call = "cuInit";
    int error = driver.cuInit(0);
    const int device = error ? 0 : device_of(&driver, &parts[0].message);
    if (!error) {
        *call = "cuDevicePrimaryCtxRetain";
        error = driver.cuDevicePrimaryCtxRetain(&context, device);
    }
    if (!error) {
        *call = "cuCtxSetCurrent";
        error = driver.cuCtxSetCurrent(context);
    }
    for (size_t i = 0; i < count && !error; i++) {
        error = copy_part(&driver, &parts[i], device, out, call);
        out += parts[i].message.used_bytes;
    }
    return error;
}

static void work(const struct wsdbg_lasting_part *parts, size_t count, void *out, int answer_end)
{
    struct answer answer = {0};
    const char *call;
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    answer.error = copy_all(parts, count, out, &call);
    snprintf(answer.call, sizeof answer.call, "%s", call);
    _exit(write(answer_end, &answer, sizeof answer) == sizeof answer ? 0 : 1);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A signal does not end the wait. */
static bool wait_readable(int fd, int limit_ms)
{
    const uint64_t deadline_ms = now_ms() + (uint64_t)limit_ms;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    for (uint64_t now = now_ms(); now < deadline_ms; now = now_ms()) {
        const int came = poll(&ready, 1, (int)(deadline_ms - now));
        if (came > 0 || (came < 0 && errno != EINTR))
            return came > 0;
    }
    return false;
}

/* A child that is stuck in the driver does not die of SIGKILL: it is not waited for longer than a second. */
static void collect(pid_t child)
{
    for (int i = 0; i < 100; i++) {
        const pid_t ended = waitpid(child, NULL, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR))
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

/* The child writes its answer in one piece: one read gets all of it, or the child is gone. */
static struct wsdbg_error *wait_answer(pid_t child, int answer_end, int limit_ms)
{
    struct answer answer;
    const bool came = wait_readable(answer_end, limit_ms);
    const bool whole = came && read(answer_end, &answer, sizeof answer) == sizeof answer;
    if (!whole)
        kill(child, SIGKILL);
    collect(child);
    if (!whole)
        return wsdbg_error_create(WSDBG_ERROR_OS, "the driver %s", came ? "crashed" : "did not answer in time");
    answer.call[sizeof answer.call - 1] = '\0';
    if (answer.error < 0)
        return wsdbg_error_create(WSDBG_ERROR_OS, "%s is missing", answer.call);
    return answer.error ? wsdbg_error_create(WSDBG_ERROR_OS, "%s gave error %d", answer.call, answer.error) : NULL;
}

struct wsdbg_error *wsdbg_lasting_read_parts(const struct wsdbg_lasting_part *parts, size_t count, int limit_ms,
                                             void *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return wsdbg_error_os(errno, "no pipe to read it through");
    pid_t child = fork();
    if (child == 0)
        work(parts, count, out, ends[1]);
    close(ends[1]);
    struct wsdbg_error *error = child > 0 ? wait_answer(child, ends[0], limit_ms)
                                          : wsdbg_error_create(WSDBG_ERROR_OS, "no process to read it in");
    close(ends[0]);
    return error;
}
