/* magi_ffa_bwd.cu - flexible flash attention of SandAI-org/MagiAttention for sm_90, backward,
 * magi_attention/csrc/flexible_flash_attention, in bf16.
 *
 * SWAP 0: a CTA has rows of K and loops over Q; a warp adds dQ to global memory, in the order of counters there, and dK
 * and dV are ordered by other counters.  SWAP 1: a CTA has rows of Q and loops over K; two warps add dV and dK, and
 * take them over by named barriers.  The argument is the number of CTAs.  The program reads no file.  It prints the
 * largest difference between its gradients and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-extended-lambda --use_fast_math
 *          -I CHECKOUT/magi_attention/csrc/flexible_flash_attention -I CHECKOUT/magi_attention/csrc/common
 *          -I CHECKOUT/magi_attention/csrc -I CUTLASS/include magi_ffa_bwd.cu -lcuda
 *
 * CUTLASS is version 4.4.2 here, as in Tencent/hpc-ops.
 */
#include "magi_ffa.h"

#include "flash_bwd_launch_template.h"

#include "attention_backward.h"

#ifndef SWAP
#define SWAP 0
#endif

enum { HEADS = 2, KV_HEADS = 1, BLOCK_M = std::get<0>(tile_size_bwd_sm90<SWAP>(SIZE)) };
enum { Q_COUNT = Q_ROWS * HEADS * SIZE, K_COUNT = K_ROWS * KV_HEADS * SIZE, COUNTERS = 4096 };

constexpr float ENLARGED = 64; /* the results are small; differences are compared after multiplication by this */

/* Returns the logarithms of the sums of all rows, [row][head]. */
static std::vector<float> add_all(const BackwardInputs<bf16> &in, const Pieces &pieces, Gradients &all)
{
    std::vector<float> log_sums;
    for (int row = 0; row < Q_ROWS * HEADS; row++) {
        std::vector<size_t> others;
        for (int k_row : k_rows_of(pieces, row / HEADS))
            others.push_back(((size_t)k_row * KV_HEADS + row % HEADS * KV_HEADS / HEADS) * SIZE);
        log_sums.push_back((float)add_gradients(in, (size_t)row * SIZE, others, all).log_sum);
    }
    return log_sums;
}

static Flash_bwd_params parameters_of(const BackwardInputs<bf16> &in, const Pieces &pieces, int ctas,
                                      const std::vector<float> &o, const std::vector<float> &log_sums)
{
    Flash_bwd_params all;
    set_problem(all, pieces, HEADS, KV_HEADS, ctas);
    all.q_ptr = on_device(in.q), all.k_ptr = on_device(in.k), all.v_ptr = on_device(in.v);
    all.o_ptr = on_device(std::vector<bf16>(o.begin(), o.end())), all.do_ptr = on_device(in.d_o);
    all.softmax_lse_ptr = on_device(log_sums);
    all.dq_ptr = on_device(std::vector<float>(Q_COUNT)), all.dk_ptr = on_device(std::vector<float>(K_COUNT));
    all.dv_ptr = on_device(std::vector<float>(K_COUNT));
    all.do_row_stride = all.dq_row_stride = HEADS * SIZE, all.dk_row_stride = all.dv_row_stride = KV_HEADS * SIZE;
    all.do_head_stride = all.dq_head_stride = all.dk_head_stride = all.dv_head_stride = SIZE;
    all.num_m_block = (Q_ROWS + 2 * BLOCK_M - 2) / BLOCK_M, all.total_q_rounded = all.num_m_block * BLOCK_M;
    const std::vector<float> sums((size_t)HEADS * all.total_q_rounded * 4);
    all.dsoftmax_sum = on_device(sums), all.softmax_lse_log2_ptr = on_device(sums);
    const std::vector<int> zeros(COUNTERS);
    all.determin_range_locks = on_device(zeros), all.determin_conflict_state = on_device(zeros);
    all.dq_determin_range_locks = on_device(zeros), all.dq_determin_conflict_state = on_device(zeros);
    return all;
}

int main(int argc, char **argv)
{
    const Pieces pieces = few_pieces();
    const std::vector<bf16> q = random_numbers<bf16>(Q_COUNT, 1), k = random_numbers<bf16>(K_COUNT, 2);
    const std::vector<bf16> v = random_numbers<bf16>(K_COUNT, 3), d_o = random_numbers<bf16>(Q_COUNT, 4);
    const BackwardInputs<bf16> in = {SIZE, 1 / std::sqrt((double)SIZE), q, k, v, d_o};
    Gradients all(Q_COUNT, K_COUNT);
    const std::vector<float> log_sums = add_all(in, pieces, all);
    Flash_bwd_params params = parameters_of(in, pieces, argc > 1 ? atoi(argv[1]) : 4, all.o, log_sums);
    run_mha_bwd_<90, bf16, float, float, SIZE, false, false, !SWAP, false, SWAP, false, false, HEADS / KV_HEADS, false,
                 false, false>(params, 0);
    std::vector<float> wanted = all.dq, got;
    append(wanted, all.dk);
    append(wanted, all.dv);
    for (float &number : wanted)
        number *= ENLARGED;
    append(got, from_device((const float *)params.dq_ptr, Q_COUNT));
    append(got, from_device((const float *)params.dk_ptr, K_COUNT));
    append(got, from_device((const float *)params.dv_ptr, K_COUNT));
    return compare(
        wanted, [&](size_t i) { return got[i] * ENLARGED; }, 0.03f);
}
