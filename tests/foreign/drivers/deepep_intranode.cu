/* deepep_intranode.cu - the dispatch of tokens to experts between the GPUs of a node, of deepseek-ai/DeepEP,
 * csrc/kernels/legacy/intranode.cu.  All ranks are on one GPU here, each with a stream of its own; RANKS is 1 or 2.
 *
 * Even CTAs send and odd ones receive, in clusters of two.  Sending warps put tokens into a queue in global memory,
 * meet at a named barrier and move its tail.  The receiving CTA polls the tail.  Each of its warps brings tokens
 * through shared memory by bulk copies, with an mbarrier of its own, and then the head moves.  The program reads no
 * file.  It compares all tokens with the host's.
 *
 *     nvcc -std=c++20 -O3 -I CHECKOUT/csrc/kernels/legacy -I CHECKOUT/deep_ep/include -I CHECKOUT
 *          -I PACKAGES/flashinfer/data/cutlass/include deepep_intranode.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python, for its copy of CUTLASS.
 * ../run.py names the version.
 */
#include "intranode.cu"

#include "check.h"

#ifndef RANKS
#define RANKS 1
#endif

enum { THREADS = 768, WARP_BYTES = 8192, SHARED_BYTES = WARP_BYTES * THREADS / 32, CTAS = 4, CHANNELS = CTAS / 2 };
enum { HIDDEN = 1024, EXPERTS = 8, LOCAL_EXPERTS = EXPERTS / RANKS, CHOSEN = 2, CHUNK = 6, SLOTS = 16 };
enum { COUNTS_BYTES = RANKS * RANKS * 4, PADDING = (16 - COUNTS_BYTES % 16) % 16 }; /* the tokens begin at 16 bytes */

typedef deep_ep::topk_idx_t Expert;

/* What a rank sends. */
struct Tokens {
    std::vector<uint16_t> x;
    std::vector<Expert> chosen;   /* [token][choice]; -1 for none */
    std::vector<uint8_t> is_sent; /* [token][rank] */
    std::vector<float> weights;
    int count;
};

/* Where all that is on the device. */
struct Memory {
    uint16_t *x, *got_x;
    Expert *chosen, *got_chosen;
    float *weights, *got_weights;
    uint8_t *is_sent;
    int *ends, *offsets, *heads, *sources;
    cudaStream_t stream;
};

static Tokens tokens_of(int rank, int count)
{
    Tokens all = {{}, {}, std::vector<uint8_t>(count * RANKS), random_numbers<float>(count * CHOSEN, 20 + rank), count};
    for (uint32_t word : random_words((size_t)count * HIDDEN, 30 + rank))
        all.x.push_back((uint16_t)(word >> 16));
    for (uint32_t word : random_words(count * CHOSEN, 40 + rank)) {
        const int at = (int)all.chosen.size(), expert = (int)(word >> 16) % EXPERTS;
        const bool is_none = (at / CHOSEN + at % CHOSEN) % 5 == 0;
        all.chosen.push_back(is_none ? -1 : expert);
        if (!is_none)
            all.is_sent[at / CHOSEN * RANKS + expert / LOCAL_EXPERTS] = 1;
    }
    return all;
}

/* How many of the rank's first tokens go to rank `to`. */
static int count_for(const Tokens &tokens, int to, int first)
{
    int count = 0;
    for (int token = 0; token < std::min(first, tokens.count); token++)
        count += tokens.is_sent[token * RANKS + to];
    return count;
}

/* [from][to]: how many tokens go to a rank from the ranks up to this one. */
static std::vector<int> counts_of(const std::vector<Tokens> &ranks)
{
    std::vector<int> all;
    for (int from = 0; from < RANKS; from++)
        for (int to = 0; to < RANKS; to++)
            all.push_back(count_for(ranks[from], to, ranks[from].count) + (from ? all[all.size() - RANKS] : 0));
    return all;
}

/* The buffer of a rank begins with the counts. */
static void *buffer_with(const std::vector<int> &counts)
{
    const size_t bytes = CHANNELS * RANKS * (16 + SLOTS * (HIDDEN * 2 + 4 + CHOSEN * 12)) + 4096;
    std::vector<uint8_t> all(PADDING + COUNTS_BYTES + bytes);
    memcpy(&all[PADDING], counts.data(), COUNTS_BYTES);
    return on_device(all) + PADDING;
}

