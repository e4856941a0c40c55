/* flashmla_sparse.cu - the sparse prefill kernel for sm_90 of deepseek-ai/FlashMLA on a small size.
 *
 * Each query token, of 64 heads, attends the K/V tokens that a list names; -1 in it names none.  One warpgroup gathers
 * them with cp.async, which arrives at mbarriers.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math -I CHECKOUT/csrc
 *          -I CHECKOUT/csrc/sm90 -I CHECKOUT/csrc/kerutils/include -I CUTLASS/include flashmla_sparse.cu -lcuda
 */
#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "prefill/sparse/phase1.cuh"

#include "attention.h"
#include "check.h"

enum { TOKENS = 2, HEADS = 64, DIMENSION = 576, V_DIMENSION = 512, KV_TOKENS = 700 };

int main(int argc, char **argv)
{
    const int listed = argc > 1 ? atoi(argv[1]) : 512; /* a multiple of 128 */
    const std::vector<bf16> q = random_numbers<bf16>((size_t)TOKENS * HEADS * DIMENSION, 1);
    const std::vector<bf16> kv = random_numbers<bf16>((size_t)KV_TOKENS * DIMENSION, 2);
    std::vector<int> lists((size_t)TOKENS * listed);
    for (size_t i = 0; i < lists.size(); i++)
        lists[i] = i % 10 == 3 ? -1 : (int)(i * 37 % KV_TOKENS);
    const size_t count = (size_t)TOKENS * HEADS * V_DIMENSION;
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    SparseAttnFwdParams all = {};
    all.s_q = TOKENS, all.s_kv = KV_TOKENS, all.h_q = HEADS, all.h_kv = 1, all.topk = listed;
    all.d_qk = DIMENSION, all.d_v = V_DIMENSION;
    all.sm_scale = 1.0f / 24, all.sm_scale_div_log2 = all.sm_scale * 1.44269504f;
    all.q = on_device(q), all.kv = on_device(kv), all.indices = on_device(lists), all.out = o;
    all.stride_q_s_q = HEADS * DIMENSION, all.stride_q_h_q = all.stride_kv_s_kv = all.stride_kv_h_kv = DIMENSION;
    all.stride_indices_s_q = all.stride_indices_h_kv = listed;
    all.max_logits = on_device(std::vector<float>(TOKENS * HEADS, 0.0f));
    all.lse = on_device(std::vector<float>(TOKENS * HEADS, 0.0f));
    all.num_sm = 132;
    sm90::fwd::run_fwd_phase1_kernel<DIMENSION, false>(all);
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int token = 0; token < TOKENS; token++) {
        std::vector<int> list;
        for (int i = 0; i < listed; i++)
            if (lists[(size_t)token * listed + i] >= 0)
                list.push_back(lists[(size_t)token * listed + i]);
        for (int head = 0; head < HEADS; head++) {
            const size_t row = (size_t)token * HEADS + head;
            auto key = [&](int at, int i) { return (float)kv[(size_t)list[at] * DIMENSION + i]; };
            attend((int)list.size(), DIMENSION, V_DIMENSION, all.sm_scale,
                   [&](int i) { return (float)q[row * DIMENSION + i]; }, key, key, &wanted[row * V_DIMENSION]);
        }
    }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
