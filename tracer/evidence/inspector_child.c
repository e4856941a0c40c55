/* inspector_child.c - the inspector itself: serves wsdbg's steps with the driver's debug interface; see inspector.h.
 *
 * Reads: requests from a socket, the GPU through libcuda's debug interface (opened here, nowhere else in wsdbg).
 * Writes: replies, the shared area, the debug attach's words.
 *
 * Between two steps it answers the driver's events (a launch of the program waits until its event is acknowledged),
 * renews the lease, and looks whether wsdbg is still there and whether the GPU has been stopped for too long.
 */
#include "evidence/inspector_child.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_MS = 100,   /* nothing attached: only wsdbg's end is waited for */
    STAYING_MS = 10, /* the driver wakes us for its events, and the program may want us to leave */
    ENDINGS = 3,     /* a look, an exception that is met on the way out, and one that was none */
    AWAKE_MS = 1     /* it wakes us a moment before its event can be had, and a call of the program waits for us */
};
/* The waits of wsdbg_inspect_leave(), together with two of TAKEN_UP_NS below WSDBG_INSPECTOR_LEAVE_NS. */
#define QUIET_LIMIT_NS 1000000000ull  /* for calls that wait for our answers to return */
#define QUIET_NS 300000000ull         /* a call that returns no sooner after the last event waits for something else */
#define ANSWER_LIMIT_NS 200000000ull  /* without an answer by then the program has ended or executes another one */
#define DETACH_LIMIT_NS 1500000000ull /* until the driver has let us go */
#define DONE_LIMIT_NS 500000000ull    /* until the program has noted that */
/* When several programs share a GPU, resumed kernels run again only when their turn comes.  A detach before that leaves
 * them stopped for good (docs/results/live-attach.md). */
#define TAKEN_UP_NS 300000000ull

void wsdbg_inspect_fail(struct wsdbg_inspector_reply *reply, const char *format, ...)
{
    va_list arguments;
    reply->failed = 1;
    va_start(arguments, format);
    vsnprintf(reply->text, sizeof reply->text, format, arguments);
    va_end(arguments);
}

