/* tensor_map.h - makes tensor maps of matrices and of tensors with up to five axes, copied in boxes; launches a kernel
 * in clusters. */
#ifndef WSDBG_TESTS_FOREIGN_TENSOR_MAP_H
#define WSDBG_TESTS_FOREIGN_TENSOR_MAP_H

#include <cuda.h>

#include "check.h"

/* Sizes and boxes begin with the axis whose numbers lie next to each other; strides, in bytes, are those of the others.
 */
template <size_t RANK>
CUtensorMap encoded(CUtensorMapDataType type, void *memory, const cuuint64_t (&sizes)[RANK],
                    const cuuint64_t (&strides)[RANK - 1], const cuuint32_t (&box)[RANK],
                    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B)
{
    CUtensorMap map;
    const cuuint32_t steps[] = {1, 1, 1, 1, 1};
    if (cuTensorMapEncodeTiled(&map, type, RANK, memory, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                               swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) {
        printf("Failed: no tensor map\n");
        exit(1);
    }
    return map;
}

/* A row-major matrix of `rows` x `columns`. */
inline CUtensorMap map_of(CUtensorMapDataType type, unsigned element_bytes, void *memory, unsigned rows,
                          unsigned columns, unsigned box_rows, unsigned box_columns,
                          CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B)
{
    const cuuint64_t sizes[] = {columns, rows}, strides[] = {(cuuint64_t)columns * element_bytes};
    const cuuint32_t box[] = {box_columns, box_rows};
    return encoded(type, memory, sizes, strides, box, swizzle);
}

/* Launches the kernel in clusters of `cluster` CTAs with `shared_bytes` of dynamic shared memory.  is_early: it may
 * begin before the kernel that precedes it in the stream has ended (programmatic dependent launch). */
template <typename Kernel, typename... Arguments>
void launch_on(cudaStream_t stream, bool is_early, Kernel *kernel, unsigned ctas, unsigned threads, unsigned cluster,
               unsigned shared_bytes, Arguments... arguments)
{
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {cluster, 1, 1};
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = ctas;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = is_early ? 2 : 1;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
    must(cudaLaunchKernelEx(&config, kernel, arguments...));
}

template <typename Kernel, typename... Arguments>
void launch(Kernel *kernel, unsigned ctas, unsigned threads, unsigned cluster, unsigned shared_bytes,
            Arguments... arguments)
{
    launch_on(nullptr, false, kernel, ctas, threads, cluster, shared_bytes, arguments...);
}

#endif
