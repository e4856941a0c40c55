/* cake_delta_product.cu - the prefill kernel of Gated DeltaProduct for sm_90, on two sequences of different lengths
 * with two heads.  Cake, a generator of kernels, wrote it; FlashInfer ships it in cake_gdp_backend.
 *
 * In each CTA two warpgroups compute the state and the products within a chunk of 64 updates.  Other warps copy K, Q
 * and V, load two kinds of gates, and store the output.  They change the tensor map of the output for each sequence.
 * 15 groups of mbarriers connect these roles.  The program reads no file.  The host computes the recurrence token by
 * token; the program prints the largest difference from that, of outputs and final states.
 *
 *     nvcc -std=c++17 -O3 --use_fast_math -I PACKAGES/flashinfer/cake_gdp_backend/csrc cake_delta_product.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python.  ../run.py names the
 * version.
 */
#include "cake_gdp_0de8fd0ee57885709a1c_kernel.cu"

#include <algorithm>

#include "delta_rule.h"
#include "tensor_map.h"

enum { SEQUENCES = 2, HEADS = 2, K_SIZE = 128, V_SIZE = 64, STATE = V_SIZE * K_SIZE, SHARED_BYTES = 197376 };
enum { MAP_BYTES_OF_CTA = 512 };

typedef __nv_bfloat16 bf16;

/* [row][head][number], in boxes of 64 rows of a head. */
static CUtensorMap map_of_heads(bf16 *memory, int rows, int size)
{
    const cuuint64_t sizes[] = {(cuuint64_t)size, (cuuint64_t)rows, HEADS};
    const cuuint64_t strides[] = {HEADS * size * sizeof(bf16), size * sizeof(bf16)};
    const cuuint32_t box[] = {64, 64, 1};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, memory, sizes, strides, box);
}

/* From `low` to nearly 1. */
static std::vector<float> gates(size_t count, float low, uint32_t seed)
{
    std::vector<float> all = random_numbers<float>(count, seed);
    for (float &gate : all)
        gate = low + (1 - low) * (gate + 1) / 2;
    return all;
}

struct Inputs {
    int updates; /* of a token */
    std::vector<bf16> q, k, v;
    std::vector<float> decay, rate;
};

/* The recurrence for one token of a head: the state decays, takes all updates, and is multiplied with the row of Q. */
static void step(const Inputs &in, size_t token, int head, std::vector<double> &state, float *out)
{
    for (double &number : state)
        number *= in.decay[token * HEADS + head];
    for (int update = 0; update < in.updates; update++) {
        const size_t row = (token * in.updates + update) * HEADS + head;
        for (int i = 0; i < V_SIZE; i++) {
            double *const line = &state[(size_t)i * K_SIZE];
            double product = 0;
            for (int j = 0; j < K_SIZE; j++)
                product += line[j] * (float)in.k[row * K_SIZE + j];
            const double change = in.rate[row] * ((float)in.v[row * V_SIZE + i] - product);
            for (int j = 0; j < K_SIZE; j++)
                line[j] += change * (float)in.k[row * K_SIZE + j];
        }
    }
    for (int i = 0; i < V_SIZE; i++) {
        double product = 0;
        for (int j = 0; j < K_SIZE; j++)
            product += state[(size_t)i * K_SIZE + j] * (float)in.q[(token * HEADS + head) * K_SIZE + j];
        out[i] = (float)product;
    }
}

int main(int argc, char **argv)
{
    const int first = argc > 1 ? atoi(argv[1]) : 150, updates = argc > 2 ? atoi(argv[2]) : 2;
    const std::vector<int> begins = {0, first, first + first / 3};
    const int tokens = begins.back(), tiles = SEQUENCES * HEADS, ctas = std::min(argc > 3 ? atoi(argv[3]) : 3, tiles);
    const size_t rows = (size_t)tokens * HEADS, count = rows * V_SIZE;
    const Inputs in = {updates,
                       unit_rows<bf16>(rows, K_SIZE, 1),
                       unit_rows<bf16>(rows * updates, K_SIZE, 2),
                       random_numbers<bf16>(count * updates, 3),
                       gates(rows, 0.8f, 4),
                       gates(rows * updates, 0.2f, 5)};
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    float *const states = on_device(std::vector<float>((size_t)tiles * STATE));
    auto *const kernel = kernel_cake_gdp_0de8fd0ee57885709a1c;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    kernel<<<ctas, 384, SHARED_BYTES>>>(
        map_of_heads(on_device(in.q), tokens, K_SIZE), map_of_heads(on_device(in.k), tokens * updates, K_SIZE),
        map_of_heads(on_device(in.v), tokens * updates, V_SIZE), map_of_heads(o, tokens, V_SIZE), on_device(in.decay),
        on_device(in.rate), on_device(begins), nullptr, nullptr, nullptr, states,
        on_device(std::vector<uint8_t>((size_t)ctas * MAP_BYTES_OF_CTA)), 0, HEADS * STATE, 1.0f, SEQUENCES, tokens,
        HEADS, updates, tiles, 0, nullptr, 0, 0, SEQUENCES);
    must(cudaGetLastError());
    const std::vector<bf16> got_o = from_device(o, count);
    std::vector<float> got = from_device(states, (size_t)tiles * STATE), wanted;
    got.insert(got.end(), got_o.begin(), got_o.end());
    std::vector<float> wanted_o(count);
    for (int tile = 0; tile < tiles; tile++) {
        std::vector<double> state(STATE);
        for (int token = begins[tile / HEADS]; token < begins[tile / HEADS + 1]; token++)
            step(in, token, tile % HEADS, state, &wanted_o[((size_t)token * HEADS + tile % HEADS) * V_SIZE]);
        wanted.insert(wanted.end(), state.begin(), state.end());
    }
    wanted.insert(wanted.end(), wanted_o.begin(), wanted_o.end());
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0.02f);
}
