/* nvfuser_cluster_reduce.cu - reductions within a cluster of NVIDIA/Fuser, runtime/cluster.cu, by the kernels of its
 * tests: an exchange with the next CTA, a sum for all CTAs, and a sum for the last one.
 *
 * Nothing is copied from global memory.  Each warp stores its sum into other CTAs of the cluster with st.async, which
 * completes bytes of their mbarriers; these expect the bytes of all warps of the cluster.  Clusters have four or eight
 * CTAs.  The files of the tests include ATen/Tensor.h and cuda_utils.h, for which those in this folder stand.  The
 * program reads no file.  It compares all numbers with the host's.
 *
 *     nvcc -std=c++17 -O3 -I nvfuser -I . -I CHECKOUT nvfuser_cluster_reduce.cu -lcuda
 */
#include "tests/cpp/cluster_runtime_test/cluster_test_kernels.cu"

#include <numeric>

#include "tensor_map.h"

enum { THREADS = 256, WARPS = THREADS / 32 };

/* How many numbers are wrong. */
template <int CLUSTER> static size_t run(unsigned clusters)
{
    const unsigned ctas = clusters * CLUSTER;
    const size_t count = (size_t)ctas * THREADS, size = CLUSTER * THREADS;
    const std::vector<float> numbers = random_numbers<float>(count, CLUSTER);
    float *const input = on_device(numbers), *const shifted = on_device(std::vector<float>(count));
    float *const all = on_device(std::vector<float>(count)), *const last = on_device(std::vector<float>(1));
    launch(nvfuser::storeSharedRemoteTestKernel<float, THREADS, CLUSTER>, ctas, THREADS, CLUSTER, 0, input, shifted);
    launch(nvfuser::clusterReduceTestKernel<float, THREADS, CLUSTER, WARPS, true>, ctas, THREADS, CLUSTER, 0, input,
           all);
    launch(nvfuser::clusterReduceTestKernel<float, THREADS, CLUSTER, WARPS, false>, CLUSTER, THREADS, CLUSTER, 0, input,
           last);
    std::vector<float> wanted_shifted(count), wanted;
    for (size_t first = 0; first < count; first += size) {
        wanted.resize(first + size, std::accumulate(&numbers[first], &numbers[first] + size, 0.0f));
        for (size_t i = 0; i < size; i++)
            wanted_shifted[first + (i + THREADS) % size] = numbers[first + i];
    }
    return differences(wanted_shifted, from_device(shifted, count)) + differences(wanted, from_device(all, count)) +
           (from_device(last, 1)[0] != wanted[0]);
}

int main(int argc, char **argv)
{
    const unsigned clusters = argc > 1 ? atoi(argv[1]) : 3;
    return verdict(run<4>(clusters) + run<8>(1), 2 * (size_t)THREADS * (4 * clusters + 8) + 2, "numbers");
}
