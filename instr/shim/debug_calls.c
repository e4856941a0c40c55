/* debug_calls.c - what the program's own calls see of an inspector: when they wait for it, and what it costs them.
 *
 * Reads:  whether somebody is attached and how (debug_attach.c), WSDBG_ATTACH_FIRST.
 * Writes: segment->attach.waited_ns, launch_ns, launches, code_bytes and leave_wanted.
 *
 * While an inspector comes, looks or leaves no call begins; while one stays between looks all calls go on.  A call that
 * makes or ends a context finds nobody attached.
 */
#include "debug_calls.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "device_events.h"
#include "module_image.h"
#include "own_threads.h"
#include "registry.h"
#include "segment.h"
#include "state.h"

#define CONFIRM_NS 1000000000ull
#define HANDLED_NS 3000000ull /* a bad address keeps the driver for 5 ms */
#define EVENT_US 1000         /* ... whose event thread hears of it 0.5 ms after the call at the latest, ... */
#define SHOWN_NS 60000000ull  /* ... and a debugger 26 ms after it */
#define SHOWN_GAP_US 500
#define LAUNCH_AT_MOST_NS 200000ull /* a launch that waits for room in a queue costs no more because of us */
#define FIRST_LAUNCH_WAITS_AT_MOST_MS 10000
#define STUCK_NS 500000000ull
/* A look and the detach take 17 s at most, if three calls of the driver take long; calls wait no longer than this,
 * whatever the lease says. */
#define LONGEST_NS 18000000000ull
#define OTHER_DEVICE_NS 10000000000ull /* for each device besides the first: two calls that take long */

static _Atomic uint64_t kept_out_ns; /* since when calls wait */
static _Atomic int stopped_most;     /* devices that were stopped at once since then */
static _Atomic uint64_t ended_ns;    /* when calls last could go on again; 0 = they always could */
static _Atomic int changing;         /* calls between debug_attach_context_begin and _end */
static _Atomic uint32_t loading;     /* calls between debug_attach_load_begin and _end */
/* When a context was last changed in that way. */
static _Atomic uint64_t changed_ns[DEBUG_CONTEXT_ENDED + 1];
static _Atomic uint64_t awaited_until_ns;
static uint64_t await_at_most_ns;
static bool is_cheap; /* WSDBG_ATTACH_FIRST */
#define SILENT (1ull << 32)
static _Atomic uint32_t events_shown; /* device_events of which all has come out */
static _Atomic uint64_t silent_since; /* SILENT and `answered` as it was when a call waited for nothing; 0 = none did */

static struct wsdbg_attach_row *attach_row(void)
{
    return &atomic_load_explicit(&shim_segment, memory_order_acquire)->attach;
}

/* ---- for debug_attach.c ---- */

void debug_calls_keep_out(void)
{
    atomic_store(&kept_out_ns, shim_now_ns());
    atomic_store(&stopped_most, 0);
    atomic_store(&debug_attach_open, true);
}

void debug_calls_let_go(void)
{
    atomic_store(&events_shown, atomic_load(&device_events)); /* what a look has done is none of the program's */
    atomic_store(&ended_ns, shim_now_ns());
    atomic_store(&debug_attach_open, false);
}

/* Since when calls wait, UINT64_MAX = they do not. */
static uint64_t waiting_since_ns(void)
{
    return atomic_load(&debug_attach_open) ? atomic_load(&kept_out_ns) : UINT64_MAX;
}

/* An inspector may renew its lease for ever, as when wsdbg was stopped in the middle: calls do not wait so long. */
uint64_t debug_calls_lease_until_ns(void)
{
    const uint64_t lease_ns = __atomic_load_n(&attach_row()->lease_until_ns, __ATOMIC_ACQUIRE);
    const uint64_t since_ns = waiting_since_ns();
    const int stopped = __builtin_popcount(__atomic_load_n(&attach_row()->stopped_devices, __ATOMIC_ACQUIRE));
    if (stopped > atomic_load(&stopped_most))
        atomic_store(&stopped_most, stopped);
    const int others = atomic_load(&stopped_most) - 1;
    const uint64_t longest_ns = LONGEST_NS + (others > 0 ? (uint64_t)others * OTHER_DEVICE_NS : 0);
    return since_ns == UINT64_MAX || lease_ns < since_ns + longest_ns ? lease_ns : since_ns + longest_ns;
}

bool debug_calls_contexts_are_settled(uint64_t settle_made_ns, uint64_t settle_ended_ns)
{
    const uint64_t now_ns = shim_now_ns();
    return atomic_load(&changing) == 0 && now_ns >= atomic_load(&changed_ns[DEBUG_CONTEXT_MADE]) + settle_made_ns &&
           now_ns >= atomic_load(&changed_ns[DEBUG_CONTEXT_ENDED]) + settle_ended_ns;
}

