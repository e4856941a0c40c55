/* device.c - the one device: its name, attributes and place on a bus that is not there.
 *
 * Reads: device_attributes.def (an H200's), the number of multiprocessors that was asked for.  Writes: the caller's
 * results.
 */
#include <stdio.h>
#include <string.h>

#include "libcuda/driver.h"
#include "wsdbg/session.h"

enum { ATTRIBUTE_MULTIPROCESSORS = 16, ATTRIBUTE_LAST = 147 };

static const char device_name[] = "wsdbg simulated sm_90";
static const char bus_id[] = "0000:00:00.0";
static const unsigned char uuid[16] = WSDBG_SIM_UUID; /* the same on every machine: so is the device */

static CUresult check(CUdevice device, const void *out)
{
    CUresult result = driver_ready();
    if (result == CUDA_SUCCESS && !out)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && device != 0)
        result = CUDA_ERROR_INVALID_DEVICE;
    return result;
}

ENTRY(cuDeviceGetCount, int *count)
{
    CUresult result = check(0, count);
    if (result == CUDA_SUCCESS)
        *count = 1;
    return result;
}

ENTRY(cuDeviceGet, CUdevice *device, int ordinal)
{
    CUresult result = check(ordinal, device);
    if (result == CUDA_SUCCESS)
        *device = 0;
    return result;
}

static CUresult give_text(const char *text, char *out, int out_bytes, CUdevice device)
{
    CUresult result = check(device, out);
    if (result == CUDA_SUCCESS && out_bytes <= 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        snprintf(out, (size_t)out_bytes, "%s", text);
    return result;
}

ENTRY(cuDeviceGetName, char *name, int name_bytes, CUdevice device)
{
    return give_text(device_name, name, name_bytes, device);
}

ENTRY(cuDeviceGetPCIBusId, char *id, int id_bytes, CUdevice device)
{
    return give_text(bus_id, id, id_bytes, device);
}

ENTRY(cuDeviceGetByPCIBusId, CUdevice *device, const char *id)
{
    CUresult result = check(0, device);
    if (result == CUDA_SUCCESS && !id)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && strcmp(id, bus_id) != 0)
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        *device = 0;
    return result;
}

ENTRY(cuDeviceGetUuid_v2, unsigned char *out, CUdevice device)
{
    CUresult result = check(device, out);
    if (result == CUDA_SUCCESS)
        memcpy(out, uuid, sizeof uuid);
    return result;
}

ENTRY(cuDeviceGetUuid, unsigned char *out, CUdevice device)
{
    return cuDeviceGetUuid_v2(out, device);
}

static int attribute_value(int attribute)
{
    switch (attribute) {
    case ATTRIBUTE_MULTIPROCESSORS:
        return (int)driver.gpu_options.multiprocessors;
#define ATTRIBUTE(number, value) \
    case number:                 \
        return value;
#include "libcuda/device_attributes.def"
#undef ATTRIBUTE
    }
    return 0;
}

ENTRY(cuDeviceGetAttribute, int *value, int attribute, CUdevice device)
{
    CUresult result = check(device, value);
    if (result == CUDA_SUCCESS && (attribute < 1 || attribute > ATTRIBUTE_LAST))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *value = attribute_value(attribute);
    return result;
}

ENTRY(cuDeviceComputeCapability, int *major, int *minor, CUdevice device)
{
    CUresult result = check(device, major);
    if (result == CUDA_SUCCESS && !minor)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        *major = 9;
        *minor = 0;
    }
    return result;
}

ENTRY(cuDeviceGetProperties, struct cu_device_properties *out, CUdevice device)
{
    CUresult result = check(device, out);
    if (result == CUDA_SUCCESS)
        *out = (struct cu_device_properties){
            .max_threads = attribute_value(1),
            .max_block = {attribute_value(2), attribute_value(3), attribute_value(4)},
            .max_grid = {attribute_value(5), attribute_value(6), attribute_value(7)},
            .shared_bytes = attribute_value(8),
            .constant_bytes = attribute_value(9),
            .warp_size = attribute_value(10),
            .max_pitch = attribute_value(11),
            .registers = attribute_value(12),
            .clock_khz = attribute_value(13),
        };
    return result;
}

ENTRY(cuDeviceGetExecAffinitySupport, int *supported, int type, CUdevice device)
{
    (void)type;
    CUresult result = check(device, supported);
    if (result == CUDA_SUCCESS)
        *supported = 0;
    return result;
}

/* There is no other device. */
ENTRY(cuDeviceCanAccessPeer, int *can, CUdevice device, CUdevice peer)
{
    CUresult result = check(device, can);
    if (result == CUDA_SUCCESS && peer != 0)
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        *can = 0;
    return result;
}
