/* tensorrt_llm_fmha.cu - the warp-specialized attention of TensorRT-LLM's fmha_v2 for sm_90, as FlashInfer ships it: in
 * fp16, on two requests of different lengths with packed Q, K and V.  The attention is causal: a row sees no later
 * rows.
 *
 * One warp takes tiles from a counter in global memory, and passes them to two warpgroups through a ring buffer.  It
 * fills other ring buffers with Q, K and V.  The warpgroups compute in turns, which named barriers keep.  FlashInfer
 * generates the kernel from a template; here a kernel of our own calls the same classes.  The program reads no file.
 * It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-relaxed-constexpr --use_fast_math -I PACKAGES/flashinfer/data/csrc/fmha_v2
 *          -I PACKAGES/flashinfer/data/include tensorrt_llm_fmha.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python.  ../run.py names the
 * version.
 */
#include <algorithm>
#include <cassert>
#include <climits>
#include <string>

#include <cuda.h>
#include <cuda_fp16.h>

/* The package fills descriptors of 64 bytes itself.  The driver's have 128. */
#define cudaTmaDesc ShortTensorMap
#include <fmha/hopper/tma_types.h>
#undef cudaTmaDesc
namespace fmha
{
typedef CUtensorMap cudaTmaDesc;
}

#include <fused_multihead_attention.h>
#include <fused_multihead_attention_utils.h>

#include <fmha/hopper/gmma_descriptor.h>
#include <fmha/hopper/smem_tile.h>
#include <fmha/utils.h>
#include <fmha/hopper/compute_tile.h>

#include <fmha/warpspec/kernel_traits.h>
#include <fmha/warpspec/dma.h>
#include <fmha/warpspec/compute.h>

#include "attention.h"
#include "tensor_map.h"

enum { REQUESTS = 2, HEADS = 4, KV_HEADS = 2, DIMENSION = 128, STEP_Q = 64, STEP_KV = 128, GROUPS = 2 };
enum { TOKEN = (HEADS + 2 * KV_HEADS) * DIMENSION, IS_CAUSAL = 1, BY_COUNTER = 1, PACKED = 0 };

typedef bert::Fused_multihead_attention_params_v2 Params;
typedef fmha::ws::Kernel_traits<fmha::Hopper_hgmma_fp16_traits, STEP_Q, STEP_KV, DIMENSION, DIMENSION, 1, 2, GROUPS, 1,
                                IS_CAUSAL, false, false, true, BY_COUNTER, PACKED>
    Traits;

__global__ __launch_bounds__(Traits::THREADS, 1) void attention(const __grid_constant__ Params params)
{
    extern __shared__ char memory[];
    auto *const shared = reinterpret_cast<Traits::Shared *>(fmha::align_1024(memory));
    shared->init(threadIdx.x == 0);
    __syncthreads();
    const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0), thread = threadIdx.x % 128;
    if (group == GROUPS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        fmha::ws::DMA<Traits>::Device copies(thread == 0);
        if (thread < 32)
            copies.run_packed_qkv(params, shared);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        fmha::ws::Compute<fmha::Hopper_hgmma_fp16_traits, Traits> compute;
        compute.run(group, thread, shared, params);
    }
}

/* Of `heads` heads within each token, in boxes of `rows` tokens of a head. */
static CUtensorMap map_of(__half *memory, int heads, int tokens, int rows)
{
    const cuuint64_t sizes[] = {DIMENSION, (cuuint64_t)heads, (cuuint64_t)tokens};
    const cuuint64_t strides[] = {DIMENSION * sizeof(__half), TOKEN * sizeof(__half)};
    const cuuint32_t box[] = {Traits::D_PER_GROUP, 1, (cuuint32_t)rows};
    return encoded(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, memory, sizes, strides, box);
}

static uint32_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static Params parameters_of(__half *qkv, __half *o, const std::vector<int> &begins, int longest, float scale)
{
    const int tokens = begins.back();
    Params all = {};
    all.tma_desc_q = map_of(qkv, HEADS, tokens, STEP_Q);
    all.tma_desc_k = map_of(qkv + HEADS * DIMENSION, KV_HEADS, tokens, STEP_KV);
    all.tma_desc_v = map_of(qkv + (HEADS + KV_HEADS) * DIMENSION, KV_HEADS, tokens, STEP_KV);
    all.qkv_ptr = qkv, all.o_ptr = o;
    all.b = REQUESTS, all.h = HEADS, all.h_kv = KV_HEADS, all.h_q_per_kv = HEADS / KV_HEADS;
    all.s = longest, all.d = all.dv = DIMENSION;
    all.q_stride_in_bytes = all.k_stride_in_bytes = all.v_stride_in_bytes = TOKEN * sizeof(__half);
    all.o_stride_in_bytes = HEADS * DIMENSION * sizeof(__half);
    all.scale_bmm1 = bits_of(scale * 1.44269504f);
    all.scale_softmax = all.scale_bmm2 = 0x3c003c00; /* two halves of 1 */
    all.cu_q_seqlens = all.cu_kv_seqlens = on_device(begins);
    all.num_tiles_per_head = (longest + STEP_Q * GROUPS - 1) / (STEP_Q * GROUPS);
    all.num_tiles = all.num_tiles_per_head * REQUESTS * HEADS;
    all.tile_id_counter_ptr = on_device(std::vector<uint32_t>(1));
    all.use_balanced_scheduling = true;
    return all;
}

int main(int argc, char **argv)
{
    const int longest = argc > 1 ? atoi(argv[1]) : 300, ctas = argc > 2 ? atoi(argv[2]) : 3;
    const std::vector<int> begins = {0, longest / 2, longest / 2 + longest};
    const int tokens = begins.back();
    const std::vector<__half> qkv = random_numbers<__half>((size_t)tokens * TOKEN, 1);
    const size_t count = (size_t)tokens * HEADS * DIMENSION;
    __half *const o = on_device(std::vector<__half>(count, __half(0.0f)));
    const float scale = 1 / std::sqrt((float)DIMENSION);
    const Params params = parameters_of(on_device(qkv), o, begins, longest, scale);
    must(cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, Traits::BYTES_PER_SMEM));
    attention<<<dim3(1, std::min((uint32_t)ctas, params.num_tiles)), Traits::THREADS, Traits::BYTES_PER_SMEM>>>(params);
    must(cudaGetLastError());
    const std::vector<__half> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int request = 0; request < REQUESTS; request++)
        for (int token = begins[request]; token < begins[request + 1]; token++)
            for (int head = 0; head < HEADS; head++) {
                const size_t kv_head = HEADS + head * KV_HEADS / HEADS;
                const auto number = [&](size_t at, size_t at_head, int i) {
                    return (float)qkv[at * TOKEN + at_head * DIMENSION + i];
                };
                attend(
                    token - begins[request] + 1, DIMENSION, DIMENSION, scale,
                    [&](int i) { return number(token, head, i); },
                    [&](int at, int i) { return number(begins[request] + at, kv_head, i); },
                    [&](int at, int i) { return number(begins[request] + at, kv_head + KV_HEADS, i); },
                    &wanted[((size_t)token * HEADS + head) * DIMENSION]);
            }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
