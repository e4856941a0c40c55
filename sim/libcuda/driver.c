/* driver.c - the stand-in's one struct: initialisation, entering and leaving it, what it says.
 *
 * Reads: the environment (see options.c, and why wsdbg chose the simulator).  Writes: lines on stderr.
 */
#include "libcuda/driver.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "libcuda/context.h"
#include "libcuda/explore.h"
#include "libcuda/options.h"
#include "wsdbg/session.h"

struct driver driver = {.lock = PTHREAD_MUTEX_INITIALIZER, .progress = PTHREAD_COND_INITIALIZER};

/* Not guarded: read before the lock, which a child process may have inherited locked. */
static atomic_bool is_child;
static _Thread_local bool calls_are_forbidden;

void driver_lock(void)
{
    pthread_mutex_lock(&driver.lock);
}

void driver_unlock(void)
{
    pthread_mutex_unlock(&driver.lock);
}

void driver_wait(void)
{
    pthread_cond_wait(&driver.progress, &driver.lock);
}

void driver_say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "wsdbg simulator: %s\n", line);
}

void driver_say_error(const char *what, struct wsdbg_error *error)
{
    driver_say("%s: %s", what, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

void driver_forbid_calls(void)
{
    calls_are_forbidden = true;
}

struct wsdbg_error *driver_thread(const char *name, void *(*body)(void *), void *argument, pthread_t *out)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(out, NULL, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code)
        return wsdbg_error_os(code, "no thread for the simulator");
    pthread_setname_np(*out, name);
    return NULL;
}

CUresult driver_ready(void)
{
    if (atomic_load_explicit(&is_child, memory_order_relaxed))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (calls_are_forbidden)
        return CUDA_ERROR_NOT_PERMITTED;
    driver_lock();
    const bool initialized = driver.is_initialized;
    driver_unlock();
    return initialized ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult driver_enter(struct context **out)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    struct context *context = context_current();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    driver_lock();
    result = context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : context->failure;
    if (result != CUDA_SUCCESS)
        return driver_leave(result);
    *out = context;
    return CUDA_SUCCESS;
}

CUresult driver_enter_handle(const void *handle, enum handle_kind kind)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    return handle_is(&driver.handles, handle, kind) ? CUDA_SUCCESS : driver_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult driver_leave(CUresult result)
{
    driver_unlock();
    return result;
}

static void in_child(void)
{
    atomic_store(&is_child, driver.is_initialized);
}

/* At once: there is no buffer that a hung kernel would leave full. */
static void print(const char *text, size_t length)
{
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

static CUresult initialize(void)
{
    struct wsdbg_error *error = options_read(&driver.gpu_options);
    if (error) {
        driver_say_error("the environment", error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    driver.gpu_options.print = print;
    error = explore_begin();
    if (error) {
        driver_say_error("the environment", error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    const char *reason = getenv(WSDBG_ENV_SIM_REASON);
    if (reason && *reason)
        fprintf(stderr, "wsdbg: kernels run on the simulated sm_90 (%s)\n", reason);
    if (pthread_atfork(NULL, NULL, in_child) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    driver.is_initialized = true;
    return CUDA_SUCCESS;
}

ENTRY(cuInit, unsigned flags)
{
    if (atomic_load(&is_child))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    driver_lock();
    return driver_leave(driver.is_initialized ? CUDA_SUCCESS : initialize());
}

ENTRY(cuDriverGetVersion, int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}
