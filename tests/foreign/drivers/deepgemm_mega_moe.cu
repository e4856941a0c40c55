/* deepgemm_mega_moe.cu - a mixture of experts in one kernel of DeepGEMM, deep_gemm/impls/sm90_fp8_mega_moe.cuh, as
 * SGLang ships it: dispatch of tokens between ranks, up projection, SwiGLU, down projection and combination, in fp8.
 * Both ranks are on one GPU here, each with a stream of its own.
 *
 * Dispatching warps have mbarriers of their own.  One warp copies A and its scales; one copies B and publishes a table
 * of tiles in shared memory; two warpgroups compute and then combine.  Counts and flags in global memory order CTAs and
 * ranks.  CLUSTER is 1 or 2: with 2, B goes to both CTAs.  EARLY is 1 for a combination that begins before all tiles
 * are done.  The kernels run twice.  The program reads no file.  It prints the largest difference between its result
 * and the host's.
 *
 *     nvcc -std=c++20 -O3 -I PACKAGES/deep_gemm/include deepgemm_mega_moe.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sgl-deep-gemm.  ../run.py names the version.
 */
#include <deep_gemm/impls/sm90_fp8_mega_moe.cuh>

#include "tensor_map.h"

#ifndef CLUSTER
#define CLUSTER 1
#endif
#ifndef EARLY
#define EARLY 0
#endif

using namespace deep_gemm;

enum { RANKS = 2, EXPERTS = 8, LOCAL_EXPERTS = EXPERTS / RANKS, CHOSEN = 2, MOST_TOKENS = 64, LAUNCHES = 2 };
enum { HIDDEN = 512, INNER = 512, BOTH = 2 * INNER, BLOCK = 128 }; /* BOTH: gate and up; a scale for BLOCK numbers */
enum { BLOCK_M = 64, BLOCK_N = 256, BLOCK_K = 128, STAGES = 3, CTAS = 4, SHARED_BYTES = 227 * 1024 };
enum { DISPATCH_THREADS = 128, LOAD_THREADS = 128, MATH_THREADS = 256 };
enum { THREADS = DISPATCH_THREADS + LOAD_THREADS + MATH_THREADS };

typedef __nv_fp8_e4m3 fp8;
typedef __nv_bfloat16 bf16;

constexpr uint32_t POOL = layout::get_num_max_pool_tokens_sm90<uint32_t>(RANKS, MOST_TOKENS, CHOSEN, LOCAL_EXPERTS);
constexpr uint32_t SCALE_POOL = POOL / BLOCK_M * 128;

/* What a rank has: tokens, and the weights of its experts, the gate's rows first.  A scale for BLOCK numbers of a row
 * of X, and for BLOCK x BLOCK weights. */
struct Inputs {
    std::vector<fp8> x, up, down;
    std::vector<float> of_x, of_up, of_down, weights;
    std::vector<int64_t> chosen;
};

/* Where all that is on the device.  The other rank reaches what begins at `base`. */
struct Memory {
    uint8_t *base, *pool, *pool_scales, *inner, *inner_scales;
    fp8 *up, *down;
    float *of_up, *of_down;
    bf16 *out;
    cudaStream_t stream;
};

static std::vector<float> steps(size_t count, float first, int turn, float step)
{
    std::vector<float> all;
    for (size_t i = 0; i < count; i++)
        all.push_back(first + (float)(i % turn) * step);
    return all;
}

static Inputs inputs_of(int rank, int tokens)
{
    const size_t up = (size_t)LOCAL_EXPERTS * BOTH * HIDDEN, down = (size_t)LOCAL_EXPERTS * HIDDEN * INNER;
    Inputs all = {random_numbers<fp8>((size_t)tokens * HIDDEN, 1 + rank),
                  random_numbers<fp8>(up, 11 + rank),
                  random_numbers<fp8>(down, 21 + rank),
                  steps(tokens * HIDDEN / BLOCK, 0.5f, 3, 0.25f),
                  steps(up / BLOCK / BLOCK, 0.2f, 5, 0.02f),
                  steps(down / BLOCK / BLOCK, 0.1f, 4, 0.03f),
                  steps(tokens * CHOSEN, 0.25f, 3, 0.125f),
                  {}};
    for (uint32_t word : random_words(tokens, 3 + rank))
        for (int i = 0; i < CHOSEN; i++)
            all.chosen.push_back(((word >> 16) + 3 * i) % EXPERTS);
    return all;
}

