/* host_threads.c - tells whether some thread of the program may go on while another one waits for the GPU.
 *
 * Reads:  the segment's thread rows; while some call of those lasts, comm, syscall and schedstat of
 *         /proc/self/task/<thread>.
 * Writes: segment->host_state, segment->network_cards.
 *
 * A thread is blocked if it is in such a call, or in a futex without a time limit, which another thread must wake.  A
 * thread that sleeps for a time, reads, polls or computes is not blocked: it may soon give the GPU what a kernel waits
 * for, even if it has not used the driver yet.  The same holds for a thread that another process can wake.  The
 * driver's own threads count as blocked while they wait for the driver, but not while they run a function of the
 * program.  The threads that service_threads.c knows count as blocked too.  A look reads two short files for each
 * thread, a third one for those in such a futex, and disturbs none.
 */
#include "host_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "armed.h"
#include "clock.h"
#include "debug_calls.h"
#include "host_call.h"
#include "messages.h"
#include "network_cards.h"
#include "own_files.h"
#include "own_threads.h"
#include "segment.h"
#include "service_threads.h"
#include "state.h"

enum {
    IDLE_US = 50000,
    FIRST_US = 20000, /* between looks while no call has lasted for long */
    LATER_US = 250000,
    LASTS_NS = 10000000,
    LONG_NS = 1000000000,
    CARDS_NS = 250000000,  /* between looks for network cards */
    SETTLE_NS = 100000000, /* after a debugger has left, until the driver's threads sleep again */
};

/* ---- one thread ---- */

static bool is_own_thread(unsigned long thread)
{
    return thread && thread <= INT32_MAX && syscall(SYS_tgkill, getpid(), (int)thread, 0) == 0;
}

/* One that processes share another process may wake, but not a join, which the C library also says is shared: that
 * waits until the word no longer holds the other thread's number. */
static bool is_endless_futex(const struct host_call *call)
{
    const unsigned long *argument = call->argument;
    const int command = (int)argument[1] & FUTEX_CMD_MASK;
    const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
    if (call->number != SYS_futex || argument[3] != 0)
        return false;
    if (argument[1] & FUTEX_PRIVATE_FLAG)
        return waits || command == FUTEX_LOCK_PI;
    return waits && is_own_thread(argument[2]);
}

/* "cuda-EvtHandlr", "cuda00006000019"; no less, as threads have the name of their program. */
static bool is_driver_name(const char *name)
{
    return strcmp(name, "cuda-EvtHandlr") == 0 ||
           (strncmp(name, "cuda", 4) == 0 && strlen(name) == 15 && strspn(name + 4, "0123456789abcdef") == 11);
}

static bool is_own_name(const char *name)
{
    return strcmp(name, WSDBG_THREAD_OBSERVER) == 0 || strcmp(name, WSDBG_THREAD_SIMULATOR) == 0;
}

bool host_thread_is_blocked(const char *name, const char *call_text)
{
    struct host_call call;
    if (is_own_name(name))
        return true;
    if (!host_call_read(call_text, &call))
        return false;
    return is_endless_futex(&call) || (host_call_polls(&call) && is_driver_name(name)) ||
           service_thread_waits(name, &call);
}

/* How often the thread has got a processor; 0 = not told. */
static uint64_t turns_of(uint32_t thread)
{
    char text[96];
    unsigned long long turns = 0;
    if (host_call_file(thread, "schedstat", text, sizeof text) || sscanf(text, "%*u %*u %llu", &turns) != 1)
        return 0;
    return turns;
}

/* In a futex without a time limit, and no thread of the driver's or of ours. */
static bool waits_for_another(const char *name, const char *call_text)
{
    struct host_call call;
    return !is_own_name(name) && !is_driver_name(name) && host_call_read(call_text, &call) && is_endless_futex(&call);
}

/* *turns: raised by those of a thread that waits for another one. */
static enum wsdbg_host_state look_at(uint32_t thread, uint64_t *turns)
{
    char name[32], call_text[HOST_CALL_BYTES];
    int error = host_call_file(thread, "comm", name, sizeof name);
    if (!error)
        error = host_call_file(thread, "syscall", call_text, sizeof call_text);
    if (error == ENOENT && syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH)
        return WSDBG_HOST_ALL_BLOCKED; /* it is no more */
    if (error)
        return error == ESRCH ? WSDBG_HOST_ALL_BLOCKED : WSDBG_HOST_NOT_KNOWN;
    name[strcspn(name, "\n")] = '\0';
    if (waits_for_another(name, call_text))
        *turns += turns_of(thread);
    return host_thread_is_blocked(name, call_text) ? WSDBG_HOST_ALL_BLOCKED : WSDBG_HOST_GOES_ON;
}

/* ---- all of them ---- */

