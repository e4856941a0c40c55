/* kernel.c - see kernel.h.  Reads options and an embedded image, writes the device. */
#include "kernel.h"

static const char *kernel_name(const struct gemm_options *options)
{
    if (options->schedule == SCHEDULE_PINGPONG)
        return options->cluster == 2 ? "gemm_pingpong_cluster2" : "gemm_pingpong";
    return options->cluster == 2 ? "gemm_cooperative_cluster2" : "gemm_cooperative";
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

static int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* Rows of C a CTA computes at a time. */
static int tile_rows(const struct gemm_options *options)
{
    return options->schedule == SCHEDULE_PINGPONG ? CONSUMER_M : CONSUMERS * CONSUMER_M;
}

/* One CTA a multiprocessor, whole clusters, and no more than there are tiles. */
static unsigned grid_size(const struct device *device, const struct gemm_options *options)
{
    const int cluster = (int)options->cluster;
    const int tiles = divide_up((int)options->m, tile_rows(options) * cluster) * divide_up((int)options->n, TILE_N);
    int clusters = (options->ctas ? (int)options->ctas : device->multiprocessors) / cluster;
    if (clusters > tiles)
        clusters = tiles;
    return (unsigned)(clusters * cluster);
}

static int band_rows(const struct gemm_options *options)
{
    if (options->band_rows)
        return (int)options->band_rows;
    return 2048 / (tile_rows(options) * (int)options->cluster);
}

struct wsdbg_error *gemm_kernel_open(const struct device *device, const struct gemm_options *options,
                                     enum variant variant, const struct gemm_matrices *matrices,
                                     struct gemm_kernel *out)
{
    const int m = (int)options->m, n = (int)options->n, k = (int)options->k;
    struct gemm_kernel kernel = {.problem = {m, n, k, band_rows(options)}, .ctas = grid_size(device, options)};
    struct wsdbg_error *error =
        encode_map(device, matrices->a, m, k, tile_rows(options), "tensor map of A", &kernel.map_a);
    if (!error)
        error = encode_map(device, matrices->b, n, k, TILE_N / (int)options->cluster, "tensor map of B", &kernel.map_b);
    if (!error)
        error = encode_map(device, matrices->c, m, n, CONSUMER_M, "tensor map of C", &kernel.map_c);
    if (!error)
        error = device_load(device, gemm_image(variant, options->bug), kernel_name(options),
                            sizeof(struct shared_memory), &kernel.module, &kernel.function);
    if (!error)
        *out = kernel;
    return error;
}

void gemm_kernel_close(const struct device *device, struct gemm_kernel *kernel)
{
    device->cu.cuModuleUnload(kernel->module);
}

struct wsdbg_error *gemm_kernel_launch(const struct device *device, struct gemm_kernel *kernel)
{
    void *parameters[] = {&kernel->problem, &kernel->map_a, &kernel->map_b, &kernel->map_c};
    const CUresult result = device->cu.cuLaunchKernel(kernel->function, kernel->ctas, 1, 1, CTA_THREADS, 1, 1,
                                                      sizeof(struct shared_memory), device->stream, parameters, NULL);
    return device_check(device, result, "cuLaunchKernel");
}
