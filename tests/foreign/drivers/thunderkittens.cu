/* thunderkittens.cu - the bf16 GEMM for H100 of HazyResearch/ThunderKittens on a small size: C = A B, all row-major.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --expt-relaxed-constexpr --use_fast_math
 *          -I CHECKOUT/include -I CHECKOUT/prototype -I CHECKOUT/kernels/gemm/bf16_h100 thunderkittens.cu -lcuda
 */
#define main benchmark /* the checkout's own main() needs minutes of a GPU's time */
#include "bf16_h100_gemm.cu"
#undef main

#include "check.h"

int main(int argc, char **argv)
{
    using Template = matmul_template<2, 4, 8>;
    const int m_count = 256, n_count = 256, k_count = argc > 1 ? atoi(argv[1]) : 256;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)m_count * k_count, 1);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)k_count * n_count, 2);
    bf16 *const c = on_device(std::vector<bf16>((size_t)m_count * n_count, bf16(0.0f)));
    must(cudaFuncSetAttribute(prototype::lcf::kernel<Template>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              MAX_SHARED_MEMORY - 1024));
    inner_run<Template>(on_device(a), on_device(b), c, m_count, n_count, k_count,
                        Template::grid(m_count, n_count, k_count), prototype::detail::NUM_THREADS_v<Template>);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(c, (size_t)m_count * n_count);
    const std::vector<float> wanted = product(
        m_count, n_count, k_count, [&](int m, int k) { return (float)a[(size_t)m * k_count + k]; },
        [&](int n, int k) { return (float)b[(size_t)k * n_count + n]; });
    return compare(wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
