/* inspector_child.c - the inspector itself: serves wsdbg's steps with the driver's debug interface; see inspector.h.
 *
 * Reads: requests from a socket, the GPU through libcuda's debug interface (opened here, nowhere else in wsdbg).
 * Writes: replies, the shared area, the door's words.
 *
 * Between two steps it answers the driver's events (a launch of the program waits until its event is acknowledged),
 * renews the lease, and looks whether wsdbg is still there and whether the GPU has been stopped for too long.
 */
#include "evidence/inspector_child.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_MS = 100,   /* nothing attached: only wsdbg's end is waited for */
    ATTACHED_MS = 2, /* events are looked for at least this often */
    STAYING_MS = 10, /* the driver wakes us for its events, and the program may want us to leave */
    AWAKE_MS = 1     /* it wakes us a moment before its event can be had, and a call of the program waits for us */
};
#define AWAKE_NS 20000000ull
#define LEASE_NS 3000000000ull
/* The waits of wsdbg_inspect_leave(), together well below WSDBG_INSPECTOR_LEAVE_NS. */
#define DETACH_LIMIT_NS 1500000000ull /* until the driver has let us go */
#define DONE_LIMIT_NS 500000000ull    /* until the program has noted that */
#define EXCEPTION_NS 1500000000ull    /* for wsdbg to look at what an exception has stopped */

static const char no_answer[] = "the driver did not complete it in time";

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

static void hold(const struct wsdbg_inspection *in)
{
    wsdbg_door_hold(in->door, LEASE_NS);
}

/* ---- events ---- */

/* Called by the driver on a thread of its own. */
static void on_event(void *wake)
{
    const uint64_t one = 1;
    const ssize_t written = write(*(const int *)wake, &one, sizeof one);
    (void)written; /* events are looked for now and then anyway */
}

/* Its bytes are fetched when a warp is seen in it (inspector_reads.c): a program may load thousands. */
static void take_image(struct wsdbg_inspection *in, const struct wsdbg_debug_event *event)
{
    struct wsdbg_inspector_area *area = in->area;
    if (area->image_count >= WSDBG_INSPECTOR_IMAGES) {
        in->images_lost++;
        return;
    }
    area->images[area->image_count++] = (struct wsdbg_inspector_image){.device = event->image.device,
                                                                       .context = event->image.context,
                                                                       .module = event->image.module,
                                                                       .handle = event->image.handle,
                                                                       .byte_count = event->image.byte_count};
}

static void drop_image(struct wsdbg_inspection *in, const struct wsdbg_debug_event *event)
{
    struct wsdbg_inspector_area *area = in->area;
    for (uint32_t i = 0; i < area->image_count; i++)
        if (area->images[i].device == event->image.device && area->images[i].handle == event->image.handle)
            area->images[i--] = area->images[--area->image_count];
}

static void take_event(struct wsdbg_inspection *in, const struct wsdbg_debug_event *event)
{
    if (event->kind == WSDBG_DEBUG_EVENT_IMAGE_LOADED)
        take_image(in, event);
    else if (event->kind == WSDBG_DEBUG_EVENT_IMAGE_UNLOADED)
        drop_image(in, event);
    else if (event->kind == WSDBG_DEBUG_EVENT_ALL_SUSPENDED)
        in->exception = true;
    else if (event->kind == WSDBG_DEBUG_EVENT_ATTACH_COMPLETE)
        in->attach_complete = true;
    else if (event->kind == WSDBG_DEBUG_EVENT_DETACH_COMPLETE)
        in->detach_complete = true;
    else if (event->kind == WSDBG_DEBUG_EVENT_INTERNAL_ERROR)
        in->internal_error = true;
}

/* Bounded, so that a program that launches without end does not keep wsdbg waiting. */
enum { EVENTS_AT_ONCE = 10000 };