/* Eight rows of the gate and eight of the up projection in turns, as the kernel wants them. */
static std::vector<fp8> interleaved(const std::vector<fp8> &up)
{
    std::vector<fp8> all;
    for (int row = 0; row < LOCAL_EXPERTS * BOTH; row++) {
        const int at = row % BOTH, from = row - at + at / 16 * 8 + at % 8 + at / 8 % 2 * INNER;
        all.insert(all.end(), &up[(size_t)from * HIDDEN], &up[(size_t)from * HIDDEN] + HIDDEN);
    }
    return all;
}

template <typename Number> static void put(uint8_t *to, const std::vector<Number> &numbers)
{
    must(cudaMemcpy(to, numbers.data(), numbers.size() * sizeof(Number), cudaMemcpyHostToDevice));
}

/* The parts of a rank's memory follow each other in the order that the kernel knows. */
static Memory prepare(const Inputs &in)
{
    const size_t sizes[] = {layout::SM90Workspace(nullptr, RANKS, EXPERTS, MOST_TOKENS, CHOSEN, 0).get_num_bytes(),
                            (size_t)MOST_TOKENS * HIDDEN,
                            (size_t)MOST_TOKENS * HIDDEN / BLOCK * sizeof(float),
                            (size_t)MOST_TOKENS * CHOSEN * sizeof(int64_t),
                            (size_t)MOST_TOKENS * CHOSEN * sizeof(float),
                            (size_t)POOL * HIDDEN,
                            (size_t)SCALE_POOL * HIDDEN / BLOCK * sizeof(float),
                            (size_t)POOL * sizeof(float),
                            (size_t)POOL * INNER,
                            (size_t)SCALE_POOL * INNER / BLOCK * sizeof(float),
                            (size_t)CHOSEN * MOST_TOKENS * HIDDEN * sizeof(bf16)};
    std::vector<size_t> at = {0};
    for (size_t bytes : sizes)
        at.push_back(at.back() + bytes);
    uint8_t *const base = on_device(std::vector<uint8_t>(at.back() + 4096));
    put(base + at[1], in.x);
    put(base + at[2], in.of_x);
    put(base + at[3], in.chosen);
    put(base + at[4], in.weights);
    return {base,
            base + at[5],
            base + at[6],
            base + at[8],
            base + at[9],
            on_device(interleaved(in.up)),
            on_device(in.down),
            on_device(in.of_up),
            on_device(in.of_down),
            on_device(std::vector<bf16>(in.x.size(), bf16(0.0f))),
            new_stream()};
}

static void start(const Memory &all, int rank, const std::vector<int64_t> &bases, int tokens)
{
    auto *const kernel =
        sm90_fp8_mega_moe_impl<MOST_TOKENS, HIDDEN, INNER, EXPERTS, CHOSEN, LOCAL_EXPERTS, BLOCK_M, BLOCK_N, BLOCK_K,
                               POOL, SCALE_POOL, POOL, STAGES, DISPATCH_THREADS, LOAD_THREADS, MATH_THREADS, CTAS,
                               RANKS, 1000.0f, true, 0, false, true, false, false, CLUSTER, CLUSTER == 2, 0, 0, false,
                               false, 0, false, EARLY>;
    const CUtensorMapDataType bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8, floats = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const CUtensorMapSwizzle none = CU_TENSOR_MAP_SWIZZLE_NONE;
    launch_on(all.stream, false, kernel, CTAS, THREADS, CLUSTER, SHARED_BYTES, (void *)all.out, (int *)nullptr,
              (uint32_t)tokens, layout::SymBuffer<RANKS>(bases, (uint32_t)rank),
              map_of(bytes, 1, all.pool, POOL, HIDDEN, BLOCK_M, BLOCK_K),
              map_of(floats, 4, all.pool_scales, HIDDEN / BLOCK, SCALE_POOL, 1, BLOCK_M, none),
              map_of(bytes, 1, all.up, LOCAL_EXPERTS * BOTH, HIDDEN, BLOCK_N, BLOCK_K), (const float *)all.of_up,
              map_of(bytes, 1, all.inner, POOL, INNER, BLOCK_M, BLOCK_N / 2, none),
              map_of(bytes, 1, all.inner, POOL, INNER, BLOCK_M, BLOCK_K),
              map_of(floats, 4, all.inner_scales, INNER / BLOCK, SCALE_POOL, 1, BLOCK_M, none),
              map_of(bytes, 1, all.down, LOCAL_EXPERTS * HIDDEN, INNER, BLOCK_N, BLOCK_K), (const float *)all.of_down,
              (uint64_t *)nullptr);
}

