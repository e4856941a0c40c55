/* flashinfer_mla_swa.cu - FlashInfer's decode attention with a sliding window, attention/mla_swa_sm90, on a small size.
 *
 * Each of two requests has one query token with 64 heads, and one latent K/V head in pages of 64 tokens.  One warpgroup
 * computes scores and copies pages into shared memory; the others multiply with V.  TACTIC names a class of config.cuh.
 * With M32S2, the default, the two CTAs of a cluster share the pages, and swap parts of the output by mbarriers of the
 * other CTA.  With M16S2 they swap them by cluster barriers, and copy pages ahead.  The program reads no file.  It
 * prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-relaxed-constexpr --use_fast_math -I PACKAGES/flashinfer/data/include
 *          -I PACKAGES/flashinfer/data/cutlass/include flashinfer_mla_swa.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts flashinfer-python.  ../run.py names the
 * version.
 */
#include <flashinfer/attention/mla_swa_sm90/launch.cuh>

#include "attention.h"
#include "check.h"

#ifndef TACTIC
#define TACTIC M32S2
#endif

enum { REQUESTS = 2, HEADS = 64, PAGE = 64, DIMENSION = 1088, V_DIMENSION = 1024, WINDOW = 513 };

typedef cutlass::bfloat16_t bf16;

int main(int argc, char **argv)
{
    namespace swa = flashinfer::mla_swa_sm90;
    const int longest = argc > 1 ? atoi(argv[1]) : 300, pages = (longest + PAGE - 1) / PAGE;
    const std::vector<int> lengths = {longest, longest / 2};
    std::vector<int> table;
    for (int i = 0; i < REQUESTS * pages; i++)
        table.push_back(REQUESTS * pages - 1 - i);
    const std::vector<bf16> q = random_numbers<bf16>(REQUESTS * HEADS * DIMENSION, 1);
    const std::vector<bf16> k = random_numbers<bf16>(table.size() * PAGE * DIMENSION, 2);
    const size_t count = (size_t)REQUESTS * HEADS * V_DIMENSION;
    bf16 *const o = on_device(std::vector<bf16>(count, bf16(0.0f)));
    swa::Arguments all = {};
    all.q = on_device(q), all.kv = on_device(k), all.out = o;
    all.table = on_device(table), all.lengths = on_device(lengths);
    all.batch = REQUESTS, all.sq = 1, all.heads = HEADS, all.pages = (int)table.size();
    all.table_cols = pages, all.window = WINDOW, all.scale = 1.0f / 33;
    all.q_stride_b = HEADS * DIMENSION, all.table_stride_b = pages;
    all.workspace = on_device(std::vector<char>(swa::workspace_bytes(REQUESTS * HEADS)));
    must(swa::launch<mla_swa::TACTIC>(all));
    const std::vector<bf16> got = from_device(o, count);
    std::vector<float> wanted(count);
    for (int request = 0; request < REQUESTS; request++)
        for (int head = 0; head < HEADS; head++) {
            const size_t row = (size_t)request * HEADS + head;
            const int length = lengths[request], first = length > WINDOW ? length - WINDOW : 0;
            auto key = [&](int at, int i) {
                const int token = first + at;
                return (float)k[((size_t)table[request * pages + token / PAGE] * PAGE + token % PAGE) * DIMENSION + i];
            };
            attend(
                length - first, DIMENSION, V_DIMENSION, all.scale, [&](int i) { return (float)q[row * DIMENSION + i]; },
                key, key, &wanted[row * V_DIMENSION]);
        }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.02f);
}
