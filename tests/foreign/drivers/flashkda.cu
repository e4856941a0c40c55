/* flashkda.cu - Kimi Delta Attention of MoonshotAI/FlashKDA, csrc/smxx, on two sequences of different lengths.
 *
 * The program launches three kernels.  In the second one, each CTA prepares a chunk of 16 tokens: one thread copies it,
 * with one mbarrier.  In the third one, each CTA goes through the chunks of a sequence: one warp copies through a
 * PipelineTmaAsync, four warps compute and meet at a named barrier, and one warp stores what they give it through a
 * PipelineAsync.  The program reads no file.  The host computes the recurrence token by token; the program prints the
 * largest difference from that, of outputs and final states.
 *
 *     nvcc -std=c++17 -O3 --expt-extended-lambda -I CHECKOUT/csrc/smxx -I CHECKOUT/csrc -I CUTLASS/include flashkda.cu
 *          -lcuda
 */
#include "fwd_launch.cu"

#include "delta_rule.h"

enum { SIZE = 128, STATE = SIZE * SIZE, SEQUENCES = 2, TILE = 16 };

typedef cutlass::bfloat16_t bf16;

static const float LOWER = -0.5f; /* of the logarithm of a decay */

struct Inputs {
    int heads;
    std::vector<int64_t> begins;
    std::vector<bf16> q, k, v, gate, rate, states; /* rate: [head][token], the others: [token][head] */
    std::vector<float> slope, bias;
};

static float sigmoid(float x)
{
    return 1 / (1 + std::exp(-x));
}

static Inputs inputs_of(int first, int heads)
{
    const std::vector<int64_t> begins = {0, first, first + first / 3};
    const size_t rows = begins.back() * heads, count = rows * SIZE;
    std::vector<bf16> states = random_numbers<bf16>((size_t)SEQUENCES * heads * STATE, 6);
    for (bf16 &number : states)
        number = bf16((float)number / 8);
    return {heads,
            begins,
            random_numbers<bf16>(count, 1),
            random_numbers<bf16>(count, 2),
            random_numbers<bf16>(count, 3),
            random_numbers<bf16>(count, 4),
            random_numbers<bf16>(rows + 64, 5),
            states,
            random_numbers<float>(heads, 7),
            random_numbers<float>((size_t)heads * SIZE, 8)};
}

/* One token of a head.  The kernel brings rows of Q and K to length 1. */
static void step(const Inputs &in, int token, int head, float *state, float *out)
{
    const size_t at = ((size_t)token * in.heads + head) * SIZE;
    const double q_length = length_of(&in.q[at], SIZE, 1e-6), k_length = length_of(&in.k[at], SIZE, 1e-6);
    const float rate = sigmoid((float)in.rate[head * in.begins.back() + token]);
    std::vector<float> decay(SIZE);
    for (int i = 0; i < SIZE; i++)
        decay[i] = std::exp(
            LOWER * sigmoid(std::exp(in.slope[head]) * ((float)in.gate[at + i] + in.bias[(size_t)head * SIZE + i])));
    delta_step(
        SIZE, SIZE, [&](int i, int j) -> float & { return state[i * SIZE + j]; }, [&](int j) { return decay[j]; }, rate,
        [&](int j) { return (float)in.q[at + j] / q_length / std::sqrt((double)SIZE); },
        [&](int j) { return (float)in.k[at + j] / k_length; }, [&](int i) { return (float)in.v[at + i]; }, out + at);
}

/* The outputs, then the final states. */
static std::vector<float> reference_of(const Inputs &in)
{
    std::vector<float> all(in.q.size()), states;
    append(states, in.states);
    for (int sequence = 0; sequence < SEQUENCES; sequence++)
        for (int head = 0; head < in.heads; head++)
            for (int64_t token = in.begins[sequence]; token < in.begins[sequence + 1]; token++)
                step(in, (int)token, head, &states[((size_t)sequence * in.heads + head) * STATE], all.data());
    append(all, states);
    return all;
}

int main(int argc, char **argv)
{
    const Inputs in = inputs_of(argc > 1 ? atoi(argv[1]) : 70, argc > 2 ? atoi(argv[2]) : 2);
    const int tokens = (int)in.begins.back(), tiles = (tokens + TILE - 1) / TILE + SEQUENCES;
    bf16 *const out = on_device(std::vector<bf16>(in.q.size()));
    bf16 *const states = on_device(std::vector<bf16>(in.states.size()));
    const size_t scratch_bytes = (size_t)in.heads * tiles * WorkspaceSizes<TILE, SIZE>::kPerTile + 1024;
    launch_fwd<SIZE, true, true, false, true>(on_device(in.q), on_device(in.k), on_device(in.v), on_device(in.gate),
                                              on_device(in.rate), on_device(in.states), 1 / std::sqrt((float)SIZE),
                                              states, out, on_device(std::vector<uint8_t>(scratch_bytes)), tiles,
                                              tokens, in.heads, SEQUENCES, on_device(in.begins), on_device(in.slope),
                                              on_device(in.bias), LOWER * 1.4426950408889634f, 0);
    must(cudaGetLastError());
    std::vector<float> got;
    append(got, from_device(out, in.q.size()));
    append(got, from_device(states, in.states.size()));
    return compare(reference_of(in), got, 0.03f);
}