/* The product of `count` numbers with a row of weights that has a scale for each BLOCK; scale(block) is that of the
 * numbers. */
template <typename Number, typename Scale>
static float scaled_dot(const Number *numbers, Scale scale, const fp8 *weights, const float *of_weights, int count)
{
    float all = 0;
    for (int first = 0; first < count; first += BLOCK) {
        float sum = 0;
        for (int i = first; i < first + BLOCK; i++)
            sum += (float)numbers[i] * (float)weights[i];
        all += sum * scale(first / BLOCK) * of_weights[first / BLOCK];
    }
    return all;
}

/* Adds what an expert makes of a token; its inner numbers pass through fp8. */
static void add_expert(const Inputs &owner, int expert, const fp8 *x, const float *of_x, float weight, float *sums)
{
    std::vector<float> inner(INNER), largest(INNER / BLOCK, 1e-10f);
    for (int i = 0; i < INNER; i++) {
        float both[2];
        for (int half = 0; half < 2; half++) {
            const size_t row = (size_t)expert * BOTH + half * INNER + i;
            both[half] = scaled_dot(
                x, [&](int block) { return of_x[block]; }, &owner.up[row * HIDDEN],
                &owner.of_up[row / BLOCK * (HIDDEN / BLOCK)], HIDDEN);
        }
        inner[i] = both[0] / (1 + std::exp(-both[0])) * both[1] * weight;
        largest[i / BLOCK] = std::fmax(largest[i / BLOCK], std::fabs(inner[i]));
    }
    for (int i = 0; i < INNER; i++)
        inner[i] = (float)fp8(inner[i] / (largest[i / BLOCK] / 448));
    for (int i = 0; i < HIDDEN; i++) {
        const size_t row = (size_t)expert * HIDDEN + i;
        sums[i] += (float)bf16(scaled_dot(
            inner.data(), [&](int block) { return largest[block] / 448; }, &owner.down[row * INNER],
            &owner.of_down[row / BLOCK * (INNER / BLOCK)], INNER));
    }
}

int main(int argc, char **argv)
{
    const int tokens = argc > 1 ? atoi(argv[1]) : 40;
    const std::vector<Inputs> ranks = {inputs_of(0, tokens), inputs_of(1, tokens)};
    const std::vector<Memory> memories = {prepare(ranks[0]), prepare(ranks[1])};
    const std::vector<int64_t> bases = {(int64_t)memories[0].base, (int64_t)memories[1].base};
    must(cudaDeviceSynchronize());
    for (int i = 0; i < LAUNCHES; i++)
        for (int rank = 0; rank < RANKS; rank++) {
            must(cudaMemsetAsync(memories[rank].out, 0, ranks[rank].x.size() * sizeof(bf16), memories[rank].stream));
            start(memories[rank], rank, bases, tokens);
        }
    std::vector<float> wanted, got;
    for (int rank = 0; rank < RANKS; rank++) {
        const Inputs &in = ranks[rank];
        std::vector<float> sums(in.x.size());
        for (int at = 0; at < tokens * CHOSEN; at++) {
            const size_t token = at / CHOSEN, expert = in.chosen[at];
            add_expert(ranks[expert / LOCAL_EXPERTS], expert % LOCAL_EXPERTS, &in.x[token * HIDDEN],
                       &in.of_x[token * (HIDDEN / BLOCK)], in.weights[at], &sums[token * HIDDEN]);
        }
        append(wanted, sums);
        append(got, from_device(memories[rank].out, sums.size()));
    }
    return compare(wanted, got, 0.04f);
}
