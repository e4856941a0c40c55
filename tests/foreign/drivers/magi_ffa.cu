/* magi_ffa.cu - flexible flash attention of SandAI-org/MagiAttention for sm_90, forward,
 * magi_attention/csrc/flexible_flash_attention, in bf16.
 *
 * GATHER 0: several pieces add to the same rows of O under locks in global memory, in a fixed order for which CTAs wait
 * for each other; the copying warp also fetches tiles by an atomic.  GATHER 1: a whole warpgroup gathers K and V of
 * many short pieces with cp.async.  The argument is the number of CTAs.  The program reads no file.  It prints the
 * largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-extended-lambda --use_fast_math
 *          -I CHECKOUT/magi_attention/csrc/flexible_flash_attention -I CHECKOUT/magi_attention/csrc/common
 *          -I CHECKOUT/magi_attention/csrc -I CUTLASS/include magi_ffa.cu -lcuda
 *
 * CUTLASS is version 4.4.2 here, as in Tencent/hpc-ops.
 */
#include "magi_ffa.h"

#include "flash_fwd_launch_template.h"

#include "attention.h"

#ifndef GATHER
#define GATHER 0
#endif

enum { HEADS = 4, KV_HEADS = 2, BLOCK_M = 128, BLOCK_N = 64 };

constexpr float ENLARGED = 16; /* the results are small; differences are compared after multiplication by this */

/* For each of three ranges of Q: `count` short ranges of K, `step` apart. */
static Pieces many_pieces()
{
    Pieces all;
    const int q_firsts[] = {0, 140, 236, Q_ROWS}, k_firsts[] = {0, 3, 1}, steps[] = {24, 40, 16},
              counts[] = {16, 12, 30};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < counts[i]; j++) {
            const int first = k_firsts[i] + j * steps[i];
            all.push_back({q_firsts[i], q_firsts[i + 1], first, first + 5 + (i + j) % 9, false});
        }
    return all;
}

/* Pieces of the same range of Q are one item for the scheduler. */
static void merge(Flash_fwd_params &all, const Pieces &pieces)
{
    std::vector<int2> ranges;
    std::vector<int> ends = {0};
    for (const Piece &piece : pieces) {
        if (ranges.empty() || ranges.back().x != piece.q_first) {
            ranges.push_back({piece.q_first, piece.q_end});
            ends.push_back(ends.back());
        }
        ends.back()++;
    }
    all.merge_batch_size = (int)ranges.size();
    all.merge_q_ranges = padded_on_device(ranges);
    all.qk_map = on_device(ends);
    all.unique_count = on_device(std::vector<int>{(int)ranges.size()});
}

static std::vector<float> reference_of(const Pieces &pieces, const std::vector<bf16> &q, const std::vector<bf16> &k,
                                       const std::vector<bf16> &v)
{
    std::vector<float> all(q.size());
    for (int row = 0; row < Q_ROWS; row++) {
        const std::vector<int> k_rows = k_rows_of(pieces, row);
        for (int head = 0; head < HEADS && !k_rows.empty(); head++) {
            const size_t first = ((size_t)row * HEADS + head) * SIZE;
            auto at = [&](int i, int column) {
                return ((size_t)k_rows[i] * KV_HEADS + head * KV_HEADS / HEADS) * SIZE + column;
            };
            attend((int)k_rows.size(), SIZE, SIZE, 1 / std::sqrt((double)SIZE),
                   [&](int column) { return (float)q[first + column]; },
                   [&](int i, int column) { return (float)k[at(i, column)]; },
                   [&](int i, int column) { return (float)v[at(i, column)]; }, &all[first]);
        }
    }
    return all;
}

int main(int argc, char **argv)
{
    const Pieces pieces = GATHER ? many_pieces() : few_pieces();
    const size_t count = (size_t)Q_ROWS * HEADS * SIZE, kv_count = (size_t)K_ROWS * KV_HEADS * SIZE;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(kv_count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(kv_count, 3);
    const std::vector<int> zeros(((Q_ROWS + BLOCK_M - 1) / BLOCK_M + 1) * HEADS * 16); /* locks and counters of tiles */
    float *const out = on_device(std::vector<float>(count));
    Flash_fwd_params params;
    set_problem(params, pieces, HEADS, KV_HEADS, argc > 1 ? atoi(argv[1]) : 4);
    if (GATHER)
        merge(params, pieces);
    params.q_ptr = on_device(q), params.k_ptr = on_device(k), params.v_ptr = on_device(v), params.o_ptr = out;
    params.softmax_lse_ptr = on_device(std::vector<float>(Q_ROWS * HEADS, -INFINITY));
    params.range_locks = on_device(zeros), params.determin_range_locks = on_device(zeros);
    params.determin_conflict_state = on_device(zeros);
    run_flash_fwd<90, BLOCK_M, BLOCK_N, SIZE, 1, bf16, float, false, GATHER, !GATHER, GATHER, false, HEADS / KV_HEADS,
                  false, GATHER, false, false>(params, 0);
    std::vector<float> wanted = reference_of(pieces, q, k, v);
    for (float &number : wanted)
        number *= ENLARGED;
    const std::vector<float> got = from_device(out, count);
    return compare(
        wanted, [&](size_t i) { return got[i] * ENLARGED; }, 0.02f);
}
