/* cuda_types.h - the part of the CUDA Driver API's types and numbers that the stand-in uses, as cuda.h has them.
 *
 * Declared here and not taken from cuda.h: the library builds without a CUDA toolkit, its exported names must not pass
 * through cuda.h's renaming macros, and handles are pointers to the stand-in's own types.
 */
#ifndef WSDBG_LIBCUDA_CUDA_TYPES_H
#define WSDBG_LIBCUDA_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct library *CUlibrary;
typedef struct function *CUfunction;
typedef struct function *CUkernel; /* of a library; the driver takes either for the other */
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct pool *CUmemoryPool;
typedef struct graph *CUgraph;
typedef struct graph_node *CUgraphNode;
typedef struct graph_exec *CUgraphExec;

enum {
#define ERROR(name, number, text) name = number,
#include "libcuda/results.def"
#undef ERROR
};

enum {
    CU_CTX_FLAGS_ALL = 0xff,
    CU_STREAM_DEFAULT = 0,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_BLOCKING_SYNC = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_EVENT_INTERPROCESS = 4,
    CU_MEMHOSTALLOC_ALL = 7,
    CU_MEMHOSTREGISTER_ALL = 15,
    CU_MEM_ATTACH_GLOBAL = 1,
    CU_MEM_ATTACH_HOST = 2,
    CU_GET_PROC_ADDRESS_ALL = 3,
    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2,
};

/* Streams that are numbers, not handles. */
#define CU_STREAM_LEGACY ((CUstream)1)
#define CU_STREAM_PER_THREAD ((CUstream)2)

/* cuLaunchKernel's `extra`. */
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED };

enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_NUM_REGS,
    CU_FUNC_ATTRIBUTE_PTX_VERSION,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION,
    CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    CU_FUNC_ATTRIBUTE_COUNT
};

enum {
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
    CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,
    CU_LAUNCH_ATTRIBUTE_LAST = 16
};

struct cu_launch_attribute {
    uint32_t id, padding;
    union {
        uint32_t cluster[3];
        int32_t cooperative;
        int32_t programmatic;
        char bytes[64];
    } value;
};
_Static_assert(sizeof(struct cu_launch_attribute) == 72, "a CUlaunchAttribute");

struct cu_launch_config {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    CUstream stream;
    const struct cu_launch_attribute *attributes;
    uint32_t attribute_count;
};
_Static_assert(sizeof(struct cu_launch_config) == 56, "a CUlaunchConfig");

/* CUDA_KERNEL_NODE_PARAMS; its first version ends before `kernel`. */
struct cu_kernel_node {
    CUfunction function;
    uint32_t grid[3], block[3], shared_bytes;
    void **parameters, **extra;
    CUkernel kernel;
    CUcontext context;
};
_Static_assert(sizeof(struct cu_kernel_node) == 72, "a CUDA_KERNEL_NODE_PARAMS");

struct cu_memset_node {
    CUdeviceptr to;
    size_t pitch_bytes;
    uint32_t value, value_bytes;
    size_t width, height;
};

struct cu_host_node {
    void (*function)(void *user);
    void *user;
};

/* CUgraphEdgeData */
struct cu_edge {
    unsigned char from_port, to_port, type, reserved[5];
};

struct cu_graph_instantiate {
    uint64_t flags;
    CUstream upload;
    CUgraphNode error_node;
    int result;
};

struct cu_graph_update {
    int result;
    CUgraphNode node, from;
};

enum {
    CU_GRAPH_KERNEL,
    CU_GRAPH_MEMCPY,
    CU_GRAPH_MEMSET,
    CU_GRAPH_HOST,
    CU_GRAPH_GRAPH,
    CU_GRAPH_EMPTY,
    CU_GRAPH_WAIT_EVENT,
    CU_GRAPH_EVENT_RECORD,
    CU_GRAPH_BATCH_MEM_OP = 12
};

/* One side of a CUDA_MEMCPY2D. */
struct cu_copy_side_2d {
    size_t x_bytes, y;
    uint32_t memory_type;
    void *host;
    CUdeviceptr device;
    void *array;
    size_t pitch_bytes;
};

struct cu_copy_2d {
    struct cu_copy_side_2d from, to;
    size_t width_bytes, height;
};
_Static_assert(sizeof(struct cu_copy_2d) == 128, "a CUDA_MEMCPY2D");

/* One side of a CUDA_MEMCPY3D. */
struct cu_copy_side_3d {
    size_t x_bytes, y, z, level;
    uint32_t memory_type;
    void *host;
    CUdeviceptr device;
    void *array, *reserved;
    size_t pitch_bytes, height;
};

struct cu_copy_3d {
    struct cu_copy_side_3d from, to;
    size_t width_bytes, height, depth;
};
_Static_assert(sizeof(struct cu_copy_3d) == 200, "a CUDA_MEMCPY3D");

/* CUdevprop, of cuDeviceGetProperties. */
struct cu_device_properties {
    int32_t max_threads, max_block[3], max_grid[3], shared_bytes, constant_bytes, warp_size, max_pitch, registers,
        clock_khz, texture_alignment;
};

struct cu_memory_location {
    int32_t type, id;
};

struct cu_tensor_map {
    _Alignas(64) uint64_t words[16];
};

#endif
