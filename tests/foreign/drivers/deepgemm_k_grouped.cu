/* deepgemm_k_grouped.cu - DeepGEMM's fp8 GEMM for groups along K, impls/sm90_fp8_gemm_1d1d.cuh, as SGLang ships it in
 * sgl-deep-gemm; scales for both operands, clusters of two CTAs, four groups, one of which is empty.
 *
 * The CTAs are persistent.  The thread that copies changes two tensor maps for each group.  One operand goes to both
 * CTAs of a cluster; one lane of each consumer warp arrives on the empty mbarrier of each CTA that has a tile.  At the
 * end the copying thread waits for all stages once more.  The result is added to memory by TMA reductions.  The program
 * reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++20 -O3 -I PACKAGES/deep_gemm/include deepgemm_k_grouped.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sgl-deep-gemm.  ../run.py names the version.
 */
#include <deep_gemm/impls/sm90_fp8_gemm_1d1d.cuh>

#include <numeric>

#include "tensor_map.h"

enum { BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 128, STAGES = 3, TMA = 128, MATH = 256, CLUSTER = 2, CTAS = 4 };
enum { STAGE_BYTES = (BLOCK_M + BLOCK_N) * BLOCK_K + 4 * (BLOCK_M + BLOCK_N), GROUPS = 4, MAPS = 2, MAP_BYTES = 128 };
enum { SHARED_BYTES = 256 + BLOCK_M * BLOCK_N * 4 + STAGES * STAGE_BYTES + 2 * STAGES * 8 + 1024 };

typedef __nv_fp8_e4m3 fp8;

/* One of two operands: for each group a matrix of `rows` x its K; a scale for each row and 128 columns. */
struct Operand {
    unsigned rows;
    std::vector<fp8> numbers;
    std::vector<float> scales; /* [128 columns][row] */
};

static Operand operand_of(unsigned rows, unsigned k, uint32_t seed)
{
    return {rows, random_numbers<fp8>((size_t)rows * k, seed),
            random_numbers<float>((size_t)rows * (k / BLOCK_K), seed + 2)};
}

/* The product of two rows in a block of 128 columns; the group begins at `start`, the block at `first` in it. */
static float product_of(const Operand &a, unsigned i, const Operand &b, unsigned j, unsigned start, int k, int first)
{
    const size_t block = (start + first) / BLOCK_K;
    const fp8 *const x = &a.numbers[(size_t)start * a.rows + (size_t)i * k + first];
    const fp8 *const y = &b.numbers[(size_t)start * b.rows + (size_t)j * k + first];
    float sum = 0;
    for (int at = 0; at < BLOCK_K; at++)
        sum += (float)x[at] * (float)y[at];
    return sum * a.scales[block * a.rows + i] * b.scales[block * b.rows + j];
}

static void add_products(std::vector<float> &all, const Operand &a, const Operand &b, const std::vector<int> &ks)
{
    for (unsigned group = 0, start = 0; group < GROUPS; start += ks[group++])
        for (unsigned i = 0; i < a.rows; i++)
            for (unsigned j = 0; j < b.rows; j++)
                for (int first = 0; first < ks[group]; first += BLOCK_K)
                    all[((size_t)group * a.rows + i) * b.rows + j] += product_of(a, i, b, j, start, ks[group], first);
}

int main(int argc, char **argv)
{
    const unsigned m = argc > 1 ? atoi(argv[1]) : 384, n = argc > 2 ? atoi(argv[2]) : 256;
    const std::vector<int> ks = {256, 0, 640, 384};
    const unsigned k = std::accumulate(ks.begin(), ks.end(), 0), blocks = k / BLOCK_K;
    const Operand a = operand_of(m, k, 1), b = operand_of(n, k, 2);
    std::vector<float> wanted = random_numbers<float>((size_t)GROUPS * m * n, 5); /* what is there before */
    fp8 *const a_memory = on_device(a.numbers), *const b_memory = on_device(b.numbers);
    float *const d = on_device(wanted);
    const CUtensorMapDataType bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8, numbers = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const CUtensorMapSwizzle none = CU_TENSOR_MAP_SWIZZLE_NONE;
    launch(deep_gemm::sm90_fp8_gemm_1d1d_impl<0, 0, 0, GROUPS, BLOCK_M, BLOCK_N, BLOCK_K, 128, 128, STAGES, TMA, MATH,
                                              CLUSTER, false, CTAS, deep_gemm::GemmType::KGroupedContiguous, float>,
           CTAS, TMA + MATH, CLUSTER, SHARED_BYTES, a_memory, b_memory, on_device(ks),
           (cute::TmaDescriptor *)on_device(std::vector<uint8_t>(CTAS * MAPS * MAP_BYTES)), m, n, k,
           map_of(bytes, 1, a_memory, m, ks[0], BLOCK_M, BLOCK_K),
           map_of(bytes, 1, b_memory, n, ks[0], BLOCK_N, BLOCK_K),
           map_of(numbers, 4, on_device(a.scales), blocks, m, 1, BLOCK_M, none),
           map_of(numbers, 4, on_device(b.scales), blocks, n, 1, BLOCK_N, none),
           map_of(numbers, 4, d, GROUPS * m, n, 64, BLOCK_N, none));
    const std::vector<float> got = from_device(d, wanted.size());
    add_products(wanted, a, b, ks);
    return compare(wanted, got, 0.001f);
}
