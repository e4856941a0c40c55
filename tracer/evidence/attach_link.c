/* attach_link.c - see attach_link.h. */
#include "evidence/attach_link.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mapping_guard.h"

enum { WAIT_NS = 5000000 }; /* how often the process's life is looked at while it is waited for */

uint64_t wsdbg_attach_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool wsdbg_attach_alive(const struct wsdbg_attach_link *attach)
{
    struct pollfd poller = {.fd = attach->process, .events = POLLIN};
    return attach->process >= 0 && poll(&poller, 1, 0) == 0;
}

void wsdbg_attach_hold(const struct wsdbg_attach_link *attach, uint64_t lease_ns)
{
    __atomic_store_n(&attach->row->lease_until_ns, wsdbg_attach_clock_ns() + lease_ns, __ATOMIC_RELEASE);
}

static struct wsdbg_error *obstacle(const struct wsdbg_attach_link *attach)
{
    char text[WSDBG_TEXT_BYTES];
    if (__atomic_load_n(&attach->row->obstacle, __ATOMIC_ACQUIRE) == WSDBG_OBSTACLE_NONE)
        return NULL;
    memcpy(text, attach->row->text, sizeof text);
    text[sizeof text - 1] = '\0';
    return wsdbg_error_create(WSDBG_ERROR_BUSY, "%s", text[0] ? text : "the program refuses");
}

static struct wsdbg_error *wait_done(const struct wsdbg_attach_link *attach, uint32_t request, uint64_t deadline_ns)
{
    const struct timespec moment = {.tv_nsec = WAIT_NS};
    for (;;) {
        const uint32_t done = __atomic_load_n(&attach->row->done, __ATOMIC_ACQUIRE);
        if (done == request)
            return NULL;
        if (!wsdbg_attach_alive(attach))
            return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the program has ended");
        if (wsdbg_attach_clock_ns() >= deadline_ns)
            return wsdbg_error_create(WSDBG_ERROR_OTHER, "the observer in the program did not answer in time");
        syscall(SYS_futex, &attach->row->done, FUTEX_WAIT, done, &moment, NULL, 0);
    }
}

struct wsdbg_error *wsdbg_attach_ask(const struct wsdbg_attach_link *attach, enum wsdbg_attach_command command,
                                     uint64_t deadline_ns)
{
    if (__atomic_load_n(&attach->row->state, __ATOMIC_ACQUIRE) == WSDBG_ATTACH_UNSERVED)
        return wsdbg_error_create(WSDBG_ERROR_BUSY, "nothing in the program serves the debug interface yet");
    const uint32_t number = (__atomic_load_n(&attach->row->request, __ATOMIC_ACQUIRE) >> 8) + 1;
    const uint32_t request = number << 8 | (uint32_t)command;
    __atomic_store_n(&attach->row->request, request, __ATOMIC_RELEASE);
    syscall(SYS_futex, &attach->row->request, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    struct wsdbg_error *error = wait_done(attach, request, deadline_ns);
    return error ? error : obstacle(attach);
}

static bool is_shut(const struct wsdbg_attach_row *row)
{
    const uint32_t done = __atomic_load_n(&row->done, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) <= WSDBG_ATTACH_NOBODY &&
           done == __atomic_load_n(&row->request, __ATOMIC_ACQUIRE);
}

bool wsdbg_attach_wait_detached(const struct wsdbg_attach_link *attach, uint64_t deadline_ns)
{
    while (wsdbg_attach_alive(attach) && !is_shut(attach->row)) {
        if (wsdbg_attach_clock_ns() >= deadline_ns)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return true;
}

void wsdbg_attach_close(struct wsdbg_attach_link *attach)
{
    if (attach->pages)
        wsdbg_mapping_release(attach->pages);
    if (attach->pages)
        munmap(attach->pages, attach->pages_bytes);
    if (attach->process >= 0)
        close(attach->process);
    *attach = (struct wsdbg_attach_link){.process = -1};
}
