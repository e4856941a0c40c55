/* inspector.c - wsdbg's side of the inspector: starts the child and its attach watchdog, asks, ends; see inspector.h.
 */
#include "evidence/inspector.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "evidence/attach_watchdog.h"
#include "evidence/side_process.h"

#define KILL_LIMIT_NS 1000000000ull

struct wsdbg_inspector {
    struct wsdbg_attach_link attach;
    struct wsdbg_inspector_area *area;
    struct wsdbg_side_process child, attach_watchdog;
    bool lost;
    int socket;
    uint32_t number;
    uint32_t posted; /* step that was posted and not collected, 0 = none */
    uint64_t posted_until_ns;
};

static const char *const step_names[WSDBG_INSPECT_STEPS] = {
    [WSDBG_INSPECT_ATTACH] = "attach",
    [WSDBG_INSPECT_SUSPEND] = "suspend",
    [WSDBG_INSPECT_WARPS] = "read the warps",
    [WSDBG_INSPECT_REGISTERS] = "read registers",
    [WSDBG_INSPECT_UNIFORM] = "read uniform registers",
    [WSDBG_INSPECT_PREDICATES] = "read predicates",
    [WSDBG_INSPECT_SHARED] = "read shared memory",
    [WSDBG_INSPECT_LOCAL] = "read local memory",
    [WSDBG_INSPECT_GLOBAL] = "read global memory",
    [WSDBG_INSPECT_CONSTANT] = "read constants",
    [WSDBG_INSPECT_RESUME] = "resume",
    [WSDBG_INSPECT_DETACH] = "detach",
    [WSDBG_INSPECT_STAY] = "attach",
    [WSDBG_INSPECT_OPEN] = "load libcuda",
};

struct service {
    const struct wsdbg_inspector *inspector;
    int socket;
};

static void be_inspector(const void *argument)
{
    const struct service *service = argument;
    wsdbg_inspector_serve(&service->inspector->attach, service->inspector->area, service->socket);
}

static void be_attach_watchdog(const void *argument)
{
    wsdbg_attach_watchdog_run(argument);
}

/* Before the child is asked anything: there is no moment at which it could stop a GPU unguarded. */
static struct wsdbg_error *start_attach_watchdog(struct wsdbg_inspector *inspector)
{
    const struct wsdbg_watched_attach guarded = {
        .attach = inspector->attach, .area = inspector->area, .inspector = inspector->child.process, .wsdbg = getpid()};
    return wsdbg_side_process_start(&inspector->attach_watchdog, "attach-watchdog",
                                    (int[]){guarded.inspector, guarded.attach.process}, be_attach_watchdog, &guarded);
}

static struct wsdbg_error *start_child(struct wsdbg_inspector *inspector)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return wsdbg_error_os(errno, "no socket for the inspector");
    inspector->socket = ends[0];
    const struct service service = {.inspector = inspector, .socket = ends[1]};
    struct wsdbg_error *error = wsdbg_side_process_start(
        &inspector->child, "gpu-inspector", (int[]){service.socket, inspector->attach.process}, be_inspector, &service);
    close(ends[1]);
    return error ? error : start_attach_watchdog(inspector);
}

