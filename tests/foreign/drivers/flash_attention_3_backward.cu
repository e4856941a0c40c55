/* flash_attention_3_backward.cu - the backward kernel of FlashAttention-3 (Dao-AILab/flash-attention,
 * hopper/flash_bwd_kernel_sm90.h) on a small size, causal.
 *
 * One warp copies Q and dO through two pipelines.  Another warp of its warpgroup adds dQ to memory by bulk reductions.
 * Two warpgroups compute.  Each of them hands dQ to that warp with a pair of named barriers; a third one is for dS.
 * CTAs add to dQ in a fixed order: each waits for a counter in global memory.  The program reads no file.  It prints
 * the largest difference between its gradients and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-extended-lambda --use_fast_math -I CHECKOUT/hopper -I CUTLASS/include
 *          flash_attention_3_backward.cu -lcuda
 */
#include "flash_bwd_launch_template.h"

#include "attention_backward.h"
#include "check.h"

enum { HEADS = 2, SIZE = 64, ROW = HEADS * SIZE };

typedef cutlass::bfloat16_t bf16;

static const float SCALE = 0.125f;

/* The gradients; the logarithms of the rows' sums go to `lse`, as [head][row]. */
static Gradients reference_of(const BackwardInputs<bf16> &in, int length, std::vector<float> &lse)
{
    Gradients all(in.q.size(), in.k.size());
    for (int head = 0; head < HEADS; head++) {
        std::vector<size_t> others;
        for (int row = 0; row < length; row++) {
            others.push_back((size_t)row * ROW + head * SIZE);
            lse.push_back((float)add_gradients(in, others.back(), others, all).log_sum);
        }
    }
    return all;
}

/* [row][head][number] everywhere. */
static Flash_bwd_params shapes_of(int length)
{
    Flash_bwd_params all = {};
    all.q_row_stride = all.k_row_stride = all.v_row_stride = all.o_row_stride = ROW;
    all.do_row_stride = all.dq_row_stride = all.dk_row_stride = all.dv_row_stride = ROW;
    all.q_head_stride = all.k_head_stride = all.v_head_stride = all.o_head_stride = SIZE;
    all.do_head_stride = all.dq_head_stride = all.dk_head_stride = all.dv_head_stride = SIZE;
    all.q_batch_stride = all.k_batch_stride = all.v_batch_stride = all.o_batch_stride = (int64_t)length * ROW;
    all.do_batch_stride = all.dq_batch_stride = all.dk_batch_stride = all.dv_batch_stride = (int64_t)length * ROW;
    all.b = 1, all.h = all.h_k = HEADS, all.d = all.d_rounded = all.dv = all.dv_rounded = SIZE;
    all.seqlen_q = all.seqlen_k = all.total_q = all.total_k = length;
    all.seqlen_q_rounded = all.seqlen_k_rounded = (length + 127) / 128 * 128;
    all.scale_softmax = SCALE;
    all.window_size_left = -1, all.window_size_right = 0;
    all.is_bf16 = all.is_causal = all.deterministic = true, all.arch = 90, all.num_sm = 132;
    return all;
}

/* Memory for what the kernels keep between them. */
static void add_scratch(Flash_bwd_params &all)
{
    const size_t rows = (size_t)HEADS * all.seqlen_q_rounded;
    all.softmax_lse_log2_ptr = on_device(std::vector<float>(rows));
    all.dsoftmax_sum = on_device(std::vector<float>(rows));
    all.dq_accum_ptr = on_device(std::vector<float>(rows * SIZE));
    all.dq_semaphore = on_device(std::vector<int>(rows / 64 + HEADS * 8));
    all.tile_count_semaphore = on_device(std::vector<int>(16));
}

int main(int argc, char **argv)
{
    const int length = argc > 1 ? atoi(argv[1]) : 320;
    const size_t count = (size_t)length * ROW;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(count, 3), d_o = random_numbers<bf16>(count, 4);
    std::vector<float> lse, wanted, got;
    const Gradients reference = reference_of({SIZE, SCALE, q, k, v, d_o}, length, lse);
    bf16 *gradients[3];
    for (bf16 *&gradient : gradients)
        gradient = on_device(std::vector<bf16>(count));
    Flash_bwd_params all = shapes_of(length);
    all.q_ptr = on_device(q), all.k_ptr = on_device(k), all.v_ptr = on_device(v), all.do_ptr = on_device(d_o);
    all.o_ptr = on_device(std::vector<bf16>(reference.o.begin(), reference.o.end()));
    all.softmax_lse_ptr = on_device(lse);
    all.dq_ptr = gradients[0], all.dk_ptr = gradients[1], all.dv_ptr = gradients[2];
    add_scratch(all);
    run_flash_bwd<90, SIZE, 128, 128, bf16, true, false, false, false, true, false, 2, 2, true, false, false, 2, 1, 2,
                  2, false>(all, 0);
    must(cudaGetLastError());
    for (const std::vector<float> *gradient : {&reference.dq, &reference.dk, &reference.dv})
        append(wanted, *gradient);
    for (bf16 *gradient : gradients)
        append(got, from_device(gradient, count));
    return compare(wanted, got, 0.03f);
}
