/* thunderkittens_backward.cu - the backward attention kernel for H100 of HazyResearch/ThunderKittens on a small size.
 *
 * Head dimension 64, two heads, no mask.  CTAs add their parts of dQ into global memory.  The length must be a multiple
 * of 128.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --expt-relaxed-constexpr --use_fast_math
 *          -I CHECKOUT/include -I CHECKOUT/kernels/attention/mha_h100 thunderkittens_backward.cu -lcuda
 */
#include <cassert>

#define main benchmark /* the checkout's own main() reads its inputs from a file */
#include "mha_h100.cu"
#undef main

#include "attention_backward.h"
#include "check.h"

enum { HEADS = 2, DIMENSION = 64, ROWS = BWD_CONSUMER_WARPGROUPS * 64 };

/* Adds all gradients; what the forward pass leaves for the kernel goes to l and d, per row. */
static Gradients reference_of(const BackwardInputs<bf16> &in, int length, std::vector<float> &l, std::vector<float> &d)
{
    Gradients all(in.q.size(), in.k.size());
    for (size_t row = 0; row < (size_t)HEADS * length; row++) {
        std::vector<size_t> others;
        for (int other = 0; other < length; other++)
            others.push_back((row / length * length + other) * DIMENSION);
        const RowSums sums = add_gradients(in, row * DIMENSION, others, all);
        l.push_back((float)(-8 * sums.log_sum));
        d.push_back((float)sums.mean);
    }
    return all;
}

int main(int argc, char **argv)
{
    typedef bwd_globals<DIMENSION> All;
    const unsigned length = argc > 1 ? atoi(argv[1]) : 384, heads = HEADS, columns = DIMENSION;
    const size_t count = (size_t)HEADS * length * DIMENSION;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(count, 3), og = random_numbers<bf16>(count, 4);
    std::vector<float> l, d;
    const Gradients reference = reference_of({DIMENSION, 0.125, q, k, v, og}, (int)length, l, d);
    float *gradients[3];
    for (float *&gradient : gradients)
        gradient = on_device(std::vector<float>(count, 0.0f));
    const All all = {All::q_gl{on_device(q), 1U, heads, length, columns},
                     All::k_gl{on_device(k), 1U, heads, length, columns},
                     All::v_gl{on_device(v), 1U, heads, length, columns},
                     All::og_gl{on_device(og), 1U, heads, length, columns},
                     All::qg_gl{gradients[0], 1U, heads, length, columns},
                     All::kg_gl{gradients[1], 1U, heads, length, columns},
                     All::vg_gl{gradients[2], 1U, heads, length, columns},
                     All::l_gl{on_device(l), 1U, heads, 1U, length},
                     All::d_gl{on_device(d), 1U, heads, 1U, length},
                     (int)length,
                     1};
    const int shared_bytes = kittens::MAX_SHARED_MEMORY - 1024;
    must(cudaFuncSetAttribute(bwd_attend_ker<DIMENSION, false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              shared_bytes));
    bwd_attend_ker<DIMENSION, false><<<dim3(length / ROWS, HEADS, 1), 32 * BWD_NUM_WORKERS, shared_bytes>>>(all);
    must(cudaGetLastError());
    std::vector<float> got, wanted;
    for (float *gradient : gradients)
        append(got, from_device(gradient, count));
    for (const std::vector<float> *gradient : {&reference.dq, &reference.dk, &reference.dv})
        append(wanted, *gradient);
    return compare(wanted, got, 0.02f);
}
