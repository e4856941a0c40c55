/* copy.c - copies and fills.  The driver tells host memory from a device's by the address, so the kind of a copy only
 * has to be one. */
#include "libcudart/runtime.h"

enum { COPY_KINDS = 5, COPY_HOST_TO_DEVICE = 1, COPY_DEVICE_TO_HOST = 2, COPY_DEVICE_TO_DEVICE = 3, COPY_DEFAULT = 4 };

static CUdeviceptr address_of(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static bool is_kind(int kind)
{
    return kind >= 0 && kind < COPY_KINDS;
}

static cudaError_t copy(void *to, const void *from, size_t byte_count, int kind, CUstream default_stream)
{
    if (!is_kind(kind))
        return runtime_fail(cudaErrorInvalidMemcpyDirection);
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS || byte_count == 0)
        return runtime_done(result);
    return runtime_done(default_stream ? cuMemcpy_ptds(address_of(to), address_of(from), byte_count)
                                       : cuMemcpy(address_of(to), address_of(from), byte_count));
}

STREAM_RUNTIME(cudaMemcpy, _ptds, (void *to, const void *from, size_t byte_count, int kind), copy, to, from, byte_count,
               kind)

static cudaError_t copy_async(void *to, const void *from, size_t byte_count, int kind, CUstream stream,
                              CUstream default_stream)
{
    if (!is_kind(kind))
        return runtime_fail(cudaErrorInvalidMemcpyDirection);
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS || byte_count == 0)
        return runtime_done(result);
    return runtime_done(
        cuMemcpyAsync(address_of(to), address_of(from), byte_count, runtime_stream(stream, default_stream)));
}

STREAM_RUNTIME(cudaMemcpyAsync, _ptsz, (void *to, const void *from, size_t byte_count, int kind, CUstream stream),
               copy_async, to, from, byte_count, kind, stream)

RUNTIME(cudaMemcpyPeer, void *to, int to_device, const void *from, int from_device, size_t byte_count)
{
    (void)to_device, (void)from_device;
    return cudaMemcpy(to, from, byte_count, COPY_DEFAULT);
}

RUNTIME(cudaMemcpyPeerAsync, void *to, int to_device, const void *from, int from_device, size_t byte_count,
        CUstream stream)
{
    (void)to_device, (void)from_device;
    return cudaMemcpyAsync(to, from, byte_count, COPY_DEFAULT, stream);
}

static struct cu_copy_2d rectangle(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width_bytes,
                                   size_t height)
{
    return (struct cu_copy_2d){
        .from = {.memory_type = CU_MEMORYTYPE_UNIFIED, .device = address_of(from), .pitch_bytes = from_pitch},
        .to = {.memory_type = CU_MEMORYTYPE_UNIFIED, .device = address_of(to), .pitch_bytes = to_pitch},
        .width_bytes = width_bytes,
        .height = height};
}

static cudaError_t check_rectangle(size_t to_pitch, size_t from_pitch, size_t width_bytes, int kind)
{
    if (!is_kind(kind))
        return runtime_fail(cudaErrorInvalidMemcpyDirection);
    if (width_bytes > to_pitch || width_bytes > from_pitch)
        return runtime_fail(cudaErrorInvalidPitchValue);
    return runtime_done(runtime_enter());
}

static cudaError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width_bytes,
                           size_t height, int kind, CUstream default_stream)
{
    const struct cu_copy_2d all = rectangle(to, to_pitch, from, from_pitch, width_bytes, height);
    const cudaError_t error = check_rectangle(to_pitch, from_pitch, width_bytes, kind);
    if (error || !width_bytes || !height)
        return error;
    return runtime_done(default_stream ? cuMemcpy2D_v2_ptds(&all) : cuMemcpy2D_v2(&all));
}

STREAM_RUNTIME(cudaMemcpy2D, _ptds,
               (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width_bytes, size_t height,
                int kind),
               copy_2d, to, to_pitch, from, from_pitch, width_bytes, height, kind)

static cudaError_t copy_2d_async(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width_bytes,
                                 size_t height, int kind, CUstream stream, CUstream default_stream)
{
    const struct cu_copy_2d all = rectangle(to, to_pitch, from, from_pitch, width_bytes, height);
    const cudaError_t error = check_rectangle(to_pitch, from_pitch, width_bytes, kind);
    if (error || !width_bytes || !height)
        return error;
    return runtime_done(cuMemcpy2DAsync_v2(&all, runtime_stream(stream, default_stream)));
}

STREAM_RUNTIME(cudaMemcpy2DAsync, _ptsz,
               (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width_bytes, size_t height,
                int kind, CUstream stream),
               copy_2d_async, to, to_pitch, from, from_pitch, width_bytes, height, kind, stream)

static cudaError_t fill(void *to, int value, size_t count, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS || count == 0)
        return runtime_done(result);
    return runtime_done(default_stream ? cuMemsetD8_v2_ptds(address_of(to), (unsigned char)value, count)
                                       : cuMemsetD8_v2(address_of(to), (unsigned char)value, count));
}

STREAM_RUNTIME(cudaMemset, _ptds, (void *to, int value, size_t count), fill, to, value, count)

