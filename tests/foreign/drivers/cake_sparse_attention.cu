/* cake_sparse_attention.cu - a block-sparse attention kernel for sm_90: each of four query blocks of 64 rows attends to
 * up to eight K/V blocks.  Cake, a generator of kernels, wrote it; FlashInfer ships it in cake_vsa_sm90_backend.
 *
 * A cluster of two CTAs shares a query block.  Each CTA attends to at most four of the K/V blocks; then the two swap
 * halves of their results with st.async.  A parameter of the kernel, the plan, says which CTA takes which blocks.
 * FlashInfer makes it in Python; here the host program does.  The program reads no file.  It prints the largest
 * difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 --use_fast_math -I PACKAGES/flashinfer/cake_vsa_sm90_backend/csrc cake_sparse_attention.cu
 *          -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python.  ../run.py names the
 * version.
 */
#include "cake_vsa_sm90_6ef70e9d44dd4f5aaefb_kernel.cu"

#include <algorithm>

#include "attention.h"
#include "tensor_map.h"

enum { HEADS = 2, ROWS = 128, BLOCK = 64, DIMENSION = 128, CLUSTER = 2, BLOCKS_OF_CTA = 4, PLAN = 1750 };
enum { PLAN_ROW = 2 + BLOCKS_OF_CTA, Q_BLOCKS = ROWS / BLOCK, SHARED_BYTES = 166912 };

typedef __nv_bfloat16 bf16;
typedef std::vector<std::vector<int>> Choice; /* of each query block of each head: K/V blocks in ascending order */

/* Boxes of 64 rows.  The halves of a row of 128 numbers are an axis of their own; `in_groups`: groups of 8 rows, too.
 */
static CUtensorMap map_of_rows(const std::vector<bf16> &numbers, bool in_groups)
{
    const cuuint64_t rows = numbers.size() / DIMENSION, row_bytes = DIMENSION * sizeof(bf16);
    const cuuint64_t sizes[] = {64, rows, 2}, strides[] = {row_bytes, row_bytes / 2};
    const cuuint64_t group_sizes[] = {64, 8, rows / 8, 2}, group_strides[] = {row_bytes, 8 * row_bytes, row_bytes / 2};
    const cuuint32_t box[] = {64, 64, 2}, group_box[] = {64, 8, 8, 2};
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return in_groups ? encoded(type, on_device(numbers), group_sizes, group_strides, group_box)
                     : encoded(type, on_device(numbers), sizes, strides, box);
}

/* The first query block chooses one K/V block, so that a CTA has none; each further one two more. */
static Choice choice_of(int kv_blocks)
{
    Choice all;
    for (int tile = 0; tile < HEADS * Q_BLOCKS; tile++) {
        std::vector<int> blocks;
        const int count = std::min(std::min(1 + 2 * tile, kv_blocks), CLUSTER * BLOCKS_OF_CTA);
        for (int i = 0; i < count; i++)
            blocks.push_back((i * 3 + tile) % kv_blocks);
        std::sort(blocks.begin(), blocks.end());
        blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
        all.push_back(blocks);
    }
    return all;
}

/* A row for each CTA: how many blocks, which part of how many; the query block; the blocks. */
static CakeParamArray<int16_t, PLAN> plan_of(const Choice &choice)
{
    CakeParamArray<int16_t, PLAN> plan;
    std::fill(plan.v, plan.v + PLAN, (int16_t)-1);
    int16_t *row = plan.v;
    for (size_t tile = 0; tile < choice.size(); tile++) {
        const int all = (int)choice[tile].size();
        for (int part = 0, first = 0; part < CLUSTER; part++, row += PLAN_ROW) {
            const int count = all / CLUSTER + (part < all % CLUSTER);
            row[0] = (int16_t)(count | part << 4 | CLUSTER << 10);
            row[1] = (int16_t)tile;
            std::copy_n(choice[tile].begin() + first, count, row + 2);
            first += count;
        }
    }
    return plan;
}

int main(int argc, char **argv)
{
    const int kv_blocks = argc > 1 ? atoi(argv[1]) : 8, kv_rows = kv_blocks * BLOCK;
    const size_t count = (size_t)HEADS * ROWS * DIMENSION, kv_count = (size_t)HEADS * kv_rows * DIMENSION;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(kv_count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(kv_count, 3);
    const Choice choice = choice_of(kv_blocks);
    const double scale = 1 / std::sqrt((double)DIMENSION);
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    auto *const kernel = kernel_cake_vsa_sm90_6ef70e9d44dd4f5aaefb;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    kernel<<<(unsigned)choice.size() * CLUSTER, 256, SHARED_BYTES>>>(map_of_rows(q, false), map_of_rows(k, false),
                                                                     map_of_rows(v, true), o, plan_of(choice), ROWS,
                                                                     kv_rows, (float)(scale * 1.4426950408889634));
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int row = 0; row < HEADS * ROWS; row++) {
        const std::vector<int> &blocks = choice[row / BLOCK];
        const size_t head = (size_t)(row / ROWS) * kv_rows;
        const auto at_of = [&](int at) { return (head + blocks[at / BLOCK] * BLOCK + at % BLOCK) * DIMENSION; };
        attend((int)blocks.size() * BLOCK, DIMENSION, DIMENSION, scale,
               [&](int i) { return (float)q[(size_t)row * DIMENSION + i]; },
               [&](int at, int i) { return (float)k[at_of(at) + i]; },
               [&](int at, int i) { return (float)v[at_of(at) + i]; }, &wanted[(size_t)row * DIMENSION]);
    }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