uint32_t debug_calls_inside(void)
{
    return atomic_load(&loading) + registry_launch_is_blocked(UINT64_MAX);
}

bool debug_calls_code_is_new(void)
{
    const struct wsdbg_attach_row *attach = attach_row();
    const uint64_t known_bytes = __atomic_load_n(&attach->code_bytes_known, __ATOMIC_ACQUIRE);
    return is_cheap && __atomic_load_n(&attach->code_bytes, __ATOMIC_ACQUIRE) > known_bytes;
}

void debug_calls_start(void)
{
    const char *wanted = getenv(WSDBG_ENV_ATTACH_FIRST);
    const unsigned long ms = wanted ? strtoul(wanted, NULL, 10) : 0;
    await_at_most_ns = (ms < FIRST_LAUNCH_WAITS_AT_MOST_MS ? ms : FIRST_LAUNCH_WAITS_AT_MOST_MS) * UINT64_C(1000000);
    is_cheap = wanted && strstr(wanted, ",cheap");
    atomic_store(&debug_attach_awaited, await_at_most_ns > 0);
}

void debug_attach_saw_probes(void)
{
    if (is_cheap)
        atomic_store(&debug_attach_awaited, false);
}

/* ---- for the hooks ---- */

/* A debug attach that is still open when its lease, and the time for a rescue, have long run out is stuck in the
 * driver: it holds up nobody any more. */
static bool is_stuck(void)
{
    const uint64_t lease_ns = debug_calls_lease_until_ns(), rescue_ns = atomic_load(&debug_attach_rescued_by_ns);
    return shim_now_ns() > (lease_ns > rescue_ns ? lease_ns : rescue_ns) + STUCK_NS;
}

bool debug_attach_keeps_out(void)
{
    if (atomic_load(&debug_attach_open) && is_stuck())
        debug_calls_let_go();
    return atomic_load(&debug_attach_open);
}

bool debug_attach_was_since(uint64_t ns)
{
    return debug_attach_keeps_out() || atomic_load(&ended_ns) > ns;
}

void debug_attach_wait(void)
{
    const uint64_t began_ns = shim_now_ns();
    while (debug_attach_keeps_out())
        shim_sleep_us(100);
    __atomic_fetch_add(&attach_row()->waited_ns, shim_now_ns() - began_ns, __ATOMIC_RELAXED);
}

void debug_attach_count_launch(uint64_t began_ns)
{
    struct wsdbg_attach_row *attach = attach_row();
    const uint64_t took_ns = shim_now_ns() - began_ns;
    __atomic_fetch_add(&attach->launch_ns, took_ns < LAUNCH_AT_MOST_NS ? took_ns : LAUNCH_AT_MOST_NS, __ATOMIC_RELAXED);
    __atomic_fetch_add(&attach->launches, 1, __ATOMIC_RELAXED);
}

/* True while the inspector may still answer `asked`. */
static bool is_unanswered(const struct wsdbg_attach_row *attach, uint32_t asked)
{
    const uint32_t answered = __atomic_load_n(&attach->answered, __ATOMIC_ACQUIRE);
    return (int32_t)(answered - asked) < 0 && (atomic_load(&debug_attach_stays) || debug_attach_keeps_out());
}

