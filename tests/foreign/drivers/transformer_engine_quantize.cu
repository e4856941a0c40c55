/* transformer_engine_quantize.cu - Transformer Engine's cast of two matrices to fp8 in blocks of 128 x 128, as rows and
 * transposed, common/cast/fp8_blockwise/group_quantize_fp8_blockwise.cuh, on a small size.
 *
 * A CTA copies a block with one bulk copy.  The program reads no file.  It prints the largest difference of the numbers
 * that the fp8 numbers and the scales stand for.
 *
 *     nvcc -std=c++17 -O3 --expt-relaxed-constexpr -I HEADERS -I HEADERS/common/include transformer_engine_quantize.cu
 *          -lcuda
 *
 * HEADERS: common_headers in the unpacked source package transformer_engine_torch.  ../run.py names the version.
 */
#include "common/cast/fp8_blockwise/group_quantize_fp8_blockwise.cuh"

#include "tensor_map.h"

enum { BLOCK = 128, THREADS = 256, MATRICES = 2, ALIGNMENT = 128 };

typedef __nv_bfloat16 bf16;
typedef __nv_fp8_e4m3 fp8;

int main(int argc, char **argv)
{
    namespace te = transformer_engine::dispatch::fp8_blockwise;
    const int rows = argc > 1 ? atoi(argv[1]) : 256, columns = argc > 2 ? atoi(argv[2]) : 512;
    const int row_blocks = rows / BLOCK, column_blocks = columns / BLOCK, all_row_blocks = MATRICES * row_blocks;
    const int stride = (column_blocks + 3) / 4 * 4, stride_t = (row_blocks + 3) / 4 * 4;
    const size_t one = (size_t)rows * columns, count = MATRICES * one;
    const std::vector<bf16> numbers = random_numbers<bf16>(count, 1);
    fp8 *const quantized = on_device(std::vector<fp8>(count)), *const transposed = on_device(std::vector<fp8>(count));
    float *const scales = on_device(std::vector<float>((size_t)all_row_blocks * stride));
    float *const scales_t = on_device(std::vector<float>((size_t)MATRICES * column_blocks * stride_t));
    const CUtensorMap map = map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, sizeof(bf16), on_device(numbers), MATRICES * rows,
                                   columns, BLOCK, BLOCK, CU_TENSOR_MAP_SWIZZLE_NONE);
    const unsigned shared_bytes = BLOCK * BLOCK * sizeof(bf16) + ALIGNMENT;
    auto *const kernel = te::group_block_scaled_2d_tma_kernel<true, true, true, float, bf16, fp8>;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
    kernel<<<dim3(column_blocks, all_row_blocks), THREADS, shared_bytes>>>(
        map, quantized, transposed, scales, scales_t, nullptr, MATRICES, row_blocks, columns, all_row_blocks,
        column_blocks, stride, 0.0f, false, nullptr, nullptr);
    must(cudaGetLastError());
    const std::vector<fp8> q = from_device(quantized, count), t = from_device(transposed, count);
    const std::vector<float> s = from_device(scales, (size_t)all_row_blocks * stride);
    const std::vector<float> s_t = from_device(scales_t, (size_t)MATRICES * column_blocks * stride_t);
    std::vector<float> wanted(2 * count), got(2 * count);
    for (size_t i = 0; i < count; i++) {
        const size_t matrix = i / one, row = i % one / columns, column = i % columns;
        wanted[i] = wanted[count + i] = (float)numbers[i];
        got[i] = (float)q[i] * s[(matrix * row_blocks + row / BLOCK) * stride + column / BLOCK];
        got[count + i] = (float)t[matrix * one + column * rows + row] *
                         s_t[(matrix * column_blocks + column / BLOCK) * stride_t + row / BLOCK];
    }
    return compare(
        wanted, [&](size_t i) { return got[i]; }, 0.04f);
}
