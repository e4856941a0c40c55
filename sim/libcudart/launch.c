/* launch.c - launches and what may be asked of a kernel.  The host names a kernel by the address of the
 * host function that nvcc makes for it (registry.c). */
#include "libcudart/runtime.h"

#include <string.h>

enum {
    CONFIGURATIONS_MAX = 16,
    THREADS_MOST = 1024,
    THREADS_Z_MOST = 64,
    GRID_YZ_MOST = 65535,
    NUMBERS = CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH - CU_FUNC_ATTRIBUTE_NUM_REGS + 1
};

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    CUstream stream;
};

/* cudaLaunchConfig_t; its attributes have the layout of the driver's. */
struct launch_config {
    dim3 grid, block;
    size_t shared_bytes;
    CUstream stream;
    const struct cu_launch_attribute *attributes;
    unsigned attribute_count;
};

struct function_attributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int threads_most;
    int numbers[NUMBERS]; /* registers to the cluster's depth, in the order of the driver's attributes */
    int cluster_policy, non_portable_clusters, reserved[16];
};
_Static_assert(sizeof(struct function_attributes) == 144, "a cudaFuncAttributes");

/* `kernel<<<...>>>` pushes its configuration, evaluates its arguments, which may launch too, and pops it.  An argument
 * that throws leaves its configuration behind, so the oldest ones are overwritten. */
static _Thread_local struct configuration configurations[CONFIGURATIONS_MAX];
static _Thread_local unsigned configuration_count;

__attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                                                            CUstream stream);

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream stream)
{
    configurations[configuration_count++ % CONFIGURATIONS_MAX] =
        (struct configuration){grid, block, shared_bytes, stream};
    return 0;
}

RUNTIME(__cudaPopCallConfiguration, dim3 *grid, dim3 *block, size_t *shared_bytes, CUstream *stream)
{
    if (configuration_count == 0)
        return runtime_fail(cudaErrorMissingConfiguration);
    const struct configuration *top = &configurations[--configuration_count % CONFIGURATIONS_MAX];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *stream = top->stream;
    return cudaSuccess;
}

/* A size that no kernel can have is an invalid configuration to the runtime, an invalid value to the driver. */
static bool is_possible(dim3 grid, dim3 block)
{
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    return grid.x && grid.y && grid.z && block.x <= THREADS_MOST && block.y <= THREADS_MOST &&
           block.z <= THREADS_Z_MOST && grid.y <= GRID_YZ_MOST && grid.z <= GRID_YZ_MOST && threads > 0 &&
           threads <= THREADS_MOST;
}

/* A kernel's handle is taken for its function in the current context. */
static cudaError_t launch_kernel(CUkernel kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                 CUstream stream, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    /* nvcc's code launches no kernel where __cudaGetKernel failed: that error stays. */
    if (!kernel)
        return runtime_last_error() ? runtime_last_error() : runtime_fail(cudaErrorInvalidResourceHandle);
    if (shared_bytes > UINT32_MAX)
        return runtime_fail(cudaErrorInvalidValue);
    if (!is_possible(grid, block))
        return runtime_fail(cudaErrorInvalidConfiguration);
    return runtime_done(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                       (unsigned)shared_bytes, runtime_stream(stream, default_stream), arguments,
                                       NULL));
}

STREAM_RUNTIME(__cudaLaunchKernel, _ptsz,
               (CUkernel kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, CUstream stream),
               launch_kernel, kernel, grid, block, arguments, shared_bytes, stream)

static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                          CUstream stream, CUstream default_stream)
{
    CUkernel kernel;
    const cudaError_t error = runtime_kernel(function, &kernel);
    return error ? error : launch_kernel(kernel, grid, block, arguments, shared_bytes, stream, default_stream);
}

STREAM_RUNTIME(cudaLaunchKernel, _ptsz,
               (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, CUstream stream),
               launch, function, grid, block, arguments, shared_bytes, stream)

static cudaError_t launch_cooperative(const void *function, dim3 grid, dim3 block, void **arguments,
                                      size_t shared_bytes, CUstream stream, CUstream default_stream)
{
    CUkernel kernel;
    const cudaError_t error = runtime_kernel(function, &kernel);
    if (error)
        return error;
    if (!is_possible(grid, block))
        return runtime_fail(cudaErrorInvalidConfiguration);
    return runtime_done(cuLaunchCooperativeKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                  (unsigned)shared_bytes, runtime_stream(stream, default_stream),
                                                  arguments));
}

STREAM_RUNTIME(cudaLaunchCooperativeKernel, _ptsz,
               (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, CUstream stream),
               launch_cooperative, function, grid, block, arguments, shared_bytes, stream)

