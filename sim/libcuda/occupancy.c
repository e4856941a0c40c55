/* occupancy.c - how many CTAs, or clusters, of a kernel are resident at one time.
 *
 * Reads: the function's needs; asks the gpu, whose own placement is the answer.  Writes: the caller's results.
 */
#include <string.h>

#include "libcuda/context.h"
#include "libcuda/image.h"

enum { MAX_THREADS = 1024, CLUSTER_MOST = 16, PORTABLE_CLUSTER_CTAS = 8 };

/* Takes the lock; a launch of the function with one-dimensional CTAs of `threads`. */
static CUresult enter(CUfunction handle, int threads, size_t shared_bytes, struct context **context,
                      struct wsdbg_gpu_launch *out)
{
    struct function *function;
    CUresult result = driver_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    result = function_find(*context, handle, &function);
    if (result != CUDA_SUCCESS || threads <= 0 || threads > MAX_THREADS || shared_bytes > FUNCTION_SHARED_MOST)
        return driver_leave(result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result);
    *out = (struct wsdbg_gpu_launch){.module = function->module->gpu_module,
                                     .function = function->code,
                                     .grid = {1, 1, 1},
                                     .block = {(uint32_t)threads, 1, 1},
                                     .dynamic_shared_bytes = (uint32_t)shared_bytes,
                                     .registers_per_thread = function->registers};
    return CUDA_SUCCESS;
}

/* CTAs on one multiprocessor, each by itself. */
static int ctas_of_one(const struct context *context, const struct wsdbg_gpu_launch *launch)
{
    return (int)(wsdbg_gpu_resident_most(context->gpu, launch) / wsdbg_gpu_multiprocessors(context->gpu));
}

ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *count, CUfunction function, int threads,
      size_t shared_bytes, unsigned flags)
{
    struct context *context;
    struct wsdbg_gpu_launch launch;
    if (!count || flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = enter(function, threads, shared_bytes, &context, &launch);
    if (result != CUDA_SUCCESS)
        return result;
    *count = ctas_of_one(context, &launch);
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *count, CUfunction function, int threads, size_t shared_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, threads, shared_bytes, 0);
}

/* The CTA size of whole warps with the most resident threads; of several the largest. */
ENTRY(cuOccupancyMaxPotentialBlockSizeWithFlags, int *grid, int *block, CUfunction function, size_t (*shared_of)(int),
      size_t shared_bytes, int limit, unsigned flags)
{
    int best_threads = 0, best_block = 0, best_count = 0, most = limit > 0 && limit < MAX_THREADS ? limit : MAX_THREADS;
    if (!grid || !block || flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    for (int threads = most > 32 ? most - most % 32 : most; threads > 0; threads -= 32) {
        int count;
        const size_t shared = shared_of ? shared_of(threads) : shared_bytes;
        CUresult result =
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, function, threads, shared, flags);
        if (result != CUDA_SUCCESS)
            return result;
        if (count * threads > best_threads) {
            best_threads = count * threads;
            best_block = threads;
            best_count = count;
        }
    }
    *block = best_block;
    *grid = best_count * (int)driver.gpu_options.multiprocessors;
    return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxPotentialBlockSize, int *grid, int *block, CUfunction function, size_t (*shared_of)(int),
      size_t shared_bytes, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared_bytes, limit, 0);
}

/* The most dynamic shared memory with which `ctas` still fit on a multiprocessor. */
ENTRY(cuOccupancyAvailableDynamicSMemPerBlock, size_t *shared_bytes, CUfunction function, int ctas, int threads)
{
    struct context *context;
    struct wsdbg_gpu_launch launch;
    if (!shared_bytes || ctas <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = enter(function, threads, 0, &context, &launch);
    if (result != CUDA_SUCCESS)
        return result;
    if (launch.function->shared_bytes > FUNCTION_SHARED_MOST || ctas_of_one(context, &launch) < ctas)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    uint32_t fits = 0, too_much = FUNCTION_SHARED_MOST - launch.function->shared_bytes + 1;
    while (too_much - fits > 1) {
        launch.dynamic_shared_bytes = fits + (too_much - fits) / 2;
        if (ctas_of_one(context, &launch) >= ctas)
            fits = launch.dynamic_shared_bytes;
        else
            too_much = launch.dynamic_shared_bytes;
    }
    *shared_bytes = fits;
    return driver_leave(CUDA_SUCCESS);
}

/* ---- clusters ---- */

static CUresult enter_with(CUfunction function, const struct cu_launch_config *config, struct context **context,
                           struct wsdbg_gpu_launch *out)
{
    const uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
    CUresult result = enter(function, threads <= MAX_THREADS ? (int)threads : 0, config->shared_bytes, context, out);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(out->grid, config->grid, sizeof out->grid);
    memcpy(out->block, config->block, sizeof out->block);
    for (uint32_t i = 0; config->attributes && i < config->attribute_count; i++)
        if (config->attributes[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(out->cluster, config->attributes[i].value.cluster, sizeof out->cluster);
    return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxActiveClusters, int *count, CUfunction function, const struct cu_launch_config *config)
{
    struct context *context;
    struct wsdbg_gpu_launch launch;
    if (!count || !config)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = enter_with(function, config, &context, &launch);
    if (result != CUDA_SUCCESS)
        return result;
    const uint32_t *cluster = launch.cluster[0] ? launch.cluster : launch.function->required_cluster;
    const uint64_t ctas = cluster[0] ? (uint64_t)cluster[0] * cluster[1] * cluster[2] : 1;
    *count = (int)(ctas ? wsdbg_gpu_resident_most(context->gpu, &launch) / ctas : 0);
    return driver_leave(ctas ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

ENTRY(cuOccupancyMaxPotentialClusterSize, int *ctas, CUfunction handle, const struct cu_launch_config *config)
{
    struct context *context;
    struct wsdbg_gpu_launch launch;
    struct function *function;
    if (!ctas || !config)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = enter_with(handle, config, &context, &launch);
    if (result != CUDA_SUCCESS)
        return result;
    result = function_find(context, handle, &function);
    uint32_t size = function->settings->non_portable_cluster ? CLUSTER_MOST : PORTABLE_CLUSTER_CTAS;
    for (; size > 1; size /= 2) {
        memcpy(launch.grid, (uint32_t[]){size, 1, 1}, sizeof launch.grid);
        memcpy(launch.cluster, (uint32_t[]){size, 1, 1}, sizeof launch.cluster);
        if (wsdbg_gpu_resident_most(context->gpu, &launch) >= size)
            break;
    }
    *ctas = (int)size;
    return driver_leave(result);
}
