/* lmdeploy_recurrent.cu - one step of the gated delta rule for each sequence, of InternLM/lmdeploy,
 * src/turbomind/kernels/linear_attn/kernel/sm_90/recurrent.cu, on a small size.
 *
 * The CTAs are persistent.  One warp copies and writes the output; groups of 128 threads compute tiles of BLOCK_DV
 * columns, 128 or 32, and meet at named barriers.  The mbarrier of the state has a count of two.  One arrival comes
 * from the thread that copies.  The other one comes from a consumer warp, which has prepared Q, K and V; these came
 * with another mbarrier.  The program reads no file.  It prints the largest difference from the host's outputs and
 * states.
 *
 *     nvcc -std=c++17 -O3 --expt-extended-lambda -DFMT_HEADER_ONLY -I CHECKOUT -I CUTLASS/include
 *          -I PACKAGES/flashinfer/data/spdlog/include lmdeploy_recurrent.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python, for its copy of fmt.
 * ../run.py names the version.
 */
#include "src/turbomind/kernels/linear_attn/kernel/sm_90/recurrent.cu"

#include "src/turbomind/core/check.cc"
#include "src/turbomind/kernels/linear_attn/kernel/tma_desc.cu"

#include "delta_rule.h"
#include "tensor_map.h"

#ifndef BLOCK_DV
#define BLOCK_DV 128
#endif

/* The checkout's host functions need these for their error messages. */
namespace turbomind
{
namespace core
{
Logger &Logger::Instance()
{
    abort();
}
void Logger::LogFatalImpl(const char *, int, std::string)
{
    abort();
}
Scope::Scope(const char *, const char *, int)
{
}
Scope::~Scope()
{
}
} // namespace core
void ReportCudaError(cudaError_t status, const char *, int)
{
    must(status);
}
} // namespace turbomind

using namespace turbomind::linear_attn::delta_rule;

enum { SIZE = 128, STATE = SIZE * SIZE };

typedef __nv_bfloat16 bf16;
typedef Sm90GdrRecurrent<BLOCK_DV, float> Kernel;

/* Q and K: [sequence][head][number] in boxes of one head, with the numbers in two halves. */
static CUtensorMap map_of_heads(bf16 *memory, int sequences, int heads)
{
    const cuuint64_t row = (cuuint64_t)heads * SIZE * sizeof(bf16);
    const cuuint64_t sizes[] = {64, 2, (cuuint64_t)heads, 1, (cuuint64_t)sequences};
    const cuuint64_t strides[] = {128, SIZE * sizeof(bf16), row, row};
    const cuuint32_t box[] = {64, 2, 1, 1, 1};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, memory, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_NONE);
}

static CUtensorMap map_of_values(bf16 *memory, int sequences, int heads)
{
    const cuuint64_t row = (cuuint64_t)heads * SIZE * sizeof(bf16);
    const cuuint64_t sizes[] = {SIZE, (cuuint64_t)heads, 1, (cuuint64_t)sequences};
    const cuuint64_t strides[] = {SIZE * sizeof(bf16), row, row};
    const cuuint32_t box[] = {BLOCK_DV, 1, 1, 1};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, memory, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_NONE);
}

/* Of one sequence. */
static CUtensorMap map_of_states(float *memory, int heads)
{
    const cuuint64_t sizes[] = {SIZE, SIZE, (cuuint64_t)heads, 1};
    const cuuint64_t strides[] = {SIZE * 4, STATE * 4, (cuuint64_t)heads * STATE * 4};
    const cuuint32_t box[] = {BLOCK_DV, SIZE, 1, 1};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, memory, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_NONE);
}

struct Inputs {
    int sequences, heads; /* two heads share a head of Q and K */
    std::vector<bf16> q, k, v;
    std::vector<float> decay, rate, states; /* decay: logarithms; states: [sequence][head][number of K][number of V] */
};

static Inputs inputs_of(int sequences, int heads)
{
    const size_t rows = (size_t)sequences * heads;
    Inputs in = {sequences,
                 heads,
                 random_numbers<bf16>(rows / 2 * SIZE, 1),
                 unit_rows<bf16>(rows / 2, SIZE, 2),
                 random_numbers<bf16>(rows * SIZE, 3),
                 random_numbers<float>(rows, 4),
                 random_numbers<float>(rows, 5),
                 random_numbers<float>(rows * STATE, 6)};
    for (size_t i = 0; i < rows; i++)
        in.decay[i] = (in.decay[i] - 1.25f) / 2, in.rate[i] = (in.rate[i] + 1) / 2;
    return in;
}

/* The outputs, then the states. */
static std::vector<float> reference_of(const Inputs &in)
{
    std::vector<float> all(in.v.size()), states = in.states;
    for (size_t row = 0; row < in.decay.size(); row++) {
        float *const state = &states[row * STATE];
        const size_t qk = row / 2 * SIZE; /* heads are an even number */
        delta_step(
            SIZE, SIZE, [&](int i, int j) -> float & { return state[j * SIZE + i]; },
            [&](int) { return std::exp(in.decay[row]); }, in.rate[row],
            [&](int j) { return (float)in.q[qk + j] / std::sqrt((double)SIZE); },
            [&](int j) { return (float)in.k[qk + j]; }, [&](int i) { return (float)in.v[row * SIZE + i]; },
            &all[row * SIZE]);
    }
    append(all, states);
    return all;
}

int main(int argc, char **argv)
{
    const Inputs in = inputs_of(argc > 1 ? atoi(argv[1]) : 5, argc > 2 ? atoi(argv[2]) : 4);
    const int ctas = argc > 3 ? atoi(argv[3]) : 6, sequences = in.sequences, heads = in.heads;
    float *const states = on_device(in.states);
    std::vector<int64_t> pointers;
    std::vector<CUtensorMap> maps;
    for (int sequence = 0; sequence < sequences; sequence++) {
        float *const memory = states + (size_t)sequence * heads * STATE;
        pointers.push_back((int64_t)memory);
        maps.push_back(map_of_states(memory, heads));
    }
    bf16 *const out = on_device(std::vector<bf16>(in.v.size(), bf16(0.0f)));
    const bool *const finished = (const bool *)on_device(std::vector<uint8_t>(sequences));
    auto *const kernel = Sm90GdrRecurrentKernel<BLOCK_DV, float>;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)Kernel::SharedBytes()));
    kernel<<<ctas, Kernel::kThreads, Kernel::SharedBytes()>>>(
        map_of_heads(on_device(in.q), sequences, heads / 2), map_of_heads(on_device(in.k), sequences, heads / 2),
        map_of_values(on_device(in.v), sequences, heads), out, on_device(in.decay), on_device(in.rate), finished,
        on_device(pointers), on_device(maps), sequences * heads, sequences, heads / 2, heads, heads, heads * SIZE, SIZE,
        1, heads, 0, 0);
    must(cudaGetLastError());
    std::vector<float> got;
    append(got, from_device(out, in.v.size()));
    append(got, from_device(states, in.states.size()));
    return compare(reference_of(in), got, 0.02f);
}