static struct cu_launch_config driver_config(const struct launch_config *config, CUstream default_stream)
{
    return (struct cu_launch_config){.grid = {config->grid.x, config->grid.y, config->grid.z},
                                     .block = {config->block.x, config->block.y, config->block.z},
                                     .shared_bytes = (uint32_t)config->shared_bytes,
                                     .stream = runtime_stream(config->stream, default_stream),
                                     .attributes = config->attributes,
                                     .attribute_count = config->attribute_count};
}

static cudaError_t launch_with(const struct launch_config *config, const void *function, void **arguments,
                               CUstream default_stream)
{
    CUkernel kernel;
    if (!config)
        return runtime_fail(cudaErrorInvalidValue);
    const cudaError_t error = runtime_kernel(function, &kernel);
    if (error)
        return error;
    if (!is_possible(config->grid, config->block))
        return runtime_fail(cudaErrorInvalidConfiguration);
    const struct cu_launch_config all = driver_config(config, default_stream);
    return runtime_done(cuLaunchKernelEx(&all, kernel, arguments, NULL));
}

STREAM_RUNTIME(cudaLaunchKernelExC, _ptsz, (const struct launch_config *config, const void *function, void **arguments),
               launch_with, config, function, arguments)

KERNEL_RUNTIME_CALLS(cudaFuncSetAttribute, (const void *function, int attribute, int value),
                     cuKernelSetAttribute(attribute, value, kernel, runtime_device()))

RUNTIME(cudaFuncSetCacheConfig, const void *function, int config)
{
    CUkernel kernel;
    (void)config;
    return runtime_kernel(function, &kernel);
}

KERNEL_RUNTIME_CALLS(cudaFuncGetName, (const char **name, const void *function), cuKernelGetName(name, kernel))

KERNEL_RUNTIME_CALLS(cudaFuncGetParamInfo, (const void *function, size_t number, size_t *offset, size_t *byte_count),
                     cuKernelGetParamInfo(kernel, number, offset, byte_count))

RUNTIME(cudaFuncGetAttributes, struct function_attributes *out, const void *function)
{
    CUkernel kernel;
    int values[CU_FUNC_ATTRIBUTE_COUNT] = {0};
    if (!out)
        return runtime_fail(cudaErrorInvalidValue);
    const cudaError_t error = runtime_kernel(function, &kernel);
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < CU_FUNC_ATTRIBUTE_COUNT && !error && result == CUDA_SUCCESS; i++)
        result = cuKernelGetAttribute(&values[i], i, kernel, runtime_device());
    if (error || result != CUDA_SUCCESS)
        return error ? error : runtime_done(result);
    *out = (struct function_attributes){.shared_bytes = (size_t)values[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES],
                                        .constant_bytes = (size_t)values[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES],
                                        .local_bytes = (size_t)values[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES],
                                        .threads_most = values[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK]};
    memcpy(out->numbers, &values[CU_FUNC_ATTRIBUTE_NUM_REGS], sizeof out->numbers);
    out->cluster_policy = values[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE];
    out->non_portable_clusters = values[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED];
    return cudaSuccess;
}

KERNEL_RUNTIME_CALLS(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                     (int *count, const void *function, int threads, size_t shared_bytes, unsigned flags),
                     cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, kernel, threads, shared_bytes, flags))

RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *count, const void *function, int threads,
        size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, threads, shared_bytes, 0);
}

KERNEL_RUNTIME_CALLS(cudaOccupancyAvailableDynamicSMemPerBlock,
                     (size_t * shared_bytes, const void *function, int ctas, int threads),
                     cuOccupancyAvailableDynamicSMemPerBlock(shared_bytes, kernel, ctas, threads))

RUNTIME(cudaOccupancyMaxActiveClusters, int *count, const void *function, const struct launch_config *config)
{
    CUkernel kernel;
    if (!config || !count)
        return runtime_fail(cudaErrorInvalidValue);
    const cudaError_t error = runtime_kernel(function, &kernel);
    const struct cu_launch_config all = driver_config(config, NULL);
    return error ? error : runtime_done(cuOccupancyMaxActiveClusters(count, kernel, &all));
}

RUNTIME(cudaOccupancyMaxPotentialClusterSize, int *ctas, const void *function, const struct launch_config *config)
{
    CUkernel kernel;
    if (!config || !ctas)
        return runtime_fail(cudaErrorInvalidValue);
    const cudaError_t error = runtime_kernel(function, &kernel);
    const struct cu_launch_config all = driver_config(config, NULL);
    return error ? error : runtime_done(cuOccupancyMaxPotentialClusterSize(ctas, kernel, &all));
}
