/* trtllm_helix.cu - the exchange of partial results for Helix parallelism of TensorRT-LLM, kernels/helixAllToAll.cu, as
 * FlashInfer ships it.  All ranks are on one GPU here, each with a stream of its own.
 *
 * A warp sends to one peer or receives from it, on one channel.  It has one mbarrier for its bulk copies, and a queue
 * in global memory whose head and tail the two poll.  The data itself says whether it has arrived, so that the receiver
 * copies it until all of it is there.  The program reads no file.  It compares all numbers with the host's.
 *
 *     nvcc -std=c++17 -O3 -I PACKAGES/flashinfer/data/csrc/nv_internal -I PACKAGES/flashinfer/data/csrc
 *          -I PACKAGES/flashinfer/data/csrc/nv_internal/include trtllm_helix.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python.  ../run.py names the
 * version.
 */
#include "tensorrt_llm/kernels/helixAllToAll.cu"
#include "cpp/common/stringUtils.cpp"
#include "cpp/common/tllmException.cpp"
#include "cpp/common/logger.cpp"

#include "check.h"

using namespace tensorrt_llm::kernels;

struct Sizes {
    int ranks, entries, count; /* of an entry: one row of `count` halves and one pair of floats for each rank */
};

/* What a rank sends, and where it receives. */
struct Rank {
    std::vector<uint16_t> halves;
    std::vector<float> pairs;
    uint16_t *got_halves;
    float *got_pairs;
};

static Rank rank_of(int rank, const Sizes &sizes)
{
    Rank all;
    const size_t rows = (size_t)sizes.entries * sizes.ranks;
    for (uint32_t word : random_words(rows * sizes.count, 5 + rank))
        all.halves.push_back((uint16_t)(word >> 16));
    for (uint32_t word : random_words(rows * 2, 50 + rank))
        all.pairs.push_back((float)(word >> 16));
    all.got_halves = on_device(std::vector<uint16_t>(all.halves.size()));
    all.got_pairs = on_device(std::vector<float>(all.pairs.size()));
    return all;
}

static HelixAllToAllParams parameters_of(const Rank &all, int rank, const Sizes &sizes, int channels,
                                         uint8_t *workspace)
{
    const size_t bytes = computeHelixWorkspaceSizePerRank(sizes.ranks);
    HelixAllToAllParams params;
    params.sendFields[0] = {(uint8_t *)on_device(all.halves), sizes.count, 2, sizes.count * 2};
    params.sendFields[1] = {(uint8_t *)on_device(all.pairs), 1, 8, 8};
    params.recvFields[0] = {(uint8_t *)all.got_halves, sizes.count, 2, sizes.count * 2};
    params.recvFields[1] = {(uint8_t *)all.got_pairs, 1, 8, 8};
    params.entryCount = sizes.entries;
    params.workspace = (uint64_t *)workspace;
    params.workspaceStrideInU64 = bytes / 8;
    params.cpRank = rank;
    params.cpSize = sizes.ranks;
    params.channelCount = channels;
    params.maxChannelCount = computeHelixMaxChannelCount(sizes.ranks);
    initializeHelixWorkspace((uint64_t *)(workspace + rank * bytes), sizes.ranks, 0);
    return params;
}

/* Row `peer` of an entry that a rank received is its row of that entry at the peer. */
template <typename Number>
static size_t wrong_rows(const std::vector<Number> &got, const std::vector<Number> &sent, int rank, int peer,
                         const Sizes &sizes)
{
    const size_t width = got.size() / sizes.entries / sizes.ranks;
    size_t wrong = 0;
    for (int entry = 0; entry < sizes.entries; entry++)
        for (size_t i = 0; i < width; i++) {
            const size_t first = (size_t)entry * sizes.ranks;
            wrong += got[(first + peer) * width + i] != sent[(first + rank) * width + i];
        }
    return wrong;
}

int main(int argc, char **argv)
{
    const Sizes sizes = {argc > 1 ? atoi(argv[1]) : 2, argc > 2 ? atoi(argv[2]) : 20, argc > 3 ? atoi(argv[3]) : 512};
    const int channels = argc > 4 ? atoi(argv[4]) : 2;
    uint8_t *workspace;
    must(cudaMalloc((void **)&workspace, computeHelixWorkspaceSizePerRank(sizes.ranks) * sizes.ranks));
    std::vector<Rank> ranks;
    std::vector<HelixAllToAllParams> parameters;
    std::vector<cudaStream_t> streams(sizes.ranks);
    for (int rank = 0; rank < sizes.ranks; rank++) {
        ranks.push_back(rank_of(rank, sizes));
        parameters.push_back(parameters_of(ranks.back(), rank, sizes, channels, workspace));
        must(cudaStreamCreateWithFlags(&streams[rank], cudaStreamNonBlocking));
    }
    must(cudaDeviceSynchronize());
    for (int rank = 0; rank < sizes.ranks; rank++)
        launchHelixAllToAll(parameters[rank], false, false, streams[rank]);
    must(cudaGetLastError());
    size_t wrong = 0, all = 0;
    for (int rank = 0; rank < sizes.ranks; rank++) {
        const std::vector<uint16_t> halves = from_device(ranks[rank].got_halves, ranks[rank].halves.size());
        const std::vector<float> pairs = from_device(ranks[rank].got_pairs, ranks[rank].pairs.size());
        all += halves.size() + pairs.size();
        for (int peer = 0; peer < sizes.ranks; peer++)
            wrong += wrong_rows(halves, ranks[peer].halves, rank, peer, sizes) +
                     wrong_rows(pairs, ranks[peer].pairs, rank, peer, sizes);
    }
    return verdict(wrong, all, "numbers");
}
