/* door.c - see door.h. */
#include "evidence/door.h"

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

uint64_t wsdbg_door_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool wsdbg_door_alive(const struct wsdbg_door *door)
{
    struct pollfd poller = {.fd = door->process, .events = POLLIN};
    return door->process >= 0 && poll(&poller, 1, 0) == 0;
}

void wsdbg_door_hold(const struct wsdbg_door *door, uint64_t lease_ns)
{
    __atomic_store_n(&door->row->lease_until_ns, wsdbg_door_now_ns() + lease_ns, __ATOMIC_RELEASE);
}

static struct wsdbg_error *obstacle(const struct wsdbg_door *door)
{
    char text[WSDBG_TEXT_BYTES];
    if (__atomic_load_n(&door->row->obstacle, __ATOMIC_ACQUIRE) == WSDBG_DOOR_CLEAR)
        return NULL;
    memcpy(text, door->row->text, sizeof text);
    text[sizeof text - 1] = '\0';
    return wsdbg_error_create(WSDBG_ERROR_BUSY, "%s", text[0] ? text : "the program refuses");
}

static struct wsdbg_error *wait_done(const struct wsdbg_door *door, uint32_t request, uint64_t deadline_ns)
{
    const struct timespec moment = {.tv_nsec = WAIT_NS};
    for (;;) {
        const uint32_t done = __atomic_load_n(&door->row->done, __ATOMIC_ACQUIRE);
        if (done == request)
            return NULL;
        if (!wsdbg_door_alive(door))
            return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the program has ended");
        if (wsdbg_door_now_ns() >= deadline_ns)
            return wsdbg_error_create(WSDBG_ERROR_OTHER, "the observer in the program did not answer in time");
        syscall(SYS_futex, &door->row->done, FUTEX_WAIT, done, &moment, NULL, 0);
    }
}

struct wsdbg_error *wsdbg_door_ask(const struct wsdbg_door *door, enum wsdbg_door_command command, uint64_t deadline_ns)
{
    if (__atomic_load_n(&door->row->state, __ATOMIC_ACQUIRE) == WSDBG_DOOR_NONE)
        return wsdbg_error_create(WSDBG_ERROR_BUSY, "nothing in the program serves the debug interface yet");
    const uint32_t number = (__atomic_load_n(&door->row->request, __ATOMIC_ACQUIRE) >> 8) + 1;
    const uint32_t request = number << 8 | (uint32_t)command;
    __atomic_store_n(&door->row->request, request, __ATOMIC_RELEASE);
    syscall(SYS_futex, &door->row->request, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    struct wsdbg_error *error = wait_done(door, request, deadline_ns);
    return error ? error : obstacle(door);
}

static bool is_shut(const struct wsdbg_door_row *row)
{
    const uint32_t done = __atomic_load_n(&row->done, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) <= WSDBG_DOOR_SHUT &&
           done == __atomic_load_n(&row->request, __ATOMIC_ACQUIRE);
}

bool wsdbg_door_wait_shut(const struct wsdbg_door *door, uint64_t deadline_ns)
{
    while (wsdbg_door_alive(door) && !is_shut(door->row)) {
        if (wsdbg_door_now_ns() >= deadline_ns)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return true;
}

void wsdbg_door_close(struct wsdbg_door *door)
{
    if (door->pages)
        wsdbg_mapping_release(door->pages);
    if (door->pages)
        munmap(door->pages, door->pages_bytes);
    if (door->process >= 0)
        close(door->process);
    *door = (struct wsdbg_door){.process = -1};
}
