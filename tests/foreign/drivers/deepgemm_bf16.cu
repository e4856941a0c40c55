/* deepgemm_bf16.cu - the bf16 GEMM for sm_90 of deepseek-ai/DeepGEMM on a small size, clusters of two: D = A B^T.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -I CHECKOUT/deep_gemm/include -I CUTLASS/include deepgemm_bf16.cu -lcuda
 */
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

#include "tensor_map.h"

enum { BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 64, STAGES = 4, MULTICAST = 2, CTAS = 4, PRODUCERS = 128, MATH = 256 };

int main(int argc, char **argv)
{
    typedef __nv_bfloat16 bf16;
    const unsigned m_count = 512, n_count = 256, k_count = argc > 1 ? atoi(argv[1]) : 512;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)m_count * k_count, 1);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)n_count * k_count, 2);
    bf16 *const d = on_device(std::vector<bf16>((size_t)m_count * n_count, bf16(0.0f)));
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const unsigned barriers = 2 * STAGES * 8, stage = (BLOCK_M + BLOCK_N) * BLOCK_K * 2;
    launch(deep_gemm::sm90_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, 0, 0, 1, BLOCK_M, BLOCK_N,
                                          BLOCK_K, 128, 128, 128, STAGES, PRODUCERS, MATH, MULTICAST, false, CTAS,
                                          deep_gemm::GemmType::Normal, false, cutlass::bfloat16_t>,
           CTAS, PRODUCERS + MATH, MULTICAST, BLOCK_M * BLOCK_N * 2 + STAGES * stage + barriers, (int *)nullptr,
           m_count, n_count, k_count, map_of(type, 2, on_device(a), m_count, k_count, BLOCK_M, BLOCK_K),
           map_of(type, 2, on_device(b), n_count, k_count, BLOCK_N, BLOCK_K),
           map_of(type, 2, d, m_count, n_count, BLOCK_M, 64));
    const std::vector<bf16> got = from_device(d, (size_t)m_count * n_count);
    const std::vector<float> wanted = product(
        m_count, n_count, k_count, [&](int m, int k) { return (float)a[(size_t)m * k_count + k]; },
        [&](int n, int k) { return (float)b[(size_t)n * k_count + k]; });
    return compare(wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