static Memory prepare(const Tokens &tokens)
{
    const int of_channel = (tokens.count + CHANNELS - 1) / CHANNELS, most = tokens.count * RANKS;
    std::vector<int> ends;
    for (int to = 0; to < RANKS; to++)
        for (int channel = 0; channel < CHANNELS; channel++)
            ends.push_back(count_for(tokens, to, (channel + 1) * of_channel));
    Memory all = {};
    all.x = on_device(tokens.x), all.got_x = on_device(std::vector<uint16_t>((size_t)most * HIDDEN));
    all.chosen = on_device(tokens.chosen), all.got_chosen = on_device(std::vector<Expert>(most * CHOSEN));
    all.weights = on_device(tokens.weights), all.got_weights = on_device(std::vector<float>(most * CHOSEN));
    all.is_sent = on_device(tokens.is_sent), all.ends = on_device(ends);
    all.offsets = on_device(std::vector<int>(RANKS * CHANNELS)), all.heads = on_device(std::vector<int>(most));
    all.sources = on_device(std::vector<int>(most));
    must(cudaStreamCreateWithFlags(&all.stream, cudaStreamNonBlocking));
    return all;
}

static void start(const Memory &all, int rank, int tokens, void **buffers)
{
    auto *const kernel = deep_ep::legacy::intranode::dispatch<RANKS, THREADS, WARP_BYTES>;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    SETUP_LAUNCH_CONFIG(CTAS, THREADS, all.stream);
    cfg.dynamicSmemBytes = SHARED_BYTES;
    must(cudaLaunchKernelEx(&cfg, kernel, (int4 *)all.got_x, (float *)nullptr, all.sources, all.got_chosen,
                            all.got_weights, all.offsets, all.heads, (const int4 *)all.x, (const float *)nullptr,
                            (const Expert *)all.chosen, (const float *)all.weights, (const bool *)all.is_sent,
                            (const int *)all.ends, tokens, 0, HIDDEN * 2 / 16, (int)CHOSEN, (int)EXPERTS, 0, 0, 0,
                            buffers, rank, (int)CHUNK, (int)SLOTS));
}

/* Whether a row that a rank received is this token. */
struct Received {
    std::vector<uint16_t> x;
    std::vector<int> sources;
    std::vector<Expert> chosen;
    std::vector<float> weights;

    bool is_right(int row, int rank, const Tokens &from, int token) const
    {
        bool right = sources[row] == token;
        for (int i = 0; i < HIDDEN; i++)
            right = right && x[(size_t)row * HIDDEN + i] == from.x[(size_t)token * HIDDEN + i];
        for (int i = 0; i < CHOSEN; i++) {
            const Expert expert = from.chosen[token * CHOSEN + i] - rank * LOCAL_EXPERTS;
            const bool is_here = from.chosen[token * CHOSEN + i] >= 0 && expert >= 0 && expert < LOCAL_EXPERTS;
            right = right && chosen[row * CHOSEN + i] == (is_here ? expert : -1);
            right = right && weights[row * CHOSEN + i] == (is_here ? from.weights[token * CHOSEN + i] : 0.0f);
        }
        return right;
    }
};

/* How many of the tokens that a rank should have received are wrong. */
static int wrong_at(int rank, const Memory &memory, const std::vector<Tokens> &ranks, int count)
{
    const Received got = {from_device(memory.got_x, (size_t)count * HIDDEN), from_device(memory.sources, count),
                          from_device(memory.got_chosen, count * CHOSEN),
                          from_device(memory.got_weights, count * CHOSEN)};
    int wrong = 0, row = 0;
    for (const Tokens &from : ranks)
        for (int token = 0; token < from.count; token++)
            if (from.is_sent[token * RANKS + rank])
                wrong += !got.is_right(row++, rank, from, token);
    return wrong;
}

int main(int argc, char **argv)
{
    const int tokens = argc > 1 ? atoi(argv[1]) : 60;
    std::vector<Tokens> ranks;
    std::vector<Memory> memories;
    std::vector<void *> buffers;
    for (int rank = 0; rank < RANKS; rank++)
        ranks.push_back(tokens_of(rank, tokens));
    const std::vector<int> counts = counts_of(ranks);
    for (const Tokens &rank : ranks) {
        memories.push_back(prepare(rank));
        buffers.push_back(buffer_with(counts));
    }
    void **const all_buffers = on_device(buffers);
    must(cudaDeviceSynchronize());
    for (int rank = 0; rank < RANKS; rank++)
        start(memories[rank], rank, tokens, all_buffers);
    int wrong = 0, all = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        const int received = counts[(RANKS - 1) * RANKS + rank];
        wrong += wrong_at(rank, memories[rank], ranks, received);
        all += received;
    }
    return verdict(wrong, all, "tokens");
}
