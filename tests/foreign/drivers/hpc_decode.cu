/* hpc_decode.cu - attention of Tencent/hpc-ops for one new token of each sequence over K and V in blocks,
 * src/attention/decode/sm90/dynamic, on three sequences.
 *
 * Three kernels follow each other by programmatic dependent launch.  The first one makes a list of tasks for each CTA;
 * its CTAs wait for one another through global memory.  In the second one, one warp copies and one warpgroup computes,
 * with full and empty mbarriers for Q, K and V, and a named barrier; a stage of K or V comes by several copies.  The
 * third one joins the parts of a sequence.  The program reads no file.  It prints the largest difference between its
 * result and the host's.
 *
 *     nvcc -std=c++17 -O3 --expt-extended-lambda -DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED -I CHECKOUT
 *          -I CHECKOUT/3rd/cutlass/include hpc_decode.cu -lcuda
 */
#include "src/attention/decode/assign_task.cu"
#include "src/attention/decode/sm90/dynamic/smallm_bf16_dim128_dynamic.cu"
#include "src/utils/utils.cc"

#include <numeric>

#include <cuda_bf16.h>

#include "attention.h"
#include "check.h"

enum { SIZE = 128, BLOCK = 32, KV_HEADS = 2, GROUP = 8, HEADS = KV_HEADS * GROUP, TOKEN = KV_HEADS * SIZE };
enum { TILE = 64, CTAS_OF_MULTIPROCESSOR = 4 };

typedef __nv_bfloat16 bf16;

/* Each block once, mixed. */
static std::vector<int> table_of(int blocks)
{
    int step = 7;
    while (std::gcd(step, blocks) != 1)
        step++;
    std::vector<int> all;
    for (int i = 0; i < blocks; i++)
        all.push_back((i * step + 3) % blocks);
    return all;
}

/* Memory for the lists of tasks; in front, what the first kernel needs to know. */
static int *tasks_for(int batches)
{
    std::vector<int> all(1 << 16);
    all[2] = KV_HEADS, all[3] = batches, all[4] = 1 << 18;
    return on_device(all);
}

int main(int argc, char **argv)
{
    using namespace hpc::attention::decode;
    std::vector<int> sizes = {700, 90, 333};
    for (int i = 1; i < argc && i <= (int)sizes.size(); i++)
        sizes[i - 1] = atoi(argv[i]);
    const int batches = (int)sizes.size(), longest = *std::max_element(sizes.begin(), sizes.end());
    const int blocks_of = (longest + BLOCK - 1) / BLOCK, blocks = batches * blocks_of;
    const int ctas = hpc::get_sm_count() * CTAS_OF_MULTIPROCESSOR;
    const std::vector<int> table = table_of(blocks);
    const size_t count = (size_t)batches * HEADS * SIZE, kv_count = (size_t)blocks * BLOCK * TOKEN;
    const std::vector<bf16> q = random_numbers<bf16>(count, 1), k = random_numbers<bf16>(kv_count, 2);
    const std::vector<bf16> v = random_numbers<bf16>(kv_count, 3);
    int *const tasks = tasks_for(batches);
    bf16 *const o = on_device(std::vector<bf16>(count));
    assign_attention_decode_task_async(tasks, on_device(sizes), ctas, batches, KV_HEADS, 1, TILE, true, TILE, 0);
    if (!smallm_bf16_dim128_dynamic_async(o, on_device(std::vector<float>((size_t)batches * ctas * HEADS)),
                                          on_device(std::vector<float>(count * ctas)), tasks, on_device(q),
                                          on_device(k), on_device(v), on_device(table), ctas, batches, 1, HEADS,
                                          KV_HEADS, KV_HEADS, SIZE, SIZE, blocks, BLOCK, blocks_of, HEADS * SIZE,
                                          BLOCK * TOKEN, TOKEN, SIZE, BLOCK * TOKEN, TOKEN, SIZE, 0))
        must(cudaErrorNotSupported);
    must(cudaGetLastError());
    std::vector<float> wanted(count);
    for (int row = 0; row < batches * HEADS; row++) {
        const int batch = row / HEADS, head = row % HEADS / GROUP;
        auto at = [&](int token, int i) {
            const size_t block = table[batch * blocks_of + token / BLOCK];
            return ((block * BLOCK + token % BLOCK) * KV_HEADS + head) * SIZE + i;
        };
        attend(
            sizes[batch], SIZE, SIZE, 1 / std::sqrt((double)SIZE), [&](int i) { return (float)q[row * SIZE + i]; },
            [&](int token, int i) { return (float)k[at(token, i)]; },
            [&](int token, int i) { return (float)v[at(token, i)]; }, &wanted[row * SIZE]);
    }
    return compare(wanted, from_device(o, count), 0.02f);
}
