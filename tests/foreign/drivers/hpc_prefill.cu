/* hpc_prefill.cu - causal attention in bf16 of Tencent/hpc-ops, src/attention/prefill/warp_spec_dim128.cu, on two
 * sequences of different lengths.
 *
 * A first kernel writes the tensor maps.  The CTAs of the second one are persistent: one warp copies, two warpgroups
 * compute.  Each warpgroup's Q, K and V have full and empty mbarriers of their own.  The program reads no file.  It
 * prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-extended-lambda -I CHECKOUT -I CHECKOUT/3rd/cutlass/include hpc_prefill.cu -lcuda
 */
#include "src/attention/prefill/warp_spec_dim128.cu"
#include "src/utils/utils.cc"

#include "attention.h"
#include "check.h"

enum { SIZE = 128, MAP_BYTES = 128, MAPS = 4 };

typedef __nv_bfloat16 bf16;

int main(int argc, char **argv)
{
    const std::vector<int> sizes = {argc > 1 ? atoi(argv[1]) : 150, argc > 2 ? atoi(argv[2]) : 70};
    const int heads = argc > 3 ? atoi(argv[3]) : 4, kv_heads = argc > 4 ? atoi(argv[4]) : 2;
    const std::vector<int> begins = {0, sizes[0], sizes[0] + sizes[1]};
    const int total = begins.back(), batches = (int)sizes.size(), row = heads * SIZE, kv_row = kv_heads * SIZE;
    const size_t count = (size_t)total * row, kv_count = (size_t)total * kv_row;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(kv_count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(kv_count, 3);
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    hpc::attention::prefill::warp_spec_dim128_async(
        o, on_device(q), on_device(k), on_device(v), on_device(sizes), on_device(begins),
        on_device(std::vector<uint8_t>(batches * MAPS * MAP_BYTES)), batches, total, std::max(sizes[0], sizes[1]), SIZE,
        SIZE, heads, kv_heads, row, row, kv_row, kv_row, 0);
    must(cudaGetLastError());
    std::vector<float> wanted(count);
    for (int token = 0; token < total; token++)
        for (int head = 0; head < heads; head++) {
            const int first = token < sizes[0] ? 0 : sizes[0];
            const size_t at = (size_t)token * row + head * SIZE;
            const size_t kv_at = (size_t)first * kv_row + head / (heads / kv_heads) * SIZE;
            attend(
                token - first + 1, SIZE, SIZE, 1 / std::sqrt((double)SIZE), [&](int i) { return (float)q[at + i]; },
                [&](int other, int i) { return (float)k[kv_at + (size_t)other * kv_row + i]; },
                [&](int other, int i) { return (float)v[kv_at + (size_t)other * kv_row + i]; }, &wanted[at]);
        }
    return compare(wanted, from_device(o, count), 0.02f);
}
