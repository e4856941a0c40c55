/* flashinfer_xqa.cu - the decode attention kernel for sm_90 of flashinfer-ai/flashinfer, csrc/xqa, on a small size.
 *
 * Two requests, one query token with 16 heads in fp16 each; two K/V heads of 128 dimensions in fp8, in pages of 32
 * tokens.  As if for a chip of 24 multiprocessors, several CTAs share a request and the last one combines their parts.
 * The program reads no file.  It prints the largest difference between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DNDEBUG --expt-relaxed-constexpr -I CHECKOUT/csrc/xqa flashinfer_xqa.cu -lcuda
 */
#include "mha_sm90.cu"
#include "tensorMap.cpp"

#include "attention.h"
#include "check.h"

enum { REQUESTS = 2, KV_HEADS = 2, HEADS = KV_HEADS * HEAD_GRP_SIZE, PAGE = TOKENS_PER_PAGE, DIMENSION = HEAD_ELEMS };
enum { MULTIPROCESSORS = 24, SCRATCH_BYTES = 16 << 20, SEMAPHORES = 1024 };

int main(int argc, char **argv)
{
    const int length = argc > 1 ? atoi(argv[1]) : 500, pages = (length + PAGE - 1) / PAGE;
    const std::vector<uint32_t> lengths = {(uint32_t)length, (uint32_t)length - 3};
    std::vector<int> table;
    for (int i = 0; i < REQUESTS * pages; i++)
        table.push_back(REQUESTS * pages - 1 - i);
    const size_t token_stride = KV_HEADS * DIMENSION, page_stride = PAGE * token_stride;
    const std::vector<InputElem> q = random_numbers<InputElem>(REQUESTS * HEADS * DIMENSION, 1);
    const std::vector<CacheElem> k = random_numbers<CacheElem>(table.size() * page_stride, 2);
    const std::vector<CacheElem> v = random_numbers<CacheElem>(k.size(), 3);
    InputElem *const o = on_device(std::vector<InputElem>(q.size(), InputElem(0.0f)));
    launchHopperF8MHAFlashInfer(
        MULTIPROCESSORS, KV_HEADS, 0, 1, nullptr, (OutputHead *)o, (const InputHead *)on_device(q), nullptr,
        (GMemCacheHead *)on_device(k), (GMemCacheHead *)on_device(v), on_device(table), pages * PAGE,
        on_device(lengths), REQUESTS, 1, nullptr, on_device(std::vector<uint32_t>(SEMAPHORES)),
        on_device(std::vector<char>(SCRATCH_BYTES)), false, page_stride, token_stride, DIMENSION, nullptr);
    must(cudaGetLastError());
    const std::vector<InputElem> got = from_device(o, q.size());
    std::vector<float> wanted(q.size());
    for (int request = 0; request < REQUESTS; request++)
        for (int head = 0; head < HEADS; head++) {
            const size_t row = ((size_t)request * HEADS + head) * DIMENSION;
            const auto row_of = [&](int token) {
                return table[request * pages + token / PAGE] * page_stride + token % PAGE * token_stride +
                       head / HEAD_GRP_SIZE * DIMENSION;
            };
            attend((int)lengths[request], DIMENSION, DIMENSION, 1 / std::sqrt((double)DIMENSION),
                   [&](int i) { return (float)q[row + i]; }, [&](int at, int i) { return (float)k[row_of(at) + i]; },
                   [&](int at, int i) { return (float)v[row_of(at) + i]; }, &wanted[row]);
        }
    return compare(
        wanted, [&](size_t i) { return (float)got[i]; }, 0.03f);
}
