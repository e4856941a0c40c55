/* flashinfer_fp8_prefill.cu - FlashInfer's attention in fp8 for sm_90,
 * include/flashinfer/attention/hopper/quantization, causal, with scales for each head.
 *
 * In the copying warpgroup, one thread copies K and V by TMA.  All 128 threads then wait for V, transpose it in shared
 * memory and hand it on by a third pipeline.  Two warpgroups compute in turns, by named barriers.  The program reads no
 * file.  It prints the largest difference between its result and the host's; it compares every third row.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-extended-lambda --use_fast_math -I DATA/cccl/libcudacxx/include
 *          -I DATA/cccl/cub -I DATA/cccl/thrust -I DATA/include -I DATA/cutlass/include -I DATA/spdlog/include
 *          -I DATA/cutlass/tools/util/include flashinfer_fp8_prefill.cu -lcuda
 *
 * DATA: flashinfer/data in the folder into which `pip install --no-deps --target` puts flashinfer-python.  ../run.py
 * names the version.
 */
#include <flashinfer/attention/mask.cuh>
#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/quantization/prefill_sm90.cuh>
#include <flashinfer/attention/hopper/variants.cuh>

#include "attention.h"
#include "check.h"

enum { HEADS = 4, KV_HEADS = 2, SIZE = 128, EVERY = 3 };

typedef cutlass::float_e4m3_t fp8;
typedef cutlass::half_t half_number;

/* FlashInfer generates such a type for each variant; the names are those that the kernel uses. */
struct Params {
    typedef fp8 DTypeQ, DTypeKV;
    typedef half_number DTypeO;
    typedef int IdType;
    struct AdditionalParams {
        float *maybe_scale_q, *maybe_scale_k, *maybe_scale_v;
        double sm_scale, scale_q_scalar, scale_k_scalar, scale_v_scalar;
    };

    fp8 *q_ptr, *k_ptr, *v_ptr;
    half_number *o_ptr;
    float *lse_ptr;
    AdditionalParams additional_params;
    int64_t q_stride_n, k_stride_n, v_stride_n, o_stride_n, q_stride_h, k_stride_h, v_stride_h, o_stride_h;
    int qo_len, kv_len, head_dim, num_qo_heads, num_kv_heads, group_size, window_left;
    bool causal;
};

/* Q[row][head][i]; K and V[row][head][i] with fewer heads.  A scale for each head. */
struct Inputs {
    int rows, kv_rows;
    std::vector<fp8> q, k, v;
    std::vector<float> of_q, of_k, of_v;
};

static Params parameters_of(const Inputs &in)
{
    Params all = {};
    all.q_ptr = on_device(in.q), all.k_ptr = on_device(in.k), all.v_ptr = on_device(in.v);
    all.o_ptr = on_device(std::vector<half_number>(in.q.size()));
    all.additional_params.sm_scale = 1 / std::sqrt((double)SIZE);
    all.additional_params.maybe_scale_q = on_device(in.of_q);
    all.additional_params.maybe_scale_k = on_device(in.of_k);
    all.additional_params.maybe_scale_v = on_device(in.of_v);
    all.q_stride_n = all.o_stride_n = HEADS * SIZE, all.k_stride_n = all.v_stride_n = KV_HEADS * SIZE;
    all.q_stride_h = all.k_stride_h = all.v_stride_h = all.o_stride_h = SIZE;
    all.qo_len = in.rows, all.kv_len = in.kv_rows, all.num_qo_heads = HEADS, all.num_kv_heads = KV_HEADS;
    all.group_size = HEADS / KV_HEADS, all.window_left = -1, all.causal = true;
    return all;
}

static void attend_row(const Inputs &in, int row, int head, float *out)
{
    const int kv_head = head * KV_HEADS / HEADS;
    const fp8 *const q = &in.q[((size_t)row * HEADS + head) * SIZE];
    auto at = [&](int kv_row, int i) { return ((size_t)kv_row * KV_HEADS + kv_head) * SIZE + i; };
    attend(
        in.kv_rows - in.rows + row + 1, SIZE, SIZE, in.of_q[head] * in.of_k[kv_head] / std::sqrt((double)SIZE),
        [&](int i) { return (float)q[i]; }, [&](int kv_row, int i) { return (float)in.k[at(kv_row, i)]; },
        [&](int kv_row, int i) { return in.of_v[kv_head] * (float)in.v[at(kv_row, i)]; }, out);
}

int main(int argc, char **argv)
{
    using namespace flashinfer;
    const int rows = argc > 1 ? atoi(argv[1]) : 300, kv_rows = argc > 2 ? atoi(argv[2]) : 900;
    const size_t count = (size_t)rows * HEADS * SIZE, kv_count = (size_t)kv_rows * KV_HEADS * SIZE;
    const Inputs in = {rows,
                       kv_rows,
                       random_numbers<fp8>(count, 1),
                       random_numbers<fp8>(kv_count, 2),
                       random_numbers<fp8>(kv_count, 3),
                       {1.0f, 0.5f, 0.75f, 1.25f},
                       {1.0f, 0.5f},
                       {2.0f, 3.0f}};
    Params params = parameters_of(in);
    must(SingleFP8PrefillWithKVCacheDispatched<SIZE, MaskMode::kCausal, false, DefaultFP8Attention>(params, nullptr));
    const std::vector<half_number> all = from_device(params.o_ptr, count);
    std::vector<float> wanted, got;
    for (int row = 0; row < rows; row += EVERY) {
        for (int head = 0; head < HEADS; head++) {
            wanted.resize(wanted.size() + SIZE);
            attend_row(in, row, head, &wanted[wanted.size() - SIZE]);
        }
        const size_t first = (size_t)row * HEADS * SIZE;
        got.insert(got.end(), &all[first], &all[first] + HEADS * SIZE);
    }
    return compare(wanted, got, 0.05f);
}
