/* sglang_hicache.cu - SGLang's copies of rows of a K/V cache, kernels/jit/csrc/kvcacheio/hicache_tma.cuh, on a small
 * size.
 *
 * A warp of each CTA fills a ring of stages with bulk copies, four warps empty it: rows that follow each other leave by
 * one bulk copy, others with stores.  The first half of the rows stay in order, the others are mixed.  The program
 * reads no file.  It compares all rows with the host's.
 *
 *     nvcc -std=c++20 -O3 --expt-relaxed-constexpr -DSGL_CUDA_ARCH=900 -I PACKAGES/sglang/kernels/jit/include
 *          -I PACKAGES/sglang/kernels/jit/csrc -I PACKAGES/tvm_ffi/include sglang_hicache.cu -lcuda
 *
 * PACKAGES: the folder into which `pip install --no-deps --target` puts sglang and apache-tvm-ffi.  ../run.py names the
 * versions.
 */
#include "kvcacheio/hicache_tma.cuh"

#include "tensor_map.h"

enum { STAGE_BYTES = 8192, STAGES = 3, STORE_WARPS = 4, THREADS = 32 * (1 + STORE_WARPS), LAYERS = 2, ROW = 256 };

/* A table of the layers' addresses. */
static const uint64_t *table_of(const uint32_t *memory, size_t layer_size)
{
    std::vector<uint64_t> all;
    for (int layer = 0; layer < LAYERS; layer++)
        all.push_back((uint64_t)(memory + layer * layer_size));
    return on_device(all);
}

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 200, ctas = argc > 2 ? atoi(argv[2]) : 3;
    const size_t layer_size = (size_t)rows * ROW, count = LAYERS * layer_size;
    std::vector<uint32_t> keys(count), values(count);
    for (size_t i = 0; i < count; i++) {
        keys[i] = (uint32_t)i * 2654435761u;
        values[i] = ~keys[i];
    }
    std::vector<int64_t> from, to;
    for (int i = 0; i < rows; i++) {
        from.push_back(i < rows / 2 ? i : rows / 2 + rows - 1 - i);
        to.push_back(i);
    }
    std::swap(to[rows - 1], to[rows - 2]);
    uint32_t *const new_keys = on_device(std::vector<uint32_t>(count));
    uint32_t *const new_values = on_device(std::vector<uint32_t>(count));
    sglang::HicacheTmaParams params = {};
    params.k_src = table_of(on_device(keys), layer_size);
    params.v_src = table_of(on_device(values), layer_size);
    params.k_dst = (void *)table_of(new_keys, layer_size);
    params.v_dst = (void *)table_of(new_values, layer_size);
    params.indices_src = on_device(from);
    params.indices_dst = on_device(to);
    params.src_stride = params.dst_stride = params.row_bytes = ROW * sizeof(uint32_t);
    params.length = rows;
    params.num_layers = LAYERS;
    params.units_per_row_magic = ((1ull << 32) + params.row_bytes / 16 - 1) / (params.row_bytes / 16);
    params.src_is_table = params.dst_is_table = params.has_v = true;
    launch(sglang::hicache_tma_transfer_kernel<int64_t, STAGE_BYTES, STAGES, STORE_WARPS>, ctas, THREADS, 1,
           sizeof(sglang::HicacheTmaSmem<STAGE_BYTES, STAGES>), params);
    const std::vector<uint32_t> got_keys = from_device(new_keys, count), got_values = from_device(new_values, count);
    size_t wrong = 0;
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < rows; i++)
            for (int at = 0; at < ROW; at++) {
                const size_t source = layer * layer_size + from[i] * ROW + at;
                const size_t target = layer * layer_size + to[i] * ROW + at;
                wrong += got_keys[target] != keys[source] || got_values[target] != values[source];
            }
    printf("%zu of %zu words differ: %s\n", wrong, count, wrong ? "Failed" : "Passed");
    return wrong != 0;
}
