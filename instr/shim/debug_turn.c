/* debug_turn.c - one inspector at a time on a GPU, whichever program it looks at and whoever started it.
 * Reads:  the PCI addresses of the devices that the program uses, and their numbers in /proc.
 * Writes: an advisory lock on the device file of each.
 *
 * Where several programs on one GPU had inspectors, an exception in one of them kept the others from their work, and in
 * the end the GPU from taking any (docs/results/live-attach.md).  The lock is the process's, and the kernel takes
 * it back when it ends.  A device whose file is not found is looked at without one.
 */
#include "debug_turn.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "contexts.h"
#include "debug_contexts.h"
#include "libcuda.h"
#include "own_files.h"

enum { MINORS = 64, PATH_BYTES = 256 };

static int locks[MINORS]; /* descriptor + 1, 0 = not held */
static char root[PATH_BYTES];

void debug_turn_start(void)
{
    const char *folder = getenv(WSDBG_ENV_DEVICE_FILES);
    snprintf(root, sizeof root, "%s", folder ? folder : "");
}

/* N of /dev/nvidiaN; -1 = not known. */
static int minor_of(CUdevice device)
{
    static const char key[] = "Device Minor:";
    char bus[32] = "", path[PATH_BYTES + 96], text[4096];
    if (!shim_driver.cuDeviceGetPCIBusId || shim_driver.cuDeviceGetPCIBusId(bus, sizeof bus, device) != CUDA_SUCCESS)
        return -1;
    for (char *at = bus; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus/%s/information", root, bus);
    const char *line = shim_read_text(path, text, sizeof text) ? strstr(text, key) : NULL;
    const long minor = line ? strtol(line + sizeof key - 1, NULL, 10) : -1;
    return minor >= 0 && minor < MINORS ? (int)minor : -1;
}

/* False: another process holds it.  True also where nobody can hold it. */
static bool take(int minor, char *text)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/dev/nvidia%d", root, minor);
    const int fd = shim_above_streams(open(path, O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return true;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        locks[minor] = fd + 1;
        return true;
    }
    const bool is_taken = errno == EWOULDBLOCK;
    close(fd);
    if (is_taken)
        snprintf(text, WSDBG_TEXT_BYTES,
                 "an inspector of wsdbg's is attached to another program on the same GPU (/dev/nvidia%d)", minor);
    return !is_taken;
}

static void tell_held(struct wsdbg_attach_row *attach)
{
    uint16_t held = 0;
    for (int minor = 0; minor < 16; minor++)
        held |= (uint16_t)(locks[minor] ? 1u << minor : 0);
    __atomic_store_n(&attach->held_gpus, held, __ATOMIC_RELEASE);
}

bool debug_turn_take(struct wsdbg_attach_row *attach, char *text)
{
    attach->taken_gpu = 0;
    for (int i = 0; i < WSDBG_CONTEXT_ROWS; i++) {
        const int minor = debug_context_is_open(i) ? minor_of(shim_contexts[i].device) : -1;
        if (minor >= 0 && !locks[minor] && !take(minor, text)) {
            attach->taken_gpu = (uint16_t)(1 + minor);
            debug_turn_give_back(attach);
            return false;
        }
    }
    tell_held(attach);
    return true;
}

void debug_turn_give_back(struct wsdbg_attach_row *attach)
{
    for (int minor = 0; minor < MINORS; minor++) {
        if (locks[minor]) /* forked children may have the file open as well */
            flock(locks[minor] - 1, LOCK_UN);
        if (locks[minor])
            close(locks[minor] - 1);
        locks[minor] = 0;
    }
    tell_held(attach);
}

void debug_turn_forget(void)
{
    for (int minor = 0; minor < MINORS; minor++) {
        if (locks[minor])
            close(locks[minor] - 1);
        locks[minor] = 0;
    }
}
