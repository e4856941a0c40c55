/* vllm_cooperative_topk.cu - vLLM's top-k in clusters, csrc/cooperative_topk.cuh, on a few rows.
 *
 * A cluster of two CTAs shares a row.  Bulk copies load it; atomics on the other CTA's shared memory add up histograms
 * and counts.  A row of up to 98304 numbers stays in shared memory; a longer one goes through a double buffer twice.
 * The program reads no file.  It compares the selected values with those that a sort on the host selects.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -I VLLM/csrc vllm_cooperative_topk.cu -lcuda
 *
 * VLLM: the folder of the unpacked source package vllm.  ../run.py names the version.
 */
#include "cooperative_topk.cuh"

#include "check.h"
#include "top_k.h"

enum { SELECTED = 1024, CTAS_PER_ROW = 2, TIES = 2048 };

int main(int argc, char **argv)
{
    namespace topk = vllm::cooperative;
    std::vector<int> lengths;
    for (int i = 1; i < argc; i++)
        lengths.push_back(atoi(argv[i]));
    if (lengths.empty())
        lengths = {40000, 100000};
    const int rows = (int)lengths.size(), stride = (*std::max_element(lengths.begin(), lengths.end()) + 3) / 4 * 4;
    std::vector<float> numbers((size_t)rows * stride);
    uint32_t seed = 1;
    for (float &number : numbers) {
        seed = seed * 1664525u + 1013904223u;
        number = (float)(int32_t)seed / 65536.0f;
    }
    int *const indices = on_device(std::vector<int>((size_t)rows * SELECTED, -1));
    topk::CooperativeTopKParams<SELECTED> params = {};
    params.input = on_device(numbers);
    params.output = indices;
    params.lengths = on_device(lengths);
    params.tie_ws = on_device(std::vector<topk::hist4096::Tie>((size_t)rows * TIES));
    params.num_rows = rows;
    params.stride = stride;
    auto *const kernel = topk::cooperative_topk_cs2<SELECTED>;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)topk::kSmemSize2));
    kernel<<<dim3(rows, CTAS_PER_ROW), topk::hist4096::kBlockSize, topk::kSmemSize2>>>(params);
    must(cudaGetLastError());
    const std::vector<int> all = from_device(indices, (size_t)rows * SELECTED);
    std::vector<float> got, wanted;
    for (int r = 0; r < rows; r++) {
        const float *const first = &numbers[(size_t)r * stride];
        std::vector<float> row(first, first + lengths[r]);
        const std::vector<float> part = selected(row, &all[(size_t)r * SELECTED], SELECTED);
        got.insert(got.end(), part.begin(), part.end());
        std::sort(row.begin(), row.end(), std::greater<float>());
        wanted.insert(wanted.end(), row.begin(), row.begin() + SELECTED);
    }
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0);
}
