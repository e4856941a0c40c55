/* debug_attach.c - lets wsdbg's inspector at the GPU's own state, and shows it out again whatever happens to it.
 *
 * Reads:  the upper half of segment->attach (a futex word and a lease), whether the inspector lives.
 * Writes: the lower half, and the variables of libcuda that its debug interface takes its orders from.
 *
 * One detached thread; it sleeps in a futex until wsdbg asks.  The driver attaches and detaches on this thread alone.
 * It holds no lock of ours across a call of the driver.  What the program's calls see of it is in debug_calls.c.
 */
#include "debug_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "captures.h"
#include "clock.h"
#include "debug_calls.h"
#include "debug_contexts.h"
#include "debug_fault.h"
#include "debug_idle.h"
#include "debug_interface.h"
#include "debug_obstacles.h"
#include "debug_turn.h"
#include "libcuda.h"
#include "messages.h"
#include "own_files.h"
#include "own_threads.h"
#include "registry.h"
#include "segment.h"
#include "segment_file.h"
#include "state.h"

#define ATTENTION_NS 10000000 /* how often lease and inspector are looked at while somebody is attached */
#define EXIT_WAIT_US 1300000
#define IDLE_NS 3000000ull         /* so long a context may take to say that it has no work */
#define FIRST_IDLE_NS 100000000ull /* ... before the first launch, also where other programs have the GPU in turns */
#define HELD_NS 100000000ull       /* an event that takes longer is held back by somebody */
/* To stop a device took the driver's debug interface 4 s at most; each stopped device has this time. */
#define STOPPED_DEVICE_NS 5000000000ull
/* So long calls wait for the inspector's attach watchdog, which lets the GPU go on, and for each device besides. */
#define RESCUE_NS 7000000000ull
/* For an inspector to leave when asked: 0.3 s after a look, and the detach. */
#define LEAVE_NS 600000000ull
#define LEAVE_LOADING_NS 2500000000ull /* while a call waits for its answer */
#define LEAVE_STOPPED_NS 500000000ull  /* and for each device that it has stopped besides */
#define LOADING_US 100000              /* a call that loads code may take so long before the attach is refused */
#define COME_UP_NS 1000000000ull       /* an attach takes 0.1 to 0.3 s */
#define LAUNCHES_WAIT_US 100000

/* Lazy loading, suspend events, exceptions of warps that have exited since, no context push and pop events.  Without
 * the first the driver refuses; without the third an error of the last instructions of a kernel is lost. */
#define CAPABILITIES 0xfu

static struct debug_interface interface;
static struct wsdbg_attach_row *attach;
static int inspector = -1;       /* pidfd, -1 = none or not to be had */
static uint64_t opened_ns;       /* when the inspector was let in */
static uint64_t leave_wanted_ns; /* since when it should leave; 0 = it need not */

static void set_state(enum wsdbg_attach_state state)
{
    debug_put32(&attach->state, state);
}

/* ---- the inspector's life ---- */

/* False: it is no more.  Without a pidfd for another reason (an old kernel) the lease alone tells. */
static bool follow_inspector(void)
{
    const int fd = (int)syscall(SYS_pidfd_open, (pid_t)attach->inspector_pid, 0);
    inspector = shim_above_streams(fd);
    return fd >= 0 || errno != ESRCH;
}

static void forget_inspector(void)
{
    if (inspector >= 0)
        close(inspector);
    inspector = -1;
}

static bool inspector_is_gone(void)
{
    struct pollfd poller = {.fd = inspector, .events = POLLIN};
    return inspector >= 0 && poll(&poller, 1, 0) != 0;
}

/* To leave in the middle of an attach would leave the driver's own thread at work in a program that ends.  What a look
 * had stopped would stay so: somebody may wait for it yet, and the inspector resumes it when it leaves. */
static bool may_leave_for_exit(void)
{
    if (attach->state == WSDBG_ATTACH_BEGINS)
        return shim_now_ns() > opened_ns + COME_UP_NS;
    if (debug_get32(&attach->stopped_devices))
        debug_put32(&attach->leave_wanted, 1);
    return !debug_get32(&attach->stopped_devices); /* else LEAVE_NS ends it */
}

/* When the program ends, calls that are still in the driver do not return.  So they do not count. */
static uint32_t calls_to_answer(void)
{
    return atomic_load(&shim_exiting) ? 0 : debug_calls_inside();
}

static uint64_t stopped_devices_ns(void)
{
    return (uint64_t)__builtin_popcount(debug_get32(&attach->stopped_devices)) * STOPPED_DEVICE_NS;
}

