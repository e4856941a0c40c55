/* deepep_low_latency.cu - the low-latency dispatch to experts and combination of deepseek-ai/DeepEP,
 * csrc/kernels/legacy/internode_ll.cu.  Both ranks are on one GPU here, each with a stream of its own.
 *
 * Dispatch: every warp except the last one sends tokens and counts them.  The last warp publishes the counts.  Groups of
 * warps meet at named barriers, poll flags of the other rank and copy.  Combination: each warp copies through three
 * stages, with mbarriers of its own.  A barrier of the grid follows.  Then each group has one loading warp and five
 * adding warps.  The ranks take turns with two halves of their memory.  ../run.py writes deepep_low_latency_part.cuh: all of the file, so
 * that it includes our deepep/ibgda_device.cuh.  The program reads no file.  It compares all tokens with the host's.
 *
 *     nvcc -std=c++20 -O3 -I deepep -I CHECKOUT/csrc/kernels/legacy -I CHECKOUT/deep_ep/include -I CHECKOUT
 *          -I PACKAGES/flashinfer/data/cutlass/include -I SCRATCH deepep_low_latency.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python, for its copy of CUTLASS.
 * ../run.py names the version.  SCRATCH: the folder of deepep_low_latency_part.cuh.
 */
#include <cuda_fp8.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#include "deepep_low_latency_part.cuh"

#include "check.h"

enum { RANKS = 2, HIDDEN = 2560, EXPERTS = 8, LOCAL_EXPERTS = EXPERTS / RANKS, CHOSEN = 6, ROUNDS = 2 };
enum { GROUPS = 2, WARPS_OF_GROUP = 6, CTAS = EXPERTS / GROUPS, THREADS = GROUPS * WARPS_OF_GROUP * 32 };
enum { MESSAGE_BYTES = 16 + HIDDEN * 2, SLOT_BYTES = HIDDEN * 2 + HIDDEN / 128 * 4, SHARED_BYTES = 90 * 1024 };
enum { FLAGS = 64, PHASES = LEGACY_LOW_LATENCY_SEND_PHASE | LEGACY_LOW_LATENCY_RECV_PHASE };

typedef __nv_bfloat16 bf16;
typedef deep_ep::topk_idx_t Expert;

/* The memory of a rank that the other one reaches: for each round what it receives in the dispatch and in the
 * combination, and flags for each; then what it sends. */
struct Sizes {
    size_t tokens, most;

    static size_t rounded(size_t bytes)
    {
        return (bytes + 1023) / 1024 * 1024;
    }
    size_t slots() const
    {
        return LOCAL_EXPERTS * RANKS * most;
    }
    size_t dispatch_bytes() const
    {
        return slots() * MESSAGE_BYTES;
    }
    size_t flags_at() const
    {
        return dispatch_bytes() + EXPERTS * most * SLOT_BYTES;
    }
    size_t round_bytes() const
    {
        return rounded(flags_at() + 2 * FLAGS * sizeof(int));
    }
    size_t rank_bytes() const
    {
        return ROUNDS * round_bytes() + rounded(most * MESSAGE_BYTES);
    }
};

/* What a rank sends, and where it receives. */
struct Rank {
    std::vector<bf16> x;
    std::vector<Expert> chosen; /* [token][choice]; -1 for none */
    std::vector<float> weights;
    bf16 *dev_x, *received[ROUNDS], *combined[ROUNDS];
    Expert *dev_chosen;
    float *dev_weights;
    int *sources[ROUNDS], *counts[ROUNDS], *workspace;
    int64_t *ranges[ROUNDS];
    uint8_t *memory;
    cudaStream_t stream;
};

static Rank rank_of(int rank, const Sizes &sizes, uint8_t *memory)
{
    Rank all;
    all.x = random_numbers<bf16>(sizes.tokens * HIDDEN, 7 + rank);
    all.weights = random_numbers<float>(sizes.tokens * CHOSEN, 70 + rank);
    for (uint32_t word : random_words(sizes.tokens, 5 + rank))
        for (int i = 0; i < CHOSEN; i++)
            all.chosen.push_back((all.chosen.size() / CHOSEN + i) % 7 == 0 ? -1 : (int)((word >> 16) + i) % EXPERTS);
    all.dev_x = on_device(all.x), all.dev_chosen = on_device(all.chosen), all.dev_weights = on_device(all.weights);
    all.workspace = on_device(std::vector<int>(2 * EXPERTS + 1));
    for (int round = 0; round < ROUNDS; round++) {
        all.received[round] = on_device(std::vector<bf16>(sizes.slots() * HIDDEN, bf16(0.0f)));
        all.combined[round] = on_device(std::vector<bf16>(sizes.tokens * HIDDEN, bf16(0.0f)));
        all.sources[round] = on_device(std::vector<int>(sizes.slots()));
        all.counts[round] = on_device(std::vector<int>(LOCAL_EXPERTS));
        all.ranges[round] = on_device(std::vector<int64_t>(LOCAL_EXPERTS * RANKS));
    }
    all.memory = memory + rank * sizes.rank_bytes();
    all.stream = new_stream();
    return all;
}

