/* colfax_fmha_ws.cu - attention in fp16 of ColfaxResearch/cutlass-kernels, src/fmha-pipeline/fmha_pipe_ws.h, in
 * clusters of two CTAs.
 *
 * Q comes with an mbarrier on which every thread of the CTA waits.  K and V of a stage come by one PipelineTmaAsync,
 * for both CTAs of the cluster, so that consumers release stages of the other CTA, too.  The checkout's own main() does
 * not compile, so ../run.py writes colfax_fmha_ws_part.cuh: src/fmha-pipeline/fmha_forward.cu up to its driver.  The
 * program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG -DEXECMODE=1 -DCLUSTERN=2 --expt-extended-lambda -I SCRATCH
 *          -I CHECKOUT/src/fmha-pipeline -I CHECKOUT/lib -I CHECKOUT/include
 *          -I PACKAGES/cutlass_library/source/include -I PACKAGES/cutlass_library/source/tools/util/include
 *          colfax_fmha_ws.cu -lcuda
 *
 * SCRATCH: the folder of colfax_fmha_ws_part.cuh.  PACKAGES: the folder into which `pip install --no-deps --target`
 * puts nvidia-cutlass.  ../run.py names the version.
 */
#include <iostream>

#include "colfax_fmha_ws_part.cuh"

#include "attention.h"
#include "check.h"

enum { SIZE = 64 };

typedef cutlass::half_t half_number;

int main(int argc, char **argv)
{
    const int queries = argc > 1 ? atoi(argv[1]) : 256, keys = argc > 2 ? atoi(argv[2]) : 384;
    const int heads = argc > 3 ? atoi(argv[3]) : 2, rows = queries * heads;
    const size_t count = (size_t)rows * SIZE, kv_count = (size_t)keys * heads * SIZE;
    const std::vector<half_number> q = random_numbers<half_number>(count, 1);
    const std::vector<half_number> k = random_numbers<half_number>(kv_count, 2);
    const std::vector<half_number> v = random_numbers<half_number>(kv_count, 3);
    half_number *const o = on_device(std::vector<half_number>(count));
    float *const largest = on_device(std::vector<float>(rows)), *const sums = on_device(std::vector<float>(rows));
    fmhaForwardDevice<half_number, half_number, float, half_number, SIZE>(
        queries, keys, heads, 1, on_device(q), on_device(k), on_device(v), on_device(std::vector<half_number>(16)), o,
        largest, sums, 1, 1.4426950408889634f / std::sqrt((float)SIZE));
    must(cudaGetLastError());
    std::vector<float> wanted(count);
    for (int row = 0; row < rows; row++) {
        const size_t head = row % heads * SIZE;
        attend(
            keys, SIZE, SIZE, 1 / std::sqrt((double)SIZE), [&](int i) { return (float)q[(size_t)row * SIZE + i]; },
            [&](int at, int i) { return (float)k[(size_t)at * heads * SIZE + head + i]; },
            [&](int at, int i) { return (float)v[(size_t)at * heads * SIZE + head + i]; }, &wanted[(size_t)row * SIZE]);
    }
    return compare(wanted, from_device(o, count), 0.02f);
}
