/* megakernel_llama.cu - HazyResearch/Megakernels: a kernel that interprets instructions, include/megakernel.cuh, with
 * three operations of its Llama demo.  These are the output projection of attention, the first half of the MLP, and the
 * second one.
 *
 * In each CTA 16 warps compute, and one warp each loads, stores, launches and controls.  The controller fetches
 * instructions into two slots and hands out 13 pages of shared memory, in the order in which the instruction before
 * releases them.  It initialises mbarriers for each instruction anew.  Instructions wait for those of other CTAs by
 * counters in global memory.  The program reads no file.  It prints the largest difference between its results and the
 * host's.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --use_fast_math -I CHECKOUT/include
 *          -I CHECKOUT/demos/low-latency-llama -I CHECKOUT/ThunderKittens/include megakernel_llama.cu -lcuda
 */
#include "llama.cuh"

#include "utils.cuh"
#include "matvec_pipeline.cuh"

#include "upgate.cu"
#include "matvec_adds.cu"

#include "check.h"

enum { HIDDEN = LLAMA_1B_HIDDEN_DIM, INNER = LLAMA_1B_INTERMEDIATE_DIM, COUNTERS = 48, OPCODES = 10, WORDS = 32 };
enum { ROWS = 16, HIDDEN_BLOCKS = HIDDEN / ROWS, TIMES = 128 };

typedef llama_1b_globals Globals;
typedef default_config Config;

struct Inputs {
    std::vector<bf16> o, up, gate, down, norm, attention, hidden;
};

/* The instructions of each CTA, one after the other; all CTAs have equally many words. */
struct Program {
    std::vector<std::vector<int>> lists;

    void give(int cta, std::vector<int> instruction)
    {
        std::vector<int> &list = lists[cta % lists.size()];
        instruction.resize(WORDS);
        list.insert(list.end(), instruction.begin(), instruction.end());
    }
    std::vector<int> words() const
    {
        size_t longest = 0;
        for (const std::vector<int> &list : lists)
            longest = std::max(longest, list.size());
        std::vector<int> all;
        for (const std::vector<int> &list : lists) {
            all.insert(all.end(), list.begin(), list.end());
            all.resize(all.size() + longest - list.size());
        }
        return all;
    }
};

static std::vector<bf16> small_numbers(size_t count, uint32_t seed)
{
    std::vector<bf16> all = random_numbers<bf16>(count, seed);
    for (bf16 &number : all)
        number = bf16((float)number / 32);
    return all;
}

/* The first `blocks` blocks of rows of the MLP's first half; everything of the other two products. */
static std::vector<int> instructions_of(int blocks, int ctas)
{
    Program all = {std::vector<std::vector<int>>(ctas)};
    for (int block = 0, i = 0; block < HIDDEN_BLOCKS; block += 8, i++)
        all.give(i, {OPCODE_O_ProjResidual, 0, block, block + 8, 0});
    for (int block = 0, i = 0; block < blocks; block += 4, i++)
        all.give(i, {OPCODE_RMS_DoubleMatVecSiLU, 0, 4, block, block + 1, block + 2, block + 3});
    for (int block = 0, i = 1; block < HIDDEN_BLOCKS; block += 8, i++)
        all.give(i, {OPCODE_DownProjResidual, 0, block, block + 8, 0});
    return all.words();
}

/* Attention is done, and so are the blocks of the MLP's first half that the program leaves out. */
static std::vector<unsigned> counters_of(int blocks)
{
    std::vector<unsigned> all(16 * OPCODES * COUNTERS);
    all[(OPCODE_O_ProjResidual - 2) * COUNTERS] = LLAMA_1B_NUM_ATTENTION_HEADS;
    all[(OPCODE_RMS_DoubleMatVecSiLU - 1) * COUNTERS] = std::max(HIDDEN_BLOCKS - blocks, 0);
    return all;
}

static float product_of(const std::vector<bf16> &weights, size_t row, size_t width, const std::vector<float> &vector)
{
    float sum = 0;
    for (int i = 0; i < HIDDEN; i++)
        sum += (float)weights[row * width + i] * vector[i];
    return sum;
}

