/* tilelang_attention.cu - runs the kernel that TileLang generates from python/tilelang_attention.py.  It is causal
 * attention: a row sees no later rows.
 *
 * One warpgroup copies.  All four of its warps wait for free buffers, but only one of them copies, and nothing keeps
 * the others in step with it.  So under a few schedules one of the others misses a phase of its mbarrier, and waits
 * forever.  The program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     PYTHON python/tilelang_attention.py tilelang_attention.cuh
 *     nvcc -std=c++17 -O3 -DENABLE_BF16 --expt-relaxed-constexpr -I . -I TILELANG/src
 *          -I TILELANG/3rdparty/cutlass/include tilelang_attention.cu -lcuda
 *
 * TILELANG: the folder that the first command prints.  PYTHON: a Python that has TileLang; ../run.py names the version.
 */
#include <tilelang_attention.cuh>

#include "attention.h"
#include "tensor_map.h"

typedef __nv_bfloat16 bf16;

/* [head][row][number], in boxes of `rows` rows of a head. */
static CUtensorMap map_of_heads(const std::vector<bf16> &numbers, unsigned rows)
{
    const cuuint64_t sizes[] = {DIMENSION, ROWS, HEADS};
    const cuuint64_t strides[] = {DIMENSION * sizeof(bf16), ROWS * DIMENSION * sizeof(bf16)};
    const cuuint32_t box[] = {DIMENSION, rows, 1};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, on_device(numbers), sizes, strides, box);
}

int main()
{
    const size_t count = (size_t)HEADS * ROWS * DIMENSION;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(count, 3);
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    must(cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    attention_kernel<<<dim3(ROWS / TILE_Q, HEADS), THREADS, SHARED_BYTES>>>(
        map_of_heads(k, TILE_KV), (bfloat16_t *)o, map_of_heads(q, TILE_Q), map_of_heads(v, TILE_KV));
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int row = 0; row < HEADS * ROWS; row++) {
        const size_t at_q = (size_t)row * DIMENSION, at_kv = (size_t)(row / ROWS) * ROWS * DIMENSION;
        attend(
            row % ROWS + 1, DIMENSION, DIMENSION, 1 / std::sqrt((double)DIMENSION),
            [&](int i) { return (float)q[at_q + i]; },
            [&](int at, int i) { return (float)k[at_kv + (size_t)at * DIMENSION + i]; },
            [&](int at, int i) { return (float)v[at_kv + (size_t)at * DIMENSION + i]; }, &wanted[at_q]);
    }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
