/* primary_context.c - the context of the device that all parts of a program share: made by the first who retains it,
 * ended by the last who releases it.
 *
 * Reads and writes: the driver's primary context and its count.
 */
#include "libcuda/context.h"

static CUresult enter_for_device(CUdevice device)
{
    CUresult result = driver_ready();
    if (result == CUDA_SUCCESS && device != 0)
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        driver_lock();
    return result;
}

ENTRY(cuDevicePrimaryCtxRetain, CUcontext *out, CUdevice device)
{
    CUresult result = enter_for_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (!driver.primary) {
        result = context_create(driver.primary_flags, 3020, &driver.primary);
        if (result != CUDA_SUCCESS)
            return driver_leave(result);
        driver.primary->is_primary = true;
    }
    driver.primary_users++;
    *out = driver.primary;
    return driver_leave(CUDA_SUCCESS);
}

static void end_primary(void)
{
    struct context *context = driver.primary;
    driver.primary = NULL;
    driver.primary_users = 0;
    if (context)
        context_destroy(context);
}

ENTRY(cuDevicePrimaryCtxRelease_v2, CUdevice device)
{
    CUresult result = enter_for_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (!driver.primary_users)
        return driver_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (--driver.primary_users == 0)
        end_primary();
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuDevicePrimaryCtxRelease, CUdevice device)
{
    return cuDevicePrimaryCtxRelease_v2(device);
}

ENTRY(cuDevicePrimaryCtxReset_v2, CUdevice device)
{
    CUresult result = enter_for_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    end_primary();
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuDevicePrimaryCtxReset, CUdevice device)
{
    return cuDevicePrimaryCtxReset_v2(device);
}

ENTRY(cuDevicePrimaryCtxSetFlags_v2, CUdevice device, unsigned flags)
{
    CUresult result = enter_for_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags & ~(unsigned)CU_CTX_FLAGS_ALL)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    driver.primary_flags = flags;
    if (driver.primary)
        driver.primary->flags = flags;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuDevicePrimaryCtxSetFlags, CUdevice device, unsigned flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

ENTRY(cuDevicePrimaryCtxGetState, CUdevice device, unsigned *flags, int *active)
{
    CUresult result = enter_for_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !active)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = driver.primary_flags;
    *active = driver.primary != NULL;
    return driver_leave(CUDA_SUCCESS);
}
