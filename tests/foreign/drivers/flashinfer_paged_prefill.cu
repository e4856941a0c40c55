/* flashinfer_paged_prefill.cu - FlashInfer's prefill attention for sm_90 over pages of K and V, attention/hopper, on a
 * small size.
 *
 * Three requests have different lengths.  Four Q heads share two K/V heads of 64 dimensions.  The attention is causal:
 * a row sees no later rows.  One warpgroup gathers K and V with cp.async, whose completion arrives on mbarriers, and
 * copies Q with a bulk copy.  Three warpgroups compute in turns, which named barriers keep.  A list says which CTA
 * computes which tiles.  FlashInfer's plan makes it; here the host program does.  The program reads no file.  It prints
 * the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math
 *          -I DATA/cccl/libcudacxx/include -I DATA/cccl/cub -I DATA/cccl/thrust -I DATA/include -I DATA/cutlass/include
 *          -I DATA/cutlass/tools/util/include flashinfer_paged_prefill.cu -lcuda
 *
 * DATA: the folder flashinfer/data of the installed package flashinfer-python.  ../run.py names the version.
 */
#include <flashinfer/attention/mask.cuh>

#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/prefill_sm90.cuh>
#include <flashinfer/attention/hopper/variants.cuh>

#include "attention.h"
#include "check.h"

enum { REQUESTS = 3, HEADS = 4, KV_HEADS = 2, DIMENSION = 64, PAGE = 16, TILE_Q = 192 };

typedef cutlass::bfloat16_t bf16;
typedef flashinfer::BatchPrefillPagedParams<bf16, bf16, bf16, int> Params;

struct Batch {
    std::vector<int> q_lengths, kv_lengths, q_begins, page_begins, pages;
};

/* The pages lie scattered: 7 and their number have no common divisor. */
static Batch batch_of(int longest)
{
    Batch all = {{longest / 2, 1, longest * 2 / 3}, {longest, longest / 3, longest * 2 / 3}, {0}, {0}, {}};
    for (int r = 0; r < REQUESTS; r++) {
        all.q_begins.push_back(all.q_begins[r] + all.q_lengths[r]);
        all.page_begins.push_back(all.page_begins[r] + (all.kv_lengths[r] + PAGE - 1) / PAGE);
    }
    all.pages.resize(all.page_begins.back() + (all.page_begins.back() % 7 == 0));
    for (size_t i = 0; i < all.pages.size(); i++)
        all.pages[i] = (int)(i * 7 % all.pages.size());
    return all;
}

/* Deals the tiles of all requests and heads to the CTAs in turn. */
static void plan(Params &params, const Batch &batch, int ctas)
{
    std::vector<int> begins = {0}, heads, tiles, requests, q_begins, page_begins, q_lengths, kv_lengths;
    for (int cta = 0; cta < ctas; cta++) {
        int number = 0;
        for (int r = 0; r < REQUESTS; r++)
            for (int tile = (batch.q_lengths[r] - 1) / TILE_Q; tile >= 0; tile--)
                for (int head = 0; head < HEADS; head++, number++) {
                    if (number % ctas != cta)
                        continue;
                    heads.push_back(head), tiles.push_back(tile), requests.push_back(r);
                    q_begins.push_back(batch.q_begins[r]), page_begins.push_back(batch.page_begins[r]);
                    q_lengths.push_back(batch.q_lengths[r]), kv_lengths.push_back(batch.kv_lengths[r]);
                }
        begins.push_back((int)heads.size());
    }
    params.work_indptr = on_device(begins), params.head_indices = on_device(heads);
    params.qo_tile_indices = on_device(tiles), params.batch_indices = on_device(requests);
    params.qo_indptr = on_device(q_begins), params.kv_indptr = on_device(page_begins);
    params.qo_lens = on_device(q_lengths), params.kv_lens = on_device(kv_lengths);
}

int main(int argc, char **argv)
{
    const Batch batch = batch_of(argc > 1 ? atoi(argv[1]) : 300);
    const int rows = batch.q_begins.back();
    const size_t count = (size_t)rows * HEADS * DIMENSION, row_stride = KV_HEADS * DIMENSION;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1);
    const std::vector<bf16> k = random_numbers<bf16>(batch.pages.size() * PAGE * row_stride, 2);
    const std::vector<bf16> v = random_numbers<bf16>(k.size(), 3);
    int device, ctas;
    must(cudaGetDevice(&device));
    must(cudaDeviceGetAttribute(&ctas, cudaDevAttrMultiProcessorCount, device));
    Params params = {};
    plan(params, batch, ctas);
    params.q_ptr = on_device(q), params.k_ptr = on_device(k), params.v_ptr = on_device(v);
    params.o_ptr = on_device(std::vector<bf16>(count, bf16(0.0f)));
    params.kv_indices = on_device(batch.pages);
    params.additional_params.sm_scale = 1 / std::sqrt((float)DIMENSION);
    params.q_stride_n = params.o_stride_n = HEADS * DIMENSION, params.k_stride_n = params.v_stride_n = row_stride;
    params.q_stride_h = params.k_stride_h = params.v_stride_h = params.o_stride_h = DIMENSION;
    params.k_page_stride = params.v_page_stride = PAGE * row_stride, params.page_size = PAGE;
    params.nnz_qo = rows, params.num_qo_heads = HEADS, params.num_kv_heads = KV_HEADS;
    params.group_size = HEADS / KV_HEADS, params.window_left = -1, params.causal = true;
    must(flashinfer::BatchPrefillWithPagedKVCacheDispatched<DIMENSION, DIMENSION, flashinfer::MaskMode::kCausal, false,
                                                            false, flashinfer::StandardAttention>(params, false,
                                                                                                  nullptr));
    const std::vector<bf16> got = from_device(params.o_ptr, count);
    std::vector<float> wanted(count);
    for (int r = 0; r < REQUESTS; r++)
        for (int row = 0; row < batch.q_lengths[r]; row++)
            for (int head = 0; head < HEADS; head++) {
                const size_t at_q = ((size_t)(batch.q_begins[r] + row) * HEADS + head) * DIMENSION;
                const auto at_kv = [&](int at) {
                    const size_t page = batch.pages[batch.page_begins[r] + at / PAGE];
                    return (page * PAGE + at % PAGE) * row_stride + head * KV_HEADS / HEADS * DIMENSION;
                };
                attend(
                    batch.kv_lengths[r] - batch.q_lengths[r] + row + 1, DIMENSION, DIMENSION,
                    params.additional_params.sm_scale, [&](int i) { return (float)q[at_q + i]; },
                    [&](int at, int i) { return (float)k[at_kv(at) + i]; },
                    [&](int at, int i) { return (float)v[at_kv(at) + i]; }, &wanted[at_q]);
            }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
