/* thunderkittens_rotary.cu - the rotary embedding for H100 of HazyResearch/ThunderKittens on a small size.
 *
 * Its pipeline template has rings of inputs and of outputs, which one warpgroup loads and stores.  Each half row
 * (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin).  sin and cos are any numbers here, but the same for all rows:
 * at the pinned commit the kernel starts its n-th tile of them at row n, not 16 n, so other inputs would not pass.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --expt-relaxed-constexpr --use_fast_math
 *          -I CHECKOUT/include -I CHECKOUT/prototype -I CHECKOUT/kernels/rotary thunderkittens_rotary.cu -lcuda
 */
#include <chrono>

#define main benchmark /* the checkout's own main() reads its inputs from a file */
#include "rotary.cu"
#undef main

#include "check.h"

enum { BATCHES = 4, HEADS = 3, DIMENSION = 64, HALF = DIMENSION / 2 };

int main(int argc, char **argv)
{
    typedef rotary_template<DIMENSION> Template;
    typedef Template::layout Layout;
    const size_t length = argc > 1 ? atoi(argv[1]) : 256, batches = BATCHES, heads = HEADS;
    const size_t count = batches * heads * length * DIMENSION;
    const std::vector<bf16> x = random_numbers<bf16>(count, 1);
    std::vector<bf16> sine = random_numbers<bf16>(length * HALF, 2), cosine = random_numbers<bf16>(length * HALF, 3);
    for (size_t i = HALF; i < sine.size(); i++)
        sine[i] = sine[i - HALF], cosine[i] = cosine[i - HALF];
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    const Layout::globals all = {Layout::seq_global{o, batches, heads, length, nullptr},
                                 Layout::seq_global{on_device(x), batches, heads, length, nullptr},
                                 Layout::rope_global{on_device(sine), nullptr, nullptr, length, nullptr},
                                 Layout::rope_global{on_device(cosine), nullptr, nullptr, length, nullptr}, BATCHES};
    const int shared_bytes = kittens::MAX_SHARED_MEMORY - 2048;
    const unsigned rows = Template::NUM_CONSUMER_WARPS * Layout::seq_tile::rows;
    must(cudaFuncSetAttribute(prototype::lcsf::kernel<Template>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              shared_bytes));
    prototype::lcsf::kernel<Template>
        <<<((unsigned)length + rows - 1) / rows, prototype::detail::NUM_THREADS_v<Template>, shared_bytes>>>(all);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (size_t i = 0; i < count; i++) {
        const size_t column = i % DIMENSION, at = column % HALF;
        const float other = column < HALF ? -(float)x[i + HALF] : (float)x[i - HALF];
        wanted[i] = (float)x[i] * (float)cosine[at] + other * (float)sine[at];
    }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
