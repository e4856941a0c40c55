/* mirage_moe.cu - the first linear layer of a mixture of experts of mirage-project/mirage for sm_90,
 * include/mirage/persistent_kernel/tasks/hopper/moe_linear_swapAB_hopper.cuh, in bf16.
 *
 * A warpgroup gathers the rows of an expert's tokens with cp.async, each thread of which arrives on an mbarrier when
 * its copies are there.  One of its threads copies weights by TMA, on another mbarrier.  Both sides look at the next
 * stage's mbarrier one stage ahead.  Experts are divided between two CTAs.  The program reads no file.  It prints the
 * largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DMIRAGE_GRACE_HOPPER -DMIRAGE_BACKEND_USE_CUDA -DMPK_TARGET_CC=90 -DMPK_ENABLE_TMA
 *          -I CHECKOUT/include/mirage/persistent_kernel -I CHECKOUT/include -I CUTLASS/include
 *          -I CUTLASS/tools/util/include mirage_moe.cu -lcuda
 */
#include <cutlass/arch/barrier.h>
#include <cutlass/cluster_launch.hpp>
#include <cutlass/half.h>
#include <cute/arch/cluster_sm90.hpp>
#include <cute/tensor.hpp>

#include "runtime_header.h"
#include "tasks/hopper/moe_linear_swapAB_hopper.cuh"
#include "tasks/hopper/tma_2d.cuh"
#include "tma.cuh"

#include "tensor_map.h"

enum { TOKENS = 16, OUTPUTS = 128, INPUTS = 640, EXPERTS = 7, CHOSEN = 2, CTAS = 2, THREADS = 256, STAGES = 4 };
enum { BLOCK = 64, SHARED_BYTES = 100 * 1024 };

typedef cute::bfloat16_t bf16;
typedef kernel::tma::tma_2d<bf16, 3, 3, 3, EXPERTS * OUTPUTS, INPUTS, BLOCK, BLOCK, INPUTS, 1, 1, 1, BLOCK * BLOCK,
                            true>
    WeightMap;

template <class Input, class Bias, class Choices, class Experts, class Output>
__global__ __launch_bounds__(THREADS, 1) void experts_of(CUtensorMap *weights, Input input, Bias bias, Choices choices,
                                                         Experts experts, Output output)
{
    kernel::moe_linear_sm90_task_impl<bf16, WeightMap, Input, Bias, Choices, Experts, Output, BLOCK, 16, TOKENS,
                                      OUTPUTS, OUTPUTS, INPUTS, EXPERTS, CHOSEN, CTAS, true, false, STAGES>(
        WeightMap(weights), input, bias, choices, experts, output, (int)blockIdx.x);
}

/* [expert][token]: 1 or 2 for a token's first or second choice, else 0. */
static std::vector<int> choices()
{
    std::vector<int> all(EXPERTS * TOKENS);
    for (int token = 0; token < TOKENS; token++) {
        const int first = token * 3 % EXPERTS, second = (first + 1 + token % 3) % EXPERTS;
        all[first * TOKENS + token] = 1, all[second * TOKENS + token] = 2;
    }
    return all;
}

/* All experts have tokens here; their count follows. */
static std::vector<int> experts_with_tokens()
{
    std::vector<int> all;
    for (int expert = 0; expert <= EXPERTS; expert++)
        all.push_back(expert);
    return all;
}

/* A matrix of `inputs` numbers a row, as a tensor with five axes. */
static CUtensorMap map_of_weights(const std::vector<bf16> &weights)
{
    const cuuint64_t sizes[] = {INPUTS, EXPERTS * OUTPUTS, 1, 1, 1}, strides[] = {INPUTS * 2, 16, 16, 16};
    const cuuint32_t box[] = {BLOCK, BLOCK, 1, 1, 1};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, on_device(weights), sizes, strides, box);
}

static void multiply(const std::vector<bf16> &x, const std::vector<bf16> &weights, const std::vector<bf16> &bias,
                     bf16 *out)
{
    using namespace cute;
    const auto one = Int<1>{};
    auto input = make_tensor(make_gmem_ptr(on_device(x)),
                             make_layout(make_shape((int)TOKENS, (int)INPUTS), make_stride((int)INPUTS, one)));
    auto biases =
        make_tensor(make_gmem_ptr(on_device(bias)), make_layout(make_shape((int)TOKENS, (int)OUTPUTS, (int)EXPERTS),
                                                                make_stride((int)OUTPUTS, one, TOKENS * OUTPUTS)));
    auto chosen = make_tensor(make_gmem_ptr(on_device(choices())),
                              make_layout(make_shape((int)EXPERTS, (int)TOKENS), make_stride((int)TOKENS, one)));
    auto experts = make_tensor(make_gmem_ptr(on_device(experts_with_tokens())),
                               make_layout(make_shape(EXPERTS + 1), make_stride(one)));
    auto output = make_tensor(make_gmem_ptr(out), make_layout(make_shape((int)TOKENS, (int)OUTPUTS, (int)CHOSEN),
                                                              make_stride(CHOSEN * OUTPUTS, one, (int)OUTPUTS)));
    launch(experts_of<decltype(input), decltype(biases), decltype(chosen), decltype(experts), decltype(output)>, CTAS,
           THREADS, 1, SHARED_BYTES, on_device(std::vector<CUtensorMap>{map_of_weights(weights)}), input, biases,
           chosen, experts, output);
}

int main()
{
    const std::vector<bf16> x = random_numbers<bf16>(TOKENS * INPUTS, 1);
    const std::vector<bf16> weights = random_numbers<bf16>(EXPERTS * OUTPUTS * INPUTS, 2);
    const std::vector<bf16> bias = random_numbers<bf16>(EXPERTS * TOKENS * OUTPUTS, 3);
    bf16 *const out = on_device(std::vector<bf16>(TOKENS * CHOSEN * OUTPUTS, bf16(0.0f)));
    multiply(x, weights, bias, out);
    std::vector<float> wanted(TOKENS * CHOSEN * OUTPUTS);
    const std::vector<int> chosen = choices();
    for (int at = 0; at < EXPERTS * TOKENS; at++) {
        const int expert = at / TOKENS, token = at % TOKENS;
        for (int column = 0; column < OUTPUTS && chosen[at]; column++) {
            float sum = (float)bias[at * OUTPUTS + column];
            for (int i = 0; i < INPUTS; i++)
                sum += (float)x[token * INPUTS + i] * (float)weights[(expert * OUTPUTS + column) * INPUTS + i];
            wanted[(token * CHOSEN + chosen[at] - 1) * OUTPUTS + column] = sum;
        }
    }
    return compare(wanted, from_device(out, wanted.size()), 0.01f);
}
