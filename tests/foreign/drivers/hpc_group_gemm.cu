/* hpc_group_gemm.cu - a grouped GEMM in fp8 of Tencent/hpc-ops, src/group_gemm/group_gemm_pertensor_fp8.cu, for four
 * groups, one of which is empty.
 *
 * A first kernel writes a tensor map for each group into global memory.  The GEMM starts by programmatic dependent
 * launch and acquires them.  Its CTAs are persistent and count the tiles of the groups.  One thread copies, two
 * warpgroups multiply; all their threads arrive on the empty mbarriers.  The program reads no file.  It prints the
 * largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-extended-lambda -DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED -I CHECKOUT
 *          -I CHECKOUT/3rd/cutlass/include hpc_group_gemm.cu -lcuda
 */
#include "src/group_gemm/group_gemm_pertensor_fp8.cu"
#include "src/utils/utils.cc"

#include <numeric>

#include <cuda_fp8.h>

#include "check.h"

enum { MAP_BYTES = 128, MAPS = 2 };

typedef __nv_fp8_e4m3 fp8;
typedef __nv_bfloat16 bf16;

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 256, k = argc > 2 ? atoi(argv[2]) : 640;
    const int average = argc > 3 ? atoi(argv[3]) : 64; /* rows of a group; decides the tile's size */
    const std::vector<int> sizes = {70, 0, 33, 130};
    const int groups = (int)sizes.size();
    std::vector<int> begins(groups + 1);
    std::partial_sum(sizes.begin(), sizes.end(), begins.begin() + 1);
    const int m = begins.back();
    const std::vector<fp8> x = random_numbers<fp8>((size_t)m * k, 1),
                           w = random_numbers<fp8>((size_t)groups * n * k, 2);
    const std::vector<float> scales = {0.5f, 1.0f, 2.0f, 0.25f};
    bf16 *const y = on_device(std::vector<bf16>((size_t)m * n, bf16(0.0f)));
    hpc::group_gemm::group_gemm_fp8_async(y, on_device(x), on_device(w), on_device(sizes), on_device(begins),
                                          on_device(scales), on_device(std::vector<uint8_t>(groups * MAPS * MAP_BYTES)),
                                          on_device(std::vector<int>(groups)), on_device(std::vector<int>(groups + 1)),
                                          nullptr, 0, groups, m, n, k, average, true, true, 0);
    must(cudaGetLastError());
    std::vector<float> wanted;
    for (int group = 0; group < groups; group++)
        append(wanted,
               product(
                   sizes[group], n, k,
                   [&](int i, int at) { return (float)x[(size_t)(begins[group] + i) * k + at] * scales[group]; },
                   [&](int j, int at) { return (float)w[((size_t)group * n + j) * k + at]; }));
    return compare(wanted, from_device(y, (size_t)m * n), 0.01f);
}
