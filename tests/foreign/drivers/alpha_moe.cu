/* alpha_moe.cu - the experts of a layer in one kernel, of Aleph-Alpha/Alpha-MoE,
 * csrc/kernels/fused_moe_w8a8/fused_moe_w8a8_up_down_acc.cu: up projection, SwiGLU, quantisation and down projection,
 * in fp8.
 *
 * A warpgroup gathers rows of X with cp.async; when its copies are there, each thread arrives on the full mbarrier,
 * beside a TMA copy of weights.  Consumers arrive on all empty mbarriers at the start.  The ring goes on from the up to
 * the down projection, with other contents.  Results are added by bulk reductions.  ../run.py writes
 * alpha_moe_part.cuh: the file up to the function that has 160 variants compiled.  The program reads no file.  It
 * prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -I SCRATCH alpha_moe.cu -lcuda
 *
 * SCRATCH: the folder of alpha_moe_part.cuh.
 */
#include "alpha_moe_part.cuh"

#include "check.h"

enum { BLOCK_M = 16, BLOCK_N = 32, WARPS = 8, STAGES = 3, EXPERTS = 4, CHOSEN = 2, BLOCK = 128 };

typedef __nv_bfloat16 bf16;

/* Up: [expert][n][k], the gate's rows first; down: [expert][k][n / 2].  A scale for each row of X and 128 columns, and
 * for each 128 x 128 weights. */
struct Inputs {
    int m, k, n;
    std::vector<fp8> x, up, down;
    std::vector<float> of_x, of_up, of_down, weights;
};

static std::vector<float> positive_numbers(size_t count, uint32_t seed)
{
    std::vector<float> all = random_numbers<float>(count, seed);
    for (float &number : all)
        number = (number + 1.25f) / 4;
    return all;
}

static Inputs inputs_of(int m, int k, int n)
{
    const size_t k_blocks = k / BLOCK, weights = (size_t)EXPERTS * n * k, blocks = weights / BLOCK / BLOCK;
    return {m,
            k,
            n,
            random_numbers<fp8>((size_t)m * k, 1),
            random_numbers<fp8>(weights, 2),
            random_numbers<fp8>(weights / 2, 3),
            positive_numbers(m * k_blocks, 4),
            positive_numbers(blocks, 5),
            positive_numbers(blocks / 2, 6),
            positive_numbers((size_t)m * CHOSEN, 7)};
}

static int expert_of(int row) /* of a token's choice */
{
    const int token = row / CHOSEN;
    return (token * 3 + row % CHOSEN * 2 + token / 7) % EXPERTS;
}

/* Of each expert's rows of `width`: `turn` rows of the first half and of the second half in turns, as the kernel wants
 * it. */
template <typename Number>
static std::vector<Number> mixed(const std::vector<Number> &all, int rows, int width, int turn)
{
    std::vector<Number> out;
    for (int row = 0; row < EXPERTS * rows; row++) {
        const int at = row % rows, half = at / turn % 2 * (rows / 2);
        const Number *const from = &all[(size_t)(row - at + at / turn / 2 * turn + at % turn + half) * width];
        out.insert(out.end(), from, from + width);
    }
    return out;
}

/* The rows of each expert, in full blocks, and the expert of each block.  There is one block too many, as in a buffer
 * of fixed size. */
static std::vector<int> sorted_rows(int m, std::vector<int> &experts)
{
    std::vector<int> all;
    for (int expert = 0; expert < EXPERTS; expert++) {
        for (int row = 0; row < m * CHOSEN; row++)
            if (expert_of(row) == expert)
                all.push_back(row);
        all.resize((all.size() + BLOCK_M - 1) / BLOCK_M * BLOCK_M, m * CHOSEN);
        experts.resize(all.size() / BLOCK_M, expert);
    }
    all.resize(all.size() + BLOCK_M, m * CHOSEN);
    experts.push_back(0);
    return all;
}

/* The output of the up projection, with SwiGLU, in numbers that fp8 has.  The kernel rounds sums to bf16. */
static std::vector<float> inner_of(const Inputs &in, int token, int expert)
{
    std::vector<float> both(in.n), inner(in.n / 2);
    for (int row = 0; row < in.n; row++)
        for (int first = 0; first < in.k; first += BLOCK) {
            const size_t scale = ((size_t)expert * in.n + row) / BLOCK * (in.k / BLOCK) + first / BLOCK;
            float sum = 0;
            for (int i = first; i < first + BLOCK; i++)
                sum += (float)in.x[(size_t)token * in.k + i] * (float)in.up[((size_t)expert * in.n + row) * in.k + i];
            sum *= in.of_x[((size_t)token * in.k + first) / BLOCK] * in.of_up[scale];
            both[row] = (float)bf16(both[row] + (float)bf16(sum));
        }
    for (int i = 0; i < in.n / 2; i++)
        inner[i] = (float)bf16(both[i] / (1 + std::exp(-both[i])) * both[in.n / 2 + i]);
    for (size_t first = 0; first < inner.size(); first += BLOCK) {
        float largest = 1e-10f;
        for (size_t i = first; i < first + BLOCK; i++)
            largest = std::max(largest, std::fabs(inner[i]));
        for (size_t i = first; i < first + BLOCK; i++)
            inner[i] = (float)fp8(inner[i] / largest * 448) * largest / 448;
    }
    return inner;
}

static std::vector<float> reference_of(const Inputs &in, float factor)
{
    const int half = in.n / 2;
    std::vector<float> all((size_t)in.m * in.k);
    for (int choice = 0; choice < in.m * CHOSEN; choice++) {
        const size_t token = choice / CHOSEN, expert = expert_of(choice);
        const std::vector<float> inner = inner_of(in, (int)token, (int)expert);
        for (int row = 0; row < in.k; row++)
            for (int i = 0; i < half; i++) {
                const size_t line = expert * in.k + row;
                const float scale = in.of_down[line / BLOCK * (half / BLOCK) + i / BLOCK] * in.weights[choice] * factor;
                all[token * in.k + row] += inner[i] * (float)in.down[line * half + i] * scale;
            }
    }
    return all;
}

int main(int argc, char **argv)
{
    const Inputs in =
        inputs_of(argc > 1 ? atoi(argv[1]) : 20, argc > 2 ? atoi(argv[2]) : 512, argc > 3 ? atoi(argv[3]) : 512);
    const float factor = 1.5f;
    std::vector<int> experts;
    const std::vector<int> sorted = sorted_rows(in.m, experts);
    const int used = (int)sorted.size() - BLOCK_M;
    bf16 *const out = on_device(std::vector<bf16>(in.x.size(), bf16(0.0f)));
    launch_fused_moe_kernel_up_down_acc<BLOCK_M, BLOCK_N, WARPS, STAGES>(
        on_device(in.x), on_device(in.of_x), on_device(mixed(in.up, in.n, in.k, 8)),
        on_device(mixed(in.of_up, in.n / BLOCK, in.k / BLOCK, 1)), on_device(in.down), on_device(in.of_down), out,
        on_device(sorted), on_device(experts), on_device(std::vector<int>{used}), on_device(in.weights), CHOSEN, in.m,
        in.k, in.n, EXPERTS, (int)sorted.size(), BLOCK_M, factor, 0);
    must(cudaGetLastError());
    return compare(reference_of(in, factor), from_device(out, in.x.size()), 0.06f);
}
