/* cub_merge.cu - cub::DeviceMerge, of a CUB that is newer than the CUDA toolkit's, on two sorted lists of pairs.
 *
 * Each CTA loads its part of both lists with cub::BlockLoadToShared.  That uses bulk copies and one mbarrier: one phase
 * for the keys, the next one for the values.  The program reads no file.  It compares the result with a merge on the
 * host.
 *
 *     nvcc -std=c++17 -O3 -I PACKAGES/nvidia/cu13/include/cccl cub_merge.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts nvidia-cuda-cccl.  ../run.py names the version.
 */
#include <algorithm>

#include <cub/device/device_merge.cuh>

#include "check.h"

struct List {
    std::vector<int> keys, values;
};

/* A value tells the list and the place that its pair comes from. */
static List sorted_list(int count, uint32_t seed, int first_value)
{
    List list;
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        list.keys.push_back((int)(seed >> 12));
        list.values.push_back(first_value + i);
    }
    std::sort(list.keys.begin(), list.keys.end());
    return list;
}

int main(int argc, char **argv)
{
    const int count_1 = argc > 1 ? atoi(argv[1]) : 9000, count_2 = argc > 2 ? atoi(argv[2]) : 5000;
    const int count = count_1 + count_2;
    const List a = sorted_list(count_1, 1, 0), b = sorted_list(count_2, 2, count_1);
    int *const keys = on_device(std::vector<int>(count)), *const values = on_device(std::vector<int>(count));
    int *const a_keys = on_device(a.keys), *const a_values = on_device(a.values);
    int *const b_keys = on_device(b.keys), *const b_values = on_device(b.values);
    void *scratch = nullptr;
    size_t scratch_bytes = 0;
    for (int is_real = 0; is_real < 2; is_real++) {
        if (is_real)
            must(cudaMalloc(&scratch, scratch_bytes));
        must(cub::DeviceMerge::MergePairs(scratch, scratch_bytes, a_keys, a_values, count_1, b_keys, b_values, count_2,
                                          keys, values));
    }
    std::vector<int> all = a.keys;
    all.insert(all.end(), b.keys.begin(), b.keys.end());
    const std::vector<int> got_keys = from_device(keys, count), got_values = from_device(values, count);
    std::vector<int> wanted = all;
    std::sort(wanted.begin(), wanted.end());
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        const int value = got_values[i];
        wrong += got_keys[i] != wanted[i] || value < 0 || value >= count || all[value] != wanted[i];
    }
    printf("%d of %d pairs differ: %s\n", wrong, count, wrong ? "Failed" : "Passed");
    return wrong != 0;
}
