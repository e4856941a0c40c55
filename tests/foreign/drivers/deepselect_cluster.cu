/* deepselect_cluster.cu - DeepSelect's top-k in clusters, as SGLang ships it, kernels/jit/csrc/deep_select.
 *
 * A cluster of two CTAs shares a row of bf16 numbers: bulk copies fill a ring, histograms go from CTA to CTA with
 * st.async, and the output's cursor is an atomic in the first CTA.  Slices longer than 32768 numbers take two
 * exchanges.  The program reads no file.  It compares the selected values with those that a sort on the host selects.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -I PACKAGES/sglang/kernels/jit/csrc/deep_select/vendor
 *          -I PACKAGES/sglang/kernels/jit/csrc/deep_select/vendor/3rdparty/kerutils/include
 *          -I PACKAGES/flashinfer/data/cutlass/include deepselect_cluster.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sglang and flashinfer-python.  ../run.py names
 * the versions.
 */
#include "cuda_kernels/v3_cluster/topk_select.cuh"

#include "check.h"
#include "top_k.h"

enum { MAX_SELECTED = 1024, CTAS_PER_ROW = 2, SHARED_BYTES = 227 * 1024 };

typedef __nv_bfloat16 bf16;
typedef TopkSelectConfig<bf16, int, false, false, false, MAX_SELECTED, 512, 1, 8192, 4096, 5, 512, CTAS_PER_ROW> Config;

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 2, columns = argc > 2 ? atoi(argv[2]) : 20000;
    const int count = argc > 3 ? atoi(argv[3]) : 512;
    const size_t stride = ((size_t)columns + 511) / 512 * 512;
    std::vector<bf16> numbers(rows * stride);
    uint32_t seed = 1;
    for (bf16 &number : numbers) {
        seed = seed * 1664525u + 1013904223u;
        number = bf16((float)(int32_t)seed / 65536.0f);
    }
    int *const indices = on_device(std::vector<int>((size_t)rows * count, -1));
    TopkSelectArgs args = {};
    args.batch_size = rows;
    args.vocab_size = columns;
    args.topk = count;
    args.input = on_device(numbers);
    args.output_index = indices;
    args.stride_input_batch = stride;
    args.stride_output_index_batch = args.stride_output_value_batch = count;
    args.shared_memory_size_per_sm = SHARED_BYTES;
    topk_select_bf16_cluster::run_topk_select_kernel<Config>(args);
    must(cudaGetLastError());
    const std::vector<int> all = from_device(indices, (size_t)rows * count);
    std::vector<float> got, wanted;
    for (int r = 0; r < rows; r++) {
        std::vector<float> row(columns);
        for (int i = 0; i < columns; i++)
            row[i] = (float)numbers[r * stride + i];
        const std::vector<float> part = selected(row, &all[(size_t)r * count], count);
        got.insert(got.end(), part.begin(), part.end());
        std::sort(row.begin(), row.end(), std::greater<float>());
        wanted.insert(wanted.end(), row.begin(), row.begin() + count);
    }
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0);
}
