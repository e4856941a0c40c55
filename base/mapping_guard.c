/* mapping_guard.c - see mapping_guard.h.
 *
 * Reads: the addresses at which SIGBUS strikes.  Writes: the handler of SIGBUS, pages of zeros.
 *
 * The table and the handler belong to the whole process, as signals do: the only such state in the tracer.
 */
#include "base/mapping_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAPPINGS = 4096 };

/* A free row has no pages.  The handler reads while another thread may write: `pages` is set last and cleared first. */
static struct mapping {
    _Atomic uintptr_t pages;
    _Atomic size_t byte_count;
    _Atomic bool was_cut;
} mappings[MAPPINGS];
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before; /* who had the signal before us */
static uintptr_t page_bytes;

static struct mapping *mapping_of(uintptr_t address)
{
    for (int i = 0; i < MAPPINGS; i++) {
        const uintptr_t pages = mappings[i].pages;
        if (pages && address >= pages && address - pages < mappings[i].byte_count)
            return &mappings[i];
    }
    return NULL;
}

/* Makes one system call and nothing else: the signal may interrupt any function. */
static bool put_zeros(uintptr_t address)
{
    void *page = (void *)(address / page_bytes * page_bytes);
    return mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const uintptr_t address = (uintptr_t)info->si_addr;
    struct mapping *mapping = info->si_code == BUS_ADRERR ? mapping_of(address) : NULL;
    (void)context;
    if (mapping && put_zeros(address)) {
        mapping->was_cut = true;
        return;
    }
    sigaction(number, &before, NULL); /* a fault strikes again at once, as it would have */
    if (info->si_code <= 0)
        raise(number); /* a process sent it */
}

/* Again with each mapping: somebody may have taken the signal meanwhile. */
static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO}, now;
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) != 0 || now.sa_sigaction == on_bus_error)
        return;
    before = now;
    sigaction(SIGBUS, &action, NULL);
}

bool wsdbg_mapping_guard(const void *pages, size_t byte_count)
{
    bool found = false;
    pthread_mutex_lock(&writing);
    install();
    for (int i = 0; i < MAPPINGS && !found; i++) {
        if (mappings[i].pages)
            continue;
        mappings[i].byte_count = byte_count;
        mappings[i].was_cut = false;
        mappings[i].pages = (uintptr_t)pages;
        found = true;
    }
    pthread_mutex_unlock(&writing);
    return found;
}

bool wsdbg_mapping_was_cut(const void *pages)
{
    const struct mapping *mapping = pages ? mapping_of((uintptr_t)pages) : NULL;
    return mapping && mapping->was_cut;
}

void wsdbg_mapping_release(const void *pages)
{
    pthread_mutex_lock(&writing);
    for (int i = 0; i < MAPPINGS; i++)
        if (mappings[i].pages == (uintptr_t)pages)
            mappings[i].pages = 0;
    pthread_mutex_unlock(&writing);
}
