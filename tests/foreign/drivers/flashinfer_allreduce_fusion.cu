/* flashinfer_allreduce_fusion.cu - a sum over ranks, with residual and RMS norm, of FlashInfer,
 * include/flashinfer/comm/trtllm_allreduce_fusion.cuh.  Both ranks are on one GPU here, each with a stream of its own.
 *
 * Three times the kernel whose data say themselves whether they are there: -0.0 is "not yet", and three buffers take
 * turns.  Then twice the kernel with barriers by flags in global memory.  A cluster of two CTAs has a row.  A thread
 * waits until all CTAs of its rank have counted themselves.  A kernel may begin before the one ahead of it has ended.
 * The program reads no file.  It prints the largest differences between its results and the host's.
 *
 *     nvcc -std=c++17 -O3 -I PACKAGES/flashinfer/data/include -I PACKAGES/flashinfer/data/spdlog/include
 *          flashinfer_allreduce_fusion.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python.  ../run.py names the
 * version.
 */
#include <array>

#include <flashinfer/comm/trtllm_allreduce_fusion.cuh>

#include "tensor_map.h"

using namespace flashinfer::trtllm_allreduce_fusion;

enum { RANKS = 2, CLUSTER = 2, CLUSTERS = 2, THREADS = 64, HIDDEN = CLUSTER * THREADS * 8, BUFFERS = 3 };

typedef __nv_bfloat16 bf16;

constexpr AllReduceFusionPattern PATTERN = AllReduceFusionPattern::kARResidualRMSNorm;
constexpr float EPSILON = 1e-5f;
constexpr uint16_t MINUS_ZERO = 0x8000;

struct Inputs {
    int tokens;
    std::vector<bf16> x[RANKS], residual, factors;

    int count() const
    {
        return tokens * HIDDEN;
    }
};

/* A kernel finds its memory by this list: buffers of all ranks, flags of all ranks, rotating buffers of all ranks, and
 * the rank's own counters. */
static std::vector<AllReduceFusionParams<bf16>> parameters_of(const Inputs &in)
{
    std::vector<void *> places;
    for (int rank = 0; rank < RANKS; rank++)
        places.push_back(on_device(std::vector<bf16>(2 * in.count())));
    for (int rank = 0; rank < RANKS; rank++)
        places.push_back(on_device(std::vector<int>(details::kBarrierFlagCount * RANKS)));
    for (int rank = 0; rank < RANKS; rank++)
        places.push_back(on_device(std::vector<uint16_t>(BUFFERS * RANKS * in.count(), MINUS_ZERO)));
    std::vector<AllReduceFusionParams<bf16>> all(RANKS, AllReduceFusionParams<bf16>{});
    for (int rank = 0; rank < RANKS; rank++) {
        AllReduceFusionParams<bf16> &parameters = all[rank];
        std::vector<void *> own = places;
        own.push_back(on_device(std::vector<int>{0, 0, 0, RANKS * in.count() * 2, 0}));
        parameters.nranks = RANKS, parameters.rank = rank;
        parameters.size = in.count(), parameters.hidden_dim = HIDDEN;
        parameters.workspace = on_device(own);
        parameters.allreduce_in = on_device(in.x[rank]);
        parameters.residual_in = on_device(in.residual);
        parameters.residual_out = on_device(std::vector<bf16>(in.count(), bf16(0.0f)));
        parameters.norm_out = on_device(std::vector<bf16>(in.count(), bf16(0.0f)));
        parameters.rms_gamma = on_device(in.factors), parameters.rms_eps = EPSILON;
        parameters.pattern = PATTERN;
    }
    return all;
}

/* All sums, and then all of them after the norm. */
static std::vector<float> reference_of(const Inputs &in)
{
    std::vector<float> all(2 * in.count());
    for (int first = 0; first < in.count(); first += HIDDEN) {
        float squares = 0;
        for (int at = first; at < first + HIDDEN; at++) {
            all[at] = (float)in.x[0][at] + (float)in.x[1][at] + (float)in.residual[at];
            squares += all[at] * all[at];
        }
        for (int i = 0; i < HIDDEN; i++)
            all[in.count() + first + i] = all[first + i] / std::sqrt(squares / HIDDEN + EPSILON) * (float)in.factors[i];
    }
    return all;
}

template <typename Kernel, typename... Arguments>
static void start(Kernel *kernel, cudaStream_t stream, Arguments... arguments)
{
    launch_on(stream, true, kernel, CLUSTERS * CLUSTER, THREADS, CLUSTER, 0, arguments...);
}

/* Clears the outputs for the next step. */
static int check(const std::vector<float> &wanted, const AllReduceFusionParams<bf16> &parameters)
{
    const size_t count = wanted.size() / 2;
    std::vector<float> got;
    for (void *out : {parameters.residual_out, parameters.norm_out}) {
        append(got, from_device((const bf16 *)out, count));
        must(cudaMemset(out, 0, count * sizeof(bf16)));
    }
    must(cudaDeviceSynchronize());
    return compare(wanted, got, 0.02f);
}

int main(int argc, char **argv)
{
    const int tokens = argc > 1 ? atoi(argv[1]) : 7, count = tokens * HIDDEN;
    const Inputs in = {tokens,
                       {random_numbers<bf16>(count, 1), random_numbers<bf16>(count, 2)},
                       random_numbers<bf16>(count, 9),
                       random_numbers<bf16>(HIDDEN, 10)};
    const std::vector<float> wanted = reference_of(in);
    const std::vector<AllReduceFusionParams<bf16>> parameters = parameters_of(in);
    const cudaStream_t streams[RANKS] = {new_stream(), new_stream()};
    const std::array<int, RANKS> firsts = {0, (tokens + 1) / 2}, counts = {(tokens + 1) / 2, tokens / 2};
    must(cudaDeviceSynchronize());
    for (int i = 0; i < BUFFERS; i++)
        for (int rank = 0; rank < RANKS; rank++)
            start(allreduce_fusion_kernel_oneshot_lamport<PATTERN, bf16, RANKS, true, true>, streams[rank],
                  parameters[rank]);
    int status = check(wanted, parameters[0]) | check(wanted, parameters[1]);
    for (int i = 0; i < 2; i++)
        for (int rank = 0; rank < RANKS; rank++)
            start(allreduce_fusion_kernel_twoshot_sync<PATTERN, bf16, RANKS, true>, streams[rank], parameters[rank],
                  firsts, counts);
    status |= check(wanted, parameters[0]) | check(wanted, parameters[1]);
    return status;
}