/* The MLP's inner numbers, then the hidden ones. */
static std::vector<float> reference_of(const Inputs &in, int blocks)
{
    std::vector<float> attention, hidden(HIDDEN), scaled(HIDDEN), all(INNER);
    append(attention, in.attention);
    float squares = 0;
    for (int i = 0; i < HIDDEN; i++) {
        hidden[i] = (float)bf16((float)in.hidden[i] + product_of(in.o, i, HIDDEN, attention));
        squares += hidden[i] * hidden[i];
    }
    for (int i = 0; i < HIDDEN; i++)
        scaled[i] = hidden[i] / std::sqrt(squares / HIDDEN + 1e-5f) * (float)in.norm[i];
    for (int row = 0; row < blocks * ROWS; row++) {
        const float gate = product_of(in.gate, row, HIDDEN, scaled);
        all[row] = (float)bf16(product_of(in.up, row, HIDDEN, scaled) * gate / (1 + std::exp(-gate)));
    }
    const std::vector<float> inner = all;
    for (int i = 0; i < HIDDEN; i++)
        all.push_back(hidden[i] + product_of(in.down, i, INNER, inner));
    return all;
}

/* The tensors of other operations have a little memory that nobody reads. */
static Globals globals_of(const Inputs &in, int blocks, int ctas, bf16 *hidden, bf16 *inner)
{
    const size_t one = 1, all_ctas = ctas;
    const std::vector<int> words = instructions_of(blocks, ctas);
    const size_t count = words.size() / WORDS / ctas;
    bf16 *const none = on_device(std::vector<bf16>(65536, bf16(0.0f)));
    float *const no_floats = on_device(std::vector<float>(65536));
    return {
        Globals::barriers{on_device(counters_of(blocks)), nullptr, one, OPCODES, nullptr},
        Globals::instruction_layout{on_device(words), nullptr, all_ctas, count, nullptr},
        Globals::timing_layout{on_device(std::vector<int>(ctas * count * TIMES)), nullptr, all_ctas, count, nullptr},
        Globals::weights_t{none, nullptr, one, 16, nullptr},
        Globals::norm_weights_t{none, nullptr, nullptr, one, nullptr},
        Globals::weights_t{on_device(in.o), nullptr, one, HIDDEN, nullptr},
        Globals::norm_weights_t{on_device(in.norm), nullptr, nullptr, one, nullptr},
        Globals::weights_t{on_device(in.up), nullptr, one, INNER, nullptr},
        Globals::weights_t{on_device(in.gate), nullptr, one, INNER, nullptr},
        Globals::weights_big_indim_t{on_device(in.down), nullptr, one, HIDDEN, nullptr},
        Globals::norm_weights_t{none, nullptr, nullptr, one, nullptr},
        Globals::weights_t{none, nullptr, one, 16, nullptr},
        Globals::kv_cache_t{none, one, 16, one, nullptr},
        Globals::kv_cache_t{none, one, 16, one, nullptr},
        Globals::rope_table_t{no_floats, nullptr, nullptr, one, nullptr},
        Globals::rope_table_t{no_floats, nullptr, nullptr, one, nullptr},
        Globals::activations_t{hidden, nullptr, nullptr, nullptr, nullptr},
        Globals::activations_t{none, nullptr, nullptr, nullptr, nullptr},
        Globals::activations_t{on_device(in.attention), nullptr, nullptr, nullptr, nullptr},
        Globals::attn_lse_intermediates_t{no_floats, nullptr, nullptr, nullptr, 144},
        Globals::attn_out_intermediates_t{no_floats, nullptr, nullptr, 16, nullptr},
        Globals::activations_big_indim_t{inner, nullptr, nullptr, nullptr, nullptr},
        Globals::logits_t{none, nullptr, nullptr, nullptr, 16},
        0,
        1.0f,
        1e-5f,
        false};
}

int main(int argc, char **argv)
{
    const int blocks = argc > 1 ? atoi(argv[1]) : 128, ctas = argc > 2 ? atoi(argv[2]) : 4;
    const size_t square = (size_t)HIDDEN * HIDDEN, wide = (size_t)INNER * HIDDEN;
    const Inputs in = {small_numbers(square, 1),       small_numbers(wide, 2),          small_numbers(wide, 3),
                       small_numbers(wide, 4),         random_numbers<bf16>(HIDDEN, 5), random_numbers<bf16>(HIDDEN, 6),
                       random_numbers<bf16>(HIDDEN, 7)};
    bf16 *const hidden = on_device(in.hidden), *const inner = on_device(std::vector<bf16>(INNER, bf16(0.0f)));
    const Globals all = globals_of(in, blocks, ctas, hidden, inner);
    auto *const kernel = megakernel::mk<Config, Globals, downproj<Config, Globals>, o_proj<Config, Globals>,
                                        rms_upgate_silu<Config, Globals>>;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Config::DYNAMIC_SHARED_MEMORY));
    kernel<<<ctas, Config::NUM_THREADS, Config::DYNAMIC_SHARED_MEMORY>>>(all);
    must(cudaGetLastError());
    std::vector<float> got;
    append(got, from_device(inner, INNER));
    append(got, from_device(hidden, HIDDEN));
    return compare(reference_of(in, blocks), got, 0.05f);
}
