/* flashmla.cu - the dense decode kernel for sm_90 of deepseek-ai/FlashMLA on a small size.
 *
 * Three requests of different lengths, one query token with 64 heads each, one K/V head in pages of 64 tokens.  Two
 * CTAs work: one on the first two requests, one on the last, so that no request is split and no second kernel combines
 * parts.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math
 *          -I CHECKOUT/csrc -I CHECKOUT/csrc/sm90 -I CUTLASS/include flashmla.cu -lcuda
 */
#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "decode/dense/splitkv_mla.cuh"

#include "attention.h"
#include "check.h"

enum { REQUESTS = 3, PARTS = 2, HEADS = 64, PAGE = 64, DIMENSION = 576, V_DIMENSION = 512 };
typedef cutlass::bfloat16_t bf16;

static int pages_of(int length)
{
    return (length + PAGE - 1) / PAGE;
}

/* The requests from `first` to `last`, each of them whole. */
static DecodingSchedMeta part_of(int first, int last, int last_length)
{
    DecodingSchedMeta all = {};
    all.begin_req_idx = first, all.end_req_idx = last, all.end_block_idx = pages_of(last_length);
    return all;
}

static DenseAttnDecodeParams parameters_of(bf16 *q, bf16 *k, bf16 *o, const std::vector<int> &lengths,
                                           const std::vector<int> &table)
{
    DenseAttnDecodeParams all = {};
    all.q_ptr = q, all.k_ptr = k, all.o_ptr = o;
    all.b = REQUESTS, all.s_q = all.h_k = 1, all.h_q = all.q_seq_per_hk = all.q_head_per_hk = HEADS;
    all.d = DIMENSION, all.d_v = V_DIMENSION, all.num_blocks = (int)table.size(), all.page_block_size = PAGE;
    all.scale_softmax = 1.0f / 24, all.scale_softmax_log2 = all.scale_softmax * 1.44269504f;
    all.q_row_stride = all.q_head_stride = all.k_row_stride = all.k_head_stride = DIMENSION;
    all.q_batch_stride = HEADS * DIMENSION, all.k_batch_stride = PAGE * DIMENSION;
    all.o_row_stride = V_DIMENSION, all.o_batch_stride = all.o_head_stride = HEADS * V_DIMENSION;
    all.block_table = on_device(table), all.block_table_batch_stride = (int)table.size() / REQUESTS;
    all.seqlens_k_ptr = on_device(lengths);
    all.num_sm_parts = PARTS;
    all.tile_scheduler_metadata_ptr =
        on_device(std::vector<DecodingSchedMeta>{part_of(0, 1, lengths[1]), part_of(2, 2, lengths[2])});
    all.num_splits_ptr = on_device(std::vector<int>{0, 1, 2, 3});
    all.softmax_lse_ptr = on_device(std::vector<float>(REQUESTS * HEADS, 0.0f));
    return all;
}

int main(int argc, char **argv)
{
    const int longest = argc > 1 ? atoi(argv[1]) : 500, pages = pages_of(longest);
    const std::vector<int> lengths = {longest, longest * 2 / 3, longest * 4 / 5};
    /* The pages of the requests lie scattered in the cache: 7 and the number of pages have no common divisor. */
    std::vector<int> table(REQUESTS * (pages % 7 ? pages : pages + 1));
    for (size_t i = 0; i < table.size(); i++)
        table[i] = (int)(i * 7 % table.size());
    const std::vector<bf16> q = random_numbers<bf16>((size_t)REQUESTS * HEADS * DIMENSION, 1);
    const std::vector<bf16> k = random_numbers<bf16>(table.size() * PAGE * DIMENSION, 2);
    const size_t count = (size_t)REQUESTS * HEADS * V_DIMENSION;
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    DenseAttnDecodeParams all = parameters_of(on_device(q), on_device(k), o, lengths, table);
    sm90::run_flash_splitkv_mla_kernel<bf16>(all);
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int request = 0; request < REQUESTS; request++)
        for (int head = 0; head < HEADS; head++) {
            const size_t row = (size_t)request * HEADS + head, first = request * (table.size() / REQUESTS);
            auto key = [&](int at, int i) {
                return (float)k[((size_t)table[first + at / PAGE] * PAGE + at % PAGE) * DIMENSION + i];
            };
            attend(
                lengths[request], DIMENSION, V_DIMENSION, all.scale_softmax,
                [&](int i) { return (float)q[row * DIMENSION + i]; }, key, key, &wanted[row * V_DIMENSION]);
        }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
