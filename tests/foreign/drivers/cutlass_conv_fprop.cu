/* cutlass_conv_fprop.cu - CUTLASS's convolution for sm_90, cutlass/conv/collective/
 * sm90_implicit_gemm_gmma_ss_warpspecialized.hpp, in two dimensions, in fp16, in clusters of two CTAs.
 *
 * It is built as in CUTLASS's test/unit/conv/device_3x/fprop.  The activations come by tensor maps that turn pixels
 * into rows of a matrix; the filters go to both CTAs of a cluster.  The output leaves by TMA.  The program reads no
 * file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG -I CUTLASS/include -I CUTLASS/tools/util/include cutlass_conv_fprop.cu -lcuda
 */
#include "cutlass/cutlass.h"
#include "cute/tensor.hpp"
#include "cutlass/kernel_hardware_info.hpp"
#include "cutlass/conv/collective/collective_builder.hpp"
#include "cutlass/conv/convolution.h"
#include "cutlass/conv/device/conv_universal_adapter.hpp"
#include "cutlass/conv/dispatch_policy.hpp"
#include "cutlass/conv/kernel/conv_universal.hpp"
#include "cutlass/epilogue/collective/collective_builder.hpp"

#include "cutlass_check.h"

enum { FILTER = 3, PADDING = 1 };

typedef cutlass::half_t half_number;
typedef cutlass::layout::TensorNHWC Layout;
typedef cutlass::arch::OpClassTensorOp TensorCores;
typedef cute::Shape<cute::_64, cute::_64, cute::Shape<cute::_64>> Tile;
typedef cute::Shape<cute::_2, cute::_1, cute::_1> Cluster;
typedef typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, TensorCores, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float,
    half_number, Layout, 8, float, Layout, 4, cutlass::epilogue::TmaWarpSpecialized>::CollectiveOp Epilogue;
typedef cutlass::conv::collective::StageCountAutoCarveout<(int)sizeof(typename Epilogue::SharedStorage)> Stages;
typedef typename cutlass::conv::collective::CollectiveBuilder<
    cutlass::arch::Sm90, TensorCores, cutlass::conv::Operator::kFprop, half_number, Layout, 8, half_number, Layout, 8,
    float, Tile, Cluster, Stages, cutlass::conv::collective::KernelScheduleAuto>::CollectiveOp Mainloop;
typedef cutlass::conv::ConvProblemShape<cutlass::conv::Operator::kFprop, 2> Problem;
typedef cutlass::conv::kernel::ConvUniversal<Problem, Mainloop, Epilogue> Kernel;
typedef cutlass::conv::device::ConvUniversalAdapter<Kernel> Convolution;

/* Images are `size` x `size` pixels of `channels` numbers; the output has `filters` numbers for each pixel. */
struct Shape {
    int images, size, channels, filters;
};

template <typename Stride> static void set_stride(Stride &stride, const Shape &shape)
{
    cute::get<0, 0>(stride) = shape.filters;
    cute::get<0, 1>(stride) = shape.size * shape.filters;
    cute::get<0, 2>(stride) = shape.size * shape.size * shape.filters;
}

static void convolve(const Shape &shape, const half_number *x, const half_number *w, float *y)
{
    const int size = shape.size;
    const Problem problem(cutlass::conv::Mode::kCrossCorrelation, {shape.images, size, size, shape.channels},
                          {shape.filters, FILTER, FILTER, shape.channels}, {PADDING, PADDING}, {PADDING, PADDING},
                          {1, 1}, {1, 1}, 1);
    /* The factor of C is 0, so C is not read. */
    typename Convolution::Arguments arguments{problem, {x, w}, {{1.0f, 0.0f}, (half_number *)y, {}, y, {}}};
    set_stride(arguments.epilogue.dC, shape);
    set_stride(arguments.epilogue.dD, shape);
    Convolution convolution;
    carry_out(convolution, arguments);
}

/* x(image, row, column, channel) for pixels within the image; w(filter, row, column, channel). */
template <typename X, typename W> static std::vector<float> reference_of(const Shape &shape, X x, W w)
{
    std::vector<float> all;
    for (int pixel = 0; pixel < shape.images * shape.size * shape.size; pixel++)
        for (int filter = 0; filter < shape.filters; filter++) {
            float sum = 0;
            for (int at = 0; at < FILTER * FILTER; at++) {
                const int row = pixel / shape.size % shape.size + at / FILTER - PADDING;
                const int column = pixel % shape.size + at % FILTER - PADDING;
                if (row < 0 || row >= shape.size || column < 0 || column >= shape.size)
                    continue;
                for (int channel = 0; channel < shape.channels; channel++)
                    sum += x(pixel / shape.size / shape.size, row, column, channel) *
                           w(filter, at / FILTER, at % FILTER, channel);
            }
            all.push_back(sum);
        }
    return all;
}

int main(int argc, char **argv)
{
    const Shape shape = {argc > 1 ? atoi(argv[1]) : 2, argc > 2 ? atoi(argv[2]) : 9, argc > 3 ? atoi(argv[3]) : 128,
                         argc > 4 ? atoi(argv[4]) : 128};
    const size_t pixels = (size_t)shape.images * shape.size * shape.size, weights = (size_t)FILTER * FILTER;
    const std::vector<half_number> x = random_numbers<half_number>(pixels * shape.channels, 1);
    const std::vector<half_number> w = random_numbers<half_number>(shape.filters * weights * shape.channels, 2);
    float *const y = on_device(std::vector<float>(pixels * shape.filters));
    convolve(shape, on_device(x), on_device(w), y);
    const std::vector<float> wanted = reference_of(
        shape,
        [&](int image, int row, int column, int channel) {
            const size_t pixel = ((size_t)image * shape.size + row) * shape.size + column;
            return (float)x[pixel * shape.channels + channel];
        },
        [&](int filter, int row, int column, int channel) {
            const size_t weight = ((size_t)filter * FILTER + row) * FILTER + column;
            return (float)w[weight * shape.channels + channel];
        });
    return compare(wanted, from_device(y, wanted.size()), 0.001f);
}
