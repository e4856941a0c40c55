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

RUNTIME(cudaDeviceSynchronize, void)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuCtxSynchronize() : result);
}

RUNTIME(cudaDeviceGetAttribute, int *value, int attribute, int device)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuDeviceGetAttribute(value, attribute, device) : result);
}

RUNTIME(cudaDeviceGetLimit, size_t *value, int limit)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuCtxGetLimit(value, limit) : result);
}

RUNTIME(cudaDeviceSetLimit, int limit, size_t value)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuCtxSetLimit(limit, value) : result);
}

RUNTIME(cudaDeviceGetCacheConfig, int *config)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuCtxGetCacheConfig(config) : result);
}

RUNTIME(cudaDeviceSetCacheConfig, int config)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuCtxSetCacheConfig(config) : result);
}

RUNTIME(cudaDeviceGetStreamPriorityRange, int *least, int *greatest)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuCtxGetStreamPriorityRange(least, greatest) : result);
}

RUNTIME(cudaCtxResetPersistingL2Cache, void)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuCtxResetPersistingL2Cache() : result);
}

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

RUNTIME(cudaDeviceGetPCIBusId, char *id, int id_bytes, int device)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuDeviceGetPCIBusId(id, id_bytes, device) : result);
}

RUNTIME(cudaDeviceGetByPCIBusId, int *device, const char *id)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuDeviceGetByPCIBusId(device, id) : result);
}

RUNTIME(cudaDeviceCanAccessPeer, int *can, int device, int peer)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuDeviceCanAccessPeer(can, device, peer) : result);
}

RUNTIME(cudaDeviceGetP2PAttribute, int *value, int attribute, int from, int to)
{
    const CUresult result = runtime_enter();
    return runtime_done(result == CUDA_SUCCESS ? cuDeviceGetP2PAttribute(value, attribute, from, to) : result);
}

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
