/* init.c - cuInit: the stand-in's settings are read, once.
 *
 * Reads: the environment (see options.c and explore.h, and why wsdbg chose the simulator).  Writes: lines on stderr;
 * what kernels print goes to stdout.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libcuda/driver.h"
#include "libcuda/explore.h"
#include "libcuda/options.h"
#include "wsdbg/session.h"

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
    if (pthread_atfork(NULL, NULL, driver_in_child) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    driver.is_initialized = true;
    return CUDA_SUCCESS;
}

ENTRY(cuInit, unsigned flags)
{
    if (driver_is_child())
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
