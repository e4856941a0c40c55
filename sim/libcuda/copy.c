/* copy.c - cuMemcpy in all its forms: checked, then queued in its stream.
 *
 * As with the driver, memory of the host that is neither allocated nor registered here ("pageable") may be reused when
 * the call returns: short sources are copied aside, for all else the call waits.
 */
#include <stdlib.h>
#include <string.h>

#include "libcuda/copy.h"
#include "libcuda/memory.h"
#include "libcuda/queue.h"

enum { STAGED_MOST_BYTES = 64 << 10 };

/* What a copy reaches of one side's memory; false: more than an address space. */
static bool reach(size_t width_bytes, size_t height, size_t depth, size_t pitch, size_t slice, size_t *out)
{
    size_t rows, slices, reached;
    return !__builtin_mul_overflow(height - 1, pitch, &rows) && !__builtin_mul_overflow(depth - 1, slice, &slices) &&
           !__builtin_add_overflow(rows, slices, &reached) && !__builtin_add_overflow(reached, width_bytes, out);
}

/* Whether the side lies in memory that kernels may use; device memory must. */
static CUresult check_side(const void *address, size_t byte_count, bool must_be_known, bool *is_known)
{
    const uint64_t first = (uintptr_t)address;
    if (!address || first + byte_count < first)
        return CUDA_ERROR_INVALID_VALUE;
    *is_known = memory_is_known(first, byte_count);
    return must_be_known && !*is_known ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

enum side { SIDE_HOST, SIDE_DEVICE, SIDE_EITHER };

struct request {
    struct copy_operation copy;
    enum side from, to;
    bool returns_when_done;
};

static CUresult stage(struct copy_operation *copy, size_t reached)
{
    copy->staged = malloc(reached);
    if (!copy->staged)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy->staged, copy->from, reached);
    copy->from = copy->staged;
    return CUDA_SUCCESS;
}

static CUresult queue_copy(struct stream *stream, struct request *request)
{
    struct copy_operation *copy = &request->copy;
    size_t from_reach = 0, to_reach = 0;
    bool from_known = false, to_known = false;
    if (!copy->width_bytes || !copy->height || !copy->depth)
        return CUDA_SUCCESS;
    if (!reach(copy->width_bytes, copy->height, copy->depth, copy->from_pitch, copy->from_slice, &from_reach) ||
        !reach(copy->width_bytes, copy->height, copy->depth, copy->to_pitch, copy->to_slice, &to_reach))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_side(copy->from, from_reach, request->from == SIDE_DEVICE, &from_known);
    if (result == CUDA_SUCCESS)
        result = check_side(copy->to, to_reach, request->to == SIDE_DEVICE, &to_known);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture && request->returns_when_done)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    bool waits = request->returns_when_done || !to_known;
    if (!from_known && from_reach > STAGED_MOST_BYTES)
        waits = true;
    if (!from_known && !waits && !stream->capture && stage(copy, from_reach) != CUDA_SUCCESS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct operation *operation = operation_create(OPERATION_COPY);
    if (!operation) {
        free(copy->staged);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    operation->copy = *copy;
    return waits && !stream->capture ? queue_add_and_wait(stream, operation) : queue_add(stream, operation);
}

static CUresult enter_and_copy(struct request *request, CUstream handle, bool per_thread)
{
    struct stream *stream;
    const CUresult result = stream_enter(handle, per_thread, &stream);
    return result == CUDA_SUCCESS ? driver_leave(queue_copy(stream, request)) : result;
}

/* ---- bytes in a row ---- */

static CUresult copy_bytes(const void *to, enum side to_side, const void *from, enum side from_side, size_t byte_count,
                           bool returns_when_done, CUstream stream, bool per_thread)
{
    struct request request = {.copy = {.from = from,
                                       .to = (unsigned char *)(uintptr_t)to,
                                       .width_bytes = byte_count,
                                       .height = 1,
                                       .depth = 1,
                                       .from_pitch = byte_count,
                                       .to_pitch = byte_count},
                              .from = from_side,
                              .to = to_side,
                              .returns_when_done = returns_when_done};
    return enter_and_copy(&request, stream, per_thread);
}

#define DEVICE(address) (const void *)(uintptr_t)(address), SIDE_DEVICE
#define EITHER(address) (const void *)(uintptr_t)(address), SIDE_EITHER
#define HOST(address) (address), SIDE_HOST

STREAM_ENTRY(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr to, const void *from, size_t bytes), copy_bytes, DEVICE(to),
             HOST(from), bytes, true, NULL)
