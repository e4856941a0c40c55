/* magi_ffa.h - what the host programs of MagiAttention's flexible flash attention share: pieces of Q x K, each with a
 * mask of its own. */
#ifndef WSDBG_TESTS_FOREIGN_MAGI_FFA_H
#define WSDBG_TESTS_FOREIGN_MAGI_FFA_H

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <cutlass/detail/layout.hpp>
#include <cute/tensor.hpp>

#include "check.h"

/* The kernels call it with two arguments; newer versions of CUTLASS want one more. */
namespace cutlass::epilogue::collective::detail
{
template <class Stride, class Element> constexpr auto sm90_get_smem_store_op_for_accumulator()
{
    return cute::AutoVectorizingCopyWithAssumedAlignment<128>{};
}
} // namespace cutlass::epilogue::collective::detail

enum { SIZE = 128, Q_ROWS = 300, K_ROWS = 512 };
enum { READ_AHEAD = 32 }; /* the schedulers read up to 31 ranges past the last one */

typedef cutlass::bfloat16_t bf16;

/* Some rows of Q with some rows of K.  Causal: the last row has all of K's, the one before it has one less. */
struct Piece {
    int q_first, q_end, k_first, k_end;
    bool is_causal;

    bool has(int q_row, int k_row) const
    {
        return q_row >= q_first && q_row < q_end && k_row >= k_first && k_row < k_end &&
               (!is_causal || k_row - k_end <= q_row - q_end);
    }
};

typedef std::vector<Piece> Pieces;

inline Pieces few_pieces()
{
    return {{0, 160, 0, 256, true}, {0, 160, 256, 448, false}, {160, 300, 64, 384, true}, {100, 300, 448, 512, false}};
}

/* The rows of K that a row of Q has to do with. */
inline std::vector<int> k_rows_of(const Pieces &pieces, int q_row)
{
    std::vector<int> all;
    for (const Piece &piece : pieces)
        for (int k_row = piece.k_first; k_row < piece.k_end; k_row++)
            if (piece.has(q_row, k_row))
                all.push_back(k_row);
    return all;
}

inline int2 *padded_on_device(std::vector<int2> ranges)
{
    ranges.resize(ranges.size() + READ_AHEAD);
    return on_device(ranges);
}

/* What forward and backward kernels have in common.  Q[row][head][i]; K and V[row][kv_head][i]. */
template <typename Params> void set_problem(Params &all, const Pieces &pieces, int heads, int kv_heads, int ctas)
{
    std::vector<int2> q_ranges, k_ranges;
    std::vector<int> types;
    for (const Piece &piece : pieces) {
        q_ranges.push_back({piece.q_first, piece.q_end});
        k_ranges.push_back({piece.k_first, piece.k_end});
        types.push_back(piece.is_causal);
    }
    memset((void *)&all, 0, sizeof all);
    all.q_ranges = padded_on_device(q_ranges), all.k_ranges = padded_on_device(k_ranges);
    all.attn_type_map = on_device(types);
    all.b = all.merge_batch_size = (int)pieces.size();
    all.q_row_stride = all.o_row_stride = heads * SIZE, all.k_row_stride = all.v_row_stride = kv_heads * SIZE;
    all.q_head_stride = all.o_head_stride = all.k_head_stride = all.v_head_stride = SIZE;
    all.h_qo = heads, all.h_kv = kv_heads, all.d = all.d_rounded = SIZE;
    all.total_q = Q_ROWS, all.total_k = K_ROWS;
    all.scale_softmax = 1 / std::sqrt((float)SIZE);
    all.tile_count_semaphore = on_device(std::vector<int>(1));
    all.num_sm = ctas, all.arch = 90;
}

#endif
