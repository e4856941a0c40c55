/* thunderkittens_mha.cu - the forward attention kernel for H100 of HazyResearch/ThunderKittens on a small size.
 *
 * Head dimension 128, two Q heads that share one K/V head, no mask.  The length must be a multiple of 384.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --expt-relaxed-constexpr --use_fast_math
 *          -I CHECKOUT/include -I CHECKOUT/kernels/attention/mha_h100 thunderkittens_mha.cu -lcuda
 */
#include <cassert>

#define main benchmark /* the checkout's own main() reads its inputs from a file */
#include "mha_h100.cu"
#undef main

#include "attention.h"
#include "check.h"

enum { HEADS = 2, SHARED_HEADS = 1, DIMENSION = 128, ROWS = CONSUMER_WARPGROUPS * 64 };

int main(int argc, char **argv)
{
    typedef fwd_globals<DIMENSION> All;
    const unsigned length = argc > 1 ? atoi(argv[1]) : 768, columns = DIMENSION;
    const size_t count = (size_t)HEADS * length * DIMENSION, kv_count = (size_t)SHARED_HEADS * length * DIMENSION;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(kv_count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(kv_count, 3);
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    float *const l = on_device(std::vector<float>((size_t)HEADS * length, 0.0f));
    const All all = {All::q_gl{on_device(q), 1U, (unsigned)HEADS, length, columns},
                     All::k_gl{on_device(k), 1U, (unsigned)SHARED_HEADS, length, columns},
                     All::v_gl{on_device(v), 1U, (unsigned)SHARED_HEADS, length, columns},
                     All::l_gl{l, 1U, (unsigned)HEADS, 1U, length},
                     All::o_gl{o, 1U, (unsigned)HEADS, length, columns},
                     (int)length,
                     HEADS / SHARED_HEADS};
    const int shared_bytes = kittens::MAX_SHARED_MEMORY - 1024;
    must(cudaFuncSetAttribute(fwd_attend_ker<DIMENSION, false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              shared_bytes));
    fwd_attend_ker<DIMENSION, false><<<dim3(length / ROWS, HEADS, 1), 32 * NUM_WORKERS, shared_bytes>>>(all);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(o, count);
    return compare(
        attention_of(q, k, v, HEADS, SHARED_HEADS, (int)length, DIMENSION), [&](size_t i) { return (float)got[i]; },
        0.02f);
}
