/* inspector.c - wsdbg's side of the inspector: starts the child, asks it, ends it; see inspector.h. */
#include "evidence/inspector.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AREA_BYTES (sizeof(struct wsdbg_inspector_area) + WSDBG_INSPECTOR_IMAGE_BYTES)
#define STOP_LIMIT_NS 1000000000ull

struct wsdbg_inspector {
    struct wsdbg_door door;
    struct wsdbg_inspector_area *area;
    pid_t child; /* 0 = it is no more */
    int socket;
    uint32_t number;
};

static const char *const step_names[WSDBG_INSPECT_STEPS] = {
    [WSDBG_INSPECT_ATTACH] = "attach",
    [WSDBG_INSPECT_SUSPEND] = "suspend",
    [WSDBG_INSPECT_WARPS] = "read the warps",
    [WSDBG_INSPECT_REGISTERS] = "read registers",
    [WSDBG_INSPECT_UNIFORM] = "read uniform registers",
    [WSDBG_INSPECT_PREDICATES] = "read predicates",
    [WSDBG_INSPECT_SHARED] = "read shared memory",
    [WSDBG_INSPECT_GLOBAL] = "read global memory",
    [WSDBG_INSPECT_CONSTANT] = "read constants",
    [WSDBG_INSPECT_RESUME] = "resume",
    [WSDBG_INSPECT_DETACH] = "detach",
};

/* Everything from 3 on but these two descriptors. */
static void close_others(int keep, int also)
{
    const unsigned low = (unsigned)(keep < also ? keep : also), high = (unsigned)(keep < also ? also : keep);
    if (also >= 0 && low > 3)
        close_range(3, low - 1, 0);
    if (high > low + 1)
        close_range(also >= 0 ? low + 1 : 3, high - 1, 0);
    close_range(high + 1, ~0u, 0);
}

/* The driver asks the kernel for SIGHUP when its debugger's parent dies: just then the child has work to do.  Whoever
 * wants to end it kills it. */
static void ignore_signals(void)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child is no part of the terminal's group, says nothing, and holds nothing of wsdbg's but its socket. */
static void be_inspector(const struct wsdbg_inspector *inspector, int child_end)
{
    setsid();
    ignore_signals();
    const int silent = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && silent >= 0; fd++)
        dup2(silent, fd);
    close_others(child_end, inspector->door.process);
    wsdbg_inspector_serve(&inspector->door, inspector->area, child_end);
    _exit(0);
}

static struct wsdbg_error *start_child(struct wsdbg_inspector *inspector)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return wsdbg_error_os(errno, "no socket for the inspector");
    inspector->socket = ends[0];
    inspector->child = fork();
    if (inspector->child == 0)
        be_inspector(inspector, ends[1]);
    close(ends[1]);
    if (inspector->child > 0)
        return NULL;
    inspector->child = 0;
    return wsdbg_error_os(errno, "no process for the inspector");
}

struct wsdbg_error *wsdbg_inspector_start(const struct wsdbg_door *door, struct wsdbg_inspector **out)
{
    struct wsdbg_inspector *inspector = calloc(1, sizeof *inspector);
    if (!inspector)
        return &wsdbg_error_no_memory;
    inspector->door = *door;
    inspector->socket = -1;
    void *area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
static void collect(struct wsdbg_inspector *inspector)
{
    const uint64_t deadline_ns = wsdbg_door_now_ns() + STOP_LIMIT_NS;
    while (waitpid(inspector->child, NULL, WNOHANG) == 0 && wsdbg_door_now_ns() < deadline_ns)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    inspector->child = 0;
}

/* Without its inspector the traced process detaches. */
static void give_up(struct wsdbg_inspector *inspector)
{
    if (!inspector->child)
        return;
    kill(inspector->child, SIGKILL);
    collect(inspector);
    wsdbg_door_wait_shut(&inspector->door, wsdbg_door_now_ns() + STOP_LIMIT_NS);
}

/* True when the socket has something, also its end. */
static bool wait_readable(int socket, uint64_t deadline_ns)
{
    struct pollfd poller = {.fd = socket, .events = POLLIN};
    for (uint64_t now = wsdbg_door_now_ns(); now < deadline_ns; now = wsdbg_door_now_ns())
        if (poll(&poller, 1, (int)((deadline_ns - now) / 1000000) + 1) > 0)
            return true;
    return false;
}

static struct wsdbg_error *lose(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step, const char *how)
{
    give_up(inspector);
    return wsdbg_error_create(WSDBG_ERROR_OS, "the driver's debug interface %s (%s)", how, step_names[step]);
}

static struct wsdbg_error *exchange(struct wsdbg_inspector *inspector, const struct wsdbg_inspector_request *request,
                                    uint64_t limit_ns, struct wsdbg_inspector_reply *reply)
{
    static const char broke[] = "broke off";
    if (send(inspector->socket, request, sizeof *request, MSG_NOSIGNAL) != sizeof *request)
        return lose(inspector, request->step, broke);
    if (!wait_readable(inspector->socket, wsdbg_door_now_ns() + limit_ns))
        return lose(inspector, request->step, "did not answer in time");
    if (recv(inspector->socket, reply, sizeof *reply, 0) != sizeof *reply || reply->number != request->number)
        return lose(inspector, request->step, broke);
    reply->text[sizeof reply->text - 1] = '\0';
    return NULL;
}

struct wsdbg_error *wsdbg_inspector_ask(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step,
                                        const uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS], uint64_t limit_ns,
                                        uint64_t values[2])
{
    struct wsdbg_inspector_request request = {.step = step, .number = ++inspector->number};
    struct wsdbg_inspector_reply reply;
    if (!inspector->child)
        return wsdbg_error_create(WSDBG_ERROR_OS, "the inspector is no more (%s)", step_names[step]);
    if (arguments)
        memcpy(request.arguments, arguments, sizeof request.arguments);
    struct wsdbg_error *error = exchange(inspector, &request, limit_ns, &reply);
    if (error)
        return error;
    if (reply.failed)
        return wsdbg_error_create(WSDBG_ERROR_BUSY, "%s", reply.text);
    if (values)
        memcpy(values, reply.values, sizeof reply.values);
    return NULL;
}

bool wsdbg_inspector_is_broken(struct wsdbg_inspector *inspector)
{
    if (inspector->child && waitpid(inspector->child, NULL, WNOHANG) != 0)
        inspector->child = 0;
    return inspector->child == 0;
}

const struct wsdbg_inspector_area *wsdbg_inspector_area(const struct wsdbg_inspector *inspector)
{
    return inspector->area;
}

void wsdbg_inspector_stop(struct wsdbg_inspector *inspector)
{
    if (!inspector)
        return;
    if (inspector->socket >= 0)
        shutdown(inspector->socket, SHUT_RDWR); /* the child detaches and exits */
    const uint64_t deadline_ns = wsdbg_door_now_ns() + STOP_LIMIT_NS;
    while (inspector->child && waitpid(inspector->child, NULL, WNOHANG) == 0) {
        if (wsdbg_door_now_ns() >= deadline_ns) {
            give_up(inspector);
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    if (inspector->socket >= 0)
        close(inspector->socket);
    if (inspector->area)
        munmap(inspector->area, AREA_BYTES);
    free(inspector);
}
