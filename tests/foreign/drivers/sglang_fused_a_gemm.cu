/* sglang_fused_a_gemm.cu - SGLang's matmul of few rows, kernels/jit/csrc/gemm/dsv3_fused_a_gemm.cuh, on a small size:
 * C[n][m] = sum of A[m][k] B[n][k].
 *
 * Two warps copy tiles of A and two of B with cp.async, whose completion arrives at a barrier; four warps multiply.
 * The program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -DSGL_CUDA_ARCH=900 -I PACKAGES/sglang/kernels/jit/include
 *          -I PACKAGES/sglang/kernels/jit/csrc -I PACKAGES/tvm_ffi/include sglang_fused_a_gemm.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sglang and apache-tvm-ffi.  ../run.py names the
 * versions.
 */
#include "gemm/dsv3_fused_a_gemm.cuh"

#include "tensor_map.h"

enum { M = 128, K = 4096, TILE_M = 16, TILE_N = 8, TILE_K = 256, STAGES = 6, THREADS = 256 };
enum { BARRIER_BYTES = 1024, SHARED_BYTES = (TILE_M + TILE_N) * TILE_K * STAGES * 2 + BARRIER_BYTES };

typedef __nv_bfloat16 bf16;

int main(int argc, char **argv)
{
    const int n_count = argc > 1 ? atoi(argv[1]) : 7;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)M * K, 1);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)n_count * K, 2);
    bf16 *const c = on_device(std::vector<bf16>((size_t)M * n_count, bf16(0.0f)));
    launch(sglang::fused_a_gemm_kernel<1, M, K, TILE_M, TILE_N, TILE_K, STAGES>, M / TILE_M, THREADS, 1, SHARED_BYTES,
           c, (const bf16 *)on_device(a), (const bf16 *)on_device(b), n_count);
    const std::vector<bf16> got = from_device(c, (size_t)M * n_count);
    const std::vector<float> wanted = product(
        n_count, M, K, [&](int n, int k) { return (float)b[(size_t)n * K + k]; },
        [&](int m, int k) { return (float)a[(size_t)m * K + k]; });
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
