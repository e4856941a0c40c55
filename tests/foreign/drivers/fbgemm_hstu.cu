/* fbgemm_hstu.cu - HSTU attention of pytorch/FBGEMM for sm_90, fbgemm_gpu/experimental/hstu/src/hstu_hopper, forward,
 * in fp8, causal: O = silu(alpha * (Q K^T + bias)) V / length, for sequences of different lengths.
 *
 * A copying thread brings Q, K, V and the bias by TMA.  Its whole warpgroup transposes V in shared memory and hands it
 * on by a pipeline of its own.  Two warpgroups compute in turns, by named barriers.  Warp 0 fetches the next tile by an
 * atomic for the other 11 warps.  The argument is the number of CTAs.  The program reads no file.  It prints the
 * largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-extended-lambda --use_fast_math
 *          -I CHECKOUT/fbgemm_gpu/experimental/hstu/src/hstu_hopper -I CUTLASS/include fbgemm_hstu.cu -lcuda
 *
 * CUTLASS is version 3.6.0 here: with 4.x, the kernel's named barriers are others.
 */
#include <cassert>
#include <climits>
#include <cstring>

#include <cuda_fp8.h>

#include "hstu_fwd_launch_template.h"

#include "check.h"

enum { HEADS = 2, SIZE = 64, SEQUENCES = 3, LONGEST = 300, BIAS_ROW = 304 };

typedef cutlass::float_e4m3_t fp8;
typedef cutlass::bfloat16_t bf16;

constexpr int LENGTHS[SEQUENCES] = {LONGEST, 130, 200};
constexpr float ALPHA = 0.125f; /* 1 / sqrt(SIZE) */
constexpr float ENLARGED = 64;  /* the results are small; differences are compared after multiplication by this */

/* Q, K and V[row][head][i], with the rows of all sequences; bias[sequence][head][row][column]. */
struct Inputs {
    std::vector<int> starts;
    std::vector<fp8> q, k, v;
    std::vector<bf16> bias;
};

static Inputs inputs()
{
    Inputs all;
    all.starts.push_back(0);
    for (int length : LENGTHS)
        all.starts.push_back(all.starts.back() + length);
    const size_t count = (size_t)all.starts.back() * HEADS * SIZE;
    all.q = random_numbers<fp8>(count, 1), all.k = random_numbers<fp8>(count, 2), all.v = random_numbers<fp8>(count, 3);
    all.bias = random_numbers<bf16>((size_t)SEQUENCES * HEADS * LONGEST * BIAS_ROW, 4);
    return all;
}

static Hstu_fwd_params parameters_of(const Inputs &in, int ctas)
{
    Hstu_fwd_params all;
    memset((void *)&all, 0, sizeof all);
    all.q_ptr = on_device(in.q), all.k_ptr = on_device(in.k), all.v_ptr = on_device(in.v);
    all.o_ptr = on_device(std::vector<bf16>(in.q.size(), bf16(0.0f)));
    all.q_row_stride = all.k_row_stride = all.v_row_stride = all.o_row_stride = HEADS * SIZE;
    all.q_head_stride = all.k_head_stride = all.v_head_stride = all.o_head_stride = SIZE;
    all.vt_row_stride = 16, all.vt_head_stride = SIZE;
    all.h = all.h_k = all.h_rab = HEADS, all.b = SEQUENCES, all.d = SIZE;
    all.seqlen_q = all.seqlen_k = all.scaling_seqlen = LONGEST, all.total_q = all.total_k = in.starts.back();
    all.alpha = ALPHA;
    all.cu_seqlens_q = all.cu_seqlens_k = on_device(in.starts);
    all.rab_ptr = on_device(in.bias), all.has_rab = true;
    all.rab_row_stride = BIAS_ROW, all.rab_head_stride = LONGEST * BIAS_ROW;
    all.rab_batch_stride = HEADS * LONGEST * BIAS_ROW;
    all.window_size_left = -1, all.window_size_right = 0, all.target_group_size = 1;
    all.is_causal = all.is_bf16 = true;
    all.tile_count_semaphore = on_device(std::vector<int>(1));
    all.cu_seqlens_vt_descale = on_device(std::vector<int>(SEQUENCES + 1));
    all.cu_seqlens_q_block_descale = all.cu_seqlens_kv_block_descale = all.cu_seqlens_vt_descale;
    all.descale_q_ptr = on_device(std::vector<float>(4096, 1.0f));
    all.descale_k_ptr = all.descale_v_ptr = all.descale_vt_ptr = all.descale_q_ptr;
    all.num_sm = ctas;
    return all;
}

/* One row of one head; `row` counts within the sequence. */
static void attend_row(const Inputs &in, int sequence, int row, int head, float *out)
{
    const size_t start = in.starts[sequence];
    const fp8 *const q = &in.q[((start + row) * HEADS + head) * SIZE];
    const bf16 *const bias = &in.bias[(((size_t)sequence * HEADS + head) * LONGEST + row) * BIAS_ROW];
    for (int column = 0; column <= row; column++) {
        const size_t from = ((start + column) * HEADS + head) * SIZE;
        float score = (float)bias[column];
        for (int i = 0; i < SIZE; i++)
            score += (float)q[i] * (float)in.k[from + i];
        score *= ALPHA;
        const float weight = (float)__nv_fp8_e4m3(score / (1 + std::exp(-score)));
        for (int i = 0; i < SIZE; i++)
            out[i] += weight * (float)in.v[from + i] / LONGEST * ENLARGED;
    }
}

int main(int argc, char **argv)
{
    const Inputs in = inputs();
    Hstu_fwd_params params = parameters_of(in, argc > 1 ? atoi(argv[1]) : 4);
    constexpr auto tile = flash::get_tile_size_fwd<SIZE, true, true>();
    typedef Hstu_fwd_kernel_traits_fp8<bf16, SIZE, std::get<0>(tile), std::get<1>(tile), std::get<2>(tile), 2, true,
                                       false, false, false, false, 0, true, 1, 0>
        Traits;
    run_hstu_fwd<90, Traits>(params, 0);
    std::vector<float> wanted(in.q.size());
    for (int sequence = 0; sequence < SEQUENCES; sequence++)
        for (int row = 0; row < LENGTHS[sequence]; row++)
            for (int head = 0; head < HEADS; head++)
                attend_row(in, sequence, row, head,
                           &wanted[((size_t)(in.starts[sequence] + row) * HEADS + head) * SIZE]);
    const std::vector<bf16> got = from_device((const bf16 *)params.o_ptr, wanted.size());
    return compare(
        wanted, [&](size_t i) { return (float)got[i] * ENLARGED; }, 0.02f);
}
