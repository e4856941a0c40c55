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

#include "check.h"

enum { HEADS = 2, DIMENSION = 64, ROWS = BWD_CONSUMER_WARPGROUPS * 64 };

/* What the forward pass leaves for the kernel, per row, and the gradients it is to find. */
struct Reference {
    std::vector<float> l, d, dq, dk, dv;
};

static double dot(const bf16 *a, const bf16 *b)
{
    double sum = 0;
    for (int i = 0; i < DIMENSION; i++)
        sum += (double)(float)a[i] * (float)b[i];
    return sum;
}

/* Adds factor * row to the row of sums. */
static void add(std::vector<float> &sums, size_t at, double factor, const bf16 *row)
{
    for (int i = 0; i < DIMENSION; i++)
        sums[at + i] += (float)(factor * (float)row[i]);
}

static Reference reference_of(const bf16 *q, const bf16 *k, const bf16 *v, const bf16 *og, int length)
{
    const size_t rows = (size_t)HEADS * length, count = rows * DIMENSION;
    Reference all = {std::vector<float>(rows), std::vector<float>(rows), std::vector<float>(count),
                     std::vector<float>(count), std::vector<float>(count)};
    std::vector<double> weights(length), slopes(length);
    for (size_t row = 0; row < rows; row++) {
        const size_t at = row * DIMENSION, first = row / length * length * DIMENSION;
        double sum = 0, mean = 0;
        for (int other = 0; other < length; other++)
            sum += weights[other] = exp(dot(q + at, k + first + (size_t)other * DIMENSION) * 0.125);
        for (int other = 0; other < length; other++) {
            weights[other] /= sum;
            mean += weights[other] * (slopes[other] = dot(og + at, v + first + (size_t)other * DIMENSION));
        }
        all.l[row] = (float)(-8 * std::log(sum));
        all.d[row] = (float)mean;
        for (int other = 0; other < length; other++) {
            const size_t to = first + (size_t)other * DIMENSION;
            const double slope = weights[other] * (slopes[other] - mean) * 0.125;
            add(all.dq, at, slope, k + to);
            add(all.dk, to, slope, q + at);
            add(all.dv, to, weights[other], og + at);
        }
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
    const Reference reference = reference_of(q.data(), k.data(), v.data(), og.data(), (int)length);
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
                     All::l_gl{on_device(reference.l), 1U, heads, 1U, length},
                     All::d_gl{on_device(reference.d), 1U, heads, 1U, length},
                     (int)length,
                     1};
    const int shared_bytes = kittens::MAX_SHARED_MEMORY - 1024;
    must(cudaFuncSetAttribute(bwd_attend_ker<DIMENSION, false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              shared_bytes));
    bwd_attend_ker<DIMENSION, false><<<dim3(length / ROWS, HEADS, 1), 32 * BWD_NUM_WORKERS, shared_bytes>>>(all);
    must(cudaGetLastError());
    std::vector<float> got, wanted;
    for (float *gradient : gradients)
        for (float value : from_device(gradient, count))
            got.push_back(value);
    for (const std::vector<float> *gradient : {&reference.dq, &reference.dk, &reference.dv})
        wanted.insert(wanted.end(), gradient->begin(), gradient->end());
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0.02f);
}
