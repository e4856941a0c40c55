/* deepgemm_mqa_logits.cu - the logits by which sparse attention chooses K/V rows, with Q and K in fp8:
 * impls/sm90_fp8_mqa_logits.cuh of DeepGEMM, as SGLang ships it.  The logit of a row of Q and a row of K is the sum
 * over heads of weight * max(0, q k), times a scale.
 *
 * One warp fills a ring with blocks of Q, another warp a ring with blocks of K.  Four warpgroups empty both rings, each
 * at its own speed.  Each row of Q sees its own range of rows of K, so blocks of Q need different numbers of blocks of
 * K.  The program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -I PACKAGES/deep_gemm/include deepgemm_mqa_logits.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sgl-deep-gemm.  ../run.py names the version.
 */
#include <deep_gemm/impls/sm90_fp8_mqa_logits.cuh>

#include <algorithm>

#include "tensor_map.h"

enum { HEADS = 64, DIMENSION = 128, BLOCK_Q = 2, BLOCK_KV = 256, STAGES = 3, CTAS = 3, PRODUCERS = 128, MATH = 512 };
enum { Q_BYTES = BLOCK_Q * HEADS * DIMENSION, KV_BYTES = BLOCK_KV * DIMENSION };
enum { SHARED_BYTES = STAGES * (Q_BYTES + KV_BYTES + 4 * BLOCK_Q * HEADS + 4 * BLOCK_KV) + 4 * STAGES * 8 };

typedef __nv_fp8_e4m3 fp8;

int main(int argc, char **argv)
{
    const unsigned q_count = argc > 1 ? atoi(argv[1]) : 21, kv_count = argc > 2 ? atoi(argv[2]) : 1400;
    const std::vector<fp8> q = random_numbers<fp8>((size_t)q_count * HEADS * DIMENSION, 1);
    const std::vector<fp8> kv = random_numbers<fp8>((size_t)kv_count * DIMENSION, 2);
    const std::vector<float> weights = random_numbers<float>((size_t)q_count * HEADS, 3);
    std::vector<float> scales = random_numbers<float>(kv_count, 4);
    for (float &scale : scales)
        scale += 1.5f;
    std::vector<uint32_t> begins, ends;
    for (unsigned row = 0; row < q_count; row++) {
        begins.push_back(row < q_count / 2 ? 0 : kv_count / 5);
        ends.push_back(begins[row] + 100 + (kv_count - begins[row] - 100) * row / q_count);
    }
    const unsigned padded = (q_count + BLOCK_Q - 1) / BLOCK_Q * BLOCK_Q; /* whole blocks are written */
    float *const logits = on_device(std::vector<float>((size_t)padded * kv_count));
    const CUtensorMapDataType bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8, numbers = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const CUtensorMapSwizzle none = CU_TENSOR_MAP_SWIZZLE_NONE;
    launch(deep_gemm::sm90_fp8_mqa_logits<HEADS, DIMENSION, BLOCK_Q, BLOCK_KV, STAGES, STAGES, CTAS, PRODUCERS, MATH,
                                          float>,
           CTAS, PRODUCERS + MATH, 1, SHARED_BYTES, q_count, kv_count, kv_count, on_device(begins), on_device(ends),
           logits, map_of(bytes, 1, on_device(q), q_count * HEADS, DIMENSION, BLOCK_Q * HEADS, DIMENSION),
           map_of(bytes, 1, on_device(kv), kv_count, DIMENSION, BLOCK_KV, DIMENSION),
           map_of(numbers, 4, on_device(scales), 1, kv_count, 1, BLOCK_KV, none),
           map_of(numbers, 4, on_device(weights), q_count, HEADS, BLOCK_Q, HEADS, none));
    const std::vector<float> got = from_device(logits, (size_t)q_count * kv_count);
    std::vector<float> wanted(got.size());
    for (unsigned row = 0; row < q_count; row++)
        for (unsigned at = begins[row]; at < ends[row]; at++) {
            float sum = 0;
            for (int head = 0; head < HEADS; head++) {
                float product = 0;
                for (int i = 0; i < DIMENSION; i++)
                    product += (float)q[((size_t)row * HEADS + head) * DIMENSION + i] * (float)kv[at * DIMENSION + i];
                sum += std::max(product, 0.0f) * weights[(size_t)row * HEADS + head];
            }
            wanted[(size_t)row * kv_count + at - begins[row]] = sum * scales[at];
        }
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0.01f);
}
