/* flash_attention.cu - the forward kernel of FlashAttention-3 (Dao-AILab/flash-attention, hopper/) on a small size.
 *
 * bf16, head dimension 64, two heads.  With CAUSAL=1 a counter in global memory hands out the tiles, else their number.
 *
 *     nvcc -std=c++17 -O3 -DCUTLASS_ENABLE_GDC_FOR_SM90 -DCAUSAL=1 --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math
 *          -I CHECKOUT/hopper -I CUTLASS/include flash_attention.cu -lcuda
 */
#include "flash_fwd_launch_template.h"

#include "check.h"

enum { HEADS = 2, DIMENSION = 64 };
typedef cutlass::bfloat16_t bf16;

/* Only variants for sequences of different lengths call it, and none of them runs here. */
void prepare_varlen_num_blocks(Flash_fwd_params &, cudaStream_t, bool, int, int, bool)
{
    abort();
}

static Flash_fwd_params parameters_of(int length, bf16 *q, bf16 *k, bf16 *v, bf16 *o)
{
    Flash_fwd_params all = {};
    all.q_ptr = q, all.k_ptr = k, all.v_ptr = v, all.o_ptr = o;
    all.q_row_stride = all.k_row_stride = all.v_row_stride = all.o_row_stride = HEADS * DIMENSION;
    all.q_head_stride = all.k_head_stride = all.v_head_stride = all.o_head_stride = DIMENSION;
    all.q_batch_stride = all.k_batch_stride = all.v_batch_stride = all.o_batch_stride = length * HEADS * DIMENSION;
    all.v_dim_stride = 1;
    all.b = 1, all.h = all.h_k = HEADS, all.d = all.d_rounded = all.dv = all.dv_rounded = DIMENSION;
    all.seqlen_q = all.seqlen_k = all.seqlen_q_rounded = all.seqlen_k_rounded = length;
    all.scale_softmax = 0.125f;
    all.window_size_left = -1, all.window_size_right = CAUSAL ? 0 : -1;
    all.is_bf16 = true, all.is_causal = CAUSAL, all.num_splits = 1, all.arch = 90, all.num_sm = 132;
    all.softmax_lse_ptr = on_device(std::vector<float>((size_t)HEADS * length, 0.0f));
    all.tile_count_semaphore = on_device(std::vector<int>(1, 0));
    return all;
}

/* The reference: output row `at` of one head. */
static void attend(const std::vector<bf16> &q, const std::vector<bf16> &k, const std::vector<bf16> &v, int length, int head,
                   int at, float *out)
{
    const int row = HEADS * DIMENSION, first = head * DIMENSION, end = CAUSAL ? at + 1 : length;
    std::vector<double> weights(end);
    double sum = 0;
    for (int other = 0; other < end; other++) {
        double score = 0;
        for (int i = 0; i < DIMENSION; i++)
            score += (double)(float)q[(size_t)at * row + first + i] * (float)k[(size_t)other * row + first + i];
        sum += weights[other] = exp(score * 0.125);
    }
    for (int i = 0; i < DIMENSION; i++) {
        double value = 0;
        for (int other = 0; other < end; other++)
            value += weights[other] / sum * (float)v[(size_t)other * row + first + i];
        out[i] = (float)value;
    }
}

int main(int argc, char **argv)
{
    const int length = argc > 1 ? atoi(argv[1]) : 512;
    const size_t count = (size_t)length * HEADS * DIMENSION;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(count, 3);
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    Flash_fwd_params all = parameters_of(length, on_device(q), on_device(k), on_device(v), o);
    run_flash_fwd<90, DIMENSION, DIMENSION, 1, bf16, bf16, CAUSAL, false, false, false, false, false, false, false, false,
                  false>(all, 0);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int at = 0; at < length; at++)
        for (int head = 0; head < HEADS; head++)
            attend(q, k, v, length, head, at, &wanted[((size_t)at * HEADS + head) * DIMENSION]);
    return compare(wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
