/* hpc_gemm_splitk.cu - a GEMM of Tencent/hpc-ops, src/gemm/sm90/gemm_bf16xfp32.cu: bf16 by fp32 weights, which come as
 * two matrices in bf16.
 *
 * X has full and empty mbarriers, and so has each of the two matrices of weights, for each warpgroup.  The CTAs are
 * persistent.  With `split` above 1, CTAs share a tile, and wait for each other's flags in global memory; 1 is the
 * default here.  The program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-extended-lambda -I CHECKOUT -I CHECKOUT/3rd/cutlass/include hpc_gemm_splitk.cu -lcuda
 */
#include "src/gemm/sm90/gemm_bf16xfp32.cu"
#include "src/utils/utils.cc"

#include <cuda_bf16.h>

#include "check.h"

typedef __nv_bfloat16 bf16;

int main(int argc, char **argv)
{
    const int m = argc > 1 ? atoi(argv[1]) : 50, n = argc > 2 ? atoi(argv[2]) : 256,
              k = argc > 3 ? atoi(argv[3]) : 2048;
    const int split = argc > 4 ? atoi(argv[4]) : 1, tile = argc > 5 ? atoi(argv[5]) : 16;
    const int warpgroups = argc > 6 ? atoi(argv[6]) : 2;
    const std::vector<bf16> x = random_numbers<bf16>((size_t)m * k, 1), high = random_numbers<bf16>((size_t)n * k, 2);
    const std::vector<bf16> low = random_numbers<bf16>((size_t)n * k, 3);
    const size_t count = (size_t)m * n;
    const float scale = 1.0f / 256;
    float *const y = on_device(std::vector<float>(count));
    if (!hpc::gemm::gemm_bf16xfp32_async(y, on_device(std::vector<float>(split * count)),
                                         on_device(std::vector<int>(4096)), on_device(x), on_device(high),
                                         on_device(low), m, n, k, scale, true, split, tile, warpgroups, 0))
        must(cudaErrorNotSupported);
    must(cudaGetLastError());
    const std::vector<float> wanted = product(
        m, n, k, [&](int i, int at) { return (float)x[(size_t)i * k + at]; },
        [&](int j, int at) { return (float)high[(size_t)j * k + at] + scale * (float)low[(size_t)j * k + at]; });
    return compare(wanted, from_device(y, count), 0.001f);
}
