/* deepep_expand.cu - the second kernel of DeepEP's dispatch, impls/ep/dispatch_copy_epilogue.cuh.  It takes the tokens
 * that two ranks sent to this one, and copies each to one row of every expert that the token chose on this rank.
 *
 * Each warp works alone.  It fills its buffer by a bulk copy, with an mbarrier of its own.  It takes the next row of an
 * expert from a counter, and stores the token there by bulk copies.  These must have ended before the next token comes
 * into the buffer.  The first kernel of the dispatch would fill the receive buffer over NVLink; here the host does.
 * The program reads no file.  It compares all rows.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -I DEEPEP/deep_ep/include deepep_expand.cu -lcuda
 *
 * DEEPEP: the folder of the unpacked source package deepinfer-ep.  ../run.py names the version.
 */
#include <algorithm>
#include <cstring>

#include <deep_ep/impls/ep/dispatch_copy_epilogue.cuh>

#include "check.h"

enum { CTAS = 3, WARPS = 4, RANKS = 2, MAX_TOKENS = 128, EXPERTS = 8, LOCAL_EXPERTS = EXPERTS / RANKS, CHOSEN = 3 };
enum { HIDDEN_BYTES = 2048, HIDDEN = HIDDEN_BYTES / 4, SCALES = 8, METADATA = 2 + CHOSEN };

typedef deep_ep::layout::TokenLayout Token;

/* The three experts of a token are unlike each other, and one or two of them are here. */
static int expert_of(int rank, int token, int choice)
{
    return (rank + token + 2 * choice) % EXPERTS;
}

static uint32_t number_of(int rank, int token, int at)
{
    return (uint32_t)(((rank * MAX_TOKENS + token) * HIDDEN + at) * 2654435761u);
}

static float weight_of(int rank, int token, int choice)
{
    return (float)(rank * MAX_TOKENS + token) + 0.25f * (float)choice;
}

static void fill(const Token &place, int rank, int token)
{
    for (int i = 0; i < HIDDEN; i++)
        ((uint32_t *)place.get_hidden_ptr())[i] = number_of(rank, token, i);
    for (int i = 0; i < SCALES; i++)
        place.get_sf_ptr()[i].fp32 = (float)(token + i);
    for (int i = 0; i < CHOSEN; i++) {
        place.get_topk_idx_ptr()[i] = expert_of(rank, token, i);
        place.get_topk_weights_ptr()[i] = weight_of(rank, token, i);
    }
    *place.get_src_token_global_idx_ptr() = rank * MAX_TOKENS + token;
}

struct Output {
    std::vector<uint32_t> rows;
    std::vector<float> weights, scales;
    std::vector<int> metadata;
};

/* Whether a token's copies are where its metadata say; marks their rows as used. */
static bool is_right(const Output &got, int received, int rank, int token, std::vector<bool> &used)
{
    const int *const metadata = &got.metadata[(size_t)received * METADATA];
    bool right = metadata[0] == rank * MAX_TOKENS + token;
    for (int choice = 0; choice < CHOSEN; choice++) {
        const int row = metadata[2 + choice];
        if (expert_of(rank, token, choice) >= LOCAL_EXPERTS) {
            right = right && row == -1;
            continue;
        }
        if (row < 0 || (size_t)row >= used.size() || used[row])
            return false;
        used[row] = true;
        right = right && got.weights[row] == weight_of(rank, token, choice);
        for (int i = 0; i < HIDDEN; i++)
            right = right && got.rows[(size_t)row * HIDDEN + i] == number_of(rank, token, i);
        for (int i = 0; i < SCALES; i++)
            right = right && got.scales[(size_t)row * SCALES + i] == (float)(token + i);
    }
    return right;
}

int main(int argc, char **argv)
{
    const int first = std::min(argc > 1 ? atoi(argv[1]) : 50, (int)MAX_TOKENS), tokens[] = {first, first * 2 / 3};
    const int all = tokens[0] + tokens[1];
    const Token token(HIDDEN_BYTES, SCALES * 4, CHOSEN, true);
    const size_t bytes = deep_ep::layout::BufferLayout<false>(token, RANKS, MAX_TOKENS).get_num_bytes();
    std::vector<char> buffer(bytes + 64);
    char *const base = buffer.data() + (64 - (uintptr_t)buffer.data() % 64) % 64;
    const deep_ep::layout::BufferLayout<false> places(token, RANKS, MAX_TOKENS, base);
    std::vector<int> cursors(LOCAL_EXPERTS + 1);
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < tokens[rank]; i++) {
            fill(places.get_rank_buffer(rank).get_token_buffer(i), rank, i);
            for (int choice = 0; choice < CHOSEN; choice++)
                if (expert_of(rank, i, choice) < LOCAL_EXPERTS)
                    cursors[expert_of(rank, i, choice) + 1]++;
        }
    for (int i = 0; i < LOCAL_EXPERTS; i++)
        cursors[i + 1] += cursors[i];
    const size_t rows = cursors[LOCAL_EXPERTS];
    uint32_t *const out = on_device(std::vector<uint32_t>(rows * HIDDEN));
    float *const weights = on_device(std::vector<float>(rows)), *const scales =
                                                                    on_device(std::vector<float>(rows * SCALES));
    int *const metadata = on_device(std::vector<int>((size_t)all * METADATA));
    auto *const kernel = deep_ep::ep::dispatch_copy_epilogue_impl<true, false, false, CTAS, 1, WARPS, 1, RANKS,
                                                                  HIDDEN_BYTES, SCALES, MAX_TOKENS, EXPERTS, CHOSEN, 1>;
    const int shared_bytes = (int)deep_ep::layout::BufferLayout<true>(token, WARPS, 1).get_num_bytes();
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    kernel<<<CTAS, WARPS * 32, shared_bytes>>>(on_device(std::vector<char>(base, base + bytes)), nullptr,
                                               on_device(std::vector<int>{tokens[0], all}), on_device(cursors), out,
                                               (deep_ep::sf_pack_t *)scales, nullptr, weights, metadata, nullptr,
                                               nullptr, all, SCALES, 1, 0, 0);
    must(cudaGetLastError());
    const Output got = {from_device(out, rows * HIDDEN), from_device(weights, rows), from_device(scales, rows * SCALES),
                        from_device(metadata, (size_t)all * METADATA)};
    std::vector<bool> used(rows);
    int wrong = 0;
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < tokens[rank]; i++)
            wrong += !is_right(got, (rank ? tokens[0] : 0) + i, rank, i, used);
    printf("%d of %d tokens are wrong: %s\n", wrong, all, wrong ? "Failed" : "Passed");
    return wrong != 0;
}
