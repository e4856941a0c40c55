/* properties.c - cudaGetDeviceProperties: one struct with some hundred numbers, each an attribute of the driver.
 *
 * The fields and their order are those of cudaDeviceProp in driver_types.h of CUDA 12 and 13.  A field without an
 * attribute is zero.
 */
#include "libcudart/runtime.h"

#include <stddef.h>
#include <string.h>

#if RUNTIME_VERSION < 13000
#define ONLY_12(...) __VA_ARGS__
#else
#define ONLY_12(...)
#endif

struct device_properties {
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t total_bytes, shared_bytes;
    int registers, warp_size;
    size_t pitch_most;
    int threads_most, block_most[3], grid_most[3];
    ONLY_12(int clock_khz;)
    size_t constant_bytes;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    ONLY_12(int device_overlap;)
    int multiprocessors;
    ONLY_12(int kernel_timeout;)
    int integrated, maps_host;
    ONLY_12(int compute_mode;)
    int texture_1d[2];
    ONLY_12(int texture_1d_linear;)
    int texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3], texture_2d_gather[2], texture_3d[3],
        texture_3d_alternate[3], texture_cubemap, texture_1d_layered[2], texture_2d_layered[3],
        texture_cubemap_layered[2], surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2],
        surface_2d_layered[3], surface_cubemap, surface_cubemap_layered[2];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
    ONLY_12(int memory_clock_khz;)
    int memory_bus_bits, l2_bytes, l2_persisting_bytes, threads_per_multiprocessor, stream_priorities, global_l1,
        local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed, multi_gpu_board, multi_gpu_group, host_atomics;
    ONLY_12(int single_to_double;)
    int pageable, concurrent_managed, preemption, registered_pointer;
    int cooperative;
    ONLY_12(int cooperative_multi_device;)
    size_t shared_optin;
    int pageable_host_tables, direct_managed, blocks_per_multiprocessor, access_window;
    size_t shared_reserved;
    int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, pools, rdma;
    unsigned rdma_flush;
    int rdma_ordering;
    unsigned pool_handles;
    int deferred_arrays, ipc_events, clusters, unified_functions;
    int rest[63];
};

#if RUNTIME_VERSION < 13000
_Static_assert(sizeof(struct device_properties) == 1032, "cudaDeviceProp of CUDA 12");
#else
_Static_assert(sizeof(struct device_properties) == 1008, "cudaDeviceProp of CUDA 13");
#endif

struct field {
    size_t offset;
    bool is_size; /* size_t, else int */
    int attribute;
};

#define INT(field, number)                                       \
    {                                                            \
        offsetof(struct device_properties, field), false, number \
    }
#define SIZE(field, number)                                     \
    {                                                           \
        offsetof(struct device_properties, field), true, number \
    }

/* The attributes' numbers are those of CUdevice_attribute. */
static const struct field fields[] = {INT(threads_most, 1),
                                      INT(block_most[0], 2),
                                      INT(block_most[1], 3),
                                      INT(block_most[2], 4),
                                      INT(grid_most[0], 5),
                                      INT(grid_most[1], 6),
                                      INT(grid_most[2], 7),
                                      SIZE(shared_bytes, 8),
                                      SIZE(constant_bytes, 9),
                                      INT(warp_size, 10),
                                      SIZE(pitch_most, 11),
                                      INT(registers, 12),
                                      ONLY_12(INT(clock_khz, 13), ) SIZE(texture_alignment, 14),
                                      INT(multiprocessors, 16),
                                      ONLY_12(INT(kernel_timeout, 17), ) INT(integrated, 18),
                                      INT(maps_host, 19),
                                      ONLY_12(INT(compute_mode, 20), ) SIZE(surface_alignment, 30),
                                      INT(concurrent_kernels, 31),
                                      INT(ecc, 32),
                                      INT(pci_bus, 33),
                                      INT(pci_device, 34),
                                      INT(tcc, 35),
                                      ONLY_12(INT(memory_clock_khz, 36), ) INT(memory_bus_bits, 37),
                                      INT(l2_bytes, 38),
                                      INT(threads_per_multiprocessor, 39),
                                      INT(async_engines, 40),
                                      INT(unified_addressing, 41),
                                      INT(pci_domain, 50),
                                      SIZE(texture_pitch_alignment, 51),
                                      INT(major, 75),
                                      INT(minor, 76),
                                      INT(stream_priorities, 78),
                                      INT(global_l1, 79),
                                      INT(local_l1, 80),
                                      SIZE(shared_per_multiprocessor, 81),
                                      INT(registers_per_multiprocessor, 82),
                                      INT(managed, 83),
                                      INT(multi_gpu_board, 84),
                                      INT(multi_gpu_group, 85),
                                      INT(host_atomics, 86),
                                      INT(pageable, 88),
                                      INT(concurrent_managed, 89),
                                      INT(preemption, 90),
                                      INT(registered_pointer, 91),
                                      INT(cooperative, 95),
                                      SIZE(shared_optin, 97),
                                      INT(host_register, 99),
                                      INT(pageable_host_tables, 100),
                                      INT(direct_managed, 101),
                                      INT(blocks_per_multiprocessor, 106),
                                      INT(l2_persisting_bytes, 108),
                                      INT(access_window, 109),
                                      SIZE(shared_reserved, 111),
                                      INT(pools, 115),
                                      INT(clusters, 120)};

static void read_field(const struct field *field, CUdevice device, struct device_properties *out)
{
    int value;
    if (cuDeviceGetAttribute(&value, field->attribute, device) != CUDA_SUCCESS)
        return;
    const size_t wide = (size_t)value;
    if (field->is_size)
        memcpy((char *)out + field->offset, &wide, sizeof wide);
    else
        memcpy((char *)out + field->offset, &value, sizeof value);
}

static cudaError_t get_properties(struct device_properties *out, int device)
{
    CUresult result = out ? runtime_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    memset(out, 0, sizeof *out);
    result = cuDeviceGetName(out->name, sizeof out->name, device);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetUuid_v2(out->uuid, device);
    if (result == CUDA_SUCCESS)
        result = cuDeviceTotalMem_v2(&out->total_bytes, device);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && result == CUDA_SUCCESS; i++)
        read_field(&fields[i], device, out);
    return runtime_done(result);
}

#if RUNTIME_VERSION < 13000
RUNTIME(cudaGetDeviceProperties_v2, struct device_properties *out, int device)
#else
RUNTIME(cudaGetDeviceProperties, struct device_properties *out, int device)
#endif
{
    return get_properties(out, device);
}
