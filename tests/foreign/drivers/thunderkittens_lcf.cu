/* thunderkittens_lcf.cu - attention for H100 on the pipeline template of HazyResearch/ThunderKittens, on a small size.
 *
 * Head dimension 128, two heads, no mask.  Fewer CTAs than tasks, so that each of them goes through the pipeline twice.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --expt-relaxed-constexpr --use_fast_math
 *          -I CHECKOUT/include -I CHECKOUT/prototype -I CHECKOUT/kernels/attention/mha_h100_lcf
 *          thunderkittens_lcf.cu -lcuda
 */
#include <chrono>

#define main benchmark /* the checkout's own main() reads its inputs from a file */
#include "mha_h100_lcf.cu"
#undef main

#include "attention.h"
#include "check.h"

enum { HEADS = 2, DIMENSION = 128, CTAS = 4 };

int main(int argc, char **argv)
{
    typedef attn_fwd_template<DIMENSION> Template;
    typedef Template::layout Layout;
    const size_t length = argc > 1 ? atoi(argv[1]) : 768, one = 1, heads = HEADS, count = HEADS * length * DIMENSION;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(count, 3);
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    const Layout::globals all = {Layout::qo_global(o, one, heads, length, nullptr),
                                 Layout::qo_global(on_device(q), one, heads, length, nullptr),
                                 Layout::kv_global(on_device(k), one, heads, length, nullptr),
                                 Layout::kv_global(on_device(v), one, heads, length, nullptr)};
    const int shared_bytes = kittens::MAX_SHARED_MEMORY - 2000;
    must(cudaFuncSetAttribute(prototype::lcf::kernel<Template>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              shared_bytes));
    prototype::lcf::kernel<Template><<<CTAS, prototype::detail::NUM_THREADS_v<Template>, shared_bytes>>>(all);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(o, count);
    return compare(
        attention_of(q, k, v, HEADS, HEADS, (int)length, DIMENSION), [&](size_t i) { return (float)got[i]; }, 0.02f);
}
