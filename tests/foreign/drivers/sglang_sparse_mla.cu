/* sglang_sparse_mla.cu - SGLang's sparse attention in fp8 for sm_90, kernels/jit/csrc/sparse_mla_q8kv8_prefill_sm90, on
 * a small size.
 *
 * Each query token, of 64 heads, attends the K/V tokens that a list names; -1 in it names none.  One warpgroup gathers
 * them with cp.async and transposes V; the two others share a query, and exchange maxima and weights through shared
 * memory, by named barriers.  The program reads no file.  It prints the largest difference between its result and the
 * host's.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math
 *          -I PACKAGES/sglang/kernels/jit/csrc -I PACKAGES/flashinfer/data/cutlass/include sglang_sparse_mla.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sglang and flashinfer-python.  ../run.py names
 * the versions.
 */
#include <cutlass/float8.h>

#include "sparse_mla_q8kv8_prefill_sm90/kernel.cuh"

#include "attention.h"
#include "check.h"

enum { HEADS = 64, DIMENSION = 576, V_DIMENSION = 512, KV_TOKENS = 700 };

int main(int argc, char **argv)
{
    const int listed = argc > 1 ? atoi(argv[1]) : 512; /* a multiple of 128 */
    const int tokens = argc > 2 ? atoi(argv[2]) : 1;
    const std::vector<fp8> q = random_numbers<fp8>((size_t)tokens * HEADS * DIMENSION, 1);
    const std::vector<fp8> kv = random_numbers<fp8>((size_t)KV_TOKENS * DIMENSION, 2);
    std::vector<int> lists((size_t)tokens * listed);
    for (size_t i = 0; i < lists.size(); i++)
        lists[i] = i % 10 == 3 ? -1 : (int)(i * 37 % KV_TOKENS);
    const size_t count = (size_t)tokens * HEADS * V_DIMENSION;
    const float scale = 1.0f / 6, *const one = on_device(std::vector<float>(1, 1.0f));
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    SparseMlaQ8Kv8PrefillParams all = {};
    all.s_q = tokens, all.s_kv = KV_TOKENS, all.h_q = HEADS, all.h_kv = 1, all.topk = listed;
    all.d_qk = DIMENSION, all.d_v = V_DIMENSION, all.sm_scale_div_log2 = scale * 1.44269504f;
    all.q = (const uint8_t *)on_device(q), all.kv = (const uint8_t *)on_device(kv);
    all.indices = on_device(lists), all.out = o, all.q_scale_ptr = all.kv_scale_ptr = one;
    all.stride_q_s_q = HEADS * DIMENSION, all.stride_q_h_q = all.stride_kv_s_kv = all.stride_kv_h_kv = DIMENSION;
    all.stride_indices_s_q = all.stride_indices_h_kv = listed;
    all.max_logits = on_device(std::vector<float>(tokens * HEADS, 0.0f));
    all.lse = on_device(std::vector<float>(tokens * HEADS, 0.0f));
    sm90::fwd::run_sparse_mla_q8kv8_prefill_kernel<DIMENSION, false, false>(all);
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int token = 0; token < tokens; token++) {
        std::vector<int> list;
        for (int i = 0; i < listed; i++)
            if (lists[(size_t)token * listed + i] >= 0)
                list.push_back(lists[(size_t)token * listed + i]);
        for (int head = 0; head < HEADS; head++) {
            const size_t row = (size_t)token * HEADS + head;
            auto key = [&](int at, int i) { return (float)kv[(size_t)list[at] * DIMENSION + i]; };
            attend((int)list.size(), DIMENSION, V_DIMENSION, scale,
                   [&](int i) { return (float)q[row * DIMENSION + i]; }, key, key, &wanted[row * V_DIMENSION]);
        }
    }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