STREAM_ENTRY(cuMemcpyDtoH_v2, _ptds, (void *to, CUdeviceptr from, size_t bytes), copy_bytes, HOST(to), DEVICE(from),
             bytes, true, NULL)
STREAM_ENTRY(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes), copy_bytes, DEVICE(to),
             DEVICE(from), bytes, false, NULL)
STREAM_ENTRY(cuMemcpy, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes), copy_bytes, EITHER(to), EITHER(from),
             bytes, true, NULL)
STREAM_ENTRY(cuMemcpyHtoDAsync_v2, _ptsz, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream), copy_bytes,
             DEVICE(to), HOST(from), bytes, false, stream)
STREAM_ENTRY(cuMemcpyDtoHAsync_v2, _ptsz, (void *to, CUdeviceptr from, size_t bytes, CUstream stream), copy_bytes,
             HOST(to), DEVICE(from), bytes, false, stream)
STREAM_ENTRY(cuMemcpyDtoDAsync_v2, _ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), copy_bytes,
             DEVICE(to), DEVICE(from), bytes, false, stream)
STREAM_ENTRY(cuMemcpyAsync, _ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), copy_bytes,
             EITHER(to), EITHER(from), bytes, false, stream)

/* All contexts are of one device: the contexts say nothing. */
static CUresult copy_peer(CUdeviceptr to, CUcontext in, CUdeviceptr from, CUcontext of, size_t bytes, CUstream stream,
                          bool per_thread)
{
    CUresult result = driver_enter_handle(in, HANDLE_CONTEXT);
    if (result == CUDA_SUCCESS)
        result = driver_leave(handle_is(&driver.handles, of, HANDLE_CONTEXT) ? result : CUDA_ERROR_INVALID_HANDLE);
    if (result != CUDA_SUCCESS)
        return result == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_INVALID_CONTEXT : result;
    return copy_bytes(DEVICE(to), DEVICE(from), bytes, false, stream, per_thread);
}

STREAM_ENTRY(cuMemcpyPeer, _ptds, (CUdeviceptr to, CUcontext in, CUdeviceptr from, CUcontext of, size_t bytes),
             copy_peer, to, in, from, of, bytes, NULL)
STREAM_ENTRY(cuMemcpyPeerAsync, _ptsz,
             (CUdeviceptr to, CUcontext in, CUdeviceptr from, CUcontext of, size_t bytes, CUstream stream), copy_peer,
             to, in, from, of, bytes, stream)

/* ---- rectangles and boxes ---- */

/* Where a side begins. */
static CUresult side_address(const struct cu_copy_side_3d *side, size_t width_bytes, size_t rows, size_t *pitch,
                             size_t *slice, const void **address, enum side *kind)
{
    *kind = side->memory_type == CU_MEMORYTYPE_HOST     ? SIDE_HOST
            : side->memory_type == CU_MEMORYTYPE_DEVICE ? SIDE_DEVICE
                                                        : SIDE_EITHER;
    if (side->memory_type == CU_MEMORYTYPE_ARRAY)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (side->memory_type < CU_MEMORYTYPE_HOST || side->memory_type > CU_MEMORYTYPE_UNIFIED || side->level)
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t base = *kind == SIDE_HOST ? (uintptr_t)side->host : side->device;
    size_t reached, row_end, height = side->height ? side->height : side->y + rows;
    *pitch = side->pitch_bytes ? side->pitch_bytes : side->x_bytes + width_bytes;
    if (__builtin_add_overflow(side->x_bytes, width_bytes, &row_end) || row_end > *pitch ||
        __builtin_mul_overflow(*pitch, height, slice) ||
        !reach(side->x_bytes, side->y + 1, side->z + 1, *pitch, *slice, &reached))
        return CUDA_ERROR_INVALID_VALUE;
    *address = base ? (const void *)(uintptr_t)(base + reached) : NULL;
    return CUDA_SUCCESS;
}

