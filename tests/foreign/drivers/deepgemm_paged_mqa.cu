/* deepgemm_paged_mqa.cu - DeepGEMM's fp8 logits by which sparse attention chooses its rows of K and V, with K in pages,
 * impls/sm90_fp8_paged_mqa_logits.cuh, as SGLang ships it in sgl-deep-gemm.
 *
 * Four warps copy, each for one of four warpgroups: each pair has a ring for K of its own.  The first of them also
 * fills the ring for Q, one row ahead; all four warpgroups empty it.  A first kernel makes the schedule: a CTA begins
 * and ends within a sequence.  The program reads no file.  It prints the largest difference between its result and the
 * host's.
 *
 *     nvcc -std=c++20 -O3 -I PACKAGES/deep_gemm/include deepgemm_paged_mqa.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sgl-deep-gemm.  ../run.py names the version.
 */
#include <deep_gemm/impls/sm90_fp8_paged_mqa_logits.cuh>

#include <algorithm>

#include "tensor_map.h"

enum { HEADS = 64, SIZE = 128, PAGE = 64, GROUPS = 4, STAGES = 3, CTAS = 5, PRODUCERS = 128, MATH = 128 * GROUPS };
enum { RING_BYTES = STAGES * (64 * SIZE + 1024) + 1024, SHARED_BYTES = RING_BYTES * (1 + GROUPS) + 1024 };

typedef __nv_fp8_e4m3 fp8;

struct Inputs {
    std::vector<fp8> q, k;
    std::vector<float> weights, scales;
};

/* The logit of a row of K for the query of a sequence. */
static float logit_of(const Inputs &in, size_t sequence, size_t row)
{
    float sum = 0;
    for (size_t head = sequence * HEADS; head < (sequence + 1) * HEADS; head++) {
        float product = 0;
        for (int i = 0; i < SIZE; i++)
            product += (float)in.q[head * SIZE + i] * (float)in.k[row * SIZE + i];
        sum += std::max(product, 0.0f) * in.weights[head];
    }
    return sum * in.scales[row];
}

int main(int argc, char **argv)
{
    std::vector<uint32_t> sizes = {900, 64, 1500, 300, 10, 700};
    for (int i = 1; i < argc && i <= (int)sizes.size(); i++)
        sizes[i - 1] = (uint32_t)atoi(argv[i]);
    const unsigned batches = (unsigned)sizes.size(), longest = *std::max_element(sizes.begin(), sizes.end());
    const unsigned pages_of = (longest + PAGE - 1) / PAGE, pages = batches * pages_of + 1;
    const unsigned stride = (longest + 255) / 256 * 256, heads = batches * HEADS;
    std::vector<uint32_t> table;
    for (unsigned i = pages - 1; i > 0; i--) /* page 0 belongs to nothing */
        table.push_back(i);
    Inputs in = {random_numbers<fp8>((size_t)heads * SIZE, 1), random_numbers<fp8>((size_t)pages * PAGE * SIZE, 2),
                 random_numbers<float>(heads, 3), random_numbers<float>((size_t)pages * PAGE, 4)};
    for (float &scale : in.scales)
        scale += 1.5f;
    uint32_t *const lengths = on_device(sizes);
    uint32_t *const schedule = on_device(std::vector<uint32_t>(2 * (CTAS + 1)));
    float *const logits = on_device(std::vector<float>((size_t)batches * stride));
    deep_gemm::sched::sm90_paged_mqa_logits_metadata<32, PAGE * GROUPS, CTAS>
        <<<1, 32, 32 * 4 * 4>>>(batches, 1, false, lengths, nullptr, schedule);
    const CUtensorMapDataType bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8, numbers = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const CUtensorMapSwizzle none = CU_TENSOR_MAP_SWIZZLE_NONE;
    const cuuint64_t k_sizes[] = {SIZE, PAGE, pages}, k_strides[] = {SIZE, PAGE * SIZE};
    const cuuint32_t k_box[] = {SIZE, PAGE, 1};
    launch(deep_gemm::sm90_fp8_paged_mqa_logits<1, HEADS, SIZE, PAGE, false, false, STAGES, STAGES, PAGE * GROUPS,
                                                PRODUCERS, MATH, float>,
           CTAS, PRODUCERS + MATH, 1, SHARED_BYTES, batches, stride, pages_of, lengths, logits, on_device(table),
           nullptr, schedule, map_of(bytes, 1, on_device(in.q), heads, SIZE, HEADS, SIZE),
           encoded(bytes, on_device(in.k), k_sizes, k_strides, k_box),
           map_of(numbers, 4, on_device(in.scales), pages, PAGE, 1, PAGE, none),
           map_of(numbers, 4, on_device(in.weights), batches, HEADS, 1, HEADS, none));
    const std::vector<float> all = from_device(logits, (size_t)batches * stride);
    std::vector<float> wanted, got;
    for (unsigned batch = 0; batch < batches; batch++)
        for (unsigned token = 0; token < sizes[batch]; token++) {
            const size_t page = table[batch * pages_of + token / PAGE];
            wanted.push_back(logit_of(in, batch, page * PAGE + token % PAGE));
            got.push_back(all[(size_t)batch * stride + token]);
        }
    return compare(wanted, got, 0.01f);
}
