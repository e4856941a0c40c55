/* cublas.c - see cublas.h.  Reads libcublas.so.13 (or .12). */
#include "cublas.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The few constants of cublas_api.h and library_types.h that are needed; they are part of its ABI. */
enum { OPERATION_NONE = 0, OPERATION_TRANSPOSE = 1, TYPE_BF16 = 14, COMPUTE_FP32 = 68, ALGORITHM_DEFAULT = -1 };

/* What cuBLAS takes for itself on a Hopper GPU.  Given to it, it needs no memory of a graph's own. */
#define WORKSPACE_BYTES ((size_t)32 << 20)

typedef int (*create_function)(void **handle);
typedef int (*destroy_function)(void *handle);
typedef int (*set_stream_function)(void *handle, CUstream stream);
typedef int (*set_workspace_function)(void *handle, void *workspace, size_t bytes);
typedef int (*gemm_function)(void *handle, int operation_a, int operation_b, int m, int n, int k, const void *alpha,
                             const void *a, int type_a, int lda, const void *b, int type_b, int ldb, const void *beta,
                             void *c, int type_c, int ldc, int compute, int algorithm);

struct cublas {
    void *library;
    void *handle;
    const struct device *device;
    CUdeviceptr workspace;
    destroy_function destroy;
    gemm_function gemm;
};

static struct wsdbg_error *find_functions(struct cublas *cublas, const struct device *device)
{
    const create_function create = (create_function)dlsym(cublas->library, "cublasCreate_v2");
    const set_stream_function set_stream = (set_stream_function)dlsym(cublas->library, "cublasSetStream_v2");
    const set_workspace_function set_workspace =
        (set_workspace_function)dlsym(cublas->library, "cublasSetWorkspace_v2");
    cublas->destroy = (destroy_function)dlsym(cublas->library, "cublasDestroy_v2");
    cublas->gemm = (gemm_function)dlsym(cublas->library, "cublasGemmEx");
    if (!create || !set_stream || !set_workspace || !cublas->destroy || !cublas->gemm)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "libcublas lacks a function: %s", dlerror());
    struct wsdbg_error *const error = device_upload(device, NULL, WORKSPACE_BYTES, &cublas->workspace);
    if (error)
        return error;
    int status = create(&cublas->handle);
    if (status == 0)
        status = set_stream(cublas->handle, device->stream);
    if (status == 0)
        status = set_workspace(cublas->handle, (void *)(uintptr_t)cublas->workspace, WORKSPACE_BYTES);
    return status ? wsdbg_error_create(WSDBG_ERROR_OTHER, "cublasCreate: status %d", status) : NULL;
}

struct wsdbg_error *cublas_open(const struct device *device, struct cublas **out)
{
    if (device->is_simulated)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "cuBLAS does not run on the simulator");
    struct cublas *cublas = calloc(1, sizeof *cublas);
    if (!cublas)
        return &wsdbg_error_no_memory;
    cublas->device = device;
    cublas->library = dlopen("libcublas.so.13", RTLD_NOW);
    if (!cublas->library)
        cublas->library = dlopen("libcublas.so.12", RTLD_NOW);
    struct wsdbg_error *error = cublas->library ? find_functions(cublas, device)
                                                : wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no cuBLAS: %s", dlerror());
    if (error)
        cublas_close(cublas);
    else
        *out = cublas;
    return error;
}

void cublas_close(struct cublas *cublas)
{
    if (!cublas)
        return;
    if (cublas->handle)
        cublas->destroy(cublas->handle);
    if (cublas->workspace)
        device_free(cublas->device, cublas->workspace);
    /* The library stays loaded: it has threads and exit handlers of its own. */
    free(cublas);
}

/* cuBLAS thinks in columns: its column-major C^T = B * A^T is our row-major C = A * B^T. */
struct wsdbg_error *cublas_launch(const struct cublas *cublas, const struct gemm_problem *problem,
                                  const struct gemm_matrices *matrices)
{
    const float one = 1, zero = 0;
    const int status = cublas->gemm(
        cublas->handle, OPERATION_TRANSPOSE, OPERATION_NONE, problem->n, problem->m, problem->k, &one,
        (const void *)(uintptr_t)matrices->b, TYPE_BF16, problem->k, (const void *)(uintptr_t)matrices->a, TYPE_BF16,
        problem->k, &zero, (void *)(uintptr_t)matrices->c, TYPE_BF16, problem->n, COMPUTE_FP32, ALGORITHM_DEFAULT);
    return status ? wsdbg_error_create(WSDBG_ERROR_OTHER, "cublasGemmEx: status %d", status) : NULL;
}
