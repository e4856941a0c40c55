/* cute_wgmma_tma.cu - the matmul of CUTLASS's CuTe tutorial that uses TMA and wgmma, on a small size: C = A B^T.
 *
 * All matrices are column-major.  The tutorial's own main() does not check its result and runs 100 times, so it gets
 * another name.  Sums are kept in fp16, so the inputs are 1 and -1.  The program reads no file.  It prints the largest
 * difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-relaxed-constexpr -I CUTLASS/include -I CUTLASS/tools/util/include
 *          -I CUTLASS/examples/cute/tutorial/hopper cute_wgmma_tma.cu -lcuda
 */
#define main unused_main
#include "wgmma_tma_sm90.cu"
#undef main

#include "check.h"

typedef cute::half_t fp16;

static std::vector<fp16> signs(size_t count, uint32_t seed)
{
    std::vector<fp16> all;
    for (float number : random_numbers<float>(count, seed))
        all.push_back(fp16(number < 0 ? -1.0f : 1.0f));
    return all;
}

int main(int argc, char **argv)
{
    const int m_count = argc > 1 ? atoi(argv[1]) : 512, n_count = argc > 2 ? atoi(argv[2]) : 256;
    const int k_count = argc > 3 ? atoi(argv[3]) : 512;
    const std::vector<fp16> a = signs((size_t)m_count * k_count, 1), b = signs((size_t)n_count * k_count, 2);
    fp16 *const c = on_device(std::vector<fp16>((size_t)m_count * n_count, fp16(0.0f)));
    gemm('N', 'T', m_count, n_count, k_count, fp16(1.0f), on_device(a), m_count, on_device(b), n_count, fp16(0.0f), c,
         m_count);
    must(cudaGetLastError());
    const std::vector<fp16> got = from_device(c, (size_t)m_count * n_count);
    const std::vector<float> wanted = ::product(
        n_count, m_count, k_count, [&](int n, int k) { return (float)b[n + (size_t)k * n_count]; },
        [&](int m, int k) { return (float)a[m + (size_t)k * m_count]; });
    return ::compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0);
}
