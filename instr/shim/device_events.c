/* device_events.c - notices that the GPU has told the driver of something out of the ordinary.
 *
 * Reads:  which of the driver's device files its event thread finds ready, as poll() tells it.
 * Writes: device_events, device_events_are_seen.
 *
 * While a debugger is attached, a bad address shows to it up to 25 ms after the call that waited has come back; but the
 * driver's event thread is woken by the end of that call (docs/results/live-attach.md).  The first device file of
 * its set is ready whenever work ends that somebody sleeps for; the others are ready when a kernel has failed.
 */
#include "device_events.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "debug_state.h"
#include "loader.h"
#include "shim.h"

enum {
    NVIDIA_MAJOR = 195, /* Linux, Documentation/admin-guide/devices.txt */
    FILES_AT_MOST = 64  /* the driver's own set has some twelve */
};

_Atomic uint32_t device_events;
_Atomic bool device_events_are_seen;

typedef int (*poll_function)(struct pollfd *, nfds_t, int);

static bool is_device(int fd)
{
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && major(status.st_rdev) == NVIDIA_MAJOR;
}

static void note(const struct pollfd *files, nfds_t count)
{
    bool any = false;
    for (nfds_t i = 0; i < count && i < FILES_AT_MOST; i++) {
        if ((any && !files[i].revents) || !is_device(files[i].fd))
            continue;
        if (any)
            atomic_fetch_add(&device_events, 1);
        any = true;
    }
    if (any)
        atomic_store(&device_events_are_seen, true);
}

SHIM_EXPORT int poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    static poll_function _Atomic real;
    poll_function forward = atomic_load_explicit(&real, memory_order_acquire);
    if (!forward) {
        forward = (poll_function)loader_next_function("poll");
        atomic_store(&real, forward);
    }
    if (!forward) {
        errno = ENOSYS;
        return -1;
    }
    const int result = forward(files, count, timeout_ms);
    if (result >= 0 && atomic_load_explicit(&debug_attach_stays, memory_order_relaxed) && files &&
        (result > 0 || !atomic_load_explicit(&device_events_are_seen, memory_order_relaxed))) {
        const int kept = errno;
        note(files, count);
        errno = kept;
    }
    return result;
}
