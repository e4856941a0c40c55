/* attach_watchdog.c - see attach_watchdog.h.
 *
 * Reads: whether inspector, wsdbg and program live, the inspector's area, the debug attach's words.
 * Writes: in a rescue what an inspector writes; libcuda is loaded only then.
 */
#include "evidence/attach_watchdog.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "evidence/inspector_child.h"

enum {
    ATTENTION_MS = 100, /* how often it is looked whether the inspector should have left */
    WAKES = 5,          /* an inspector that is stopped more often is killed */
    TRIES = 3,
    TRY_SECONDS =
        30 /* more than the waits of one: 7 s for the debug attach, 2.9 s for the attach, 5 s, 9.5 s to leave */
};
/* An attach that was under way and the way out of it. */
#define OVERDUE_NS (WSDBG_INSPECTOR_ATTACH_NS + WSDBG_INSPECTOR_LEAVE_NS)
#define STOPPED_NS 200000000ull /* an inspector that has not renewed its lease for so long may have been stopped */
#define RUNS_NS 1000000000ull   /* one that was not woken for so long, and renews it, runs */
#define SILENT_NS 5500000000ull /* ... and for so long, 0.5 s before the lease is over, hangs */
#define SHUT_NS 7000000000ull   /* where the program cannot follow the inspector its lease of 6 s must run out */
#define STOPPED_AT_MOST_NS 1000000000ull

/* ---- watching ---- */

static bool has_ended(int process)
{
    struct pollfd poller = {.fd = process, .events = POLLIN};
    return poll(&poller, 1, 0) != 0;
}

static bool is_inside(const struct wsdbg_watched_attach *guarded)
{
    return __atomic_load_n(&guarded->area->inside, __ATOMIC_ACQUIRE) != 0;
}

static uint32_t stopped_devices(const struct wsdbg_attach_link *attach)
{
    return __atomic_load_n(&attach->row->stopped_devices, __ATOMIC_ACQUIRE);
}

static bool should_leave(const struct wsdbg_watched_attach *guarded)
{
    const bool shut = __atomic_load_n(&guarded->attach.row->state, __ATOMIC_ACQUIRE) <= WSDBG_ATTACH_NOBODY;
    return getppid() != guarded->wsdbg || (shut && is_inside(guarded));
}

/* How long ago the inspector renewed its lease. */
static uint64_t renewed_before_ns(const struct wsdbg_watched_attach *guarded)
{
    const uint64_t lease_ns = __atomic_load_n(&guarded->attach.row->lease_until_ns, __ATOMIC_ACQUIRE);
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    return now_ns + WSDBG_INSPECTOR_LEASE_NS > lease_ns ? now_ns + WSDBG_INSPECTOR_LEASE_NS - lease_ns : 0;
}

/* An inspector that hangs may hold the GPU stopped: its time is over before the program takes its lease away. */
static bool is_silent(const struct wsdbg_watched_attach *guarded)
{
    const struct wsdbg_attach_row *row = guarded->attach.row;
    return is_inside(guarded) && __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == WSDBG_ATTACH_DONE &&
           renewed_before_ns(guarded) > SILENT_NS;
}

struct wakes {
    uint32_t count;
    uint64_t last_ns;
};

/* Somebody may have stopped the inspector alone.  The launches of the program then stand in the driver until it goes
 * on, and may crash there when it is killed.  SIGCONT does not change a process that runs.  True: it was sent. */
static bool wake(const struct wsdbg_watched_attach *guarded, struct wakes *wakes)
{
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    const bool is_renewed = renewed_before_ns(guarded) < STOPPED_NS;
    if (is_renewed && now_ns > wakes->last_ns + RUNS_NS)
        wakes->count = 0;
    if (is_renewed || wakes->count == WAKES || !is_inside(guarded))
        return false;
    syscall(SYS_pidfd_send_signal, guarded->inspector, SIGCONT, NULL, 0);
    *wakes = (struct wakes){wakes->count + 1, now_ns};
    return true;
}

/* True when the inspector has ended, false when the program has. */
static bool wait_for_end(const struct wsdbg_watched_attach *guarded)
{
    struct pollfd pollers[] = {{.fd = guarded->inspector, .events = POLLIN},
                               {.fd = guarded->attach.process, .events = POLLIN}};
    uint64_t overdue_ns = UINT64_MAX;
    struct wakes wakes = {0};
    while (wsdbg_attach_alive(&guarded->attach) && !has_ended(guarded->inspector)) {
        const uint64_t now_ns = wsdbg_attach_clock_ns();
        if (!wake(guarded, &wakes) && is_silent(guarded))
            syscall(SYS_pidfd_send_signal, guarded->inspector, SIGKILL, NULL, 0);
        if (!should_leave(guarded))
            overdue_ns = UINT64_MAX;
        else if (overdue_ns == UINT64_MAX)
            overdue_ns = now_ns + OVERDUE_NS;
        else if (now_ns >= overdue_ns)
            syscall(SYS_pidfd_send_signal, guarded->inspector, SIGKILL, NULL, 0);
        poll(pollers, 2, ATTENTION_MS);
    }
    return wsdbg_attach_alive(&guarded->attach);
}

/* ---- rescuing ---- */

/* True when nothing of the program is stopped any more. */
static bool rescue_once(struct wsdbg_inspection *in)
{
    struct wsdbg_inspector_reply reply = {0};
    wsdbg_attach_wait_detached(in->attach, wsdbg_attach_clock_ns() + SHUT_NS);
    wsdbg_inspect_attach(in, WSDBG_INSPECTOR_ATTACH_NS, &reply);
    if (reply.failed)
        return false;
    wsdbg_inspect_suspend(in, STOPPED_AT_MOST_NS, &reply);
    wsdbg_inspect_resume(in);
    wsdbg_inspect_leave(in);
    return !reply.failed && stopped_devices(in->attach) == 0;
}

/* With rows of its own: wsdbg may still look at the inspector's. */
static void rescue(const struct wsdbg_attach_link *attach)
{
    static struct wsdbg_inspection in; /* the driver keeps a pointer to `wake` */
    void *area = mmap(NULL, WSDBG_INSPECTOR_AREA_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        return;
    in = (struct wsdbg_inspection){.attach = attach, .area = area, .wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    bool freed = false;
    for (int i = 0; !freed && i < TRIES && wsdbg_attach_alive(attach); i++) {
        alarm(TRY_SECONDS); /* each try its own: to be killed between suspend and resume is what leaves a GPU stopped */
        freed = rescue_once(&in);
        alarm(0);
    }
}

void wsdbg_attach_watchdog_run(const struct wsdbg_watched_attach *guarded)
{
    if (wait_for_end(guarded) && (is_inside(guarded) || stopped_devices(&guarded->attach)))
        rescue(&guarded->attach);
}
