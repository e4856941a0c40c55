/* library.c - libraries that a program loads itself, and the way to the driver's own functions. */
#include "libcudart/runtime.h"

enum { QUERY_SUCCESS, QUERY_NOT_FOUND };

RUNTIME_CALLS(cudaLibraryLoadData,
              (CUlibrary * library, const void *image, const int *jit_options, void **jit_values, unsigned jit_count,
               const int *options, void **values, unsigned count),
              cuLibraryLoadData(library, image, jit_options, jit_values, jit_count, options, values, count))

RUNTIME_CALLS(cudaLibraryLoadFromFile,
              (CUlibrary * library, const char *path, const int *jit_options, void **jit_values, unsigned jit_count,
               const int *options, void **values, unsigned count),
              cuLibraryLoadFromFile(library, path, jit_options, jit_values, jit_count, options, values, count))

RUNTIME_CALLS(cudaLibraryUnload, (CUlibrary library), cuLibraryUnload(library))

RUNTIME(cudaLibraryGetKernel, CUkernel *kernel, CUlibrary library, const char *name)
{
    CUresult result = runtime_enter();
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetKernel(kernel, library, name);
    return result == CUDA_SUCCESS ? runtime_note_kernel(*kernel) : runtime_done(result);
}

RUNTIME_CALLS(cudaLibraryGetKernelCount, (unsigned *count, CUlibrary library), cuLibraryGetKernelCount(count, library))

RUNTIME(cudaLibraryEnumerateKernels, CUkernel *kernels, unsigned count, CUlibrary library)
{
    unsigned all = 0;
    CUresult result = runtime_enter();
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetKernelCount(&all, library);
    if (result == CUDA_SUCCESS)
        result = cuLibraryEnumerateKernels(kernels, count, library);
    cudaError_t error = runtime_done(result);
    for (unsigned i = 0; i < count && i < all && !error; i++)
        error = runtime_note_kernel(kernels[i]);
    return error;
}

RUNTIME(cudaLibraryGetGlobal, void **out, size_t *byte_count, CUlibrary library, const char *name)
{
    CUdeviceptr address = 0;
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetGlobal(&address, byte_count, library, name);
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return runtime_done(result);
}

RUNTIME(cudaLibraryGetManaged, void **out, size_t *byte_count, CUlibrary library, const char *name)
{
    CUdeviceptr address = 0;
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetManaged(&address, byte_count, library, name);
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return runtime_done(result);
}

RUNTIME_CALLS(cudaKernelSetAttributeForDevice, (CUkernel kernel, int attribute, int value, int device),
              cuKernelSetAttribute(attribute, value, kernel, device))

static cudaError_t entry_point(const char *name, void **function, unsigned version, unsigned long long flags,
                               int *status, CUstream default_stream)
{
    /* Flag 1 asks for the legacy default stream, 2 for the thread's; without one the program's way of compilation
     * decides. */
    const uint64_t asked = flags ? flags : default_stream ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
    int found;
    CUresult result = name && function ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuGetProcAddress_v2(name, function, (int)version, asked, &found);
    if (status)
        *status = result == CUDA_SUCCESS ? found : QUERY_NOT_FOUND;
    return status && result == CUDA_ERROR_NOT_FOUND ? cudaSuccess : runtime_done(result);
}

STREAM_RUNTIME(cudaGetDriverEntryPointByVersion, _ptsz,
               (const char *name, void **function, unsigned version, unsigned long long flags, int *status),
               entry_point, name, function, version, flags, status)
STREAM_RUNTIME(cudaGetDriverEntryPoint, _ptsz,
               (const char *name, void **function, unsigned long long flags, int *status), entry_point, name, function,
               RUNTIME_VERSION, flags, status)