static void drain(struct wsdbg_inspection *in)
{
    struct wsdbg_debug_event event;
    uint64_t wakes;
    if (read(in->wake, &wakes, sizeof wakes) == sizeof wakes)
        in->awake_until_ns = wsdbg_door_now_ns() + AWAKE_NS;
    int count = 0;
    while (count < EVENTS_AT_ONCE && in->api.getNextEvent(WSDBG_DEBUG_QUEUE_SYNC, &event) == WSDBG_DEBUG_OK) {
        take_event(in, &event);
        count++;
    }
    if (count)
        in->api.acknowledgeSyncEvents();
    for (count = 0; count < EVENTS_AT_ONCE; count++) {
        if (in->api.getNextEvent(WSDBG_DEBUG_QUEUE_ASYNC, &event) != WSDBG_DEBUG_OK)
            break;
        take_event(in, &event);
    }
}

/* Answers events until *flag, an internal error, the process's end or the deadline. */
static bool drain_until(struct wsdbg_inspection *in, const bool *flag, uint64_t limit_ns)
{
    const uint64_t deadline_ns = wsdbg_door_now_ns() + limit_ns;
    struct pollfd poller = {.fd = in->wake, .events = POLLIN};
    for (;;) {
        drain(in);
        if (*flag || in->internal_error || !wsdbg_door_alive(in->door) || wsdbg_door_now_ns() >= deadline_ns)
            return *flag;
        hold(in);
        poll(&poller, 1, ATTACHED_MS);
    }
}

/* ---- attach and detach ---- */

