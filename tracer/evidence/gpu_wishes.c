/* gpu_wishes.c - see gpu_wishes.h.
 *
 * Reads:  locks on the device file of each GPU.
 * Writes: a read lock on its first byte.
 *
 * It is a lock of the open file (F_OFD_SETLK).  The kernel releases it when wsdbg ends.  It does not conflict with the
 * flock() of the inspector that has the GPU (debug_turn.c).  If the lock cannot be taken, no inspector makes way.
 */
#include "evidence/gpu_wishes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "wsdbg/session.h"

#define OLD_NS UINT64_C(15000000000)

/* -1 = it cannot be opened. */
static int file_of(struct wsdbg_gpu_wishes *wishes, unsigned minor)
{
    char path[4096];
    const char *root = getenv(WSDBG_ENV_DEVICE_FILES);
    if (minor >= WSDBG_GPU_WISHES)
        return -1;
    if (!wishes->files[minor]) {
        snprintf(path, sizeof path, "%s/dev/nvidia%u", root ? root : "", minor);
        wishes->files[minor] = open(path, O_RDONLY | O_CLOEXEC) + 1;
    }
    return wishes->files[minor] - 1;
}

static bool lock(int file, int command, short type, struct flock *out)
{
    *out = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    return fcntl(file, command, out) == 0;
}

void wsdbg_gpu_wish(struct wsdbg_gpu_wishes *wishes, unsigned minor, uint64_t now_ns)
{
    struct flock unused;
    const int file = file_of(wishes, minor);
    if (file >= 0 && lock(file, F_OFD_SETLK, F_RDLCK, &unused))
        wishes->made_ns[minor] = now_ns;
}

static void drop(struct wsdbg_gpu_wishes *wishes, unsigned minor)
{
    struct flock unused;
    if (wishes->made_ns[minor])
        lock(wishes->files[minor] - 1, F_OFD_SETLK, F_UNLCK, &unused);
    wishes->made_ns[minor] = 0;
}

void wsdbg_gpu_wishes_drop(struct wsdbg_gpu_wishes *wishes)
{
    for (unsigned minor = 0; minor < WSDBG_GPU_WISHES; minor++)
        drop(wishes, minor);
}

void wsdbg_gpu_wishes_drop_old(struct wsdbg_gpu_wishes *wishes, uint64_t now_ns)
{
    for (unsigned minor = 0; minor < WSDBG_GPU_WISHES; minor++)
        if (now_ns > wishes->made_ns[minor] + OLD_NS)
            drop(wishes, minor);
}

bool wsdbg_gpu_is_wished(struct wsdbg_gpu_wishes *wishes, uint16_t gpus)
{
    bool is_wished = false;
    for (unsigned minor = 0; minor < WSDBG_GPU_WISHES && !is_wished; minor++) {
        struct flock found;
        const int file = gpus >> minor & 1 ? file_of(wishes, minor) : -1;
        is_wished = file >= 0 && lock(file, F_OFD_GETLK, F_WRLCK, &found) && found.l_type != F_UNLCK;
    }
    return is_wished;
}

void wsdbg_gpu_wishes_deinit(struct wsdbg_gpu_wishes *wishes)
{
    for (unsigned minor = 0; minor < WSDBG_GPU_WISHES; minor++)
        if (wishes->files[minor])
            close(wishes->files[minor] - 1);
    *wishes = (struct wsdbg_gpu_wishes){0};
}
