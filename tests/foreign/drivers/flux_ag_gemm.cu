/* flux_ag_gemm.cu - a GEMM that starts while parts of A are still missing, of bytedance/flux, src/ag_gemm: D = A B^T +
 * C in bf16, in clusters of two CTAs.
 *
 * Parts of A come from other GPUs, and a flag in global memory tells when each is there.  Here another kernel copies
 * them, one after another.  Threads wait for the flag of their first tile, the copying warp for those of later tiles.
 * PINGPONG 0: both computing warpgroups have one tile (cooperative); 1: they take turns.  The program reads no file.
 * It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-extended-lambda -I CHECKOUT/include -I CHECKOUT/src
 *          -I CHECKOUT/3rdparty/cutlass/include -I CHECKOUT/3rdparty/cutlass/tools/util/include flux_ag_gemm.cu -lcuda
 */
#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/util/packed_stride.hpp>

#include "ag_gemm/sm90_all_gather_gemm_tile_scheduler.hpp"
#include "ag_gemm/sm90_all_gather_gemm_tma_warpspecialized_cooperative.hpp"
#include "ag_gemm/sm90_all_gather_gemm_tma_warpspecialized_pingpong.hpp"

#include "check.h"

#ifndef PINGPONG
#define PINGPONG 0
#endif

/* flux keeps these in files that need the rest of it. */
namespace cutlass::gemm
{
struct GatherScheduler {
};
namespace kernel::detail
{
template <class Arch, class Tile, class Cluster> struct TileSchedulerSelector<GatherScheduler, Arch, Tile, Cluster> {
    using Scheduler = Sm90AGKernelTileScheduler;
};
} // namespace kernel::detail
} // namespace cutlass::gemm

namespace bytedance::flux
{
CUDA &cuda_stub()
{
    abort();
}
} // namespace bytedance::flux

enum { K = 320, RANKS = 4, OWN_RANK = 1, FLAGS = 16, COPY_THREADS = 128 };

typedef cutlass::bfloat16_t bf16;
typedef cutlass::layout::RowMajor Rows;
typedef cutlass::layout::ColumnMajor Columns;
typedef cutlass::arch::OpClassTensorOp TensorCores;
typedef cute::Shape<cute::Int<PINGPONG ? 64 : 128>, cute::_128, cute::_64> Tile;
typedef cute::Shape<cute::_2, cute::_1, cute::_1> Cluster;
typedef std::conditional_t<PINGPONG, cutlass::gemm::KernelTmaWarpSpecializedPingpong,
                           cutlass::gemm::KernelTmaWarpSpecializedCooperative>
    MainloopSchedule;
typedef std::conditional_t<PINGPONG, cutlass::epilogue::TmaWarpSpecialized,
                           cutlass::epilogue::TmaWarpSpecializedCooperative>
    EpilogueSchedule;
typedef typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, TensorCores, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float,
    bf16, Rows, 8, bf16, Rows, 8, EpilogueSchedule>::CollectiveOp Epilogue;
typedef typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, TensorCores, bf16, Rows, 8, bf16, Columns, 8, float, Tile, Cluster,
    cutlass::gemm::collective::StageCount<3>, MainloopSchedule>::CollectiveOp Mainloop;
typedef cutlass::gemm::kernel::Sm90AGGemmUniversal<cute::Shape<int, int, int>, Mainloop, Epilogue,
                                                   cutlass::gemm::GatherScheduler>
    Kernel;
typedef cutlass::gemm::device::GemmUniversalAdapter<Kernel> Gemm;

/* Stands for the copies from other GPUs: parts of `size` words of 16 bytes, beginning after the own one. */
__global__ void copy_parts(const uint4 *from, uint4 *to, size_t size, int *flags)
{
    for (int i = 1; i < RANKS; i++) {
        const int part = (OWN_RANK + i) % RANKS;
        for (size_t at = part * size + threadIdx.x; at < (part + 1) * size; at += blockDim.x)
            to[at] = from[at];
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_system();
            asm volatile("fence.proxy.async;" ::: "memory");
            asm volatile("st.release.sys.global.b32 [%0], 1;" ::"l"(flags + part) : "memory");
        }
    }
}

template <typename Stride> static Stride stride_of(int rows, int columns)
{
    return cutlass::make_cute_packed_stride(Stride{}, {rows, columns, 1});
}

static void start(Gemm &gemm, int m, int n, int ctas, const bf16 *a, const bf16 *b, const bf16 *c, bf16 *d, int *flags)
{
    typename Kernel::Arguments arguments{};
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.problem_shape = {m, n, K};
    arguments.mainloop = {a, stride_of<typename Kernel::StrideA>(m, K), b, stride_of<typename Kernel::StrideB>(n, K)};
    const auto stride = stride_of<typename Kernel::StrideD>(m, n);
    arguments.epilogue = {{1.0f, 1.0f}, c, stride, d, stride};
    arguments.hw_info.sm_count = ctas;
    arguments.scheduler.rank = arguments.rank = OWN_RANK;
    arguments.scheduler.world_size = arguments.scheduler.local_world_size = arguments.world_size = RANKS;
    arguments.scheduler.ptr_barrier = flags, arguments.ptr_barrier = flags;
    const cudaStream_t stream = new_stream();
    if (gemm.initialize(arguments, nullptr, stream) != cutlass::Status::kSuccess ||
        gemm.run(stream) != cutlass::Status::kSuccess)
        must(cudaErrorNotSupported);
}

int main(int argc, char **argv)
{
    const int m = argc > 1 ? atoi(argv[1]) : 512, n = argc > 2 ? atoi(argv[2]) : 384;
    const size_t part = (size_t)m / RANKS * K, count = (size_t)m * n;
    const std::vector<bf16> a = random_numbers<bf16>((size_t)m * K, 1), b = random_numbers<bf16>((size_t)n * K, 2);
    const std::vector<bf16> c = random_numbers<bf16>(count, 3);
    std::vector<bf16> present(a.size(), bf16(0.0f));
    std::copy_n(&a[OWN_RANK * part], part, &present[OWN_RANK * part]);
    std::vector<int> set(FLAGS);
    set[OWN_RANK] = 1;
    bf16 *const gathered = on_device(present), *const d = on_device(std::vector<bf16>(count, bf16(0.0f)));
    const bf16 *const whole = on_device(a);
    int *const flags = on_device(set);
    Gemm gemm;
    start(gemm, m, n, argc > 3 ? atoi(argv[3]) : 6, gathered, on_device(b), on_device(c), d, flags);
    copy_parts<<<1, COPY_THREADS, 0, new_stream()>>>((const uint4 *)whole, (uint4 *)gathered, part / 8, flags);
    must(cudaGetLastError());
    std::vector<float> wanted = product(
        m, n, K, [&](int row, int i) { return (float)a[(size_t)row * K + i]; },
        [&](int column, int i) { return (float)b[(size_t)column * K + i]; });
    for (size_t i = 0; i < count; i++)
        wanted[i] += (float)c[i];
    return compare(wanted, from_device(d, count), 0.01f);
}
