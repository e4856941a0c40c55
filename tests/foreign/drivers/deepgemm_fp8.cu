/* deepgemm_fp8.cu - the fp8 GEMM with scales for sm_90 of deepseek-ai/DeepGEMM on a small size, clusters of two.
 *
 * D[m][n] is a sum over blocks of 128 k: the product of the block times scale_a(m, block) times scale_b(n / 128, block).
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -I CHECKOUT/deep_gemm/include -I CUTLASS/include deepgemm_fp8.cu -lcuda
 */
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include "tensor_map.h"

enum { BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 128, STAGES = 4, MULTICAST = 2, CTAS = 4, PRODUCERS = 128, MATH = 256 };

static std::vector<float> scales(size_t count)
{
    std::vector<float> all(count);
    for (size_t i = 0; i < count; i++)
        all[i] = 0.5f + (float)(i * 7 % 11) / 16;
    return all;
}

int main(int argc, char **argv)
{
    typedef __nv_fp8_e4m3 fp8;
    typedef __nv_bfloat16 bf16;
    const unsigned m_count = 512, n_count = 256, k_count = argc > 1 ? atoi(argv[1]) : 768, blocks = k_count / BLOCK_K;
    const std::vector<fp8> a = random_numbers<fp8>((size_t)m_count * k_count, 1);
    const std::vector<fp8> b = random_numbers<fp8>((size_t)n_count * k_count, 2);
    const std::vector<float> of_a = scales((size_t)blocks * m_count), of_b = scales(n_count / BLOCK_K * blocks);
    bf16 *const d = on_device(std::vector<bf16>((size_t)m_count * n_count, bf16(0.0f)));
    const CUtensorMapDataType bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    const unsigned stage = (BLOCK_M + BLOCK_N) * BLOCK_K + BLOCK_M * 4, barriers = 2 * STAGES * 8;
    launch(deep_gemm::sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K, 0, 0, 0, 1, BLOCK_M, BLOCK_N, BLOCK_K, 128, 128, 128,
                                              STAGES, PRODUCERS, MATH, MULTICAST, false, CTAS,
                                              deep_gemm::GemmType::Normal, cutlass::bfloat16_t,
                                              deep_gemm::epilogue::transform::EpilogueIdentity>,
           CTAS, PRODUCERS + MATH, MULTICAST, BLOCK_M * BLOCK_N * 2 + STAGES * stage + (blocks * 4 + 7) / 8 * 8 + barriers,
           on_device(of_b), (int *)nullptr, m_count, n_count, k_count,
           map_of(bytes, 1, on_device(a), m_count, k_count, BLOCK_M, BLOCK_K),
           map_of(bytes, 1, on_device(b), n_count, k_count, BLOCK_N, BLOCK_K),
           map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, d, m_count, n_count, BLOCK_M, 64),
           map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, on_device(of_a), blocks, m_count, 1, BLOCK_M,
                  CU_TENSOR_MAP_SWIZZLE_NONE));
    const std::vector<bf16> got = from_device(d, (size_t)m_count * n_count);
    const std::vector<float> wanted = product(
        m_count, n_count, k_count,
        [&](int m, int k) { return (float)a[(size_t)m * k_count + k] * of_a[(size_t)(k / BLOCK_K) * m_count + m]; },
        [&](int n, int k) { return (float)b[(size_t)n * k_count + k] * of_b[n / BLOCK_K * blocks + k / BLOCK_K]; });
    return compare(wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
