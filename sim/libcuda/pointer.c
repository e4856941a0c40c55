/* pointer.c - what cuPointerGetAttribute says about an address.
 *
 * Reads: device and host memory as memory.c finds it.  Writes: the caller's results, of the size each attribute has.
 */
#include "libcuda/memory.h"

#include <string.h>

enum pointer_attribute {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE = 2,
    POINTER_DEVICE_POINTER = 3,
    POINTER_HOST_POINTER = 4,
    POINTER_SYNC_MEMOPS = 6,
    POINTER_BUFFER_ID = 7,
    POINTER_IS_MANAGED = 8,
    POINTER_DEVICE_ORDINAL = 9,
    POINTER_IS_LEGACY_IPC_CAPABLE = 10,
    POINTER_RANGE_START = 11,
    POINTER_RANGE_SIZE = 12,
    POINTER_MAPPED = 13,
    POINTER_ALLOWED_HANDLE_TYPES = 14,
    POINTER_IS_RDMA_CAPABLE = 15,
    POINTER_ACCESS_FLAGS = 16,
    POINTER_MEMPOOL_HANDLE = 17
};

enum { ACCESS_READ_WRITE = 3 };

/* Words of 8, 4 or 1 bytes, as the attribute has them. */
static CUresult give(void *out, uint64_t value, size_t byte_count)
{
    memcpy(out, &value, byte_count);
    return CUDA_SUCCESS;
}

static CUresult give_attribute(void *out, int attribute, CUdeviceptr address, const struct memory_place *place)
{
    switch (attribute) {
    case POINTER_CONTEXT:
        return give(out, (uintptr_t)place->context, sizeof(void *));
    case POINTER_MEMORY_TYPE:
        return give(out, place->host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE, sizeof(unsigned));
    case POINTER_DEVICE_POINTER:
        return give(out, address, sizeof address);
    case POINTER_HOST_POINTER:
        return place->host || place->is_managed ? give(out, address, sizeof address) : CUDA_ERROR_INVALID_VALUE;
    case POINTER_BUFFER_ID:
    case POINTER_RANGE_START:
        return give(out, place->first, sizeof place->first);
    case POINTER_RANGE_SIZE:
        return give(out, place->byte_count, sizeof place->byte_count);
    case POINTER_MAPPED:
        return give(out, 1, sizeof(unsigned char));
    case POINTER_ACCESS_FLAGS:
        return give(out, ACCESS_READ_WRITE, sizeof(int));
    case POINTER_DEVICE_ORDINAL:
        return give(out, 0, sizeof(int));
    case POINTER_IS_MANAGED:
        return give(out, place->is_managed, sizeof(unsigned char));
    case POINTER_SYNC_MEMOPS:
    case POINTER_IS_LEGACY_IPC_CAPABLE:
    case POINTER_IS_RDMA_CAPABLE:
        return give(out, 0, sizeof(unsigned char));
    case POINTER_MEMPOOL_HANDLE:
        return give(out, (uintptr_t)place->pool, sizeof(void *));
    case POINTER_ALLOWED_HANDLE_TYPES:
        return give(out, 0, sizeof(uint64_t));
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

ENTRY(cuPointerGetAttribute, void *out, int attribute, CUdeviceptr address)
{
    struct context *context;
    struct memory_place place;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !memory_find(address, 1, &place))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    return driver_leave(give_attribute(out, attribute, address, &place));
}

/* Of an address that is not the driver's everything is 0, and that is no error. */
ENTRY(cuPointerGetAttributes, unsigned count, const int *attributes, void **out, CUdeviceptr address)
{
    struct context *context;
    struct memory_place place = {0};
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count || !attributes || !out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    const bool is_known = memory_find(address, 1, &place);
    for (unsigned i = 0; i < count; i++) {
        uint64_t unknown = 0;
        const bool is_byte = attributes[i] == POINTER_SYNC_MEMOPS || attributes[i] == POINTER_IS_MANAGED ||
                             attributes[i] == POINTER_MAPPED || attributes[i] == POINTER_IS_RDMA_CAPABLE ||
                             attributes[i] == POINTER_IS_LEGACY_IPC_CAPABLE;
        const bool is_int = attributes[i] == POINTER_MEMORY_TYPE || attributes[i] == POINTER_DEVICE_ORDINAL ||
                            attributes[i] == POINTER_ACCESS_FLAGS;
        if (!is_known && attributes[i] == POINTER_DEVICE_ORDINAL)
            unknown = UINT32_MAX - 1; /* -2, as the driver says */
        memcpy(out[i], &unknown, is_byte ? 1 : is_int ? 4 : 8);
        if (is_known)
            give_attribute(out[i], attributes[i], address, &place);
    }
    return driver_leave(CUDA_SUCCESS);
}

/* Copies are ordered as SYNC_MEMOPS asks for; the rest cannot be set. */
ENTRY(cuPointerSetAttribute, const void *value, int attribute, CUdeviceptr address)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute != POINTER_SYNC_MEMOPS || !memory_is_known(address, 1))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    return driver_leave(CUDA_SUCCESS);
}
