/* fake_address.c - cuGetProcAddress of the fake libcuda. */
#include <stdlib.h>
#include <string.h>

#include "fake_calls.h"
#include "fake_internal.h"

#define X(symbol, exported, types) CUresult exported types;
FAKE_CALLS(X)
#undef X
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                             unsigned shared, CUstream stream, void **parameters, void **extra);

static CUresult thunk_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

static CUresult thunk_cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                          unsigned bz, unsigned shared, CUstream stream, void **parameters,
                                          void **extra)
{
    return cuLaunchKernel_ptsz(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

static CUresult thunk_cuCtxSynchronize(void)
{
    return cuCtxSynchronize();
}

static CUresult find_address(const char *symbol, void **pointer, int version, uint64_t flags);

/* Not of the driver: what cuGetProcAddress gives, for tests. */
EXPORT CUresult fake_cuda_address(const char *symbol, void **pointer, int version, uint64_t flags);
EXPORT CUresult fake_cuda_address(const char *symbol, void **pointer, int version, uint64_t flags)
{
    return find_address(symbol, pointer, version, flags);
}

FAKE(cuGetProcAddress, (const char *symbol, void **pointer, int version, uint64_t flags),
     (symbol, pointer, version, flags))
{
    return find_address(symbol, pointer, version, flags);
}

FAKE(cuGetProcAddress_v2, (const char *symbol, void **pointer, int version, uint64_t flags, int *status),
     (symbol, pointer, version, flags, status))
{
    CUresult result = find_address(symbol, pointer, version, flags);
    if (status)
        *status = result ? 1 : 0;
    return result;
}

static CUresult find_address(const char *symbol, void **pointer, int version, uint64_t flags)
{
    static const struct {
        const char *symbol;
        int per_thread;
        void *address;
    } table[] = {{"cuGetProcAddress", 0, (void *)cuGetProcAddress_v2},
                 {"cuLaunchKernel", 1, (void *)cuLaunchKernel_ptsz},
                 {"cuStreamSynchronize", 1, (void *)cuStreamSynchronize_ptsz},
#define X(symbol, exported, types) {#symbol, 0, (void *)exported},
                 FAKE_CALLS(X)
#undef X
    };
    int per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *pointer = NULL;
    if (strcmp(symbol, "cuCtxCreate") == 0 && version < 13000) {
        *pointer = (void *)cuCtxCreate_v2;
        return 0;
    }
    if (getenv("FAKE_CUDA_THUNKS") && strcmp(symbol, "cuLaunchKernel") == 0)
        *pointer = per_thread ? (void *)thunk_cuLaunchKernel_ptsz : (void *)thunk_cuLaunchKernel;
    if (getenv("FAKE_CUDA_THUNKS") && strcmp(symbol, "cuCtxSynchronize") == 0)
        *pointer = (void *)thunk_cuCtxSynchronize;
    for (size_t i = 0; i < sizeof table / sizeof *table && !*pointer; i++)
        if (strcmp(table[i].symbol, symbol) == 0 && table[i].per_thread <= per_thread)
            *pointer = table[i].address;
    return *pointer ? 0 : 500;
}
