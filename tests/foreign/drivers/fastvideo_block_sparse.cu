/* fastvideo_block_sparse.cu - block-sparse attention, forward and backward, of hao-ai-lab/FastVideo,
 * fastvideo-kernel/csrc/attention/block_sparse_h100.cu, which is written with ThunderKittens.
 *
 * The first thread of a CTA's one warpgroup copies.  Each buffer has a full mbarrier and no empty one.  At the end of
 * the backward kernel the buffers of K and Q hold results; one warp adds dQ to memory by TMA reductions.  The CTAs of a
 * third kernel have one warp.  ../run.py writes fastvideo_block_sparse_part.cuh: the file up to the functions for
 * PyTorch.  The program reads no file.  It prints the largest difference from the host's gradients and output.
 *
 *     nvcc -std=c++20 -O3 -DNDEBUG -DKITTENS_HOPPER --expt-extended-lambda --use_fast_math -I . -I SCRATCH
 *          -I CHECKOUT/fastvideo-kernel/include/tk/include fastvideo_block_sparse.cu -lcuda
 *
 * SCRATCH: the folder of fastvideo_block_sparse_part.cuh.
 */
#include "fastvideo_block_sparse_part.cuh"

#include "attention_backward.h"
#include "check.h"

enum { SIZE = 64, BLOCK = 64, SHARED_BYTES = 100 * 1024 };

typedef fwd_globals<SIZE> Forward;
typedef bwd_prep_globals<SIZE> Prepare;
typedef bwd_globals<SIZE> Backward;

struct Shape {
    size_t heads, kv_heads, blocks, length;

    bool sees(size_t head, size_t q_block, size_t k_block) const
    {
        return (q_block * 3 + k_block * 2 + head) % 3 != 0 || q_block == k_block;
    }
    int tokens_of(size_t block) const /* that count; the others fill the block */
    {
        return block % 3 == 1 ? 37 : BLOCK;
    }
};

/* For each block of a side, the blocks that it sees on the other side, and how many these are. */
struct Table {
    std::vector<int> blocks, counts;

    Table(const Shape &shape, bool of_k)
    {
        for (size_t i = 0; i < shape.heads * shape.blocks; i++) {
            const size_t head = i / shape.blocks, block = i % shape.blocks, first = blocks.size();
            for (size_t other = 0; other < shape.blocks; other++)
                if (of_k ? shape.sees(head, other, block) : shape.sees(head, block, other))
                    blocks.push_back((int)other);
            counts.push_back((int)(blocks.size() - first));
            blocks.resize(first + shape.blocks);
        }
    }
};

static Gradients reference_of(const BackwardInputs<bf16> &in, const Shape &shape)
{
    Gradients all(in.q.size(), in.k.size());
    for (size_t row = 0; row < shape.heads * shape.length; row++) {
        const size_t head = row / shape.length, kv_head = head / (shape.heads / shape.kv_heads);
        std::vector<size_t> others;
        for (size_t block = 0; block < shape.blocks; block++)
            for (int i = 0; shape.sees(head, row % shape.length / BLOCK, block) && i < shape.tokens_of(block); i++)
                others.push_back((kv_head * shape.length + block * BLOCK + i) * SIZE);
        add_gradients(in, row * SIZE, others, all);
    }
    return all;
}

/* [head][token][number], and [head][token] for what the kernels keep of a row. */
struct Memory {
    bf16 *q, *k, *v, *d_o, *o;
    float *l, *d, *dq, *dk, *dv;
    int *sizes;
};

static Memory memory_of(const BackwardInputs<bf16> &in, const Shape &shape)
{
    std::vector<int> sizes;
    for (size_t block = 0; block < shape.blocks; block++)
        sizes.push_back(shape.tokens_of(block));
    const size_t rows = shape.heads * shape.length;
    const std::vector<float> of_q(in.q.size()), of_k(in.k.size()), of_row(rows);
    return {on_device(in.q),
            on_device(in.k),
            on_device(in.v),
            on_device(in.d_o),
            on_device(std::vector<bf16>(in.q.size())),
            on_device(of_row),
            on_device(of_row),
            on_device(of_q),
            on_device(of_k),
            on_device(of_k),
            on_device(sizes)};
}

