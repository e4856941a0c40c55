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
        [SCHEDULE_SPLITK] = {"gemm_splitk"},
        [SCHEDULE_SPLITK_LOW] = {"gemm_splitk_low"},
    };
    return names[plan->schedule][gemm_plan_splits(plan) == 1 ? plan->cluster / 2 : 0];
}

/* The image of a bug has only kernels of the widest tile.  They compute no transposed products, and their launches do
 * not overlap. */
static const void *find_image(const struct gemm_plan *plan, enum variant variant, const struct bug *bug)
{
    const bool is_plain = !plan->transposed && !plan->overlaps && plan->columns == TILE_N && plan->cluster < 4 &&
                          (plan->schedule == SCHEDULE_COOPERATIVE || plan->schedule == SCHEDULE_PINGPONG);
    return is_plain ? gemm_image(variant, bug) : gemm_tile_image(variant, plan->columns);
}

struct matrix {
    CUdeviceptr at;
    int rows, columns;
};

/* Makes the map of a row-major matrix that is copied in swizzled boxes. */
static struct wsdbg_error *encode_map(const struct device *device, struct matrix matrix, int box_rows, int box_columns,
                                      const char *what, CUtensorMap *out)
{
    const cuuint64_t size[2] = {(cuuint64_t)matrix.columns, (cuuint64_t)matrix.rows};
    const cuuint64_t row_bytes[1] = {(cuuint64_t)matrix.columns * sizeof(bf16)};
    const cuuint32_t box[2] = {(cuuint32_t)box_columns, (cuuint32_t)box_rows};
    const cuuint32_t step[2] = {1, 1};
    const CUresult result = device->cu.cuTensorMapEncodeTiled(
        out, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)(uintptr_t)matrix.at, size, row_bytes, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, box_columns == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return device_check(device, result, what);
}

/* Allocates memory for the sums that CTAs give one another, and for their flags, 0 before the first launch. */
static struct wsdbg_error *allocate_workspace(const struct device *device, struct gemm_kernel *kernel)
{
    const size_t givers = (size_t)kernel->plan.ctas * CONSUMERS;
    const size_t sums_bytes = givers * CONSUMER_M * (size_t)kernel->plan.columns * sizeof(float);
    struct wsdbg_error *error = device_upload(device, NULL, sums_bytes + givers * sizeof(uint32_t), &kernel->workspace);
    kernel->problem.sums = (float *)(uintptr_t)kernel->workspace;
    kernel->problem.ready = (uint32_t *)(uintptr_t)(kernel->workspace + sums_bytes);
    return error;
}

/* Makes the maps of one operand, whose tiles have `tile_rows` rows.  Each CTA of the cluster loads a part of a tile. */
static struct wsdbg_error *encode_operand(const struct device *device, struct matrix matrix, int tile_rows, int cluster,
                                          const char *what, CUtensorMap *whole, CUtensorMap *edge)
{
    const int edge_rows = matrix.rows % tile_rows ? matrix.rows % tile_rows : tile_rows;
    struct wsdbg_error *error = encode_map(device, matrix, rows_of_part(tile_rows, cluster), BLOCK_K, what, whole);
    if (!error)
        error = encode_map(device, matrix, rows_of_part(edge_rows, cluster), BLOCK_K, what, edge);
    return error;
}

/* In a transposed product A and B change places, and the boxes of C are transposed. */
static struct wsdbg_error *encode_maps(const struct device *device, const struct gemm_matrices *matrices,
                                       struct gemm_kernel *kernel)
{
    const struct gemm_problem *const p = &kernel->problem;
    const struct gemm_plan *const plan = &kernel->plan;
    const struct matrix a = {matrices->a, p->m, p->k}, b = {matrices->b, p->n, p->k}, c = {matrices->c, p->m, p->n};
    const int multicasters = plan->cluster / gemm_plan_splits(plan), store_columns = STORE_COLUMNS_OF(plan->columns);
    struct wsdbg_error *error = encode_operand(device, plan->transposed ? b : a, gemm_plan_rows(plan), 1,
                                               "tensor map of a tile's rows", &kernel->map_a, &kernel->map_a_edge);
    if (!error)
        error = encode_operand(device, plan->transposed ? a : b, plan->columns, multicasters,
                               "tensor map of a tile's columns", &kernel->map_b, &kernel->map_b_edge);
    if (!error)
        error = plan->transposed ? encode_map(device, c, store_columns, CONSUMER_M, "tensor map of C", &kernel->map_c)
                                 : encode_map(device, c, CONSUMER_M, store_columns, "tensor map of C", &kernel->map_c);
    return error;
}

/* Launches no more clusters than run at a time.  Clusters of two always fit: multiprocessors come in pairs. */
static struct wsdbg_error *limit_clusters(const struct device *device, struct gemm_kernel *kernel)
{
    const unsigned cluster = (unsigned)kernel->plan.cluster;
    if (cluster <= 2 || gemm_plan_is_split_k(&kernel->plan)) /* split-K's clusters do not wait for one another */
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
    struct gemm_kernel kernel = {.problem = {m, n, k, plan->band_rows, plan->transposed},
                                 .plan = *plan,
                                 .shared_bytes =
                                     SHARED_BYTES_OF((unsigned)gemm_plan_rows(plan), (unsigned)plan->columns)};
    kernel.plan.overlaps &= variant != VARIANT_PROBES; /* the warps of both launches would write to the same slots */
    const void *const image = find_image(&kernel.plan, variant, bug);
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
    void *parameters[] = {&kernel->problem, &kernel->map_a,      &kernel->map_b,
                          &kernel->map_c,   &kernel->map_a_edge, &kernel->map_b_edge};
    const struct gemm_plan *const plan = &kernel->plan;
    CUlaunchAttribute attributes[2];
    unsigned count = 0;
    if (gemm_plan_splits(plan) > 1)
        attributes[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                                  .value.clusterDim = {(unsigned)plan->cluster, 1, 1}};
    if (plan->overlaps)
        attributes[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                                  .value.programmaticStreamSerializationAllowed = 1};
    const CUlaunchConfig config = {.gridDimX = (unsigned)plan->ctas,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = CTA_THREADS,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = kernel->shared_bytes,
                                   .hStream = device->stream,
                                   .attrs = attributes,
                                   .numAttrs = count};
    const CUresult result = count > 0
                                ? device->cu.cuLaunchKernelEx(&config, kernel->function, parameters, NULL)
                                : device->cu.cuLaunchKernel(kernel->function, config.gridDimX, 1, 1, CTA_THREADS, 1, 1,
                                                            kernel->shared_bytes, device->stream, parameters, NULL);
    return device_check(device, result, count > 0 ? "cuLaunchKernelEx" : "cuLaunchKernel");
}