/* How long an inspector that was asked to leave may take. */
static uint64_t leave_limit_ns(void)
{
    if (!atomic_load(&shim_exiting) && debug_get32(&attach->stopped_devices))
        return LEAVE_STOPPED_NS + stopped_devices_ns();
    return calls_to_answer() ? LEAVE_LOADING_NS : LEAVE_NS;
}

/* A call that makes or ends a context waits for it. */
static bool leave_is_overdue(void)
{
    if (!__atomic_load_n(&attach->leave_wanted, __ATOMIC_ACQUIRE))
        leave_wanted_ns = 0;
    else if (!leave_wanted_ns)
        leave_wanted_ns = shim_now_ns();
    return leave_wanted_ns && shim_now_ns() > leave_wanted_ns + leave_limit_ns();
}

static bool must_detach(void)
{
    return (atomic_load(&shim_exiting) && may_leave_for_exit()) || inspector_is_gone() || leave_is_overdue() ||
           shim_now_ns() > debug_calls_lease_until_ns();
}

/* ---- the steps ---- */

static void let_in(void)
{
    debug_put32(interface.client_pid, attach->inspector_pid);
    debug_put32(interface.client_revision, attach->revision);
    debug_put32(interface.session_id, 0);
    debug_put32(interface.capabilities, CAPABILITIES);
    const int fd = interface.attach_fd ? __atomic_load_n(interface.attach_fd, __ATOMIC_SEQ_CST) : -1;
    if (fd < 0 || write(fd, "", 1) != 1)
        interface.attach();
}

/* Whether the program's calls go on while the inspector is attached. */
static void stay(bool stays)
{
    debug_put32(&attach->stays, stays);
    atomic_store(&debug_attach_stays, stays);
}

static void note_answer(void)
{
    attach->resume_flag = debug_get32(interface.resume_flag);
    attach->driver_error = __atomic_load_n(interface.error, __ATOMIC_SEQ_CST);
}

/* Afterwards the driver is as if nobody had been there.  Harmless where an attach did not come up.  What an inspector
 * that died had stopped is named to the driver as its interface wants it; that alone does not make it run again, so the
 * inspector's attach watchdog comes in next. */
static void show_out(void)
{
    set_state(WSDBG_ATTACH_ENDS);
    if (!atomic_load(&debug_attach_open))
        debug_calls_keep_out();
    stay(false);
    debug_put32(interface.suspended_mask, debug_get32(&attach->stopped_devices));
    interface.detach();
    note_answer();
}

/* A kernel that brings an error again would not run on a GPU that is still stopped, and would keep us from answering
 * the attach watchdog. */
static void let_go(void)
{
    debug_attach_rescued_by_ns = 0;
    debug_fault_give_back();
    debug_turn_give_back(attach);
    debug_calls_let_go();
}

static void shut(void)
{
    debug_put32(interface.initialized, 0);
    debug_put32(interface.ipc_flag, 0);
    forget_inspector();
    stay(false);
    set_state(WSDBG_ATTACH_NOBODY);
    atomic_store(&debug_attach_loading, false);
    debug_put32(&attach->leave_wanted, 0);
    if (debug_get32(&attach->stopped_devices))
        debug_attach_rescued_by_ns = shim_now_ns() + RESCUE_NS + stopped_devices_ns();
    else
        let_go();
}

/* What a dead inspector had stopped stands until its attach watchdog comes.  A call that enters the driver before that
 * may crash in it. */
static void await_rescue(void)
{
    if (attach->state == WSDBG_ATTACH_NOBODY &&
        (!debug_get32(&attach->stopped_devices) || shim_now_ns() > debug_attach_rescued_by_ns))
        let_go();
}

static void refuse(enum wsdbg_attach_obstacle obstacle, const char *text)
{
    snprintf(attach->text, sizeof attach->text, "%s", text);
    debug_put32(&attach->obstacle, obstacle);
}

static bool is_clear(void)
{
    char text[WSDBG_TEXT_BYTES] = "";
    if (!debug_interface_find(&interface)) {
        refuse(WSDBG_OBSTACLE_NO_INTERFACE, "this libcuda has no debug interface");
        return false;
    }
    refuse(debug_obstacles_find(debug_get32(interface.initialized) != 0, text), text);
    return attach->obstacle == WSDBG_OBSTACLE_NONE;
}

static bool is_our_turn(void)
{
    char text[WSDBG_TEXT_BYTES] = "";
    const bool is_ours = debug_turn_take(attach, text);
    if (!is_ours)
        refuse(WSDBG_OBSTACLE_TAKEN, text);
    return is_ours;
}

static void give_up(enum wsdbg_attach_obstacle obstacle, const char *text)
{
    refuse(obstacle, text);
    shut();
}

