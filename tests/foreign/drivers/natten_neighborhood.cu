/* natten_neighborhood.cu - the neighborhood attention of NATTEN for sm_90, csrc/include/natten/cuda/fna_hopper, on a
 * small size: two heads of 64 dimensions.  Each row attends to the rows nearest to it.
 *
 * One warp copies Q, K and V.  Two warpgroups compute a tile of 64 rows each; with SCHEDULE WSPingpong, the default,
 * they do so in turns.  Tiles at the ends of the sequence take other numbers of steps than tiles in the middle.  The
 * program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math
 *          -DCUTLASS_ARCH_MMA_SM90_SUPPORTED -I NATTEN/csrc/include -I NATTEN/third_party/cutlass/include
 *          natten_neighborhood.cu -lcuda
 *
 * NATTEN: the folder of the unpacked source package natten.  ../run.py names the version.
 */
#include <iostream>

#include <natten/cuda/fna_hopper/fna_forward.cuh>

#include "attention.h"
#include "check.h"

#ifndef SCHEDULE
#define SCHEDULE WSPingpong
#endif

enum { HEADS = 2, DIMENSION = 64, TILE_Q = 128, TILE_KV = 64 };

typedef cutlass::bfloat16_t bf16;
typedef cute::tuple<int> Size;
typedef natten::cuda::fna_hopper::KernelForward<
    bf16, cute::tuple<cute::false_type>, cute::tuple<cute::Int<TILE_Q>>, cute::tuple<cute::Int<TILE_KV>>,
    cute::tuple<cute::Int<TILE_Q>, cute::Int<TILE_KV>, cute::Int<DIMENSION>>,
    natten::cuda::hopper::HopperKernelSchedule::SCHEDULE>
    Attention;

/* The first of the `window` rows that a row sees: the row is in the middle, but for the ends of the sequence. */
static int first_seen(int row, int window, int length)
{
    const int first = row - window / 2 > 0 ? row - window / 2 : 0;
    return first + window > length ? length - window : first;
}

int main(int argc, char **argv)
{
    const int length = argc > 1 ? atoi(argv[1]) : 500, window = argc > 2 ? atoi(argv[2]) : 101;
    const int padded = (length + TILE_Q - 1) / TILE_Q * TILE_Q;
    const size_t count = (size_t)padded * HEADS * DIMENSION;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(count, 3);
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    float *const sums = on_device(std::vector<float>((size_t)padded * HEADS));
    const float scale = 1 / std::sqrt((float)DIMENSION);
    Attention attention;
    const auto arguments =
        attention.initialize(on_device(q), on_device(k), on_device(v), o, sums, 1, padded, padded, HEADS, DIMENSION,
                             Size(padded), Size(padded), Size(length), Size(window), Size(1), Size(1), 0, scale);
    attention.run(arguments, on_device(std::vector<char>(attention.get_workspace_size(arguments) + 1)), nullptr);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(o, count);
    const size_t stride = HEADS * DIMENSION;
    std::vector<float> wanted(length * stride);
    for (int row = 0; row < length; row++)
        for (int head = 0; head < HEADS; head++) {
            const size_t at_q = row * stride + head * DIMENSION;
            const size_t at_kv = first_seen(row, window, length) * stride + head * DIMENSION;
            attend(
                window, DIMENSION, DIMENSION, scale, [&](int i) { return (float)q[at_q + i]; },
                [&](int at, int i) { return (float)k[at_kv + at * stride + i]; },
                [&](int at, int i) { return (float)v[at_kv + at * stride + i]; }, &wanted[at_q]);
        }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