static void dispatch(const Rank &all, int rank, int round, const Sizes &sizes)
{
    auto *const kernel = deep_ep::legacy::internode_ll::dispatch<false, false, HIDDEN>;
    uint8_t *const own = all.memory + round % 2 * sizes.round_bytes();
    uint8_t *const next = all.memory + (round + 1) % 2 * sizes.round_bytes();
    SETUP_LAUNCH_CONFIG(CTAS, THREADS, all.stream);
    must(cudaLaunchKernelEx(
        &cfg, kernel, (void *)all.received[round], (void *)nullptr, all.sources[round], all.ranges[round],
        all.counts[round], (int *)nullptr, (int *)nullptr, (int64_t *)nullptr, (void *)own,
        (int *)(own + sizes.flags_at()), (void *)(all.memory + ROUNDS * sizes.round_bytes()), (const void *)all.dev_x,
        (const Expert *)all.dev_chosen, all.workspace, all.workspace + EXPERTS, (int *)(next + sizes.flags_at()),
        LOCAL_EXPERTS * RANKS, (int)sizes.tokens, (int)sizes.most, (int)CHOSEN, (int)EXPERTS, rank, (int)RANKS,
        (int)GROUPS, (int)WARPS_OF_GROUP, false, (int)PHASES));
}

static void combine(const Rank &all, int rank, int round, const Sizes &sizes)
{
    auto *const kernel = deep_ep::legacy::internode_ll::combine<false, HIDDEN, 11, 4>;
    uint8_t *const own = all.memory + round % 2 * sizes.round_bytes();
    uint8_t *const next = all.memory + (round + 1) % 2 * sizes.round_bytes();
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    SETUP_LAUNCH_CONFIG(CTAS, THREADS, all.stream);
    cfg.dynamicSmemBytes = SHARED_BYTES;
    must(cudaLaunchKernelEx(&cfg, kernel, (void *)all.combined[round], (void *)(own + sizes.dispatch_bytes()),
                            (int *)(own + sizes.flags_at()) + FLAGS,
                            (void *)(all.memory + ROUNDS * sizes.round_bytes()), (const void *)all.received[round],
                            (const Expert *)all.dev_chosen, (const float *)all.dev_weights,
                            (const int *)all.sources[round], (const int64_t *)all.ranges[round], (int *)nullptr,
                            (int64_t *)nullptr, (int *)(next + sizes.flags_at()) + FLAGS, (int)EXPERTS,
                            all.workspace + 2 * EXPERTS, (int)sizes.tokens, (int)HIDDEN, (int)CHOSEN, (int)sizes.most,
                            (int)EXPERTS, rank, (int)RANKS, (int)GROUPS, (int)WARPS_OF_GROUP, (int)PHASES, false));
}

/* Experts do nothing here: a token comes back as the sum of itself with all its weights. */
static size_t wrong_combined(const Rank &rank, int round, const Sizes &sizes)
{
    const std::vector<bf16> got = from_device(rank.combined[round], sizes.tokens * HIDDEN);
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const size_t first = i / HIDDEN * CHOSEN;
        float sum = 0;
        for (size_t at = first; at < first + CHOSEN; at++)
            sum += rank.chosen[at] < 0 ? 0 : rank.weights[at] * (float)rank.x[i];
        wrong += !(std::fabs((float)got[i] - sum) <= 0.03f);
    }
    return wrong;
}

/* What an expert received; a range has the first slot in its upper half, and the count in its lower one. */
static size_t wrong_received(const std::vector<Rank> &ranks, int rank, int expert, int round, const Sizes &sizes)
{
    const size_t first = expert * RANKS * sizes.most;
    const std::vector<bf16> got =
        from_device(ranks[rank].received[round] + first * HIDDEN, RANKS * sizes.most * HIDDEN);
    const std::vector<int> sources = from_device(ranks[rank].sources[round] + first, RANKS * sizes.most);
    const std::vector<int64_t> ranges = from_device(ranks[rank].ranges[round] + expert * RANKS, RANKS);
    size_t wrong = 0;
    int count = 0;
    for (int from = 0; from < RANKS; from++) {
        for (Expert chosen : ranks[from].chosen)
            count += chosen == rank * LOCAL_EXPERTS + expert;
        for (int i = 0; i < (int)ranges[from]; i++) {
            const int slot = (int)(ranges[from] >> 32) + i, token = sources[slot];
            const bool is_token = token >= 0 && token < (int)sizes.tokens;
            for (size_t at = 0; at < HIDDEN; at++)
                wrong += !is_token || (float)got[slot * HIDDEN + at] != (float)ranks[from].x[token * HIDDEN + at];
        }
    }
    return wrong + (from_device(ranks[rank].counts[round] + expert, 1)[0] != count);
}

int main(int argc, char **argv)
{
    const size_t tokens = argc > 1 ? atoi(argv[1]) : 8;
    const Sizes sizes = {tokens, (tokens + 3) / 4 * 4};
    uint8_t *const memory = on_device(std::vector<uint8_t>(RANKS * sizes.rank_bytes()));
    const int64_t distance = (int64_t)sizes.rank_bytes();
    must(cudaMemcpyToSymbol(deep_ep::legacy::bytes_of_rank, &distance, sizeof distance));
    const std::vector<Rank> ranks = {rank_of(0, sizes, memory), rank_of(1, sizes, memory)};
    must(cudaDeviceSynchronize());
    for (int round = 0; round < ROUNDS; round++) {
        for (int rank = 0; rank < RANKS; rank++)
            dispatch(ranks[rank], rank, round, sizes);
        for (int rank = 0; rank < RANKS; rank++)
            combine(ranks[rank], rank, round, sizes);
    }
    size_t wrong = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int rank = 0; rank < RANKS; rank++) {
            wrong += wrong_combined(ranks[rank], round, sizes);
            for (int expert = 0; expert < LOCAL_EXPERTS; expert++)
                wrong += wrong_received(ranks, rank, expert, round, sizes);
        }
    return verdict(wrong, ROUNDS * RANKS * tokens * HIDDEN, "numbers");
}
