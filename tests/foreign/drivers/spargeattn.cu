/* spargeattn.cu - block-sparse attention of thu-ml/SpargeAttn, csrc/qattn/qk_int_sv_f8_cuda_sm90.cuh, on a small size.
 *
 * Q and K are int8 with scales, V is fp8; four Q heads share two K/V heads of 128 dimensions.  A table tells each tile
 * of Q which blocks of K and V it sees.  The first thread of the CTA's one warpgroup copies.  Q, K and V have one
 * buffer and one full mbarrier each, and no empty one: the multiplication must end before the next copy.  A warp leaves
 * out a multiplication with V if its scores are too low.  The program reads no file.  It prints the largest difference
 * between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-extended-lambda --use_fast_math -I CHECKOUT/csrc/qattn spargeattn.cu -lcuda
 */
#include <sstream>

#include "qk_int_sv_f8_cuda_sm90.cuh"

#include "attention.h"
#include "quantised.h"

enum { HEADS = 4, KV_HEADS = 2, SIZE = 128, TILE_Q = 64, TILE_K = 128 };

typedef __nv_fp8_e4m3 fp8;
typedef std::vector<std::vector<int>> Choice; /* of each tile of Q of each head: blocks of K in ascending order */

/* About three of four blocks, and always the last one. */
static Choice choice_of(int q_tiles, int k_tiles)
{
    Choice all;
    for (int i = 0; i < HEADS * q_tiles; i++) {
        all.push_back({});
        for (int block = 0; block < k_tiles; block++)
            if ((block * 3 + i / q_tiles + i % q_tiles) % 4 != 0 || block == k_tiles - 1)
                all.back().push_back(block);
    }
    return all;
}

/* Each block as a difference from the one before; the numbers of blocks go to `counts`. */
static std::vector<int> table_of(const Choice &choice, int k_tiles, std::vector<int> &counts)
{
    std::vector<int> all;
    for (const std::vector<int> &blocks : choice) {
        for (size_t i = 0; i < blocks.size(); i++)
            all.push_back(blocks[i] - (i ? blocks[i - 1] : 0));
        counts.push_back((int)blocks.size());
        all.resize(counts.size() * k_tiles);
    }
    return all;
}

int main(int argc, char **argv)
{
    const int length = argc > 1 ? atoi(argv[1]) : 600, q_length = argc > 2 ? atoi(argv[2]) : 200;
    const int q_tiles = (q_length + TILE_Q - 1) / TILE_Q, k_tiles = (length + TILE_K - 1) / TILE_K;
    const int padded = k_tiles * TILE_K;
    const size_t count = (size_t)HEADS * q_length * SIZE;
    const std::vector<int8_t> q = random_bytes(count, 1), k = random_bytes((size_t)KV_HEADS * length * SIZE, 2);
    const std::vector<fp8> v = random_numbers<fp8>((size_t)KV_HEADS * SIZE * padded, 3);
    const std::vector<float> of_q = scales((size_t)HEADS * q_tiles), of_k = scales((size_t)KV_HEADS * k_tiles);
    const std::vector<float> of_v = scales((size_t)KV_HEADS * SIZE);
    const Choice choice = choice_of(q_tiles, k_tiles);
    std::vector<int> counts;
    const std::vector<int> table = table_of(choice, k_tiles, counts);
    nv_bfloat16 *const o = on_device(std::vector<nv_bfloat16>(count, nv_bfloat16(0.0f)));
    const float scale = 0.088388f;
    SpargeAttentionSM90Dispatched<TILE_Q, TILE_K, 128, SIZE, (uint32_t)QuantGranularity::kPerBlock, 1, nv_bfloat16,
                                  false, true, false>(
        on_device(q), on_device(k), on_device(in_columns(v, length, padded)), o, nullptr, on_device(table),
        on_device(counts), on_device(std::vector<float>(HEADS, 50.0f)), on_device(of_q), on_device(of_k),
        on_device(of_v), 1, q_length, length, padded, HEADS, KV_HEADS, HEADS * q_length * SIZE, SIZE, q_length * SIZE,
        KV_HEADS * length * SIZE, SIZE, length * SIZE, KV_HEADS * SIZE * padded, SIZE * padded, padded,
        HEADS * q_length * SIZE, SIZE, q_length * SIZE, scale);
    must(cudaGetLastError());
    std::vector<float> wanted(count);
    for (int row = 0; row < HEADS * q_length; row++) {
        const int head = row / q_length, of = head / (HEADS / KV_HEADS);
        const int tile = head * q_tiles + row % q_length / TILE_Q;
        std::vector<int> tokens;
        for (int block : choice[tile])
            for (int token = block * TILE_K; token < length && token < (block + 1) * TILE_K; token++)
                tokens.push_back(token);
        attend((int)tokens.size(), SIZE, SIZE, scale, [&](int i) { return q[(size_t)row * SIZE + i] * of_q[tile]; },
               [&](int at, int i) {
                   return k[((size_t)of * length + tokens[at]) * SIZE + i] * of_k[of * k_tiles + tokens[at] / TILE_K];
               },
               [&](int at, int i) {
                   return (float)v[((size_t)of * SIZE + i) * padded + tokens[at]] * of_v[of * SIZE + i];
               },
               &wanted[(size_t)row * SIZE]);
    }
    return compare(wanted, from_device(o, count), 0.03f);
}
