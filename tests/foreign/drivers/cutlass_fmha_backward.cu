/* cutlass_fmha_backward.cu - the backward pass of CUTLASS's attention for sm_90, example 88,
 * examples/88_hopper_fmha/collective/fmha_collective_bwd_tma_warpspecialized.hpp, causal, in fp16.
 *
 * In the copying warpgroup, one warp loads Q and dO, and another one adds dQ to global memory by bulk reductions; there
 * are pipelines to and from the two computing warpgroups, which keep dK and dV in registers.  Kernels for the sums of
 * rows and for the type of dQ run before and after.  The program reads no file.  It prints the largest difference
 * between its gradients and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-extended-lambda --use_fast_math -I CUTLASS/examples/88_hopper_fmha
 *          -I CUTLASS/examples/common -I CUTLASS/include -I CUTLASS/tools/util/include cutlass_fmha_backward.cu -lcuda
 */
#include <iostream>

#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/kernel_hardware_info.h"
#include "collective/fmha_fusion.hpp"
#include "device/fmha_device_bwd.hpp"
#include "device/device_universal.hpp"

#include "attention_backward.h"
#include "cutlass_check.h"

enum { SIZE = 64 };

typedef cutlass::half_t half_number;
typedef cute::Shape<cute::_64, cute::_128, cute::Int<SIZE>> Tile;
typedef cutlass::fmha::device::FmhaBwd<half_number, float, Tile, cutlass::fmha::collective::CausalFusion> Operation;

/* The rows of each head up to a row's own.  Returns the logarithms of the sums of all rows. */
static std::vector<float> add_all(const BackwardInputs<half_number> &in, int heads, int length, Gradients &all)
{
    std::vector<float> log_sums;
    for (int head = 0; head < heads; head++) {
        std::vector<size_t> others;
        for (int row = 0; row < length; row++) {
            others.push_back(((size_t)head * length + row) * SIZE);
            log_sums.push_back((float)add_gradients(in, others.back(), others, all).log_sum);
        }
    }
    return log_sums;
}

/* All tensors are [head][row][i]. */
static void launch_backward(const BackwardInputs<half_number> &in, int heads, int length, const half_number *o,
                            const float *log_sums, half_number *dq, half_number *dk, half_number *dv)
{
    const auto stride = cute::make_stride((int)in.q.size(), length * SIZE, (int)SIZE, cute::_1{});
    typename Operation::Arguments arguments{};
    arguments.problem_size = cute::make_tuple(1, heads, length, length, (int)SIZE);
    arguments.ptr_Q = on_device(in.q), arguments.ptr_K = on_device(in.k), arguments.ptr_V = on_device(in.v);
    arguments.ptr_O = o, arguments.ptr_dO = on_device(in.d_o), arguments.ptr_LSE = log_sums;
    arguments.ptr_dQ = dq, arguments.ptr_dK = dk, arguments.ptr_dV = dv;
    arguments.stride_Q = arguments.stride_K = arguments.stride_V = arguments.stride_O = arguments.stride_dO = stride;
    arguments.stride_dQ = arguments.stride_dK = arguments.stride_dV = stride;
    arguments.stride_LSE = cute::make_stride(heads * length, length, cute::_1{});
    arguments.hw_info = whole_chip();
    Operation operation;
    carry_out(operation, arguments);
}

int main(int argc, char **argv)
{
    const int heads = argc > 1 ? atoi(argv[1]) : 2, length = argc > 2 ? atoi(argv[2]) : 384;
    const size_t count = (size_t)heads * length * SIZE;
    const std::vector<half_number> q = random_numbers<half_number>(count, 1), k = random_numbers<half_number>(count, 2);
    const std::vector<half_number> v = random_numbers<half_number>(count, 3),
                                   d_o = random_numbers<half_number>(count, 4);
    const BackwardInputs<half_number> in = {SIZE, 1 / std::sqrt((double)SIZE), q, k, v, d_o};
    Gradients wanted(count, count);
    const std::vector<float> log_sums = add_all(in, heads, length, wanted);
    const std::vector<half_number> o(wanted.o.begin(), wanted.o.end()), zeros(count);
    half_number *const dq = on_device(zeros), *const dk = on_device(zeros), *const dv = on_device(zeros);
    launch_backward(in, heads, length, on_device(o), on_device(log_sums), dq, dk, dv);
    std::vector<float> all = wanted.dq, got;
    append(all, wanted.dk);
    append(all, wanted.dv);
    for (const half_number *gradient : {dq, dk, dv})
        append(got, from_device(gradient, count));
    return compare(all, got, 0.02f);
}
