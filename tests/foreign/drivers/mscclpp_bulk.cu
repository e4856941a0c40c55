/* mscclpp_bulk.cu - exchanges between ranks by bulk copies, of microsoft/mscclpp, test/mp_unit/bulk_pattern_tests.cu.
 * Both ranks are on one GPU here, each with a stream of its own.
 *
 * The first kernel brings rows to all ranks through one tile in shared memory.  The second kernel adds up the rows of
 * all ranks: two stages of copies complete on one mbarrier.  The third kernel adds them up by bulk reductions.  After
 * each kernel, another one lets the ranks signal each other by flags in global memory.  ../run.py writes mscclpp_bulk_part.cuh: that
 * file without its tests.  The program reads no file.  It compares all numbers with the host's.
 *
 *     nvcc -std=c++17 -O3 -I CHECKOUT/include -I SCRATCH mscclpp_bulk.cu -lcuda
 *
 * SCRATCH: the folder of mscclpp_bulk_part.cuh.
 */
#include <cstdint>

#include <mscclpp/bulk_device.hpp>
#include <mscclpp/memory_channel_device.hpp>

#include "mscclpp_bulk_part.cuh"

#include "mscclpp_channels.h"

enum { TOKENS = kNumTokens, HIDDEN = kHidden, COUNT = TOKENS * HIDDEN, THREADS = 128 };
enum { SHARED_BYTES = kStages * RANKS * kChunkBytes + kStages * sizeof(mscclpp::BulkBarrier) };

/* Where all that is on the device. */
struct Memory {
    float *tokens, *dispatched, *given, *combined, *reduced;
    cudaStream_t stream;
};

static Memory prepare(int rank)
{
    std::vector<float> tokens, given;
    for (int i = 0; i < COUNT; i++)
        tokens.push_back(payload(rank, 0, i / HIDDEN, i % HIDDEN));
    for (int to = 0; to < RANKS; to++)
        for (int i = 0; i < COUNT; i++)
            given.push_back(payload(rank, to, i / HIDDEN, i % HIDDEN));
    return {on_device(tokens),
            on_device(std::vector<float>(RANKS * COUNT)),
            on_device(given),
            on_device(std::vector<float>(COUNT)),
            on_device(std::vector<float>(RANKS * COUNT)),
            new_stream()};
}

/* One place of each rank. */
static void **pools_of(const std::vector<Memory> &ranks, float *Memory::*place)
{
    std::vector<void *> all;
    for (const Memory &rank : ranks)
        all.push_back(rank.*place);
    return on_device(all);
}

static void exchange(const std::vector<Memory> &ranks, int ctas)
{
    void **const dispatched = pools_of(ranks, &Memory::dispatched), **const given = pools_of(ranks, &Memory::given);
    void **const reduced = pools_of(ranks, &Memory::reduced);
    const std::vector<Channel *> channels = channels_of_ranks(1);
    must(cudaDeviceSynchronize());
    for (int step = 0; step < 3; step++)
        for (int rank = 0; rank < RANKS; rank++) {
            const Memory &memory = ranks[rank];
            if (step == 0)
                kernelDispatch<<<ctas, THREADS, 0, memory.stream>>>(memory.tokens, dispatched, rank, RANKS);
            else if (step == 1)
                kernelCombine<<<ctas, THREADS, SHARED_BYTES, memory.stream>>>(memory.combined, given, rank, RANKS);
            else
                kernelCombineReduce<<<ctas, THREADS, 0, memory.stream>>>(memory.given, reduced, rank, RANKS);
            must(cudaGetLastError());
            kernelPeerBarrier<<<1, 32, 0, memory.stream>>>(channels[rank], RANKS - 1);
            must(cudaGetLastError());
        }
}

static size_t wrong_at(int rank, const Memory &memory)
{
    const std::vector<float> dispatched = from_device(memory.dispatched, RANKS * COUNT);
    const std::vector<float> combined = from_device(memory.combined, COUNT),
                             reduced = from_device(memory.reduced, COUNT);
    size_t wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const float first = payload(0, rank, i / HIDDEN, i % HIDDEN), second = payload(1, rank, i / HIDDEN, i % HIDDEN);
        wrong += dispatched[i] != first || dispatched[COUNT + i] != second || combined[i] != first + second ||
                 reduced[i] != first + second;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const std::vector<Memory> ranks = {prepare(0), prepare(1)};
    exchange(ranks, argc > 1 ? atoi(argv[1]) : 5);
    return verdict(wrong_at(0, ranks[0]) + wrong_at(1, ranks[1]), RANKS * COUNT, "numbers");
}