static cudaError_t fill_async(void *to, int value, size_t count, CUstream stream, CUstream default_stream)
{
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS || count == 0)
        return runtime_done(result);
    return runtime_done(
        cuMemsetD8Async(address_of(to), (unsigned char)value, count, runtime_stream(stream, default_stream)));
}

STREAM_RUNTIME(cudaMemsetAsync, _ptsz, (void *to, int value, size_t count, CUstream stream), fill_async, to, value,
               count, stream)

static cudaError_t fill_2d(void *to, size_t pitch_bytes, int value, size_t width, size_t height,
                           CUstream default_stream)
{
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS || !width || !height)
        return runtime_done(result);
    return runtime_done(default_stream
                            ? cuMemsetD2D8_v2_ptds(address_of(to), pitch_bytes, (unsigned char)value, width, height)
                            : cuMemsetD2D8_v2(address_of(to), pitch_bytes, (unsigned char)value, width, height));
}

STREAM_RUNTIME(cudaMemset2D, _ptds, (void *to, size_t pitch_bytes, int value, size_t width, size_t height), fill_2d, to,
               pitch_bytes, value, width, height)

static cudaError_t fill_2d_async(void *to, size_t pitch_bytes, int value, size_t width, size_t height, CUstream stream,
                                 CUstream default_stream)
{
    const CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS || !width || !height)
        return runtime_done(result);
    return runtime_done(cuMemsetD2D8Async(address_of(to), pitch_bytes, (unsigned char)value, width, height,
                                          runtime_stream(stream, default_stream)));
}

STREAM_RUNTIME(cudaMemset2DAsync, _ptsz,
               (void *to, size_t pitch_bytes, int value, size_t width, size_t height, CUstream stream), fill_2d_async,
               to, pitch_bytes, value, width, height, stream)

/* The part of a variable that a copy means; an error where it is not within. */
static cudaError_t part_of(const void *symbol, size_t byte_count, size_t offset, CUdeviceptr *out)
{
    size_t size;
    const cudaError_t error = runtime_symbol(symbol, out, &size);
    if (!error && (offset > size || byte_count > size - offset))
        return runtime_fail(cudaErrorInvalidValue);
    *out += error ? 0 : offset;
    return error;
}

static cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t byte_count, size_t offset, int kind,
                                  CUstream default_stream)
{
    CUdeviceptr to = 0;
    if (kind != COPY_HOST_TO_DEVICE && kind != COPY_DEVICE_TO_DEVICE && kind != COPY_DEFAULT)
        return runtime_fail(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = part_of(symbol, byte_count, offset, &to);
    return error ? error : copy((void *)(uintptr_t)to, from, byte_count, kind, default_stream);
}

STREAM_RUNTIME(cudaMemcpyToSymbol, _ptds,
               (const void *symbol, const void *from, size_t byte_count, size_t offset, int kind), copy_to_symbol,
               symbol, from, byte_count, offset, kind)

static cudaError_t copy_to_symbol_async(const void *symbol, const void *from, size_t byte_count, size_t offset,
                                        int kind, CUstream stream, CUstream default_stream)
{
    CUdeviceptr to = 0;
    if (kind != COPY_HOST_TO_DEVICE && kind != COPY_DEVICE_TO_DEVICE && kind != COPY_DEFAULT)
        return runtime_fail(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = part_of(symbol, byte_count, offset, &to);
    return error ? error : copy_async((void *)(uintptr_t)to, from, byte_count, kind, stream, default_stream);
}

STREAM_RUNTIME(cudaMemcpyToSymbolAsync, _ptsz,
               (const void *symbol, const void *from, size_t byte_count, size_t offset, int kind, CUstream stream),
               copy_to_symbol_async, symbol, from, byte_count, offset, kind, stream)

static cudaError_t copy_from_symbol(void *to, const void *symbol, size_t byte_count, size_t offset, int kind,
                                    CUstream default_stream)
{
    CUdeviceptr from = 0;
    if (kind != COPY_DEVICE_TO_HOST && kind != COPY_DEVICE_TO_DEVICE && kind != COPY_DEFAULT)
        return runtime_fail(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = part_of(symbol, byte_count, offset, &from);
    return error ? error : copy(to, (const void *)(uintptr_t)from, byte_count, kind, default_stream);
}

STREAM_RUNTIME(cudaMemcpyFromSymbol, _ptds, (void *to, const void *symbol, size_t byte_count, size_t offset, int kind),
               copy_from_symbol, to, symbol, byte_count, offset, kind)

static cudaError_t copy_from_symbol_async(void *to, const void *symbol, size_t byte_count, size_t offset, int kind,
                                          CUstream stream, CUstream default_stream)
{
    CUdeviceptr from = 0;
    if (kind != COPY_DEVICE_TO_HOST && kind != COPY_DEVICE_TO_DEVICE && kind != COPY_DEFAULT)
        return runtime_fail(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = part_of(symbol, byte_count, offset, &from);
    return error ? error : copy_async(to, (const void *)(uintptr_t)from, byte_count, kind, stream, default_stream);
}

STREAM_RUNTIME(cudaMemcpyFromSymbolAsync, _ptsz,
               (void *to, const void *symbol, size_t byte_count, size_t offset, int kind, CUstream stream),
               copy_from_symbol_async, to, symbol, byte_count, offset, kind, stream)