/* The driver may wait for a kernel that runs before it has loaded a module, and keep what would end that kernel waiting
 * too: ours are loaded only where nothing runs.  False: given up. */
static bool is_ready_for_stay(void)
{
    const uint64_t limit_ns = atomic_load(&debug_attach_awaited) ? FIRST_IDLE_NS : IDLE_NS;
    if (!debug_idle(limit_ns))
        give_up(WSDBG_OBSTACLE_AT_WORK, "the GPU has work of the program");
    else if (!debug_fault_prepare())
        give_up(WSDBG_OBSTACLE_REFUSED, "errors of the GPU could not be given back to the program");
    else if (!debug_idle(limit_ns))
        give_up(WSDBG_OBSTACLE_AT_WORK, "what was loaded for the program's errors keeps the GPU at work");
    else
        return true;
    return false;
}

/* Much code makes an attach long, and the program's calls wait meanwhile.  wsdbg did not count code that is being
 * loaded, or was loaded after it decided to attach. */
static const char *trouble_with_code(void)
{
    for (int waited_us = 0; waited_us < LOADING_US && debug_calls_inside(); waited_us += 100)
        shim_sleep_us(100);
    if (debug_calls_inside())
        return "the program is loading code, or launching";
    return debug_calls_code_is_new() ? "the program has just loaded much code" : NULL;
}

static void begin_attach(bool idle)
{
    char text[WSDBG_TEXT_BYTES];
    if (attach->state != WSDBG_ATTACH_NOBODY) {
        refuse(WSDBG_OBSTACLE_REFUSED, "another inspector of wsdbg is still attached");
        return;
    }
    if (!is_clear())
        return;
    debug_contexts_wait();
    const char *reason = idle ? trouble_with_code() : NULL;
    if (reason) { /* refused before calls are held: a program that loads code for a minute must not wait each time */
        refuse(WSDBG_OBSTACLE_NOT_SETTLED, reason);
        return;
    }
    if (!is_our_turn())
        return;
    opened_ns = shim_now_ns();
    debug_calls_keep_out();
    atomic_store(&debug_attach_loading, true);
    debug_own_calls_wait();
    reason = debug_contexts_trouble();
    if (!reason && idle)
        reason = trouble_with_code();
    if (reason) {
        give_up(WSDBG_OBSTACLE_NOT_SETTLED, reason);
        return;
    }
    if (idle && !is_ready_for_stay())
        return;
    set_state(WSDBG_ATTACH_BEGINS);
    if (!follow_inspector()) {
        give_up(WSDBG_OBSTACLE_LAPSED, "the inspector ended before it was let in");
        return;
    }
    let_in();
    note_answer();
    const bool taken = interface.external && debug_get32(interface.external) == 0;
    if (attach->driver_error == 0 && !taken)
        return;
    snprintf(text, sizeof text, "the driver refuses to let a debugger in (error %#llx)",
             (unsigned long long)attach->driver_error);
    refuse(taken ? WSDBG_OBSTACLE_CUPTI : WSDBG_OBSTACLE_REFUSED,
           taken ? "another tool in the program (a CUPTI subscriber, a profiler) has the driver's place for tools"
                 : text);
    show_out();
    shut();
}

static void detach(void)
{
    if (attach->state == WSDBG_ATTACH_BEGINS || attach->state == WSDBG_ATTACH_DONE)
        show_out();
}

static void lapse(void)
{
    refuse(atomic_load(&shim_exiting) ? WSDBG_OBSTACLE_NOT_SETTLED : WSDBG_OBSTACLE_LAPSED,
           atomic_load(&shim_exiting) ? "the program is ending" : "the inspector was lost; detached without it");
    detach();
    shut();
}

/* Lets the inspector stay only if the GPU has done all that it was given since the attach began.  Otherwise something
 * ran before the inspector saw it begin, and the driver would hold the program back. */
static void let_stay(void)
{
    if (attach->state != WSDBG_ATTACH_DONE)
        return;
    if (!atomic_load(&debug_attach_stays) && !debug_idle(HELD_NS)) {
        refuse(WSDBG_OBSTACLE_AT_WORK, "the driver holds back what the program gives the GPU");
        return;
    }
    stay(true);
    debug_calls_let_go();
    atomic_store(&debug_attach_awaited, false);
}

/* A launch that is in the driver while the GPU is stopped waits for the debugger, and crashes if that dies. */
static void pause_calls(void)
{
    debug_calls_keep_out();
    for (int waited_us = 0; waited_us < LAUNCHES_WAIT_US && registry_launch_is_blocked(UINT64_MAX); waited_us += 50)
        shim_sleep_us(50);
}

