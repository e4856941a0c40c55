/* fill.c - cuMemset in all its forms. */
#include "libcuda/memory.h"
#include "libcuda/queue.h"

static CUresult fill_rows(CUdeviceptr to, size_t pitch_bytes, uint32_t value, unsigned value_bytes, size_t width,
                          size_t height, CUstream handle, bool per_thread)
{
    struct stream *stream;
    size_t row_bytes, rows_bytes, reached;
    const CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!width || !height)
        return driver_leave(CUDA_SUCCESS);
    if (__builtin_mul_overflow(width, value_bytes, &row_bytes) ||
        __builtin_mul_overflow(height - 1, pitch_bytes, &rows_bytes) ||
        __builtin_add_overflow(rows_bytes, row_bytes, &reached) || (height > 1 && pitch_bytes < row_bytes) ||
        to % value_bytes || pitch_bytes % value_bytes || !memory_is_known(to, reached))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    struct operation *operation = operation_create(OPERATION_FILL);
    if (!operation)
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    operation->fill =
        (struct fill_operation){(unsigned char *)(uintptr_t)to, value, value_bytes, width, height, pitch_bytes};
    return driver_leave(queue_add(stream, operation));
}

#define FILL(bits, type)                                                                                               \
    STREAM_ENTRY(cuMemsetD##bits##_v2, _ptds, (CUdeviceptr to, type value, size_t count), fill_rows, to, 0, value,     \
                 bits / 8, count, 1, NULL)                                                                             \
    STREAM_ENTRY(cuMemsetD##bits##Async, _ptsz, (CUdeviceptr to, type value, size_t count, CUstream stream),           \
                 fill_rows, to, 0, value, bits / 8, count, 1, stream)                                                  \
    STREAM_ENTRY(cuMemsetD2D##bits##_v2, _ptds,                                                                        \
                 (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height), fill_rows, to, pitch, value, \
                 bits / 8, width, height, NULL)                                                                        \
    STREAM_ENTRY(cuMemsetD2D##bits##Async, _ptsz,                                                                      \
                 (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream), fill_rows,  \
                 to, pitch, value, bits / 8, width, height, stream)

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
