/* fake_debugged.c - the debug interface of the fake libcuda, the traced program's side: exported variables, attach and
 * detach, and what an attached debugger changes for the program's calls.
 *
 * FAKE_DEBUG_TAKEN=1          another tool is in the program: the attach does not come up
 * FAKE_DEBUG_REFUSES=1        attach leaves an error code
 * FAKE_DEBUG_HELPER=program   attach starts this program, which inherits the environment
 */
#include "fake_debug.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_internal.h"

/* ---- what libcuda exports for debuggers ---- */

EXPORT uint32_t cudbgApiClientPid, cudbgApiClientRevision, cudbgSessionId, cudbgDebuggerCapabilities;
EXPORT uint32_t cudbgDebuggerInitialized, cudbgIpcFlag, cudbgResumeForAttachDetach, cudbgUseExternalDebugger;
EXPORT uint32_t cudbgDetachSuspendedDevicesMask;
EXPORT uint64_t cudbgReportedDriverInternalErrorCode;

void cudbgApiAttach(void);
void cudbgApiDetach(void);

static struct fake_gpu *mapped;
static int gpu_of_debugger = -1;

static int chosen_gpu(void)
{
    const char *gpu = getenv(FAKE_DEBUG_GPU);
    return gpu_of_debugger >= 0 ? gpu_of_debugger : gpu ? atoi(gpu) : 0;
}

struct fake_gpu *fake_gpu(void)
{
    const char *path = getenv(FAKE_DEBUG_STATE);
    int fd = !mapped && path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        mapped = mmap(NULL, FAKE_DEBUG_GPUS * sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (!mapped || mapped == MAP_FAILED)
        fake_complain("no file of the fake GPU's state");
    return mapped + chosen_gpu();
}

void fake_debug_find_gpu(void)
{
    fake_gpu();
    for (int i = 0; i < FAKE_DEBUG_GPUS; i++)
        if (mapped[i].attached && mapped[i].client_pid == (uint32_t)getpid())
            gpu_of_debugger = i;
}

static void start_helper(const char *program)
{
    pid_t child = fork();
    if (child == 0) {
        unsetenv("FAKE_DEBUG_HELPER");
        unsetenv("APP_WAITS");
        execl(program, program, "dlsym", "basic", (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
    fake_gpu()->helper_pid = (uint32_t)child;
}

/* As the driver's: what it registers for exit() must not run any more when nobody is attached. */
static void load_debugger(void)
{
    if (!dlopen("libcudadebugger.so.1", RTLD_NOW))
        fake_complain(dlerror());
}

EXPORT void cudbgApiAttach(void)
{
    load_debugger();
    const char *helper = getenv("FAKE_DEBUG_HELPER");
    fake_log("cudbgApiAttach", fake_enter("cudbgApiAttach"));
    cudbgUseExternalDebugger = !getenv("FAKE_DEBUG_TAKEN");
    cudbgReportedDriverInternalErrorCode = getenv("FAKE_DEBUG_REFUSES") ? 0x77 : 0;
    cudbgResumeForAttachDetach = 1;
    if ((cudbgDebuggerCapabilities & 1) == 0)
        fake_complain("a debugger that does not know lazy loading");
    fake_gpu()->client_pid = cudbgApiClientPid;
    fake_gpu()->deferred = fake_gpu()->halted = 0;
    fake_gpu()->program_pid = (uint32_t)getpid();
    fake_gpu()->attached = 1;
    fake_gpu()->attached_ns = fake_debug_now_ns();
    fake_gpu()->attaches++;
    if (helper)
        start_helper(helper);
}

/* As the driver's: what a debugger that died had stopped stays so, also when it is named in the mask. */
EXPORT void cudbgApiDetach(void)
{
    fake_log("cudbgApiDetach", fake_enter("cudbgApiDetach"));
    cudbgResumeForAttachDetach = 3;
    fake_gpu()->shown_out_at_once += fake_gpu()->attached && fake_debug_is_too_soon();
    fake_gpu()->left_under_load += fake_gpu()->attached && fake_gpu()->loads_answered != fake_gpu()->loads_asked;
    fake_gpu()->attached = 0;
    fake_gpu()->left_ns = fake_debug_now_ns();
    if (fake_gpu()->halted)
        fake_gpu()->exception = 0;
}

uint64_t fake_debug_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int fake_debug_is_too_soon(void)
{
    return fake_debug_now_ns() < fake_gpu()->resumed_ns + FAKE_DEBUG_TURN_NS;
}

/* As the driver's own exit handlers, after the observer's. */
__attribute__((destructor)) static void end(void)
{
    if (getenv(FAKE_DEBUG_STATE) && fake_gpu()->program_pid == (uint32_t)getpid())
        fake_gpu()->ended_beside_one += fake_gpu()->attached;
}

/* ---- what the program's own calls see of it ---- */

static int is_attached(void)
{
    return getenv(FAKE_DEBUG_STATE) && fake_gpu()->attached;
}

void fake_debug_launch(void)
{
    if (getenv(FAKE_DEBUG_STATE) && fake_gpu()->suspended)
        fake_gpu()->launched_while_suspended++;
}

/* As in the driver, the call waits until the debugger acknowledges an event. */
void fake_debug_load(void)
{
    if (!getenv(FAKE_DEBUG_STATE))
        return;
    struct fake_gpu *gpu = fake_gpu();
    gpu->loads_inside++;
    while (__atomic_load_n(&gpu->load_lasts, __ATOMIC_SEQ_CST))
        usleep(200);
    if (gpu->attached && gpu->load_asks) {
        gpu->load_asked_ns = fake_debug_now_ns();
        const uint32_t asked = __atomic_add_fetch(&gpu->loads_asked, 1, __ATOMIC_SEQ_CST);
        while (gpu->attached && __atomic_load_n(&gpu->loads_answered, __ATOMIC_SEQ_CST) < asked)
            usleep(200);
    }
    gpu->loads_inside--;
}

int fake_debug_takes_fault(void)
{
    if (!is_attached())
        return 0;
    if (fake_gpu()->next_shows == FAKE_SHOWS_ON_SM) {
        fake_gpu()->sm_exception = fake_gpu()->next_exception;
        fake_gpu()->shown_ns = fake_debug_now_ns() + fake_debug_handled_ns() + fake_gpu()->shows_ms * UINT64_C(1000000);
    } else {
        fake_gpu()->exception = fake_gpu()->next_exception;
        fake_gpu()->told = 0;
        fake_gpu()->halted = fake_gpu()->next_shows;
    }
    return 1;
}

uint64_t fake_debug_handled_ns(void)
{
    return fake_gpu()->handled_ms * UINT64_C(1000000);
}

void fake_debug_brought(void)
{
    if (getenv(FAKE_DEBUG_STATE))
        fake_gpu()->errors_brought++;
}

int fake_debug_is_halted(void)
{
    return is_attached() && fake_gpu()->halted;
}

uint64_t fake_debug_event_ns(void)
{
    return getenv(FAKE_DEBUG_STATE) ? fake_gpu()->event_ms * UINT64_C(1000000) : 0;
}

int fake_debug_holds_back(void)
{
    return is_attached() && fake_gpu()->holds_back;
}
