/* cula_kda.cu - Kimi Delta Attention in one kernel of inclusionAI/cuLA, csrc/kda/sm90, on two sequences of different
 * lengths.
 *
 * One warpgroup copies: its warps load Q, K, V and two kinds of gates, store the output, and pass on the last row of
 * the gates.  Two warpgroups keep the state.  One prepares the products within a chunk and hands them over by pipelines
 * in shared memory.  There are pipelines of three kinds; warpgroups take turns by named barriers.  The program reads no
 * file.  The host computes the recurrence token by token; the program prints the largest difference from that, of
 * outputs and final states.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG -DCULA_SM90A_ENABLED --expt-extended-lambda --use_fast_math -I CHECKOUT/csrc
 *          -I CHECKOUT/csrc/kerutils/include -I CUTLASS/include -I CUTLASS/tools/util/include cula_kda.cu -lcuda
 */
#include "kda/sm90/prefill_kernel_kda_fwd_sm90.cuh"

#include "delta_rule.h"

enum { SIZE = 128, STATE = SIZE * SIZE, CHUNK = 64, SEQUENCES = 2 };

typedef cute::bfloat16_t bf16;

struct Inputs {
    int heads;
    std::vector<int32_t> begins;
    std::vector<bf16> q, k, v;
    std::vector<float> gate, rate, states; /* gate: the logarithm of a decay, -0.28 to -0.05 */
};

static Inputs inputs_of(int first, int heads)
{
    const std::vector<int32_t> begins = {0, first, first + first / 3};
    const size_t rows = (size_t)begins.back() * heads, count = rows * SIZE;
    Inputs in = {heads,
                 begins,
                 unit_rows<bf16>(rows, SIZE, 1),
                 unit_rows<bf16>(rows, SIZE, 2),
                 random_numbers<bf16>(count, 3),
                 random_numbers<float>(count, 4),
                 random_numbers<float>(rows, 5),
                 random_numbers<float>((size_t)SEQUENCES * heads * STATE, 6)};
    for (float &gate : in.gate)
        gate = (gate - 1.25f) / 8;
    for (float &rate : in.rate)
        rate = (rate + 1.125f) / 2.25f;
    return in;
}

/* The kernel wants the gates as powers of two, added up within a chunk. */
static std::vector<float> gate_sums(const Inputs &in)
{
    const size_t row = (size_t)in.heads * SIZE;
    std::vector<float> all;
    for (int sequence = 0; sequence < SEQUENCES; sequence++)
        for (int at = 0; at < in.begins[sequence + 1] - in.begins[sequence]; at++)
            for (size_t i = 0; i < row; i++)
                all.push_back(in.gate[all.size()] * 1.4426950408889634f + (at % CHUNK ? all[all.size() - row] : 0));
    return all;
}

static void step(const Inputs &in, int token, int head, float *state, float *out)
{
    const size_t row = (size_t)token * in.heads + head, at = row * SIZE;
    delta_step(
        SIZE, SIZE, [&](int i, int j) -> float & { return state[i * SIZE + j]; },
        [&](int j) { return std::exp(in.gate[at + j]); }, in.rate[row],
        [&](int j) { return (float)in.q[at + j] / std::sqrt((double)SIZE); },
        [&](int j) { return (float)in.k[at + j]; }, [&](int i) { return (float)in.v[at + i]; }, out + at);
}

/* The outputs, then the final states. */
static std::vector<float> reference_of(const Inputs &in)
{
    std::vector<float> all(in.v.size()), states = in.states;
    for (int sequence = 0; sequence < SEQUENCES; sequence++)
        for (int head = 0; head < in.heads; head++)
            for (int token = in.begins[sequence]; token < in.begins[sequence + 1]; token++)
                step(in, token, head, &states[((size_t)sequence * in.heads + head) * STATE], all.data());
    append(all, states);
    return all;
}

int main(int argc, char **argv)
{
    const Inputs in = inputs_of(argc > 1 ? atoi(argv[1]) : 200, argc > 2 ? atoi(argv[2]) : 2);
    bf16 *const out = on_device(std::vector<bf16>(in.v.size()));
    float *const states = on_device(std::vector<float>(in.states.size()));
    kda::sm90::launch_kda_fwd_prefill_kernel_gbai<true, true, true, true, cutlass::arch::Sm90, bf16, bf16, float,
                                                  float>(
        0, out, states, on_device(in.q), on_device(in.k), on_device(in.v), on_device(in.states),
        on_device(gate_sums(in)), on_device(in.rate), on_device(in.begins), on_device(std::vector<uint8_t>(1 << 20)),
        SEQUENCES, in.heads, SIZE, in.begins.back(), 1 / std::sqrt((float)SIZE), 8);
    must(cudaGetLastError());
    std::vector<float> got;
    append(got, from_device(out, in.v.size()));
    append(got, from_device(states, in.states.size()));
    return compare(reference_of(in), got, 0.03f);
}
