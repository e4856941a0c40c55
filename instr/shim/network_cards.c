/* network_cards.c - tells whether the process holds a device open by which others could write its memory of the GPU.
 *
 * Reads:  the links in /proc/self/fd.  Writes: nothing.
 *
 * Memory that was made for network cards may be given to one without a call of the driver, but not without the card's
 * device file.  Device files of which it is known that they are no network cards are a short list: any other one
 * counts.
 */
#include "network_cards.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_files.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What a GPU program, a terminal or the C library has open; nvidia-fs lets disks in. */
static bool is_harmless(const char *device)
{
    static const char *const whole[] = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "fuse", "console"};
    static const char *const beginnings[] = {"shm/",       "pts/",        "mqueue/",        "hugepages/",
                                             "nvidia-uvm", "nvidia-caps", "nvidia-modeset", "nvidiactl"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(device, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins(device, beginnings[i]))
            return true;
    return begins(device, "nvidia") && strspn(device + 6, "0123456789") == strlen(device + 6);
}

static bool may_be_card(int folder, const char *name)
{
    static const char devices[] = "/dev/";
    char path[256];
    const ssize_t count = readlinkat(folder, name, path, sizeof path - 1);
    if (count <= 0) /* closed meanwhile */
        return false;
    path[count] = '\0';
    return begins(path, devices) && !is_harmless(path + sizeof devices - 1);
}

static bool any_of(int folder, const char *entries, long bytes)
{
    for (long at = 0; at < bytes;) {
        const struct folder_entry *entry = (const void *)(entries + at);
        if (entry->name[0] != '.' && may_be_card(folder, entry->name))
            return true;
        at += entry->bytes;
    }
    return false;
}

enum wsdbg_network_cards network_cards_look(void)
{
    _Alignas(struct folder_entry) char entries[4096];
    bool open_card = false;
    long bytes = 0;
    const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return WSDBG_NETWORK_CARDS_NOT_KNOWN;
    while (!open_card && (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        open_card = any_of(folder, entries, bytes);
    close(folder);
    if (bytes < 0)
        return WSDBG_NETWORK_CARDS_NOT_KNOWN;
    return open_card ? WSDBG_NETWORK_CARDS_OPEN : WSDBG_NETWORK_CARDS_NONE;
}