static CUresult describe(const struct cu_copy_3d *box, struct request *out)
{
    const void *from = NULL, *to = NULL;
    if (!box)
        return CUDA_ERROR_INVALID_VALUE;
    out->copy = (struct copy_operation){.width_bytes = box->width_bytes, .height = box->height, .depth = box->depth};
    CUresult result = side_address(&box->from, box->width_bytes, box->height, &out->copy.from_pitch,
                                   &out->copy.from_slice, &from, &out->from);
    if (result == CUDA_SUCCESS)
        result = side_address(&box->to, box->width_bytes, box->height, &out->copy.to_pitch, &out->copy.to_slice, &to,
                              &out->to);
    out->copy.from = from;
    out->copy.to = (unsigned char *)(uintptr_t)to;
    return result;
}

CUresult copy_make(const struct cu_copy_3d *given, struct copy_operation *out)
{
    struct request request = {0};
    size_t from_reach, to_reach;
    bool is_known;
    CUresult result = describe(given, &request);
    const struct copy_operation *copy = &request.copy;
    if (result != CUDA_SUCCESS)
        return result;
    if (!copy->width_bytes || !copy->height || !copy->depth ||
        !reach(copy->width_bytes, copy->height, copy->depth, copy->from_pitch, copy->from_slice, &from_reach) ||
        !reach(copy->width_bytes, copy->height, copy->depth, copy->to_pitch, copy->to_slice, &to_reach))
        return CUDA_ERROR_INVALID_VALUE;
    result = check_side(copy->from, from_reach, request.from == SIDE_DEVICE, &is_known);
    if (result == CUDA_SUCCESS)
        result = check_side(copy->to, to_reach, request.to == SIDE_DEVICE, &is_known);
    *out = *copy;
    return result;
}

static CUresult copy_box(const struct cu_copy_3d *box, bool returns_when_done, CUstream stream, bool per_thread)
{
    struct request request = {0};
    const CUresult result = describe(box, &request);
    if (result != CUDA_SUCCESS)
        return result;
    request.returns_when_done = returns_when_done && (box->from.memory_type != CU_MEMORYTYPE_DEVICE ||
                                                      box->to.memory_type != CU_MEMORYTYPE_DEVICE);
    return enter_and_copy(&request, stream, per_thread);
}

STREAM_ENTRY(cuMemcpy3D_v2, _ptds, (const struct cu_copy_3d *box), copy_box, box, true, NULL)
STREAM_ENTRY(cuMemcpy3DAsync_v2, _ptsz, (const struct cu_copy_3d *box, CUstream stream), copy_box, box, false, stream)

static struct cu_copy_side_3d flat(const struct cu_copy_side_2d *side)
{
    return (struct cu_copy_side_3d){.x_bytes = side->x_bytes,
                                    .y = side->y,
                                    .memory_type = side->memory_type,
                                    .host = side->host,
                                    .device = side->device,
                                    .array = side->array,
                                    .pitch_bytes = side->pitch_bytes};
}

static CUresult copy_rectangle(const struct cu_copy_2d *copy, bool returns_when_done, CUstream stream, bool per_thread)
{
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cu_copy_3d box = {.from = flat(&copy->from),
                                   .to = flat(&copy->to),
                                   .width_bytes = copy->width_bytes,
                                   .height = copy->height,
                                   .depth = 1};
    return copy_box(&box, returns_when_done, stream, per_thread);
}

STREAM_ENTRY(cuMemcpy2D_v2, _ptds, (const struct cu_copy_2d *copy), copy_rectangle, copy, true, NULL)
STREAM_ENTRY(cuMemcpy2DUnaligned_v2, _ptds, (const struct cu_copy_2d *copy), copy_rectangle, copy, true, NULL)
STREAM_ENTRY(cuMemcpy2DAsync_v2, _ptsz, (const struct cu_copy_2d *copy, CUstream stream), copy_rectangle, copy, false,
             stream)
