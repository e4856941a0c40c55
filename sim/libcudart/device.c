/* device.c - devices: attributes, limits, waiting for all work, versions. */
#include "libcudart/runtime.h"

#include <string.h>

enum {
    FLAG_MASK = 0x1f, /* cudaDeviceMask: what cudaSetDeviceFlags may set */
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76,
};

RUNTIME(cudaDriverGetVersion, int *version)
{
    return runtime_done(version ? cuDriverGetVersion(version) : CUDA_ERROR_INVALID_VALUE);
}

RUNTIME(cudaRuntimeGetVersion, int *version)
{
    if (!version)
        return runtime_fail(cudaErrorInvalidValue);
    *version = RUNTIME_VERSION;
    return cudaSuccess;
}

RUNTIME_CALLS(cudaDeviceSynchronize, (void), cuCtxSynchronize())

RUNTIME_CALLS(cudaDeviceGetAttribute, (int *value, int attribute, int device),
              cuDeviceGetAttribute(value, attribute, device))

RUNTIME_CALLS(cudaDeviceGetLimit, (size_t * value, int limit), cuCtxGetLimit(value, limit))

RUNTIME_CALLS(cudaDeviceSetLimit, (int limit, size_t value), cuCtxSetLimit(limit, value))

RUNTIME_CALLS(cudaDeviceGetCacheConfig, (int *config), cuCtxGetCacheConfig(config))

RUNTIME_CALLS(cudaDeviceSetCacheConfig, (int config), cuCtxSetCacheConfig(config))

RUNTIME_CALLS(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest),
              cuCtxGetStreamPriorityRange(least, greatest))

RUNTIME_CALLS(cudaCtxResetPersistingL2Cache, (void), cuCtxResetPersistingL2Cache())

RUNTIME(cudaGetDeviceFlags, unsigned *flags)
{
    int active;
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuDevicePrimaryCtxGetState(runtime_device(), flags, &active) : result);
}

RUNTIME(cudaSetDeviceFlags, unsigned flags)
{
    if (flags & ~(unsigned)FLAG_MASK)
        return runtime_fail(cudaErrorInvalidValue);
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuDevicePrimaryCtxSetFlags_v2(runtime_device(), flags) : result);
}

RUNTIME_CALLS(cudaDeviceGetPCIBusId, (char *id, int id_bytes, int device), cuDeviceGetPCIBusId(id, id_bytes, device))

RUNTIME_CALLS(cudaDeviceGetByPCIBusId, (int *device, const char *id), cuDeviceGetByPCIBusId(device, id))

RUNTIME_CALLS(cudaDeviceCanAccessPeer, (int *can, int device, int peer), cuDeviceCanAccessPeer(can, device, peer))

RUNTIME_CALLS(cudaDeviceGetP2PAttribute, (int *value, int attribute, int from, int to),
              cuDeviceGetP2PAttribute(value, attribute, from, to))

static CUresult peer_context(int peer, CUcontext *out)
{
    const CUresult result = runtime_enter();
    return result == CUDA_SUCCESS ? cuDevicePrimaryCtxRetain(out, peer) : result;
}

RUNTIME(cudaDeviceEnablePeerAccess, int peer, unsigned flags)
{
    CUcontext context;
    const CUresult result = peer_context(peer, &context);
    return runtime_done(result == CUDA_SUCCESS ? cuCtxEnablePeerAccess(context, flags) : result);
}

RUNTIME(cudaDeviceDisablePeerAccess, int peer)
{
    CUcontext context;
    const CUresult result = peer_context(peer, &context);
    return runtime_done(result == CUDA_SUCCESS ? cuCtxDisablePeerAccess(context) : result);
}

RUNTIME(cudaChooseDevice, int *device, const void *wanted)
{
    (void)wanted;
    if (!device)
        return runtime_fail(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

/* Hints that change no result here. */
RUNTIME(cudaProfilerStart, void)
{
    return cudaSuccess;
}

RUNTIME(cudaProfilerStop, void)
{
    return cudaSuccess;
}

/* Hopper has one bank size; what is set is ignored there too. */
RUNTIME(cudaDeviceGetSharedMemConfig, int *config)
{
    if (!config)
        return runtime_fail(cudaErrorInvalidValue);
    *config = 1; /* cudaSharedMemBankSizeFourByte */
    return cudaSuccess;
}

RUNTIME(cudaDeviceSetSharedMemConfig, int config)
{
    (void)config;
    return cudaSuccess;
}

RUNTIME(cudaFuncSetSharedMemConfig, const void *function, int config)
{
    (void)function, (void)config;
    return cudaSuccess;
}

struct channel_desc {
    int x, y, z, w, kind;
};

__attribute__((visibility("default"))) struct channel_desc cudaCreateChannelDesc(int x, int y, int z, int w, int kind);

struct channel_desc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct channel_desc){x, y, z, w, kind};
}
