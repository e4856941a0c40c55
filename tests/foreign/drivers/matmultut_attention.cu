/* matmultut_attention.cu - fa3.cu of KnowingNothing/MatmulTutorial on a small size: causal attention of sequences of
 * different lengths.
 *
 * The arguments are the lengths, 64 128 256 if there are none.  Four Q heads share two K/V heads of 128 dimensions; all
 * tensors are [token][head][dimension], the sequences one after the other.  The program reads no file.  It prints the
 * largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -I CHECKOUT/examples/attention/cuda/gqa-hopper matmultut_attention.cu -lcuda
 */
#include <algorithm>

#include "fa3.cu"

#include "attention.h"
#include "check.h"

enum { HEADS = 4, KV_HEADS = 2, DIMENSION = 128 };
typedef __nv_bfloat16 bf16;

int main(int argc, char **argv)
{
    std::vector<int> lengths, starts(1, 0);
    for (int i = 1; i < argc; i++)
        lengths.push_back(atoi(argv[i]));
    if (lengths.empty())
        lengths = {64, 128, 256};
    for (int length : lengths)
        starts.push_back(starts.back() + length);
    const int sequences = (int)lengths.size(), tokens = starts.back();
    const int longest = *std::max_element(lengths.begin(), lengths.end());
    const std::vector<bf16> q = random_numbers<bf16>((size_t)tokens * HEADS * DIMENSION, 1);
    const std::vector<bf16> k = random_numbers<bf16>((size_t)tokens * KV_HEADS * DIMENSION, 2);
    const std::vector<bf16> v = random_numbers<bf16>(k.size(), 3);
    bf16 *const o = on_device(std::vector<bf16>(q.size(), bf16(0.0f)));
    int *const at_starts = on_device(starts);
    const float scale = 0.088388f;
    flash_attn_fwd_varlen(on_device(q), on_device(k), on_device(v), o, at_starts, at_starts, tokens, tokens, longest,
                          longest, sequences, HEADS, KV_HEADS, DIMENSION, scale, true, nullptr,
                          on_device(std::vector<float>((size_t)HEADS * tokens)), on_device(std::vector<int>(1)),
                          nullptr, nullptr, nullptr);
    must(cudaGetLastError());
    const std::vector<bf16> got = from_device(o, q.size());
    std::vector<float> wanted(q.size());
    for (int sequence = 0; sequence < sequences; sequence++)
        for (int token = starts[sequence]; token < starts[sequence + 1]; token++)
            for (int head = 0; head < HEADS; head++) {
                const size_t row = ((size_t)token * HEADS + head) * DIMENSION;
                const auto row_of = [&](int at) {
                    return ((size_t)(starts[sequence] + at) * KV_HEADS + head / (HEADS / KV_HEADS)) * DIMENSION;
                };
                attend(
                    token - starts[sequence] + 1, DIMENSION, DIMENSION, scale, [&](int i) { return (float)q[row + i]; },
                    [&](int at, int i) { return (float)k[row_of(at) + i]; },
                    [&](int at, int i) { return (float)v[row_of(at) + i]; }, &wanted[row]);
            }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.01f);
}
