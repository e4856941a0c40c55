/* simplegemm_pingpong.cu - the ping-pong matmul of bertmaher/simplegemm on a small size: C[n][m] = sum of A[m][k]
 * B[n][k].
 *
 * The kernel starts 132 CTAs and has tiles of 128 x 128; with more tiles than CTAs both consumers of a CTA work.  The
 * program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -I CHECKOUT simplegemm_pingpong.cu -lcuda
 */
#include <cstring>

#include "pingpong.cu"

#include "check.h"

int main(int argc, char **argv)
{
    const int m_count = argc > 1 ? atoi(argv[1]) : 1024, n_count = argc > 2 ? atoi(argv[2]) : 2304;
    const int k_count = argc > 3 ? atoi(argv[3]) : 256;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)m_count * k_count, 1);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)n_count * k_count, 2);
    bf16 *const c = on_device(std::vector<bf16>((size_t)m_count * n_count, bf16(0.0f)));
    run_pingpong(on_device(a), on_device(b), c, m_count, n_count, k_count);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(c, (size_t)m_count * n_count);
    const std::vector<float> wanted = product(
        n_count, m_count, k_count, [&](int n, int k) { return (float)b[(size_t)n * k_count + k]; },
        [&](int m, int k) { return (float)a[(size_t)m * k_count + k]; });
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