/* False: it did not answer, or not the last time either: nobody waits for it twice. */
static bool ask_inspector(struct wsdbg_attach_row *attach)
{
    const uint64_t began_ns = shim_now_ns(), silent = atomic_load(&silent_since);
    const uint32_t asked = __atomic_add_fetch(&attach->asked, 1, __ATOMIC_ACQ_REL);
    if (silent && (uint32_t)silent == __atomic_load_n(&attach->answered, __ATOMIC_ACQUIRE))
        return false;
    syscall(SYS_futex, &attach->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
    while (is_unanswered(attach, asked) && shim_now_ns() < began_ns + CONFIRM_NS)
        shim_sleep_us(20);
    const bool is_silent = is_unanswered(attach, asked);
    atomic_store(&silent_since, is_silent ? SILENT | __atomic_load_n(&attach->answered, __ATOMIC_ACQUIRE) : 0);
    return !is_silent;
}

/* Where the driver cannot be watched a long call is taken for one in which something happened. */
static bool may_have_failed(bool was_long)
{
    return atomic_load(&device_events_are_seen) ? atomic_load(&device_events) != atomic_load(&events_shown) : was_long;
}

void debug_attach_confirm(uint64_t call_ns)
{
    const int kept = errno;
    struct wsdbg_attach_row *attach = attach_row();
    const uint64_t began_ns = shim_now_ns();
    const bool was_long = began_ns > call_ns + HANDLED_NS;
    if (was_long)
        shim_sleep_us(EVENT_US);
    const uint32_t events = atomic_load(&device_events);
    const uint64_t until_ns = may_have_failed(was_long) ? shim_now_ns() + SHOWN_NS : 0;
    while (ask_inspector(attach) && !debug_attach_keeps_out() && shim_now_ns() < until_ns)
        shim_sleep_us(SHOWN_GAP_US);
    atomic_store(&events_shown, events);
    __atomic_fetch_add(&attach->waited_ns, shim_now_ns() - began_ns, __ATOMIC_RELAXED);
    errno = kept;
}

void debug_attach_await(void)
{
    const int kept = errno;
    const uint64_t began_ns = shim_now_ns();
    uint64_t until_ns = 0;
    const bool is_first = atomic_compare_exchange_strong(&awaited_until_ns, &until_ns, began_ns + await_at_most_ns);
    until_ns = atomic_load(&awaited_until_ns);
    while (atomic_load(&debug_attach_awaited) && !atomic_load(&shim_exiting) && shim_now_ns() < until_ns &&
           !__atomic_load_n(&attach_row()->nobody_comes, __ATOMIC_ACQUIRE))
        shim_sleep_us(200);
    atomic_store(&debug_attach_awaited, false);
    if (is_first) /* the threads wait together */
        __atomic_fetch_add(&attach_row()->waited_ns, shim_now_ns() - began_ns, __ATOMIC_RELAXED);
    if (atomic_load(&debug_attach_open))
        debug_attach_wait();
    errno = kept;
}

/* Until nobody is attached.  The inspector is asked to leave in good order; debug_attach.c leaves without it where it
 * does not come to that soon. */
static void wait_until_nobody_is_in(void)
{
    const uint64_t began_ns = shim_now_ns();
    while (debug_attach_keeps_out() || atomic_load(&debug_attach_stays)) {
        if (atomic_load(&debug_attach_stays) && !__atomic_exchange_n(&attach_row()->leave_wanted, 1, __ATOMIC_ACQ_REL))
            syscall(SYS_futex, &attach_row()->request, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        shim_sleep_us(100);
    }
    __atomic_fetch_add(&attach_row()->waited_ns, shim_now_ns() - began_ns, __ATOMIC_RELAXED);
}

uint64_t debug_attach_code_begin(const void *image)
{
    const int kept = errno;
    const uint64_t bytes = is_cheap && shim_depth == 1 && image ? image_bytes_told(image) : 0;
    errno = kept;
    if (bytes < WSDBG_MUCH_CODE_BYTES)
        return 0;
    atomic_store(&debug_attach_awaited, false);
    debug_attach_context_begin();
    return bytes;
}

void debug_attach_code_end(uint64_t code_bytes, bool is_loaded)
{
    if (!code_bytes)
        return;
    if (is_loaded)
        __atomic_fetch_add(&attach_row()->code_bytes, code_bytes, __ATOMIC_RELEASE);
    debug_attach_context_end(DEBUG_CONTEXT_AS_IT_WAS);
}

void debug_attach_load_begin(void)
{
    if (shim_depth != 1)
        return;
    atomic_fetch_add(&loading, 1);
    while (debug_attach_keeps_out()) {
        const int kept = errno;
        atomic_fetch_sub(&loading, 1);
        debug_attach_wait();
        atomic_fetch_add(&loading, 1);
        errno = kept;
    }
}

void debug_attach_load_end(void)
{
    if (shim_depth == 1)
        atomic_fetch_sub(&loading, 1);
}

void debug_attach_context_begin(void)
{
    if (shim_depth != 1)
        return;
    atomic_fetch_add(&changing, 1);
    while (atomic_load(&debug_attach_stays) || debug_attach_keeps_out()) {
        const int kept = errno;
        atomic_fetch_sub(&changing, 1);
        wait_until_nobody_is_in();
        atomic_fetch_add(&changing, 1);
        errno = kept;
    }
}

void debug_attach_context_end(enum debug_context_change change)
{
    if (shim_depth != 1)
        return;
    atomic_store(&changed_ns[change], shim_now_ns());
    atomic_fetch_sub(&changing, 1);
}

void debug_calls_forget(void)
{
    atomic_store(&changing, 0);
    atomic_store(&loading, 0);
    atomic_store(&debug_attach_open, false);
    atomic_store(&debug_attach_loading, false);
    atomic_store(&debug_attach_stays, false);
    atomic_store(&debug_attach_awaited, false);
}
