/* flashinfer_topk_clusters.cu - FlashInfer's exact top-k of long rows, include/flashinfer/fast_topk_clusters_exact.cuh.
 *
 * A cluster has one row.  Its CTAs add their histograms by atomics in distributed shared memory, between cluster
 * barriers.  Some of these barriers are split into arrival and wait.  There is no mbarrier.  The kernel runs twice, and the second one
 * may begin early (programmatic dependent launch).  The program reads no file.  It compares the selected numbers with
 * those of sorted rows.
 *
 *     nvcc -std=c++17 -O3 -I PACKAGES/flashinfer/data/include -I PACKAGES/tvm_ffi/include
 *          flashinfer_topk_clusters.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python and apache-tvm-ffi.
 * ../run.py names the versions.
 */
#include <flashinfer/fast_topk_clusters_exact.cuh>

#include "check.h"
#include "top_k.h"

enum { CACHED = 128, OVERFLOW_COUNT = 4096, LAUNCHES = 2 }; /* numbers of a CTA in shared and in global memory */

/* Every eighth number or so is larger, and many are there more than once. */
static std::vector<float> numbers_of(size_t count)
{
    std::vector<float> all;
    for (uint32_t word : random_words(count, 7))
        all.push_back((float)(word >> 12) / 65536.0f - 8.0f + ((word >> 9) & 7 ? 0.0f : 3.0f));
    return all;
}

static size_t wrong_of(const std::vector<float> &row, const int *indices, const float *values, int k)
{
    std::vector<float> sorted = row;
    std::sort(sorted.begin(), sorted.end(), std::greater<float>());
    sorted.resize(k);
    size_t wrong = differences(sorted, selected(row, indices, k));
    for (int i = 0; i < k; i++)
        wrong += indices[i] < 0 || values[i] != row[indices[i]];
    return wrong;
}

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 3, length = argc > 2 ? atoi(argv[2]) : 9000;
    const int k = argc > 3 ? atoi(argv[3]) : 200, cluster = argc > 4 ? atoi(argv[4]) : 4;
    const std::vector<float> all = numbers_of((size_t)rows * length);
    const float *const memory = on_device(all);
    int *const indices = on_device(std::vector<int>(rows * k, -1));
    int *const overflow = on_device(std::vector<int>((size_t)rows * cluster * OVERFLOW_COUNT * 4));
    float *const values = on_device(std::vector<float>(rows * k));
    for (int i = 0; i < LAUNCHES; i++)
        flashinfer::sampling::launch_fast_topk_clusters_exact<float, int>(memory, indices, values, length, nullptr,
                                                                          overflow, OVERFLOW_COUNT, rows, length, k,
                                                                          CACHED, cluster, true, k, 0);
    must(cudaGetLastError());
    const std::vector<int> got = from_device(indices, rows * k);
    const std::vector<float> got_values = from_device(values, rows * k);
    size_t wrong = 0;
    for (int row = 0; row < rows; row++)
        wrong += wrong_of({all.begin() + (size_t)row * length, all.begin() + (size_t)(row + 1) * length}, &got[row * k],
                          &got_values[row * k], k);
    return verdict(wrong, (size_t)rows * k, "selected numbers");
}
