/* fast_cu.cu - a matmul of pranjalssh/fast.cu on a small size: C[n][m] = sum of A[m][k] B[n][k].
 *
 * KERNEL says which, 7 to 12; the twelfth is the default.  PINGPONG takes pingpong_experimental.cuh, whose number is 10.
 * Numbers 7 to 10 want multiples of 2048.  From 8 on, clusters do not wait for each other's CTAs at the end, so a last
 * arrival may reach a CTA that has left: under a few schedules, and with 11 and 12 always where a cluster has no tile.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG -DKERNEL=12 -I CHECKOUT/examples/matmul fast_cu.cu -lcuda
 */
#include <cassert>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda/barrier>
#include <cuda_bf16.h>

#include "check.h"

typedef __nv_bfloat16 bf16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define cudaCheck(status) must(status)

#ifndef KERNEL
#define KERNEL 12
#endif
#define TEXT_OF(...) #__VA_ARGS__
#define HEADER_OF(number) TEXT_OF(matmul_##number.cuh)
#define LAUNCHER_OF(number) runKernel##number
/* One more call, so that KERNEL is replaced before it is pasted. */
#define HEADER(number) HEADER_OF(number)
#define LAUNCHER(number) LAUNCHER_OF(number)
#ifdef PINGPONG
#include "pingpong_experimental.cuh"
#else
#include HEADER(KERNEL)
#endif

int main(int argc, char **argv)
{
    const int m_count = argc > 1 ? atoi(argv[1]) : 2048, n_count = m_count, k_count = argc > 2 ? atoi(argv[2]) : 64;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)m_count * k_count, 1);
    const std::vector<bf16> b = random_numbers<bf16>((size_t)n_count * k_count, 2);
    bf16 *const c = on_device(std::vector<bf16>((size_t)m_count * n_count, bf16(0.0f)));
    LAUNCHER(KERNEL)(m_count, n_count, k_count, on_device(a), on_device(b), c, nullptr);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(c, (size_t)m_count * n_count);
    const std::vector<float> wanted = product(
        n_count, m_count, k_count, [&](int n, int k) { return (float)b[(size_t)n * k_count + k]; },
        [&](int m, int k) { return (float)a[(size_t)m * k_count + k]; });
    return compare(wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