struct wsdbg_error *wsdbg_inspector_start(const struct wsdbg_attach_link *attach, struct wsdbg_inspector **out)
{
    struct wsdbg_inspector *inspector = calloc(1, sizeof *inspector);
    if (!inspector)
        return &wsdbg_error_no_memory;
    inspector->attach = *attach;
    inspector->socket = inspector->child.process = inspector->attach_watchdog.process = -1;
    void *area = mmap(NULL, WSDBG_INSPECTOR_AREA_BYTES, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct wsdbg_error *error = area == MAP_FAILED ? wsdbg_error_os(errno, "no shared memory for the inspector") : NULL;
    inspector->area = area == MAP_FAILED ? NULL : area;
    if (!error)
        error = start_child(inspector);
    if (error)
        wsdbg_inspector_stop(inspector);
    else
        *out = inspector;
    return error;
}

/* A child that is stuck in the driver does not die of SIGKILL: it is not waited for longer than a second. */
static void give_up(struct wsdbg_inspector *inspector)
{
    inspector->lost = true;
    wsdbg_side_process_kill(&inspector->child);
    wsdbg_side_process_wait(&inspector->child, wsdbg_attach_clock_ns() + KILL_LIMIT_NS);
}

/* Whether the socket has data, or was closed, before the deadline.  Behind the deadline it still looks once. */
static bool wait_readable(int socket, uint64_t deadline_ns)
{
    struct pollfd poller = {.fd = socket, .events = POLLIN};
    for (uint64_t now_ns = wsdbg_attach_clock_ns();; now_ns = wsdbg_attach_clock_ns()) {
        const bool is_late = now_ns >= deadline_ns;
        if (poll(&poller, 1, is_late ? 0 : (int)((deadline_ns - now_ns) / 1000000) + 1) > 0)
            return true;
        if (is_late)
            return false;
    }
}

static struct wsdbg_error *lose(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step, const char *how)
{
    give_up(inspector);
    return wsdbg_error_create(WSDBG_ERROR_OS, "the driver's debug interface %s (%s)", how, step_names[step]);
}

static const char broke[] = "broke off";

static struct wsdbg_error *put(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step,
                               const uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS])
{
    struct wsdbg_inspector_request request = {.step = step, .number = ++inspector->number};
    if (inspector->lost)
        return wsdbg_error_create(WSDBG_ERROR_OS, "the inspector is no more (%s)", step_names[step]);
    if (arguments)
        memcpy(request.arguments, arguments, sizeof request.arguments);
    if (send(inspector->socket, &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
        return lose(inspector, step, broke);
    return NULL;
}

/* Limits are for one device.  A call of the driver for each of the others may take as long again. */
static uint64_t other_devices_ns(const struct wsdbg_inspector *inspector)
{
    const uint32_t stopped = __atomic_load_n(&inspector->attach.row->stopped_devices, __ATOMIC_ACQUIRE);
    const uint64_t count = (uint64_t)__builtin_popcount(stopped);
    return count > 1 ? (count - 1) * WSDBG_INSPECTOR_BLOCKED_NS : 0;
}

static struct wsdbg_error *take(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step, uint64_t deadline_ns,
                                uint64_t values[2])
{
    struct wsdbg_inspector_reply reply;
    if (!wait_readable(inspector->socket, deadline_ns) &&
        !wait_readable(inspector->socket, deadline_ns + other_devices_ns(inspector)))
        return lose(inspector, step, "did not answer in time");
    if (recv(inspector->socket, &reply, sizeof reply, 0) != sizeof reply || reply.number != inspector->number)
        return lose(inspector, step, broke);
    reply.text[sizeof reply.text - 1] = '\0';
    if (reply.failed)
        return wsdbg_error_create(WSDBG_ERROR_BUSY, "%s", reply.text);
    if (values)
        memcpy(values, reply.values, sizeof reply.values);
    return NULL;
}

struct wsdbg_error *wsdbg_inspector_finish(struct wsdbg_inspector *inspector)
{
    const uint32_t step = inspector->posted;
    inspector->posted = 0;
    return step ? take(inspector, step, inspector->posted_until_ns, NULL) : NULL;
}

struct wsdbg_error *wsdbg_inspector_ask(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step,
                                        const uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS], uint64_t limit_ns,
                                        uint64_t values[2])
{
    wsdbg_error_destroy(wsdbg_inspector_finish(inspector));
    struct wsdbg_error *error = put(inspector, step, arguments);
    return error ? error : take(inspector, step, wsdbg_attach_clock_ns() + limit_ns, values);
}

struct wsdbg_error *wsdbg_inspector_post(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step,
                                         const uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS], uint64_t limit_ns)
{
    struct wsdbg_error *error = put(inspector, step, arguments);
    inspector->posted = error ? 0 : step;
    inspector->posted_until_ns = wsdbg_attach_clock_ns() + limit_ns;
    return error;
}

bool wsdbg_inspector_has_posted(const struct wsdbg_inspector *inspector)
{
    return inspector->posted != 0;
}

bool wsdbg_inspector_has_answered(const struct wsdbg_inspector *inspector)
{
    return wait_readable(inspector->socket, 0);
}

bool wsdbg_inspector_collect(struct wsdbg_inspector *inspector, struct wsdbg_error **error)
{
    if (!inspector->posted ||
        (!wsdbg_inspector_has_answered(inspector) && wsdbg_attach_clock_ns() < inspector->posted_until_ns))
        return false;
    *error = take(inspector, inspector->posted, inspector->posted_until_ns, NULL);
    inspector->posted = 0;
    return true;
}

bool wsdbg_inspector_is_broken(struct wsdbg_inspector *inspector)
{
    inspector->lost = inspector->lost || wsdbg_side_process_wait(&inspector->child, 0);
    return inspector->lost;
}

bool wsdbg_inspector_is_freed(struct wsdbg_inspector *inspector, uint64_t limit_ns)
{
    const uint64_t deadline_ns = wsdbg_attach_clock_ns() + limit_ns;
    return wsdbg_side_process_wait(&inspector->child, deadline_ns) &&
           wsdbg_side_process_wait(&inspector->attach_watchdog, deadline_ns);
}

const struct wsdbg_inspector_area *wsdbg_inspector_area(const struct wsdbg_inspector *inspector)
{
    return inspector->area;
}

bool wsdbg_inspector_dismiss(struct wsdbg_inspector *inspector)
{
    if (inspector->socket >= 0)
        shutdown(inspector->socket, SHUT_RDWR);
    return wsdbg_inspector_is_freed(inspector, 0);
}

void wsdbg_inspector_stop(struct wsdbg_inspector *inspector)
{
    if (!inspector)
        return;
    if (inspector->socket >= 0)
        shutdown(inspector->socket, SHUT_RDWR); /* the child detaches and exits */
    if (!wsdbg_side_process_wait(&inspector->child, wsdbg_attach_clock_ns() + WSDBG_INSPECTOR_LEAVE_NS))
        give_up(inspector);
    wsdbg_side_process_wait(&inspector->attach_watchdog, wsdbg_attach_clock_ns() + KILL_LIMIT_NS);
    wsdbg_side_process_release(&inspector->child);
    wsdbg_side_process_release(&inspector->attach_watchdog);
    if (inspector->socket >= 0)
        close(inspector->socket);
    if (inspector->area)
        munmap(inspector->area, WSDBG_INSPECTOR_AREA_BYTES);
    free(inspector);
}