static void fail_with(struct wsdbg_inspector_reply *reply, struct wsdbg_error *error)
{
    wsdbg_inspect_fail(reply, "%s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

void wsdbg_inspect_hold(const struct wsdbg_inspection *in)
{
    wsdbg_attach_hold(in->attach, WSDBG_INSPECTOR_LEASE_NS);
}

/* ---- attach and detach ---- */

/* Tries until the driver begins, the time is over or the process ends.  Returns the driver's last result. */
static uint32_t initialize(struct wsdbg_inspection *in, uint64_t deadline_ns)
{
    uint32_t result;
    while ((result = in->api.initialize()) != WSDBG_DEBUG_OK) {
        if (wsdbg_attach_clock_ns() >= deadline_ns || !wsdbg_attach_alive(in->attach))
            return result;
        wsdbg_inspect_hold(in);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    in->initialized = true;
    return result;
}

static uint64_t left_ns(uint64_t deadline_ns)
{
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

/* True when the program's observer answered, whatever it said. */
static bool ask_attach(const struct wsdbg_inspection *in, enum wsdbg_attach_command command, uint64_t deadline_ns)
{
    struct wsdbg_error *error = wsdbg_attach_ask(in->attach, command, deadline_ns);
    const bool answered = !error || wsdbg_error_code(error) == WSDBG_ERROR_BUSY;
    wsdbg_error_destroy(error);
    return answered;
}

/* Whether no call waits for our answer to an event.  A call that stays in the driver long after the last event waits
 * for something else. */
static bool is_quiet(struct wsdbg_inspection *in)
{
    const bool asked = ask_attach(in, WSDBG_ASK_QUIET, wsdbg_attach_clock_ns() + ANSWER_LIMIT_NS);
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    if (!in->held_ns)
        in->held_ns = now_ns;
    const uint64_t last_ns = in->held_ns > in->event_ns ? in->held_ns : in->event_ns;
    return !asked || !__atomic_load_n(&in->attach->row->calls_inside, __ATOMIC_ACQUIRE) || now_ns > last_ns + QUIET_NS;
}

/* A call that loads code waits for our answer to the driver's event.  If we detach first, it waits for half a minute
 * (docs/results/live-attach.md). */
static void answer_calls_inside(struct wsdbg_inspection *in)
{
    const uint64_t deadline_ns = wsdbg_attach_clock_ns() + QUIET_LIMIT_NS;
    struct pollfd poller = {.fd = in->wake, .events = POLLIN};
    while (in->initialized && !in->internal_error && wsdbg_attach_alive(in->attach) && !is_quiet(in) &&
           wsdbg_attach_clock_ns() < deadline_ns) {
        wsdbg_inspect_hold(in);
        wsdbg_inspect_drain(in);
        poll(&poller, 1, WSDBG_INSPECT_ATTACHED_MS);
    }
}

static void show_ourselves_out(struct wsdbg_inspection *in)
{
    answer_calls_inside(in);
    const uint64_t deadline_ns = wsdbg_attach_clock_ns() + DETACH_LIMIT_NS;
    if (!ask_attach(in, WSDBG_ASK_DETACH, deadline_ns))
        return; /* it will do so alone */
    const uint32_t resume_flag = __atomic_load_n(&in->attach->row->resume_flag, __ATOMIC_ACQUIRE);
    if (in->initialized && resume_flag && in->api.requestCleanupOnDetach(resume_flag) == WSDBG_DEBUG_OK)
        wsdbg_inspect_drain_until(in, &in->detach_complete, left_ns(deadline_ns));
    ask_attach(in, WSDBG_ASK_DETACHED, wsdbg_attach_clock_ns() + DONE_LIMIT_NS);
}

static void tell_inside(const struct wsdbg_inspection *in, uint32_t inside)
{
    __atomic_store_n(&in->area->inside, inside, __ATOMIC_SEQ_CST);
}

static void meet_new_exception(struct wsdbg_inspection *in)
{
    if (!in->attached || in->exception_told)
        return;
    wsdbg_inspect_drain(in);
    if (in->exception)
        wsdbg_inspect_meet_exception(in);
}

static bool take_wake(int wake)
{
    uint64_t count;
    return read(wake, &count, sizeof count) == sizeof count;
}

bool wsdbg_inspect_is_taken_up(const struct wsdbg_inspection *in)
{
    return !in->resumed_ns || wsdbg_attach_clock_ns() >= in->resumed_ns + TAKEN_UP_NS;
}

/* Waits until the resumed work runs again.  Calls of the program that go on meanwhile still learn of exceptions. */
static void await_taken_up(struct wsdbg_inspection *in)
{
    struct pollfd pollers[] = {{.fd = in->wake, .events = POLLIN}, {.fd = in->asked_wake, .events = POLLIN}};
    while (in->attached && !in->suspended && !in->internal_error && wsdbg_attach_alive(in->attach) &&
           !wsdbg_inspect_is_taken_up(in) && (!in->exception || in->exception_told)) {
        wsdbg_inspect_hold(in);
        wsdbg_inspect_drain(in);
        if (in->stays)
            wsdbg_inspect_find_exceptions(in);
        poll(pollers, in->stays ? 2 : 1, WSDBG_INSPECT_ATTACHED_MS);
        if (in->stays && pollers[1].revents)
            take_wake(in->asked_wake);
    }
}

/* Resumes the GPU, waits until its work runs again, and handles exceptions that came meanwhile. */
static void come_to_an_end(struct wsdbg_inspection *in)
{
    for (int i = 0; i < ENDINGS; i++) {
        await_taken_up(in);
        meet_new_exception(in);
        if (in->suspended && wsdbg_inspect_is_trapped(in))
            break;
        if (!in->suspended && wsdbg_inspect_is_taken_up(in))
            break;
        in->stays = in->stays && !in->suspended;
        wsdbg_inspect_resume(in);
    }
    in->stays = false;
    if (!in->suspended)
        wsdbg_inspect_tell_taken_up(in);
}

void wsdbg_inspect_leave(struct wsdbg_inspection *in)
{
    wsdbg_inspect_hold(in);
    come_to_an_end(in);
    if (in->asked)
        show_ourselves_out(in);
    if (in->suspended) /* the driver has let it go with us */
        wsdbg_inspect_forget_stop(in);
    if (in->initialized)
        in->api.finalize();
    tell_inside(in, 0);
    __atomic_store_n(&in->area->stays, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&in->area->faulted, 0, __ATOMIC_SEQ_CST);
    in->asked = in->initialized = in->attached = false;
}

static void forget_last_time(struct wsdbg_inspection *in)
{
    struct wsdbg_inspector_area *area = in->area;
    in->attach_complete = in->detach_complete = in->internal_error = false;
    in->exception = in->exception_polled = in->exception_told = in->trapped = false;
    in->image_bytes = 0;
    in->resumed_ns = 0;
    in->images_lost = in->event_count = 0;
    in->event_ns = 0;
    area->device_count = area->image_count = area->grid_count = area->warp_count = 0;
    area->images_dropped = area->warps_dropped = 0;
}

/* From here on launches wait for nobody. */
static bool defers_launches(struct wsdbg_inspection *in)
{
    return in->api.setKernelLaunchNotificationMode &&
           in->api.setKernelLaunchNotificationMode(WSDBG_DEBUG_LAUNCHES_DEFERRED) == WSDBG_DEBUG_OK;
}

static double seconds_since(uint64_t begun_ns)
{
    return (double)(wsdbg_attach_clock_ns() - begun_ns) / 1e9;
}

static void come_in(struct wsdbg_inspection *in, enum wsdbg_attach_command way, uint64_t deadline_ns,
                    struct wsdbg_inspector_reply *reply)
{
    const uint64_t begun_ns = wsdbg_attach_clock_ns();
    in->asked = true;
    in->held_ns = begun_ns;
    tell_inside(in, 1);
    struct wsdbg_error *error = wsdbg_attach_ask(in->attach, way, deadline_ns);
    if (error) {
        fail_with(reply, error);
        return;
    }
    const uint32_t result = initialize(in, deadline_ns);
    if (result != WSDBG_DEBUG_OK) {
        wsdbg_inspect_fail(reply, "attach: the driver did not begin in %.1f s (its debug interface says %u)",
                           seconds_since(begun_ns), result);
        return;
    }
    in->api.setNotifyNewEventCallback(wsdbg_inspect_on_event, &in->wake);
    if (!wsdbg_inspect_drain_until(in, &in->attach_complete, left_ns(deadline_ns))) {
        if (in->internal_error)
            wsdbg_inspect_fail(reply, "attach: the driver reports an internal error");
        else
            wsdbg_inspect_fail(reply, "attach: the driver did not complete it in %.1f s; %u of its events came",
                               seconds_since(begun_ns), in->event_count);
        return;
    }
    if (way == WSDBG_ASK_ATTACH_IDLE && !defers_launches(in)) {
        wsdbg_inspect_fail(reply, "the driver has no deferred notifications of launches");
        return;
    }
    error = wsdbg_attach_ask(in->attach, WSDBG_ASK_ATTACHED, deadline_ns);
    if (error)
        fail_with(reply, error);
    else
        in->attached = true;
}

static void begin(struct wsdbg_inspection *in, enum wsdbg_attach_command way, uint64_t limit_ns,
                  struct wsdbg_inspector_reply *reply)
{
    const uint64_t most_ns = limit_ns < WSDBG_INSPECTOR_ATTACH_NS ? limit_ns : WSDBG_INSPECTOR_ATTACH_NS;
    const uint64_t deadline_ns = wsdbg_attach_clock_ns() + most_ns;
    in->attach->row->inspector_pid = (uint32_t)getpid();
    in->attach->row->revision = WSDBG_DEBUG_REVISION;
    forget_last_time(in);
    wsdbg_inspect_hold(in);
    wsdbg_inspect_open(in, reply);
    if (!reply->failed)
        come_in(in, way, deadline_ns, reply);
}

void wsdbg_inspect_attach(struct wsdbg_inspection *in, uint64_t limit_ns, struct wsdbg_inspector_reply *reply)
{
    if (in->attached)
        return;
    begin(in, WSDBG_ASK_ATTACH, limit_ns, reply);
    if (reply->failed)
        wsdbg_inspect_leave(in);
}

void wsdbg_inspect_tell(struct wsdbg_inspection *in, enum wsdbg_attach_command command)
{
    wsdbg_error_destroy(wsdbg_attach_ask(in->attach, command, wsdbg_attach_clock_ns() + DONE_LIMIT_NS));
}

/* The driver's events are answered while the program looks whether what it gives the GPU gets done. */
static struct wsdbg_error *let_calls_go(struct wsdbg_inspection *in)
{
    return wsdbg_attach_ask(in->attach, WSDBG_ASK_STAY, wsdbg_attach_clock_ns() + DONE_LIMIT_NS);
}

void wsdbg_inspect_stay(struct wsdbg_inspection *in, uint64_t limit_ns, struct wsdbg_inspector_reply *reply)
{
    if (in->attached)
        return;
    if (!in->listens)
        wsdbg_inspect_fail(reply, "no thread could be started for an inspector that stays");
    else
        begin(in, WSDBG_ASK_ATTACH_IDLE, limit_ns, reply);
    if (!reply->failed)
        wsdbg_inspect_note_exceptions(in);
    struct wsdbg_error *error = reply->failed ? NULL : let_calls_go(in);
    if (error)
        fail_with(reply, error);
    in->stays = !reply->failed;
    in->held_ns = 0;
    if (reply->failed)
        wsdbg_inspect_leave(in);
    else
        __atomic_store_n(&in->area->stays, 1, __ATOMIC_SEQ_CST);
}

/* ---- serving ---- */

static void serve_step(struct wsdbg_inspection *in, const struct wsdbg_inspector_request *request,
                       struct wsdbg_inspector_reply *reply)
{
    if (request->step == WSDBG_INSPECT_ATTACH)
        wsdbg_inspect_attach(in, request->arguments[0], reply);
    else if (request->step == WSDBG_INSPECT_STAY)
        wsdbg_inspect_stay(in, request->arguments[0], reply);
    else if (request->step == WSDBG_INSPECT_OPEN)
        wsdbg_inspect_open(in, reply);
    else if (request->step == WSDBG_INSPECT_DETACH)
        wsdbg_inspect_leave(in);
    else if (!in->attached)
        wsdbg_inspect_fail(reply, "nothing is attached");
    else if (request->step == WSDBG_INSPECT_SUSPEND)
        wsdbg_inspect_suspend(in, request->arguments[0], reply);
    else if (request->step == WSDBG_INSPECT_RESUME && in->exception)
        wsdbg_inspect_leave(in); /* nothing of this context ever goes on */
    else if (request->step == WSDBG_INSPECT_RESUME)
        wsdbg_inspect_resume(in);
    else if (!in->suspended)
        wsdbg_inspect_fail(reply, "the GPU is not stopped any more");
    else
        wsdbg_inspect_read(in, request, reply);
}

/* False: wsdbg is gone. */
static bool serve_one(struct wsdbg_inspection *in, int socket)
{
    struct wsdbg_inspector_request request;
    const ssize_t came = recv(socket, &request, sizeof request, 0);
    if (came != sizeof request)
        return came < 0 && errno == EINTR;
    struct wsdbg_inspector_reply reply = {.number = request.number};
    if (in->asked)
        wsdbg_inspect_hold(in);
    serve_step(in, &request, &reply);
    return send(socket, &reply, sizeof reply, MSG_NOSIGNAL) == sizeof reply;
}

/* The program detached us (it is ending, or thought that we are dead), or wants us to leave. */
static bool must_leave(const struct wsdbg_inspection *in)
{
    const struct wsdbg_attach_row *row = in->attach->row;
    return !wsdbg_attach_alive(in->attach) || __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) != WSDBG_ATTACH_DONE ||
           __atomic_load_n(&row->leave_wanted, __ATOMIC_ACQUIRE);
}

/* only_asked: nothing but a call of the program that wants to know of exceptions has woken us. */
static void attend(struct wsdbg_inspection *in, bool only_asked)
{
    if (!in->attached)
        return;
    if (must_leave(in)) {
        wsdbg_inspect_leave(in);
        return;
    }
    wsdbg_inspect_hold(in);
    if (!in->suspended && wsdbg_inspect_is_taken_up(in))
        wsdbg_inspect_tell_taken_up(in);
    if (!in->suspended && !only_asked)
        wsdbg_inspect_drain(in);
    if (in->stays && !in->suspended)
        wsdbg_inspect_find_exceptions(in);
    if (in->exception && !in->exception_told)
        wsdbg_inspect_meet_exception(in);
    if (!in->suspended || wsdbg_attach_clock_ns() < in->resume_by_ns)
        return;
    if (in->exception)
        wsdbg_inspect_leave(in); /* nothing of this context ever goes on */
    else
        wsdbg_inspect_resume(in);
}

static int rest_ms(const struct wsdbg_inspection *in)
{
    if (!in->attached)
        return IDLE_MS;
    if (!in->stays || in->suspended)
        return WSDBG_INSPECT_ATTACHED_MS;
    return wsdbg_attach_clock_ns() < in->awake_until_ns ? AWAKE_MS : STAYING_MS;
}

/* Turns the futex that calls of the program raise into something to poll for. */
static void *listen_for_calls(void *argument)
{
    const struct wsdbg_inspection *in = argument;
    uint32_t last = __atomic_load_n(&in->attach->row->asked, __ATOMIC_ACQUIRE);
    for (;;) {
        const uint64_t one = 1;
        syscall(SYS_futex, &in->attach->row->asked, FUTEX_WAIT, last, NULL, NULL, 0);
        const uint32_t now = __atomic_load_n(&in->attach->row->asked, __ATOMIC_ACQUIRE);
        if (now != last && write(in->asked_wake, &one, sizeof one) < 0 && errno != EAGAIN)
            return NULL;
        last = now;
    }
}

static void serve(struct wsdbg_inspection *in, int socket)
{
    for (bool served = true; served;) {
        struct pollfd pollers[] = {{.fd = socket, .events = POLLIN},
                                   {.fd = in->asked_wake, .events = POLLIN},
                                   {.fd = in->wake, .events = POLLIN}};
        const bool wants_events = in->attached && !in->suspended;
        const bool woken = poll(pollers, wants_events ? 3 : 2, rest_ms(in)) > 0;
        const bool asked = pollers[1].revents && take_wake(in->asked_wake);
        attend(in, woken && asked && !pollers[0].revents && !(wants_events && pollers[2].revents));
        if (pollers[0].revents)
            served = serve_one(in, socket);
    }
}

void wsdbg_inspector_serve(const struct wsdbg_attach_link *attach, struct wsdbg_inspector_area *area, int socket)
{
    static struct wsdbg_inspection in; /* the driver keeps a pointer to `wake` */
    pthread_t listener;
    in = (struct wsdbg_inspection){.attach = attach, .area = area, .wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    in.asked_wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    in.listens = pthread_create(&listener, NULL, listen_for_calls, &in) == 0;
    serve(&in, socket);
    wsdbg_inspect_leave(&in);
}
