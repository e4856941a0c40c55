/* deepgemm_bmn_bnk.cu - a sum of matrix products of DeepGEMM, deep_gemm/impls/sm90_bmk_bnk_mn.cuh, as SGLang ships it:
 * D(m, n) = the sum over s and k of A(s, m, k) * B(s, n, k), in bf16.
 *
 * The sum is split over CTAs, which add to D by atomics.  One thread copies; it expects the bytes of a stage after it
 * has started the copies.  All 256 threads of two warpgroups arrive to give a stage back.  The program reads no file.
 * It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++20 -O3 -I PACKAGES/deep_gemm/include deepgemm_bmn_bnk.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sgl-deep-gemm.  ../run.py names the version.
 */
#include <deep_gemm/impls/sm90_bmk_bnk_mn.cuh>

#include "tensor_map.h"

enum { M = 192, N = 160, K = 128, BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 64, BLOCKS_OF_SPLIT = 7, STAGES = 3 };
enum { COPY_THREADS = 128, MATH_THREADS = 256 };
enum { SHARED_BYTES = STAGES * (BLOCK_M + BLOCK_N) * BLOCK_K * 2 + STAGES * 16 };

typedef __nv_bfloat16 bf16;

int main(int argc, char **argv)
{
    const unsigned s_count = argc > 1 ? atoi(argv[1]) : 9;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)s_count * M * K, 1);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)s_count * N * K, 2);
    float *const d = on_device(std::vector<float>(M * N));
    const unsigned tiles = (M + BLOCK_M - 1) / BLOCK_M * ((N + BLOCK_N - 1) / BLOCK_N);
    const unsigned splits = (s_count * (K / BLOCK_K) + BLOCKS_OF_SPLIT - 1) / BLOCKS_OF_SPLIT;
    launch(deep_gemm::sm90_bmn_bnk_mn_gemm_impl<M, N, K, BLOCK_M, BLOCK_N, BLOCK_K, BLOCKS_OF_SPLIT, STAGES,
                                                COPY_THREADS, MATH_THREADS>,
           tiles * splits, COPY_THREADS + MATH_THREADS, 1, SHARED_BYTES, s_count,
           map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, on_device(a), s_count * M, K, BLOCK_M, BLOCK_K),
           map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, on_device(b), s_count * N, K, BLOCK_N, BLOCK_K), d);
    const std::vector<float> wanted = product(
        M, N, s_count * K, [&](int m, int at) { return (float)a[((size_t)(at / K) * M + m) * K + at % K]; },
        [&](int n, int at) { return (float)b[((size_t)(at / K) * N + n) * K + at % K]; });
    return compare(wanted, from_device(d, (size_t)M * N), 1e-4f);
}