template <typename Kernel, typename Globals>
static void start(Kernel *kernel, const Shape &shape, int threads, const Globals &globals)
{
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    kernel<<<dim3((unsigned)shape.blocks, (unsigned)shape.heads, 1), threads, SHARED_BYTES>>>(globals);
    must(cudaGetLastError());
}

static void start_all(const Memory &to, const Shape &shape)
{
    const size_t one = 1, heads = shape.heads, kv_heads = shape.kv_heads, length = shape.length, size = SIZE;
    const int rows = (int)length, shared_by = (int)(heads / kv_heads), blocks = (int)shape.blocks;
    const Table of_q(shape, false), of_k(shape, true);
    start(fwd_attend_ker<SIZE>, shape, 128,
          Forward{Forward::q_gl{to.q, one, heads, length, size}, Forward::k_gl{to.k, one, kv_heads, length, size},
                  Forward::v_gl{to.v, one, kv_heads, length, size}, Forward::l_gl{to.l, one, heads, one, length},
                  Forward::o_gl{to.o, one, heads, length, size}, rows, shared_by, blocks, on_device(of_q.blocks),
                  on_device(of_q.counts), to.sizes});
    start(bwd_attend_prep_ker<SIZE>, shape, 32 * PREP_NUM_WARPS,
          Prepare{Prepare::og_gl{to.d_o, one, heads, length, size}, Prepare::o_gl{to.o, one, heads, length, size},
                  Prepare::d_gl{to.d, one, heads, one, length}});
    start(bwd_attend_ker<SIZE>, shape, 128,
          Backward{Backward::q_gl{to.q, one, heads, length, size}, Backward::k_gl{to.k, one, kv_heads, length, size},
                   Backward::v_gl{to.v, one, kv_heads, length, size}, Backward::og_gl{to.d_o, one, heads, length, size},
                   Backward::qg_gl{to.dq, one, heads, length, size},
                   Backward::kg_gl{to.dk, one, kv_heads, length, size},
                   Backward::vg_gl{to.dv, one, kv_heads, length, size}, Backward::l_gl{to.l, one, heads, one, length},
                   Backward::d_gl{to.d, one, heads, one, length}, rows, shared_by, blocks, on_device(of_k.blocks),
                   on_device(of_k.counts), to.sizes});
}

int main(int argc, char **argv)
{
    const size_t heads = argc > 1 ? atoi(argv[1]) : 2, kv_heads = argc > 2 ? atoi(argv[2]) : 1;
    const size_t blocks = argc > 3 ? atoi(argv[3]) : 5, head_count = blocks * BLOCK * SIZE;
    const Shape shape = {heads, kv_heads, blocks, blocks * BLOCK};
    const std::vector<bf16> q = random_numbers<bf16>(heads * head_count, 1);
    const std::vector<bf16> k = random_numbers<bf16>(kv_heads * head_count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(kv_heads * head_count, 3);
    const std::vector<bf16> d_o = random_numbers<bf16>(heads * head_count, 4);
    const BackwardInputs<bf16> in = {SIZE, 0.125, q, k, v, d_o};
    const Memory memory = memory_of(in, shape);
    start_all(memory, shape);
    const Gradients reference = reference_of(in, shape);
    std::vector<float> got, wanted;
    append(got, from_device(memory.dq, q.size()));
    append(got, from_device(memory.dk, k.size()));
    append(got, from_device(memory.dv, v.size()));
    append(got, from_device(memory.o, q.size()));
    for (const std::vector<float> *part : {&reference.dq, &reference.dk, &reference.dv, &reference.o})
        append(wanted, *part);
    return compare(wanted, got, 0.03f);
}