static void answer(uint32_t request)
{
    switch (request & 0xffu) {
    case WSDBG_ASK_PROBE:
        if (attach->state == WSDBG_ATTACH_NOBODY)
            is_clear();
        break;
    case WSDBG_ASK_ATTACH:
        begin_attach(false);
        break;
    case WSDBG_ASK_ATTACH_IDLE:
        begin_attach(true);
        if (attach->obstacle != WSDBG_OBSTACLE_NONE && attach->obstacle < WSDBG_OBSTACLE_NOT_SETTLED)
            atomic_store(&debug_attach_awaited, false); /* nobody will come */
        break;
    case WSDBG_ASK_STAY:
        let_stay();
        break;
    case WSDBG_ASK_FAULT:
        if (attach->state != WSDBG_ATTACH_DONE)
            break;
        debug_calls_keep_out();
        debug_fault_meet(attach->fault_exception, attach->fault_context);
        break;
    case WSDBG_ASK_PAUSE:
        if (attach->state == WSDBG_ATTACH_DONE)
            pause_calls();
        break;
    case WSDBG_ASK_QUIET:
        if (attach->state == WSDBG_ATTACH_DONE && !atomic_load(&debug_attach_open))
            debug_calls_keep_out();
        debug_put32(&attach->calls_inside, calls_to_answer());
        break;
    case WSDBG_ASK_ATTACHED:
        if (attach->state == WSDBG_ATTACH_BEGINS) {
            debug_put32(interface.ipc_flag, 1);
            atomic_store(&debug_attach_loading, false);
            set_state(WSDBG_ATTACH_DONE);
        }
        break;
    case WSDBG_ASK_DETACH:
        detach();
        break;
    case WSDBG_ASK_DETACHED:
        if (attach->state != WSDBG_ATTACH_NOBODY) {
            detach();
            shut();
        }
        atomic_store(&debug_attach_awaited, false);
        break;
    default:
        break;
    }
    __atomic_store_n(&attach->done, request, __ATOMIC_RELEASE);
    syscall(SYS_futex, &attach->done, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Nobody attached: until somebody asks.  Else a moment, since the inspector may die in silence. */
static void wait_request(uint32_t served)
{
    struct timespec moment = {.tv_nsec = ATTENTION_NS};
    const bool attached = attach->state != WSDBG_ATTACH_NOBODY || debug_attach_rescued_by_ns;
    syscall(SYS_futex, &attach->request, FUTEX_WAIT, served, attached ? &moment : NULL, NULL, 0);
}

static void *serve(void *unused)
{
    (void)unused;
    shim_thread_is_ours();
    captures_do_not_disturb();
    set_state(WSDBG_ATTACH_NOBODY);
    while (!atomic_load(&shim_exiting) || attach->state != WSDBG_ATTACH_NOBODY) {
        const uint32_t request = __atomic_load_n(&attach->request, __ATOMIC_ACQUIRE);
        if (attach->state != WSDBG_ATTACH_NOBODY && must_detach())
            lapse();
        if (debug_attach_rescued_by_ns)
            await_rescue();
        if (request != attach->done)
            answer(request);
        else
            wait_request(request);
    }
    return NULL;
}

void debug_attach_start(void)
{
    static _Atomic bool started;
    if (atomic_exchange(&started, true))
        return;
    debug_obstacles_remember();
    debug_calls_start();
    debug_turn_start();
    attach = &atomic_load(&shim_segment)->attach;
    if (!shim_start_thread(serve))
        shim_note("the GPU's own state cannot be read: its thread could not be started");
}

void debug_attach_stop(void)
{
    if (!attach || atomic_load(&shim_segment)->process_id != (uint32_t)getpid())
        return; /* a forked child: the debug attach is its parent's */
    syscall(SYS_futex, &attach->request, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    for (int waited_us = 0; waited_us < EXIT_WAIT_US && attach->state > WSDBG_ATTACH_NOBODY; waited_us += 500)
        shim_sleep_us(500);
}

/* The parent's segment says that it is being attached to just now. */
bool debug_attach_is_helper(const char *session)
{
    const int kept = errno;
    bool helper = false;
    int fd = segment_file_open_of(session, (int)getppid());
    uint32_t state = WSDBG_ATTACH_UNSERVED;
    if (fd >= 0 && pread(fd, &state, sizeof state, offsetof(struct wsdbg_segment, attach.state)) == sizeof state)
        helper = state == WSDBG_ATTACH_BEGINS;
    if (fd >= 0)
        close(fd);
    errno = kept;
    return helper;
}

void debug_attach_forget(void)
{
    debug_calls_forget();
    debug_fault_forget();
    debug_turn_forget();
}
