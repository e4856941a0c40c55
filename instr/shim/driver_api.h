/* driver_api.h - the part of the CUDA Driver API that the shim calls or hooks.
 *
 * Declared here and not taken from cuda.h: the shim builds on a machine without a CUDA toolkit, and its own
 * exported symbols must not pass through cuda.h's renaming macros.  Handles are opaque pointers.
 */
#ifndef WSDBG_SHIM_DRIVER_API_H
#define WSDBG_SHIM_DRIVER_API_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef void *CUcontext;
typedef void *CUmodule;
typedef void *CUlibrary;
typedef void *CUfunction; /* also a CUkernel where the driver takes either */
typedef void *CUkernel;
typedef void *CUstream;
typedef void *CUevent;
typedef void *CUarray;
typedef void *CUgraph;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_JIT_COMPILATION_DISABLED = 223,
    CUDA_ERROR_INVALID_SOURCE = 300,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_ILLEGAL_STATE = 401,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
    CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
    CUDA_ERROR_UNKNOWN = 999,
};

enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11, /* height and depth follow */
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
};

enum { CU_MEMHOSTREGISTER_PORTABLE = 1, CU_MEMHOSTREGISTER_DEVICEMAP = 2 };
enum { CU_MEM_ALLOCATION_TYPE_PINNED = 1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1 };
enum { CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6 };
enum { CU_MEM_LOCATION_TYPE_DEVICE = 1, CU_MEM_ACCESS_READ_WRITE = 3, CU_MEM_GRANULARITY_MINIMUM = 0 };
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum { CU_STREAM_CAPTURE_STATUS_NONE = 0 };
enum { CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2 };
enum {
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};
enum { CU_GRAPH_NODE_TYPE_KERNEL = 0, CU_GRAPH_NODE_TYPE_GRAPH = 4, CU_GRAPH_NODE_TYPE_CONDITIONAL = 13 };

/* CUmemAllocationProp and CUmemAccessDesc. */
struct cu_memory_properties {
    int32_t type, handle_types, location_type, location_id;
    void *windows;
    uint8_t compression;
    uint8_t for_network_cards; /* gpuDirectRDMACapable */
    uint8_t flags[6];
};
_Static_assert(sizeof(struct cu_memory_properties) == 32, "the driver's CUmemAllocationProp");

struct cu_memory_access {
    int32_t location_type, location_id, flags;
};

/* CUDA_EXTERNAL_MEMORY_BUFFER_DESC, as far as it is read. */
struct cu_external_buffer {
    uint64_t offset;
    uint64_t bytes;
};

/* CUipcMemHandle, which is given by value. */
struct cu_ipc_handle {
    char bytes[64];
};

struct cu_launch_attribute {
    uint32_t id;
    uint32_t padding;
    union {
        uint32_t cluster[3];
        int32_t cooperative;
        int32_t programmatic_serialization;
        char bytes[64];
    } value;
};
_Static_assert(sizeof(struct cu_launch_attribute) == 72, "the driver's CUlaunchAttribute");

struct cu_launch_config {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    CUstream stream;
    const struct cu_launch_attribute *attributes;
    uint32_t attribute_count;
};

/* CUDA_KERNEL_NODE_PARAMS; `kernel` and `context` exist from its second version on. */
struct cu_kernel_node {
    CUfunction function;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    void **parameters;
    void **extra;
    CUkernel kernel;
    CUcontext context;
};

struct cu_graph_node {
    uint32_t type;
    int32_t reserved[3];
    struct cu_kernel_node kernel; /* first member of the driver's union */
};

/* CUDA_GRAPH_INSTANTIATE_PARAMS */
struct cu_graph_instantiate {
    uint64_t flags;
    CUstream upload;
    void *error_node; /* after a failure: the node at fault, NULL = not told */
    int32_t result;
};

