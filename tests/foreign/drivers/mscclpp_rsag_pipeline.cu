/* mscclpp_rsag_pipeline.cu - a sum over ranks, of microsoft/mscclpp,
 * src/ext/collectives/allreduce/allreduce_rsag_pipeline.cu.  Both ranks are on one GPU here, each with a stream of its
 * own.
 *
 * Some CTAs put parts into the peer's ring of buffers, some add, some receive.  They hand on work by semaphores in
 * global memory, and the ranks signal each other there; no mbarrier.  ../run.py writes
 * mscclpp_rsag_pipeline_part.cuh: the file up to its host code.  Its semaphores are variables, so it is included once
 * for each rank.  The program reads no file.  It compares all sums with the host's.
 *
 *     nvcc -std=c++20 -O3 -I CHECKOUT/include -I CHECKOUT/src/ext/collectives/include -I CHECKOUT/src/core/include
 *          -I SCRATCH mscclpp_rsag_pipeline.cu -lcuda
 *
 * SCRATCH: the folder of mscclpp_rsag_pipeline_part.cuh.
 */
#include <mscclpp/algorithm.hpp>
#include "allreduce/allreduce_rsag_pipeline.hpp"
#include "allreduce/common.hpp"
#include "collective_utils.hpp"
#include "logger.hpp"

namespace mscclpp
{
namespace rank0
{
using namespace ::mscclpp::collective;
}
namespace rank1
{
using namespace ::mscclpp::collective;
}
} // namespace mscclpp

#define collective rank0
#include "mscclpp_rsag_pipeline_part.cuh"
#undef collective
#define collective rank1
#include "mscclpp_rsag_pipeline_part.cuh"
#undef collective

#include "mscclpp_channels.h"

enum { PUT_CTAS = 1, ADD_CTAS = 2, RECEIVE_CTAS = 1, CTAS = PUT_CTAS + ADD_CTAS + RECEIVE_CTAS, THREADS = 64 };
enum { DEPTH = 2, SCRATCH_BYTES = DEPTH * 2 * RANKS * ADD_CTAS * THREADS * 4 * 16, LAUNCHES = 2 };

struct Rank {
    float *x, *sums, *scratch;
    cudaStream_t stream;
};

static Rank rank_of(const std::vector<float> &x)
{
    return {on_device(x), on_device(std::vector<float>(x.size())),
            on_device(std::vector<float>(SCRATCH_BYTES / sizeof(float))), new_stream()};
}

template <typename Kernel>
static void start(Kernel *kernel, int rank, const Rank &own, const Rank &peer, Channel *channels, size_t count)
{
    kernel<<<CTAS, THREADS, 0, own.stream>>>(own.x, own.scratch, own.sums, channels, nullptr,
                                             on_device(std::vector<void *>{peer.scratch}), rank, RANKS, RANKS, count,
                                             SCRATCH_BYTES, PUT_CTAS, ADD_CTAS, RECEIVE_CTAS);
    must(cudaGetLastError());
}

int main(int argc, char **argv)
{
    using mscclpp::ReduceOp;
    const size_t count = argc > 1 ? atoi(argv[1]) : 22003;
    const std::vector<float> x = random_numbers<float>(count, 3), y = random_numbers<float>(count, 4);
    const Rank first = rank_of(x), second = rank_of(y);
    const std::vector<Channel *> channels = channels_of_ranks(ADD_CTAS + RECEIVE_CTAS);
    must(cudaDeviceSynchronize());
    for (int i = 0; i < LAUNCHES; i++) {
        start(mscclpp::rank0::allreduceRsAgPipeline<ReduceOp::SUM, float>, 0, first, second, channels[0], count);
        start(mscclpp::rank1::allreduceRsAgPipeline<ReduceOp::SUM, float>, 1, second, first, channels[1], count);
        must(cudaDeviceSynchronize());
    }
    std::vector<float> wanted;
    for (size_t i = 0; i < count; i++)
        wanted.push_back(x[i] + y[i]);
    return verdict(differences(wanted, from_device(first.sums, count)) +
                       differences(wanted, from_device(second.sums, count)),
                   2 * count, "sums");
}
