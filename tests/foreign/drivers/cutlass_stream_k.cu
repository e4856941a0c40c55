/* cutlass_stream_k.cu - CUTLASS's cooperative GEMM for sm_90 with the stream-K scheduler,
 * cutlass/gemm/kernel/sm90_tile_scheduler_stream_k.hpp, in clusters of two CTAs: D = A B^T + C, in fp16.
 *
 * CTAs that share a tile of the output hand on partial sums through global memory.  Each waits for the flag of the one
 * before it, in a fixed order if the last argument is 1.  The kernel runs twice.  The program reads no file.  It prints
 * the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG -I CUTLASS/include -I CUTLASS/tools/util/include cutlass_stream_k.cu -lcuda
 */
#include "cutlass/cutlass.h"
#include "cute/tensor.hpp"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"

#include "cutlass_check.h"

typedef cutlass::half_t half_number;
typedef cutlass::layout::RowMajor Rows;
typedef cutlass::layout::ColumnMajor Columns;
typedef cutlass::arch::OpClassTensorOp TensorCores;
typedef cute::Shape<cute::_128, cute::_64, cute::_64> Tile;
typedef cute::Shape<cute::_2, cute::_1, cute::_1> Cluster;
typedef typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, TensorCores, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float,
    half_number, Rows, 8, half_number, Rows, 8, cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp
    Epilogue;
typedef typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, TensorCores, half_number, Rows, 8, half_number, Columns, 8, float, Tile, Cluster,
    cutlass::gemm::collective::StageCount<3>, cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp
    Mainloop;
typedef cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue,
                                             cutlass::gemm::StreamKScheduler>
    Kernel;
typedef cutlass::gemm::device::GemmUniversalAdapter<Kernel> Gemm;
typedef cutlass::gemm::kernel::detail::PersistentTileSchedulerSm90StreamKParams Modes;

enum { LAUNCHES = 2 };

struct Shape {
    int m, n, k;
};

template <typename Stride> static Stride stride_of(int rows, int columns)
{
    return cutlass::make_cute_packed_stride(Stride{}, {rows, columns, 1});
}

/* splits: 1 = stream-K as it chooses by itself, more = split-K. */
static void multiply(const Shape &shape, const half_number *a, const half_number *b, const half_number *c,
                     half_number *d, int splits, bool is_ordered)
{
    typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                       {shape.m, shape.n, shape.k, 1},
                                       {a, stride_of<typename Kernel::StrideA>(shape.m, shape.k), b,
                                        stride_of<typename Kernel::StrideB>(shape.n, shape.k)},
                                       {{1.0f, 1.0f},
                                        c,
                                        stride_of<typename Kernel::StrideC>(shape.m, shape.n),
                                        d,
                                        stride_of<typename Kernel::StrideD>(shape.m, shape.n)},
                                       whole_chip()};
    arguments.scheduler.splits = splits;
    arguments.scheduler.decomposition_mode =
        splits > 1 ? Modes::DecompositionMode::SplitK : Modes::DecompositionMode::StreamK;
    arguments.scheduler.reduction_mode =
        is_ordered ? Modes::ReductionMode::Deterministic : Modes::ReductionMode::Nondeterministic;
    Gemm gemm;
    for (int i = 0; i < LAUNCHES; i++)
        carry_out(gemm, arguments);
}

int main(int argc, char **argv)
{
    const Shape shape = {argc > 1 ? atoi(argv[1]) : 384, argc > 2 ? atoi(argv[2]) : 320,
                         argc > 3 ? atoi(argv[3]) : 896};
    const size_t k = shape.k, count = (size_t)shape.m * shape.n;
    const std::vector<half_number> a = random_numbers<half_number>(shape.m * k, 1);
    const std::vector<half_number> b = random_numbers<half_number>(shape.n * k, 2);
    const std::vector<half_number> c = random_numbers<half_number>(count, 3);
    half_number *const d = on_device(std::vector<half_number>(count));
    multiply(shape, on_device(a), on_device(b), on_device(c), d, argc > 4 ? atoi(argv[4]) : 1,
             argc > 5 && atoi(argv[5]));
    std::vector<float> wanted = product(
        shape.m, shape.n, shape.k, [&](int row, int i) { return (float)a[row * k + i]; },
        [&](int column, int i) { return (float)b[column * k + i]; });
    for (size_t i = 0; i < count; i++)
        wanted[i] += (float)c[i];
    return compare(wanted, from_device(d, count), 2e-3f);
}
