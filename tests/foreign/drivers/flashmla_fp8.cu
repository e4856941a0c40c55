/* flashmla_fp8.cu - the sparse decode kernel for sm_90 of deepseek-ai/FlashMLA with an fp8 K/V cache, on a small size.
 *
 * Two requests, one query token with 128 heads each, which attends the tokens of the cache that a list names; -1 in it
 * names none.  A cluster of two CTAs works on both: each converts half of the tokens and stores them in both, by
 * st.async.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math -I CHECKOUT/csrc
 *          -I CHECKOUT/csrc/sm90 -I CHECKOUT/csrc/kerutils/include -I CUTLASS/include flashmla_fp8.cu -lcuda
 */
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "decode/sparse_fp8/splitkv_mla.cuh"

#include "attention.h"
#include "check.h"

enum { REQUESTS = 2, HEADS = 128, DIMENSION = 576, V_DIMENSION = 512, PAGE = 64, PAGES = 10, SCALES = 4 };

/* A token of the cache: the first 512 dimensions in fp8, a scale for each 128 of them, the others in bf16. */
struct Token {
    __nv_fp8_e4m3 numbers[V_DIMENSION];
    float scales[SCALES];
    bf16 others[DIMENSION - V_DIMENSION];

    float operator[](int i) const
    {
        return i < V_DIMENSION ? (float)numbers[i] * scales[i / (V_DIMENSION / SCALES)]
                               : (float)others[i - V_DIMENSION];
    }
};

static std::vector<Token> random_tokens(size_t count)
{
    const auto numbers = random_numbers<__nv_fp8_e4m3>(count * V_DIMENSION, 2);
    const auto others = random_numbers<bf16>(count * (DIMENSION - V_DIMENSION), 3);
    std::vector<Token> all(count);
    for (size_t at = 0; at < count; at++) {
        memcpy(all[at].numbers, &numbers[at * V_DIMENSION], sizeof all[at].numbers);
        memcpy(all[at].others, &others[at * (DIMENSION - V_DIMENSION)], sizeof all[at].others);
        for (int i = 0; i < SCALES; i++)
            all[at].scales[i] = 0.5f + (float)((at + i) % 4) / 4;
    }
    return all;
}

int main(int argc, char **argv)
{
    const int listed = argc > 1 ? atoi(argv[1]) : 384; /* a multiple of 64 */
    const std::vector<bf16> q = random_numbers<bf16>((size_t)REQUESTS * HEADS * DIMENSION, 1);
    const std::vector<Token> tokens = random_tokens((size_t)PAGES * PAGE);
    std::vector<int> lists((size_t)REQUESTS * listed);
    for (size_t i = 0; i < lists.size(); i++)
        lists[i] = i % 10 == 3 ? -1 : (int)(i * 37 % tokens.size());
    const size_t count = (size_t)REQUESTS * HEADS * V_DIMENSION;
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    DecodingSchedMeta part = {}; /* both requests, none of them split */
    part.end_req_idx = REQUESTS - 1, part.end_block_idx = listed / 64;
    SparseAttnDecodeParams all = {};
    all.b = REQUESTS, all.s_q = all.h_kv = 1, all.h_q = HEADS, all.d_qk = DIMENSION, all.d_v = V_DIMENSION;
    all.sm_scale = 1.0f / 24, all.sm_scale_div_log2 = all.sm_scale * 1.44269504f;
    all.num_blocks = PAGES, all.page_block_size = PAGE, all.topk = listed, all.model_type = ModelType::V32;
    all.q = on_device(q), all.kv = (bf16 *)on_device(tokens), all.indices = on_device(lists), all.out = o;
    all.lse = on_device(std::vector<float>(REQUESTS * HEADS, 0.0f));
    all.stride_q_b = all.stride_q_s_q = HEADS * DIMENSION, all.stride_q_h_q = DIMENSION;
    all.stride_kv_block = PAGE * sizeof(Token), all.stride_kv_row = sizeof(Token);
    all.stride_indices_b = all.stride_indices_s_q = listed, all.stride_lse_b = all.stride_lse_s_q = HEADS;
    all.stride_o_b = all.stride_o_s_q = HEADS * V_DIMENSION, all.stride_o_h_q = V_DIMENSION;
    all.tile_scheduler_metadata_ptr = on_device(std::vector<DecodingSchedMeta>{part});
    all.num_splits_ptr = on_device(std::vector<int>{0, 1, 2});
    all.num_sm_parts = 1;
    sm90::decode::sparse_fp8::run_flash_splitkv_mla_fp8_sparse_kernel<ModelType::V32, HEADS>(all);
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int request = 0; request < REQUESTS; request++) {
        std::vector<Token> named;
        for (int i = 0; i < listed; i++)
            if (lists[(size_t)request * listed + i] >= 0)
                named.push_back(tokens[lists[(size_t)request * listed + i]]);
        for (int head = 0; head < HEADS; head++) {
            const size_t row = (size_t)request * HEADS + head;
            auto key = [&](int at, int i) { return named[at][i]; };
            attend((int)named.size(), DIMENSION, V_DIMENSION, all.sm_scale,
                   [&](int i) { return (float)q[row * DIMENSION + i]; }, key, key, &wanted[row * V_DIMENSION]);
        }
    }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