/* What the shim itself calls.  Columns: exported symbol, parameter types, 1 = nothing works without it. */
#define WSDBG_DRIVER_CALLS(X)                                                     \
    X(cuDriverGetVersion, (int *), 1)                                             \
    X(cuCtxGetCurrent, (CUcontext *), 1)                                          \
    X(cuCtxPushCurrent_v2, (CUcontext), 1)                                        \
    X(cuCtxPopCurrent_v2, (CUcontext *), 1)                                       \
    X(cuCtxGetDevice, (CUdevice *), 1)                                            \
    X(cuDeviceGetAttribute, (int *, int, CUdevice), 1)                            \
    X(cuDeviceGetName, (char *, int, CUdevice), 1)                                \
    X(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *), 1)               \
    X(cuFuncGetAttribute, (int *, int, CUfunction), 1)                            \
    X(cuFuncGetModule, (CUmodule *, CUfunction), 0)                               \
    X(cuFuncGetName, (const char **, CUfunction), 0)                              \
    X(cuKernelGetFunction, (CUfunction *, CUkernel), 0)                           \
    X(cuKernelGetName, (const char **, CUkernel), 0)                              \
    X(cuKernelGetAttribute, (int *, int, CUkernel, CUdevice), 0)                  \
    X(cuLibraryGetKernelCount, (unsigned *, CUlibrary), 0)                        \
    X(cuGraphGetNodes, (CUgraph, void **, size_t *), 0)                           \
    X(cuGraphNodeGetType, (void *, int *), 0)                                     \
    X(cuGraphKernelNodeGetParams_v2, (void *, struct cu_kernel_node *), 0)        \
    X(cuGraphKernelNodeGetAttribute, (void *, int, void *), 0)                    \
    X(cuGraphChildGraphNodeGetGraph, (void *, CUgraph *), 0)                      \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t), 0) \
    X(cuOccupancyMaxActiveClusters, (int *, CUfunction, const struct cu_launch_config *), 0) \
    X(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), 1) \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t), 1)                                  \
    X(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr), 0)         \
    X(cuDeviceGetUuid_v2, (uint8_t *, CUdevice), 0)                               \
    X(cuDeviceGetPCIBusId, (char *, int, CUdevice), 0)                            \
    X(cuMemGetAllocationGranularity, (size_t *, const struct cu_memory_properties *, int), 0) \
    X(cuMemCreate, (uint64_t *, size_t, const struct cu_memory_properties *, uint64_t), 0) \
    X(cuMemExportToShareableHandle, (void *, uint64_t, int, uint64_t), 0)         \
    X(cuMemAddressReserve, (CUdeviceptr *, size_t, size_t, CUdeviceptr, uint64_t), 0) \
    X(cuMemMap, (CUdeviceptr, size_t, size_t, uint64_t, uint64_t), 0)             \
    X(cuMemSetAccess, (CUdeviceptr, size_t, const struct cu_memory_access *, size_t), 0) \
    X(cuMemRelease, (uint64_t), 0)                                                \
    X(cuMemUnmap, (CUdeviceptr, size_t), 0)                                       \
    X(cuMemAddressFree, (CUdeviceptr, size_t), 0)                                 \
    X(cuMemHostRegister_v2, (void *, size_t, unsigned), 1)                        \
    X(cuMemHostGetDevicePointer_v2, (CUdeviceptr *, void *, unsigned), 0)         \
    X(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), 1)         \
    X(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), 1)           \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), 1)     \
    X(cuStreamCreate, (CUstream *, unsigned), 1)                                  \
    X(cuStreamQuery, (CUstream), 1)                                               \
    X(cuStreamIsCapturing, (CUstream, int *), 0)                                  \
    X(cuThreadExchangeStreamCaptureMode, (int *), 0)                              \
    X(cuEventCreate, (CUevent *, unsigned), 0)                                    \
    X(cuEventQuery, (CUevent), 0)                                                 \
    X(cuCtxRecordEvent, (CUcontext, CUevent), 0)

struct wsdbg_driver {
#define X(symbol, types, needed) CUresult(*symbol) types;
    WSDBG_DRIVER_CALLS(X)
#undef X
};

#endif