static bool initialize(struct wsdbg_inspection *in, uint64_t deadline_ns)
{
    uint32_t result;
    while ((result = in->api.initialize()) != WSDBG_DEBUG_OK) {
        if (wsdbg_door_now_ns() >= deadline_ns || !wsdbg_door_alive(in->door))
            return false;
        hold(in);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    in->initialized = true;
    return true;
}

static uint64_t left_ns(uint64_t deadline_ns)
{
    const uint64_t now_ns = wsdbg_door_now_ns();
    return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

/* True when the program's observer answered, whatever it said. */
static bool ask_door(struct wsdbg_inspection *in, enum wsdbg_door_command command, uint64_t deadline_ns)
{
    struct wsdbg_error *error = wsdbg_door_ask(in->door, command, deadline_ns);
    const bool answered = !error || wsdbg_error_code(error) == WSDBG_ERROR_BUSY;
    wsdbg_error_destroy(error);
    return answered;
}

static void show_ourselves_out(struct wsdbg_inspection *in)
{
    const uint64_t deadline_ns = wsdbg_door_now_ns() + DETACH_LIMIT_NS;
    if (!ask_door(in, WSDBG_DOOR_DETACH, deadline_ns))
        return; /* it will do so alone */
    const uint32_t resume_flag = __atomic_load_n(&in->door->row->resume_flag, __ATOMIC_ACQUIRE);
    if (in->initialized && resume_flag && in->api.requestCleanupOnDetach(resume_flag) == WSDBG_DEBUG_OK)
        drain_until(in, &in->detach_complete, left_ns(deadline_ns));
    ask_door(in, WSDBG_DOOR_DETACHED, wsdbg_door_now_ns() + DONE_LIMIT_NS);
}

static void tell_inside(const struct wsdbg_inspection *in, uint32_t inside)
{
    __atomic_store_n(&in->area->inside, inside, __ATOMIC_SEQ_CST);
}

/* ---- exceptions ---- */

static const struct wsdbg_inspector_warp *find_exception(const struct wsdbg_inspector_area *area, uint32_t *exception)
{
    for (uint32_t i = 0; i < area->warp_count; i++)
        for (int lane = 0; lane < 32; lane++)
            if (area->warps[i].state.lanes[lane].exception && area->warps[i].state.valid_lanes >> lane & 1) {
                *exception = area->warps[i].state.lanes[lane].exception;
                return &area->warps[i];
            }
    return NULL;
}

static uint64_t context_of(const struct wsdbg_inspector_area *area, const struct wsdbg_inspector_warp *warp)
{
    for (uint32_t i = 0; warp && i < area->grid_count; i++)
        if (area->grids[i].device == warp->device && area->grids[i].grid_id == warp->state.grid_id)
            return area->grids[i].context;
    return 0;
}

/* An exception has stopped the GPU.  When we leave the driver has forgotten the error: so the program's observer learns
 * of it before anything of the program goes on, and wsdbg gets a moment to look. */
static void meet_exception(struct wsdbg_inspection *in)
{
    struct wsdbg_inspector_reply reply = {0};
    uint32_t exception = 0;
    in->exception_told = true;
    if (!in->suspended)
        wsdbg_inspect_suspend(in, EXCEPTION_NS, &reply);
    if (!reply.failed)
        wsdbg_inspect_warps(in);
    const struct wsdbg_inspector_warp *warp = reply.failed ? NULL : find_exception(in->area, &exception);
    in->door->row->fault_context = context_of(in->area, warp);
    in->door->row->fault_exception = exception;
    wsdbg_inspect_tell(in, WSDBG_DOOR_FAULT);
    __atomic_store_n(&in->area->faulted, 1, __ATOMIC_SEQ_CST);
}

/* A warp stands at a trap: to a debugger that is a breakpoint, at which the warp would stop again at once.  Nobody
 * resumes it: the driver does, when no debugger is there any more, and the trap becomes the program's error. */
static bool is_trapped(const struct wsdbg_inspection *in)
{
    return in->suspended && in->exception && in->door->row->fault_exception == 0;
}

void wsdbg_inspect_leave(struct wsdbg_inspection *in)
{
    hold(in);
    if (in->attached && !in->exception_told) {
        drain(in);
        if (in->exception)
            meet_exception(in);
    }
    in->stays = false;
    if (!is_trapped(in))
        wsdbg_inspect_resume(in);
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
    in->exception = in->exception_told = false;
    in->image_bytes = 0;
    in->images_lost = 0;
    area->device_count = area->image_count = area->grid_count = area->warp_count = 0;
    area->images_dropped = area->warps_dropped = 0;
}

/* From here on launches wait for nobody. */
static bool defers_launches(struct wsdbg_inspection *in)
{
    return in->api.setKernelLaunchNotificationMode &&
           in->api.setKernelLaunchNotificationMode(WSDBG_DEBUG_LAUNCHES_DEFERRED) == WSDBG_DEBUG_OK;
}

static void come_in(struct wsdbg_inspection *in, enum wsdbg_door_command way, uint64_t deadline_ns,
                    struct wsdbg_inspector_reply *reply)
{
    in->asked = true;
    tell_inside(in, 1);
    struct wsdbg_error *error = wsdbg_door_ask(in->door, way, deadline_ns);
    if (error) {
        fail_with(reply, error);
        return;
    }
    if (!initialize(in, deadline_ns)) {
        wsdbg_inspect_fail(reply, "attach: %s", no_answer);
        return;
    }
    in->api.setNotifyNewEventCallback(on_event, &in->wake);
    if (!drain_until(in, &in->attach_complete, left_ns(deadline_ns))) {
        wsdbg_inspect_fail(reply, "attach: %s",
                           in->internal_error ? "the driver reports an internal error" : no_answer);
        return;
    }
    if (way == WSDBG_DOOR_ATTACH_IDLE && !defers_launches(in)) {
        wsdbg_inspect_fail(reply, "the driver has no deferred notifications of launches");
        return;
    }
    error = wsdbg_door_ask(in->door, WSDBG_DOOR_ATTACHED, deadline_ns);
    if (error)
        fail_with(reply, error);
    else
        in->attached = true;
}

static void begin(struct wsdbg_inspection *in, enum wsdbg_door_command way, uint64_t limit_ns,
                  struct wsdbg_inspector_reply *reply)
{
    const uint64_t most_ns = limit_ns < WSDBG_INSPECTOR_ATTACH_NS ? limit_ns : WSDBG_INSPECTOR_ATTACH_NS;
    const uint64_t deadline_ns = wsdbg_door_now_ns() + most_ns;
    in->door->row->inspector_pid = (uint32_t)getpid();
    in->door->row->revision = WSDBG_DEBUG_REVISION;
    forget_last_time(in);
    hold(in);
    wsdbg_inspect_open(in, reply);
    if (!reply->failed)
        come_in(in, way, deadline_ns, reply);
}

void wsdbg_inspect_attach(struct wsdbg_inspection *in, uint64_t limit_ns, struct wsdbg_inspector_reply *reply)
{
    if (in->attached)
        return;
    begin(in, WSDBG_DOOR_ATTACH, limit_ns, reply);
    if (reply->failed)
        wsdbg_inspect_leave(in);
}

void wsdbg_inspect_tell(struct wsdbg_inspection *in, enum wsdbg_door_command command)
{
    wsdbg_error_destroy(wsdbg_door_ask(in->door, command, wsdbg_door_now_ns() + DONE_LIMIT_NS));
}

/* The driver's events are answered while the program looks whether what it gives the GPU gets done. */
static struct wsdbg_error *let_calls_go(struct wsdbg_inspection *in)
{
    return wsdbg_door_ask(in->door, WSDBG_DOOR_STAY, wsdbg_door_now_ns() + DONE_LIMIT_NS);
}

void wsdbg_inspect_stay(struct wsdbg_inspection *in, uint64_t limit_ns, struct wsdbg_inspector_reply *reply)
{
    if (in->attached)
        return;
    begin(in, WSDBG_DOOR_ATTACH_IDLE, limit_ns, reply);
    struct wsdbg_error *error = reply->failed ? NULL : let_calls_go(in);
    if (error)
        fail_with(reply, error);
    in->stays = !reply->failed;
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
        hold(in);
    serve_step(in, &request, &reply);
    return send(socket, &reply, sizeof reply, MSG_NOSIGNAL) == sizeof reply;
}

/* The program detached us (it is ending, or thought that we are dead), or wants us to leave. */
static bool must_leave(const struct wsdbg_inspection *in)
{
    const struct wsdbg_door_row *row = in->door->row;
    return !wsdbg_door_alive(in->door) || __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) != WSDBG_DOOR_OPEN ||
           __atomic_load_n(&row->leave_wanted, __ATOMIC_ACQUIRE);
}

static void attend(struct wsdbg_inspection *in)
{
    if (!in->attached)
        return;
    if (must_leave(in)) {
        wsdbg_inspect_leave(in);
        return;
    }
    hold(in);
    if (!in->suspended)
        drain(in);
    if (in->exception && !in->exception_told)
        meet_exception(in);
    if (!in->suspended || wsdbg_door_now_ns() < in->resume_by_ns)
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
        return ATTACHED_MS;
    return wsdbg_door_now_ns() < in->awake_until_ns ? AWAKE_MS : STAYING_MS;
}

void wsdbg_inspector_serve(const struct wsdbg_door *door, struct wsdbg_inspector_area *area, int socket)
{
    static struct wsdbg_inspection in; /* the driver keeps a pointer to `wake` */
    in = (struct wsdbg_inspection){.door = door, .area = area, .wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    bool served = true;
    while (served) {
        struct pollfd pollers[] = {{.fd = socket, .events = POLLIN}, {.fd = in.wake, .events = POLLIN}};
        const bool wants_events = in.attached && !in.suspended;
        poll(pollers, wants_events ? 2 : 1, rest_ms(&in));
        attend(&in);
        if (pollers[0].revents)
            served = serve_one(&in, socket);
    }
    wsdbg_inspect_leave(&in);
}
