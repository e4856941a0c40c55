/* process_memory.c - see process_memory.h.
 *
 * Reads:  the process by process_vm_readv(), else /proc/PID/mem.  Both stop nothing and need the right to trace it.
 * Writes: nothing.
 *
 * Whole pages are read and kept, because a stack's frames are neighbours.
 */
#include "host/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/console.h"

enum { PAGE_BYTES = 4096, PAGES = 256 };
#define NO_PAGE UINT64_MAX

struct wsdbg_host_memory {
    wsdbg_host_memory_source *source;
    void *context;
    uint64_t deadline_ns;
    pid_t process;
    int file; /* /proc/PID/mem, -1 = not needed so far */
    int error;
    uint64_t numbers[PAGES]; /* of the pages that are kept, NO_PAGE */
    unsigned char pages[PAGES][PAGE_BYTES];
};

static ssize_t read_file(struct wsdbg_host_memory *memory, uint64_t address, void *out, size_t bytes)
{
    char path[64];
    if (memory->file < 0) {
        snprintf(path, sizeof path, "/proc/%ld/mem", (long)memory->process);
        memory->file = open(path, O_RDONLY | O_CLOEXEC);
    }
    return memory->file < 0 ? -1 : pread(memory->file, out, bytes, (off_t)address);
}

/* A filter or an old kernel may refuse the first way and allow the second. */
static ssize_t read_process(void *context, uint64_t address, void *out, size_t bytes)
{
    struct wsdbg_host_memory *memory = context;
    const struct iovec local = {out, bytes};
    const struct iovec remote = {(void *)(uintptr_t)address, bytes}; // NOLINT: an address of the other process
    const ssize_t count = process_vm_readv(memory->process, &local, 1, &remote, 1, 0);
    if (count >= 0 || (errno != EPERM && errno != ENOSYS))
        return count;
    return read_file(memory, address, out, bytes);
}

struct wsdbg_error *wsdbg_host_memory_of(wsdbg_host_memory_source *source, void *context, uint64_t deadline_ns,
                                         struct wsdbg_host_memory **out)
{
    struct wsdbg_host_memory *memory = malloc(sizeof *memory);
    if (!memory)
        return &wsdbg_error_no_memory;
    memory->source = source;
    memory->context = context;
    memory->deadline_ns = deadline_ns;
    memory->process = 0;
    memory->file = -1;
    memory->error = 0;
    wsdbg_host_memory_forget(memory);
    *out = memory;
    return NULL;
}

struct wsdbg_error *wsdbg_host_memory_open(pid_t process, uint64_t deadline_ns, struct wsdbg_host_memory **out)
{
    struct wsdbg_error *error = wsdbg_host_memory_of(read_process, NULL, deadline_ns, out);
    if (error)
        return error;
    (*out)->context = *out;
    (*out)->process = process;
    return NULL;
}

void wsdbg_host_memory_close(struct wsdbg_host_memory *memory)
{
    if (memory && memory->file >= 0)
        close(memory->file);
    free(memory);
}

void wsdbg_host_memory_forget(struct wsdbg_host_memory *memory)
{
    for (int i = 0; i < PAGES; i++)
        memory->numbers[i] = NO_PAGE;
}

bool wsdbg_host_memory_is_late(const struct wsdbg_host_memory *memory)
{
    return wsdbg_monotonic_ns() >= memory->deadline_ns;
}

int wsdbg_host_memory_error(const struct wsdbg_host_memory *memory)
{
    return memory->error;
}

/* NULL = there is no such page, or it may not be read. */
static const unsigned char *page_of(struct wsdbg_host_memory *memory, uint64_t number)
{
    const size_t slot = number % PAGES;
    if (memory->numbers[slot] == number)
        return memory->pages[slot];
    memory->numbers[slot] = NO_PAGE;
    if (memory->error || wsdbg_host_memory_is_late(memory))
        return NULL;
    errno = 0;
    const ssize_t count = memory->source(memory->context, number * PAGE_BYTES, memory->pages[slot], PAGE_BYTES);
    if (count != PAGE_BYTES) {
        if (count < 0 && errno != EFAULT && errno != EIO && errno != ENOMEM)
            memory->error = errno;
        return NULL;
    }
    memory->numbers[slot] = number;
    return memory->pages[slot];
}

bool wsdbg_host_read(struct wsdbg_host_memory *memory, uint64_t address, void *out, size_t bytes)
{
    unsigned char *to = out;
    if (bytes > UINT64_MAX - address)
        return false;
    while (bytes > 0) {
        const size_t at = address % PAGE_BYTES;
        const size_t part = bytes < PAGE_BYTES - at ? bytes : PAGE_BYTES - at;
        const unsigned char *page = page_of(memory, address / PAGE_BYTES);
        if (!page)
            return false;
        memcpy(to, page + at, part);
        to += part;
        address += part;
        bytes -= part;
    }
    return true;
}

bool wsdbg_host_read_word(struct wsdbg_host_memory *memory, uint64_t address, uint64_t *out)
{
    return wsdbg_host_read(memory, address, out, sizeof *out);
}
