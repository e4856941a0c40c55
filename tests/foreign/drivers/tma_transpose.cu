/* tma_transpose.cu - transpose_swizzle_batched.cu of simveit/effective_transpose on a small square of fp32 numbers.
 *
 * The checkout's own main() takes 32768 x 32768 numbers and runs 10000 times, so it gets another name.  The program
 * reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-relaxed-constexpr -I CHECKOUT tma_transpose.cu -lcuda
 */
#include <cassert>

#define main unused_main
#include "transpose_swizzle_batched.cu"
#undef main

#include "tensor_map.h"

enum { TILE = 32, LOG_TILE = 5, BATCH = 8, LOG_BATCH = 3 };

int main(int argc, char **argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 512;
    const size_t count = (size_t)width * width;
    const std::vector<float> numbers = random_numbers<float>(count, 1);
    float *const transposed = on_device(std::vector<float>(count));
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const CUtensorMap from = map_of(type, sizeof(float), on_device(numbers), width, width, TILE, TILE);
    const CUtensorMap to = map_of(type, sizeof(float), transposed, width, width, TILE, TILE);
    kernel<TILE, LOG_TILE, BATCH, LOG_BATCH><<<dim3(width / TILE, width / TILE), TILE * TILE / BATCH>>>(from, to);
    must(cudaGetLastError());
    const std::vector<float> got = from_device(transposed, count);
    std::vector<float> wanted(count);
    for (int row = 0; row < width; row++)
        for (int column = 0; column < width; column++)
            wanted[(size_t)column * width + row] = numbers[(size_t)row * width + column];
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0);
}
