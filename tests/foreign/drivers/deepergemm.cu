/* deepergemm.cu - a GEMM of ademeure/DeeperGEMM, deep_gemm/fp8_gemm.cuh, in fp8 with scales, B in two interleaved
 * halves.
 *
 * Of the copying warpgroup, one thread copies A, two lanes of a warp copy B by bulk copies from one of two places that
 * the address decides, and one thread copies the scales of B through a ring of its own and works out the next tiles.
 * A tile of the output leaves from a stage of the ring while the next one is computed.  CLUSTER is 1 or 2: with 2, A
 * goes to both CTAs.  TILE_M is 64 or 128: one or two computing warpgroups.  The program reads no file.  It prints the
 * largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -I CHECKOUT/deep_gemm/include -I CUTLASS/include deepergemm.cu -lcuda
 */
#include <cassert>
#include <stdexcept>

#include <cudaTypedefs.h>

typedef PFN_cuTensorMapEncodeTiled_v12000 PFN_cuTensorMapEncodeTiled; /* CUDA 13 has only names with versions */

#include "deeper_shared.h"

#include <deep_gemm/fp8_gemm.cuh>

#include "tensor_map.h"

#ifndef CLUSTER
#define CLUSTER 2
#endif
#ifndef TILE_M
#define TILE_M 128
#endif

enum { N = 512, K = 1024, BLOCK_N = 64, STAGES = 5, SCALE_COLUMNS = 128, SCALES = K / SCALE_COLUMNS };
enum { SIDE_MASK = 0x5000, CHUNK_BYTES = 4096, B_ALIGNMENT_BYTES = 8192 };

typedef __nv_fp8_e4m3 fp8;
typedef __nv_bfloat16 bf16;
typedef deep_gemm::Gemm<N, K, TILE_M, BLOCK_N, 128, 1, STAGES, 2, CLUSTER, deep_gemm::GemmType::Normal, SIDE_MASK, 1>
    Kernel;

static float scale(size_t row, size_t block) /* blocks 2 i and 2 i + 1 have the same one, as the kernel wants it */
{
    return 0.5f + (float)((row * 5 + block / 2 * 3) % 11) / 16;
}

/* The order that the kernel wants: chunks of 32 rows and 128 columns.  Chunks of the lower and of the upper half of the
 * rows lie side by side; which one is first depends on the address.  Rows of a chunk are swizzled. */
static std::vector<fp8> reordered(const std::vector<fp8> &b, uint64_t address)
{
    std::vector<fp8> all(b.size());
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++) {
            const int is_upper = n >= N / 2, row = n % (N / 2), first = row - row % 8;
            const uint64_t at = (uint64_t)(first % 32 + first / 32 * 64) * 128 + (uint64_t)(k - k % 128) * N;
            const int turned = __builtin_popcountll((address + at) & SIDE_MASK) & 1;
            const int column = (k % 128 / 16 ^ row % 8) * 16 + k % 16;
            all[at + (is_upper ^ turned ^ 1) * CHUNK_BYTES + row % 8 * 128 + column] = b[(size_t)n * K + k];
        }
    return all;
}

static fp8 *b_on_device(const std::vector<fp8> &b)
{
    fp8 *memory;
    must(cudaMalloc((void **)&memory, b.size() + B_ALIGNMENT_BYTES));
    memory = (fp8 *)(((uintptr_t)memory + B_ALIGNMENT_BYTES - 1) / B_ALIGNMENT_BYTES * B_ALIGNMENT_BYTES);
    must(cudaMemcpy(memory, reordered(b, (uint64_t)memory).data(), b.size(), cudaMemcpyHostToDevice));
    return memory;
}

/* For each multiprocessor: which half of B it has, and twice its number among those of that half. */
static std::vector<unsigned char> halves()
{
    std::vector<unsigned char> all;
    for (int i = 0; i < deep_gemm::MAX_SM; i++)
        all.push_back((unsigned char)((i / CLUSTER & 1) | (i / (2 * CLUSTER) * CLUSTER + i % CLUSTER) << 1));
    return all;
}

static void multiply(unsigned m, unsigned ctas, fp8 *a, float *of_a, fp8 *b, float *of_b, bf16 *d)
{
    const unsigned output_bytes = TILE_M * (BLOCK_N + deep_gemm::PADDING_N) * 2;
    const unsigned stage_bytes = std::max((unsigned)(TILE_M + BLOCK_N) * 128, output_bytes) + TILE_M * 4;
    const unsigned shared_bytes = STAGES * stage_bytes + SCALES * 4 * 2 + (STAGES + 2) * 16 + 4096;
    Kernel::run(d, b, of_b, nullptr, m, Kernel::make_2d_tma_a_desc(a, m), Kernel::make_2d_tma_b_desc(b),
                Kernel::make_2d_tma_scales_a_desc(of_a, m), Kernel::make_2d_tma_d_desc(d, m),
                Kernel::make_3d_tma_d_desc(d, m), 0, ctas, shared_bytes, on_device(halves()));
    must(cudaGetLastError());
}

int main(int argc, char **argv)
{
    const unsigned m = argc > 1 ? atoi(argv[1]) : 256, ctas = argc > 2 ? atoi(argv[2]) : 8;
    const std::vector<fp8> a = random_numbers<fp8>((size_t)m * K, 1), b = random_numbers<fp8>((size_t)N * K, 2);
    std::vector<float> of_a, of_b;
    for (unsigned i = 0; i < SCALES * m; i++)
        of_a.push_back(scale(i % m, i / m));
    for (unsigned i = 0; i < N / SCALE_COLUMNS * SCALES; i++)
        of_b.push_back(scale(i / SCALES + 3, i % SCALES));
    bf16 *const d = on_device(std::vector<bf16>((size_t)m * N, bf16(0.0f)));
    multiply(m, ctas, on_device(a), on_device(of_a), b_on_device(b), on_device(of_b), d);
    const std::vector<float> wanted = product(
        m, N, K, [&](int row, int k) { return (float)a[(size_t)row * K + k] * scale(row, k / SCALE_COLUMNS); },
        [&](int n, int k) {
            return (float)b[(size_t)n * K + k] * of_b[n / SCALE_COLUMNS * SCALES + k / SCALE_COLUMNS];
        });
    return compare(wanted, from_device(d, (size_t)m * N), 0.01f);
}
