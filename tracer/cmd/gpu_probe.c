/* gpu_probe.c - see gpu_probe.h.  Reads: libcuda.so.1, by dlopen in a child process.  Writes: nothing. */
#include "cmd/gpu_probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/inspector_child.h"

enum { ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_* */

/* The few driver calls needed, with the driver's own prototypes. */
struct driver {
    int (*init)(unsigned flags);
    int (*version)(int *version);
    int (*count)(int *count);
    int (*name)(char *name, int bytes, int device);
    int (*attribute)(int *value, int attribute, int device);
    int (*error_name)(int error, const char **name);
    uint32_t (*debug_version)(uint32_t *major, uint32_t *minor, uint32_t *revision); /* may be missing */
};

static bool load(struct driver *driver, char *reason, size_t reason_bytes)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        snprintf(reason, reason_bytes, "%s", dlerror());
        return false;
    }
    *(void **)&driver->init = dlsym(library, "cuInit");
    *(void **)&driver->version = dlsym(library, "cuDriverGetVersion");
    *(void **)&driver->count = dlsym(library, "cuDeviceGetCount");
    *(void **)&driver->name = dlsym(library, "cuDeviceGetName");
    *(void **)&driver->attribute = dlsym(library, "cuDeviceGetAttribute");
    *(void **)&driver->error_name = dlsym(library, "cuGetErrorName");
    *(void **)&driver->debug_version = dlsym(library, "cudbgGetAPIVersion");
    if (driver->init && driver->version && driver->count && driver->name && driver->attribute && driver->error_name)
        return true;
    snprintf(reason, reason_bytes, "libcuda.so.1 lacks a function of the driver API");
    return false;
}

static void ask_gpus(const struct driver *driver, struct wsdbg_gpu_probe *probe)
{
    int count = 0, major, minor;
    if (driver->count(&count) != 0)
        return;
    for (int i = 0; i < count && i < WSDBG_GPUS_MAX; i++) {
        struct wsdbg_gpu_facts *gpu = &probe->gpus[probe->gpu_count++];
        if (driver->name(gpu->name, sizeof gpu->name, i) != 0)
            snprintf(gpu->name, sizeof gpu->name, "?");
        if (driver->attribute(&major, ATTRIBUTE_MAJOR, i) == 0 && driver->attribute(&minor, ATTRIBUTE_MINOR, i) == 0)
            gpu->compute_capability = wsdbg_known_u32((uint32_t)(10 * major + minor));
    }
}

/* As an inspector finds out; nobody is attached to. */
static bool may_stay(void)
{
    static struct wsdbg_inspection in;
    struct wsdbg_inspector_reply reply = {0};
    wsdbg_inspect_open(&in, &reply);
    return in.opened && in.api.setKernelLaunchNotificationMode;
}

static void ask(struct wsdbg_gpu_probe *probe)
{
    struct driver driver = {0};
    int version;
    probe->library_found = load(&driver, probe->reason, sizeof probe->reason);
    if (!probe->library_found)
        return;
    if (driver.version(&version) == 0)
        probe->driver_version = wsdbg_known_u32((uint32_t)version);
    probe->debug_known = driver.debug_version &&
                         driver.debug_version(&probe->debug_major, &probe->debug_minor, &probe->debug_revision) == 0;
    probe->may_stay = may_stay();
    probe->debugger_found = dlopen("libcudadebugger.so.1", RTLD_LAZY) != NULL;
    int code = driver.init(0);
    if (code != 0) {
        const char *name = NULL;
        if (driver.error_name(code, &name) != 0 || !name)
            name = "an unknown error";
        snprintf(probe->reason, sizeof probe->reason, "cuInit says %s (%d)", name, code);
        return;
    }
    probe->ready = true;
    ask_gpus(&driver, probe);
}

/* Reads the child's answer, all of it or nothing. */
static bool receive(int pipe_end, int timeout_ms, struct wsdbg_gpu_probe *out)
{
    struct wsdbg_gpu_probe answer;
    size_t have = 0;
    while (have < sizeof answer) {
        struct pollfd ready = {.fd = pipe_end, .events = POLLIN};
        int polled = poll(&ready, 1, timeout_ms);
        if (polled < 0 && errno == EINTR)
            continue;
        ssize_t bytes = polled > 0 ? read(pipe_end, (char *)&answer + have, sizeof answer - have) : 0;
        if (bytes <= 0)
            break;
        have += (size_t)bytes;
    }
    if (have == sizeof answer)
        *out = answer;
    return have == sizeof answer;
}

/* Ends the child and says what became of it. */
static void collect(pid_t child, bool answered, struct wsdbg_gpu_probe *out)
{
    int status = 0;
    if (!answered && waitpid(child, &status, WNOHANG) == 0) {
        usleep(10000);
        if (waitpid(child, &status, WNOHANG) == 0) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            snprintf(out->reason, sizeof out->reason, "the driver did not answer in time");
            return;
        }
    } else if (answered) {
        waitpid(child, &status, 0);
        return;
    }
    snprintf(out->reason, sizeof out->reason, "the driver crashed while it was asked (status %d)", status);
}

/* Puts the question in a child process; false = it did not answer, and the reason says why. */
static bool ask_in_child(void (*question)(struct wsdbg_gpu_probe *), int timeout_ms, struct wsdbg_gpu_probe *out)
{
    int ends[2];
    bool answered = false;
    memset(out, 0, sizeof *out);
    if (pipe(ends) < 0) {
        snprintf(out->reason, sizeof out->reason, "no pipe: %s", strerror(errno));
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        struct wsdbg_gpu_probe answer;
        memset(&answer, 0, sizeof answer);
        question(&answer);
        _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    if (child > 0) {
        answered = receive(ends[0], timeout_ms, out);
        collect(child, answered, out);
    } else {
        snprintf(out->reason, sizeof out->reason, "no process to ask in: %s", strerror(errno));
    }
    close(ends[0]);
    return answered;
}

void wsdbg_gpu_probe(int timeout_ms, struct wsdbg_gpu_probe *out)
{
    ask_in_child(ask, timeout_ms, out);
}

static void look_for_driver(struct wsdbg_gpu_probe *probe)
{
    struct driver driver;
    probe->library_found = load(&driver, probe->reason, sizeof probe->reason);
}

bool wsdbg_gpu_driver_is_missing(int timeout_ms)
{
    struct wsdbg_gpu_probe probe;
    return access("/dev/nvidiactl", F_OK) != 0 && ask_in_child(look_for_driver, timeout_ms, &probe) &&
           !probe.library_found;
}

bool wsdbg_gpu_probe_has_hopper(const struct wsdbg_gpu_probe *probe)
{
    for (uint32_t i = 0; i < probe->gpu_count; i++)
        if (probe->gpus[i].compute_capability.known && probe->gpus[i].compute_capability.value == 90)
            return true;
    return false;
}