/* The row of a thread that has been in a call; NULL = none. */
static const struct wsdbg_thread_row *row_of(const struct wsdbg_segment *segment, uint32_t thread)
{
    const uint32_t count = __atomic_load_n(&segment->thread_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (__atomic_load_n(&segment->threads[i].thread_id, __ATOMIC_ACQUIRE) == thread)
            return &segment->threads[i];
    return NULL;
}

static enum wsdbg_host_state look_at_listed(const struct wsdbg_segment *segment, uint32_t thread, uint64_t *turns)
{
    const struct wsdbg_thread_row *row = row_of(segment, thread);
    if (row && __atomic_load_n(&row->since_ns, __ATOMIC_ACQUIRE))
        return WSDBG_HOST_ALL_BLOCKED;
    const enum wsdbg_host_state state = look_at(thread, turns);
    return state == WSDBG_HOST_GOES_ON && !row ? WSDBG_HOST_STRANGER_GOES_ON : state;
}

/* What is known of both together. */
static enum wsdbg_host_state of_both(enum wsdbg_host_state a, enum wsdbg_host_state b)
{
    if (a == WSDBG_HOST_GOES_ON || b == WSDBG_HOST_GOES_ON)
        return WSDBG_HOST_GOES_ON;
    return a < b ? a : b;
}

static enum wsdbg_host_state look_at_entries(const struct wsdbg_segment *segment, const char *entries, long bytes,
                                             uint64_t *turns)
{
    enum wsdbg_host_state state = WSDBG_HOST_ALL_BLOCKED;
    for (long at = 0; at < bytes && state != WSDBG_HOST_GOES_ON;) {
        const struct folder_entry *entry = (const void *)(entries + at);
        const uint32_t thread = (uint32_t)strtoul(entry->name, NULL, 10);
        if (thread)
            state = of_both(state, look_at_listed(segment, thread, turns));
        at += entry->bytes;
    }
    return state;
}

/* Without the C library's directory streams, which take memory from the program's allocator. */
static enum wsdbg_host_state look(const struct wsdbg_segment *segment, uint64_t *turns)
{
    _Alignas(struct folder_entry) char entries[4096];
    enum wsdbg_host_state state = WSDBG_HOST_ALL_BLOCKED;
    long bytes;
    *turns = 0;
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return WSDBG_HOST_NOT_KNOWN;
    while ((bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        state = of_both(state, look_at_entries(segment, entries, bytes, turns));
    close(folder);
    return bytes < 0 ? of_both(state, WSDBG_HOST_NOT_KNOWN) : state;
}

/* ---- while somebody waits ---- */

/* How long the call that has lasted for longest has; 0 = there is none. */
static uint64_t longest_call_ns(const struct wsdbg_segment *segment, uint64_t now_ns)
{
    const uint32_t count = __atomic_load_n(&segment->thread_count, __ATOMIC_ACQUIRE);
    uint64_t longest_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t since_ns = __atomic_load_n(&segment->threads[i].since_ns, __ATOMIC_ACQUIRE);
        if (since_ns && now_ns > since_ns && now_ns - since_ns > longest_ns)
            longest_ns = now_ns - since_ns;
    }
    return longest_ns;
}

/* Only while threads wait, and not as often as they are looked at. */
static void follow_cards(struct wsdbg_segment *segment, bool wait, uint64_t now_ns)
{
    static uint64_t looked_ns;
    if (!wait) {
        looked_ns = 0;
        __atomic_store_n(&segment->network_cards, WSDBG_NETWORK_CARDS_NOT_KNOWN, __ATOMIC_RELEASE);
    } else if (now_ns - looked_ns >= CARDS_NS) {
        looked_ns = now_ns;
        __atomic_store_n(&segment->network_cards, network_cards_look(), __ATOMIC_RELEASE);
    }
}

/* What two looks in a row saw: a thread may wake another one and fall asleep between the two being looked at.  One that
 * had a turn in between only seems to be blocked: it may ask for the state of a stream without a pause, and wait for
 * the driver's lock each time. */
static void *serve(void *unused)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    enum wsdbg_host_state before = WSDBG_HOST_NOT_KNOWN;
    uint64_t turns = 0, turns_before = 0;
    (void)unused;
    shim_thread_is_ours();
    while (!atomic_load(&shim_exiting) && atomic_load(&shim_state) == SHIM_ON) {
        if (armed_is_unwatched()) {
            before = WSDBG_HOST_NOT_KNOWN;
            __atomic_store_n(&segment->host_state, before, __ATOMIC_RELEASE);
        }
        armed_await_watcher();
        const uint64_t now_ns = shim_now_ns(), lasts_ns = longest_call_ns(segment, now_ns);
        const uint64_t settled_ns = now_ns > SETTLE_NS ? now_ns - SETTLE_NS : 0;
        follow_cards(segment, lasts_ns >= LASTS_NS, now_ns);
        const bool is_first = before == WSDBG_HOST_NOT_KNOWN;
        const enum wsdbg_host_state now =
            lasts_ns >= LASTS_NS && !debug_attach_keeps_out() ? look(segment, &turns) : WSDBG_HOST_NOT_KNOWN;
        /* While a debugger is attached, and somewhat longer, there are threads that it brought, the driver's have work,
         * and no other one gets on: a look at that time says nothing, and what was seen before holds. */
        if (!debug_attach_was_since(settled_ns)) {
            const enum wsdbg_host_state both = of_both(before, now);
            const bool turned = both == WSDBG_HOST_ALL_BLOCKED && turns != turns_before;
            __atomic_store_n(&segment->host_state, turned ? WSDBG_HOST_STRANGER_GOES_ON : both, __ATOMIC_RELEASE);
            before = now;
            turns_before = turns;
        }
        const bool looks_soon = lasts_ns < LONG_NS || (is_first && now != WSDBG_HOST_NOT_KNOWN);
        shim_sleep_us(lasts_ns < LASTS_NS ? IDLE_US : looks_soon ? FIRST_US : LATER_US);
    }
    __atomic_store_n(&segment->host_state, WSDBG_HOST_NOT_KNOWN, __ATOMIC_RELEASE);
    return NULL;
}

void host_threads_start(void)
{
    static _Atomic bool started;
    if (atomic_load(&started) || atomic_exchange(&started, true))
        return;
    if (!shim_start_thread(serve))
        shim_note("whether the program's threads go on cannot be seen: its thread could not be started");
}
