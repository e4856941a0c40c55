/* kernel.c - see kernel.h.  Reads options and an embedded image, writes the device. */
#include "kernel.h"

void gemm_matrices_free(const struct device *device, struct gemm_matrices *matrices)
{
    const CUdeviceptr all[] = {matrices->a, matrices->b, matrices->c};
    for (int i = 0; i < 3; i++)
        if (all[i])
            device_free(device, all[i]);
}

static const char *kernel_name(const struct gemm_plan *plan)
{
    static const char *const names[][3] = {
        [SCHEDULE_COOPERATIVE] = {"gemm_cooperative", "gemm_cooperative_cluster2", "gemm_cooperative_cluster4"},
        [SCHEDULE_PINGPONG] = {"gemm_pingpong", "gemm_pingpong_cluster2"},
        [SCHEDULE_STREAMK] = {"gemm_streamk", "gemm_streamk_cluster2", "gemm_streamk_cluster4"},
    };
    return names[plan->schedule][plan->cluster / 2];
}

/* A map of a row-major matrix, copied in boxes of `box_rows` rows of one 128-byte swizzle row each. */
static struct wsdbg_error *encode_map(const struct device *device, CUdeviceptr matrix, int rows, int columns,
                                      int box_rows, const char *what, CUtensorMap *out)
{
    const cuuint64_t size[2] = {(cuuint64_t)columns, (cuuint64_t)rows};
    const cuuint64_t row_bytes[1] = {(cuuint64_t)columns * sizeof(bf16)};
    const cuuint32_t box[2] = {BLOCK_K, (cuuint32_t)box_rows};
    const cuuint32_t step[2] = {1, 1};
    const CUresult result = device->cu.cuTensorMapEncodeTiled(
        out, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)(uintptr_t)matrix, size, row_bytes, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return device_check(device, result, what);
}

/* The shared memory of an image with tiles of so many columns: as struct shared_memory, which is that of TILE_N. */
static unsigned shared_bytes(int columns)
{
    const size_t stage = (size_t)(CONSUMERS * CONSUMER_M + columns) * BLOCK_K * sizeof(bf16) + 2 * sizeof(uint64_t);
    const struct shared_memory *const layout = NULL;
    return (unsigned)(sizeof layout->c + (size_t)STAGES_OF(columns) * stage);
}

/* Room for what CTAs give one another, and the flags that say so, which are 0 before the first launch. */
static struct wsdbg_error *allocate_workspace(const struct device *device, struct gemm_kernel *kernel)
{
    const size_t givers = (size_t)kernel->plan.ctas * CONSUMERS;
    const size_t sums_bytes = givers * CONSUMER_M * (size_t)kernel->plan.columns * sizeof(float);
    struct wsdbg_error *error = device_upload(device, NULL, sums_bytes + givers * sizeof(uint32_t), &kernel->workspace);
    kernel->problem.sums = (float *)(uintptr_t)kernel->workspace;
    kernel->problem.ready = (uint32_t *)(uintptr_t)(kernel->workspace + sums_bytes);
    return error;
}

static struct wsdbg_error *encode_maps(const struct device *device, const struct gemm_matrices *matrices,
                                       struct gemm_kernel *kernel)
{
    const struct gemm_problem *const p = &kernel->problem;
    const int rows_a = gemm_plan_rows(&kernel->plan), rows_b = kernel->plan.columns / kernel->plan.cluster;
    struct wsdbg_error *error = encode_map(device, matrices->a, p->m, p->k, rows_a, "tensor map of A", &kernel->map_a);
    if (!error)
        error = encode_map(device, matrices->b, p->n, p->k, rows_b, "tensor map of B", &kernel->map_b);
    if (!error)
        error = encode_map(device, matrices->c, p->m, p->n, CONSUMER_M, "tensor map of C", &kernel->map_c);
    return error;
}

/* No more clusters than run at a time.  Clusters of two always fit: multiprocessors come in pairs. */
static struct wsdbg_error *limit_clusters(const struct device *device, struct gemm_kernel *kernel)
{
    const unsigned cluster = (unsigned)kernel->plan.cluster;
    if (cluster <= 2)
        return NULL;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {cluster, 1, 1}};
    const CUlaunchConfig config = {.gridDimX = cluster,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = CTA_THREADS,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = kernel->shared_bytes,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    int clusters = 0;
    struct wsdbg_error *error = device_check(
        device, device->cu.cuOccupancyMaxActiveClusters(&clusters, kernel->function, &config), "clusters at a time");
    if (!error && clusters > 0 && kernel->plan.ctas > clusters * kernel->plan.cluster)
        kernel->plan.ctas = clusters * kernel->plan.cluster;
    return error;
}

struct wsdbg_error *gemm_kernel_open(const struct device *device, const struct gemm_plan *plan, int m, int n, int k,
                                     enum variant variant, const struct bug *bug, const struct gemm_matrices *matrices,
                                     struct gemm_kernel *out)
{
    struct gemm_kernel kernel = {
        .problem = {m, n, k, plan->band_rows}, .plan = *plan, .shared_bytes = shared_bytes(plan->columns)};
    const bool is_first = plan->columns == TILE_N && plan->cluster < 4;
    const void *const image = is_first ? gemm_image(variant, bug) : gemm_tile_image(variant, plan->columns);
    struct wsdbg_error *error = encode_maps(device, matrices, &kernel);
    if (!error && plan->schedule == SCHEDULE_STREAMK)
        error = allocate_workspace(device, &kernel);
    if (!error)
        error = device_load(device, image, kernel_name(plan), kernel.shared_bytes, &kernel.module, &kernel.function);
    if (!error)
        error = limit_clusters(device, &kernel);
    if (error)
        gemm_kernel_close(device, &kernel);
    else
        *out = kernel;
    return error;
}

void gemm_kernel_close(const struct device *device, struct gemm_kernel *kernel)
{
    if (kernel->module)
        device->cu.cuModuleUnload(kernel->module);
    if (kernel->workspace)
        device_free(device, kernel->workspace);
}

struct wsdbg_error *gemm_kernel_launch(const struct device *device, struct gemm_kernel *kernel)
{
    void *parameters[] = {&kernel->problem, &kernel->map_a, &kernel->map_b, &kernel->map_c};
    const CUresult result = device->cu.cuLaunchKernel(kernel->function, (unsigned)kernel->plan.ctas, 1, 1, CTA_THREADS,
                                                      1, 1, kernel->shared_bytes, device->stream, parameters, NULL);
    return device_check(device, result, "cuLaunchKernel");
}
