/* memory_test.c - memory of the device and of the host: allocated, described, copied, filled, given back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcuda/api.h"

enum {
    POINTER_MEMORY_TYPE = 2,
    POINTER_HOST_POINTER = 4,
    POINTER_IS_MANAGED = 8,
    POINTER_RANGE_START = 11,
    POINTER_RANGE_SIZE = 12
};

static CUdeviceptr allocate(size_t byte_count)
{
    CUdeviceptr memory = 0;
    OK(cu.cuMemAlloc_v2(&memory, byte_count));
    return memory;
}

static void what_goes_up_comes_down(void **state)
{
    static const char up[] = "warp-specialized";
    char down[sizeof up] = "";
    (void)state;
    CUdeviceptr memory = allocate(sizeof up);
    OK(cu.cuMemcpyHtoD_v2(memory, up, sizeof up));
    OK(cu.cuMemcpyDtoH_v2(down, memory, sizeof up));
    assert_string_equal(down, up);
    OK(cu.cuMemFree_v2(memory));
}

static void allocations_are_aligned_and_described(void **state)
{
    CUdeviceptr first = 0;
    size_t length = 0;
    unsigned type = 0;
    (void)state;
    CUdeviceptr memory = allocate(1000);
    assert_int_equal(memory % 256, 0);
    OK(cu.cuMemGetAddressRange_v2(&first, &length, memory + 999));
    assert_int_equal(first, memory);
    assert_int_equal(length, 1000);
    OK(cu.cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, memory + 1));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    OK(cu.cuPointerGetAttribute(&first, POINTER_RANGE_START, memory + 1));
    assert_int_equal(first, memory);
    OK(cu.cuPointerGetAttribute(&length, POINTER_RANGE_SIZE, memory + 1));
    assert_int_equal(length, 1000);
    OK(cu.cuMemFree_v2(memory));
    assert_cuda(CUDA_ERROR_NOT_FOUND, cu.cuMemGetAddressRange_v2(&first, &length, memory));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, memory));
}

static void wrong_sizes_and_addresses_are_refused(void **state)
{
    CUdeviceptr memory = 0;
    char host[64] = "";
    (void)state;
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemAlloc_v2(&memory, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemAlloc_v2(NULL, 16));
    assert_cuda(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc_v2(&memory, (size_t)1 << 46));
    assert_cuda(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc_v2(&memory, SIZE_MAX));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(0x1000));
    OK(cu.cuMemFree_v2(0));
    memory = allocate(32);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(memory + 16));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyHtoD_v2(memory, host, 33));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyHtoD_v2(memory + 1, host, 32));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH_v2(host, memory, 33));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH_v2(NULL, memory, 32));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyHtoD_v2(0, host, 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD8_v2(memory, 0, 33));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32_v2(memory + 2, 0, 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32_v2(memory, 0, SIZE_MAX / 2));
    OK(cu.cuMemcpyHtoD_v2(memory, host, 0));
    OK(cu.cuMemFree_v2(memory));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(memory));
}

static void free_memory_is_counted(void **state)
{
    size_t before, during, after, total;
    (void)state;
    OK(cu.cuMemGetInfo_v2(&before, &total));
    CUdeviceptr memory = allocate(1 << 20);
    OK(cu.cuMemGetInfo_v2(&during, NULL));
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuMemGetInfo_v2(&after, NULL));
    assert_int_equal(before - during, 1 << 20);
    assert_int_equal(after, before);
    assert_true(before <= total);
}

static void fills_of_each_width(void **state)
{
    unsigned char down[16];
    (void)state;
    CUdeviceptr memory = allocate(16);
    OK(cu.cuMemsetD8_v2(memory, 0xab, 16));
    OK(cu.cuMemsetD32_v2(memory + 4, 0x01020304, 1));
    OK(cu.cuMemsetD2D16_v2(memory + 8, 4, 0x1122, 1, 2)); /* two rows of one value, 4 bytes apart */
    OK(cu.cuMemcpyDtoH_v2(down, memory, 16));
    static const unsigned char expected[16] = {0xab, 0xab, 0xab, 0xab, 4,    3,    2,    1,
                                               0x22, 0x11, 0xab, 0xab, 0x22, 0x11, 0xab, 0xab};
    assert_memory_equal(down, expected, 16);
    OK(cu.cuMemFree_v2(memory));
}

static void rectangles_keep_what_is_beside_them(void **state)
{
    static const char up[] = "abcdefghijkl"; /* 3 rows of 4 */
    char down[13] = "............";
    size_t pitch = 0;
    CUdeviceptr memory = 0;
    (void)state;
    OK(cu.cuMemAllocPitch_v2(&memory, &pitch, 4, 3, 4));
    assert_true(pitch >= 4 && pitch % 16 == 0);
    struct cu_copy_2d copy = {.from = {.memory_type = CU_MEMORYTYPE_HOST, .host = (void *)up, .pitch_bytes = 4},
                              .to = {.memory_type = CU_MEMORYTYPE_DEVICE, .device = memory, .pitch_bytes = pitch},
                              .width_bytes = 4,
                              .height = 3};
    OK(cu.cuMemcpy2D_v2(&copy));
    /* Two columns of two rows, from (1, 1) to (2, 0). */
    copy = (struct cu_copy_2d){
        .from = {.x_bytes = 1, .y = 1, .memory_type = CU_MEMORYTYPE_DEVICE, .device = memory, .pitch_bytes = pitch},
        .to = {.x_bytes = 2, .memory_type = CU_MEMORYTYPE_HOST, .host = down, .pitch_bytes = 4},
        .width_bytes = 2,
        .height = 2};
    OK(cu.cuMemcpy2D_v2(&copy));
    assert_string_equal(down, "..fg..jk....");
    copy.width_bytes = 3; /* past the end of the host's rows */
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpy2D_v2(&copy));
    copy.width_bytes = 2;
    copy.from.y = 1 << 20;
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpy2D_v2(&copy));
    copy.from.memory_type = CU_MEMORYTYPE_ARRAY;
    assert_cuda(CUDA_ERROR_NOT_SUPPORTED, cu.cuMemcpy2D_v2(&copy));
    OK(cu.cuMemFree_v2(memory));
}

static void boxes_have_slices(void **state)
{
    static const char up[] = "abcdefgh"; /* 2 slices of 2 rows of 2 */
    char down[5] = "....";
    (void)state;
    CUdeviceptr memory = allocate(8);
    OK(cu.cuMemcpyHtoD_v2(memory, up, 8));
    const struct cu_copy_3d copy = {
        .from = {.x_bytes = 1, .memory_type = CU_MEMORYTYPE_DEVICE, .device = memory, .pitch_bytes = 2, .height = 2},
        .to = {.memory_type = CU_MEMORYTYPE_HOST, .host = down, .pitch_bytes = 1, .height = 2},
        .width_bytes = 1,
        .height = 2,
        .depth = 2};
    OK(cu.cuMemcpy3D_v2(&copy));
    assert_string_equal(down, "bdfh");
    OK(cu.cuMemFree_v2(memory));
}

static void memory_of_the_host_has_one_address(void **state)
{
    void *pinned = NULL;
    CUdeviceptr there = 0;
    unsigned type = 0;
    (void)state;
    OK(cu.cuMemHostAlloc(&pinned, 4096, 0));
    OK(cu.cuMemHostGetDevicePointer_v2(&there, pinned, 0));
    assert_ptr_equal((void *)there, pinned);
    OK(cu.cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, there));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeHost((char *)pinned + 1));
    OK(cu.cuMemFreeHost(pinned));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemHostGetDevicePointer_v2(&there, pinned, 0));
}

static void registered_memory_is_registered_once(void **state)
{
    char *memory = malloc(8192);
    CUdeviceptr there;
    (void)state;
    OK(cu.cuMemHostRegister_v2(memory, 8192, 1));
    assert_cuda(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cu.cuMemHostRegister_v2(memory + 4096, 16, 1));
    OK(cu.cuMemHostGetDevicePointer_v2(&there, memory + 5000, 0));
    assert_ptr_equal((void *)there, memory + 5000);
    OK(cu.cuMemHostUnregister(memory));
    assert_cuda(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cu.cuMemHostUnregister(memory));
    OK(cu.cuMemHostRegister_v2(memory, 16, 1));
    OK(cu.cuMemHostUnregister(memory));
    free(memory);
}

static void managed_memory_is_the_hosts_too(void **state)
{
    CUdeviceptr memory = 0, host = 0;
    uint32_t down = 0;
    unsigned char is_managed = 0;
    (void)state;
    OK(cu.cuMemAllocManaged(&memory, 4, 1));
    *(uint32_t *)memory = 42;
    OK(cu.cuMemcpyDtoH_v2(&down, memory, 4));
    assert_int_equal(down, 42);
    OK(cu.cuPointerGetAttribute(&is_managed, POINTER_IS_MANAGED, memory + 1));
    assert_int_equal(is_managed, 1);
    OK(cu.cuPointerGetAttribute(&host, POINTER_HOST_POINTER, memory));
    assert_true(host == memory);
    OK(cu.cuMemFree_v2(memory));
    memory = allocate(4); /* at the same place, perhaps */
    OK(cu.cuPointerGetAttribute(&is_managed, POINTER_IS_MANAGED, memory));
    assert_int_equal(is_managed, 0);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuPointerGetAttribute(&host, POINTER_HOST_POINTER, memory));
    OK(cu.cuMemFree_v2(memory));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemAllocManaged(&memory, 4, 0));
}

static void memory_in_stream_order(void **state)
{
    CUdeviceptr memory = 0;
    CUstream stream;
    uint32_t down = 0;
    (void)state;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAllocAsync(&memory, 4, stream));
    OK(cu.cuMemsetD32Async(memory, 77, 1, stream));
    OK(cu.cuMemcpyDtoHAsync_v2(&down, memory, 4, stream));
    OK(cu.cuMemFreeAsync(memory, stream));
    OK(cu.cuStreamSynchronize(stream));
    assert_int_equal(down, 77);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeAsync(memory, stream));
    OK(cu.cuStreamDestroy_v2(stream));
}

/* Also while the stream has not come to it: the second could take what was allocated there in between. */
static void memory_is_given_back_once(void **state)
{
    CUdeviceptr memory = 0, gate = allocate(4);
    CUstream stream;
    (void)state;
    OK(cu.cuMemsetD32_v2(gate, 0, 1));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAllocAsync(&memory, 4, stream));
    OK(cu.cuStreamWaitValue32_v2(stream, gate, 1, 0));
    OK(cu.cuMemFreeAsync(memory, stream));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeAsync(memory, stream));
    __atomic_store_n((uint32_t *)gate, 1, __ATOMIC_RELEASE);
    OK(cu.cuStreamSynchronize(stream));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeAsync(memory, stream));
    OK(cu.cuStreamDestroy_v2(stream));
    OK(cu.cuMemFree_v2(gate));
}

/* CUmemPoolProps: pinned, not shared, on device 0. */
static const struct {
    int32_t type, handle_types, location_type, location;
    unsigned char rest[80];
} pool_properties = {1, 0, 1, 0, {0}};

static uint64_t pool_bytes(CUmemoryPool pool, int attribute)
{
    uint64_t bytes = UINT64_MAX;
    OK(cu.cuMemPoolGetAttribute(pool, attribute, &bytes));
    return bytes;
}

static void pools_count_what_is_used(void **state)
{
    enum { USED = 7, USED_MOST = 8, POINTER_MEMPOOL_HANDLE = 17 };
    CUmemoryPool fallback = NULL, own = NULL, current = NULL, of = NULL;
    CUdeviceptr first = 0, second = 0, third = 0;
    const uint64_t zero = 0, one = 1;
    (void)state;
    OK(cu.cuDeviceGetDefaultMemPool(&fallback, 0));
    OK(cu.cuDeviceGetMemPool(&current, 0));
    assert_ptr_equal(current, fallback);
    OK(cu.cuMemPoolCreate(&own, &pool_properties));
    OK(cu.cuMemAllocFromPoolAsync(&first, 1000, own, NULL));
    OK(cu.cuDeviceSetMemPool(0, own));
    OK(cu.cuMemAllocAsync(&second, 500, NULL));
    assert_int_equal(pool_bytes(own, USED), 1500);
    OK(cu.cuPointerGetAttribute(&of, POINTER_MEMPOOL_HANDLE, second));
    assert_ptr_equal(of, own);
    OK(cu.cuMemFreeAsync(first, NULL));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(pool_bytes(own, USED), 500);
    assert_int_equal(pool_bytes(own, USED_MOST), 1500);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemPoolSetAttribute(own, USED_MOST, &one));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemPoolSetAttribute(own, USED, &zero));
    OK(cu.cuMemPoolSetAttribute(own, USED_MOST, &zero));
    assert_int_equal(pool_bytes(own, USED_MOST), 500);
    OK(cu.cuMemPoolDestroy(own)); /* its memory stays; the default pool is the current one again */
    OK(cu.cuMemAllocAsync(&third, 4, NULL));
    OK(cu.cuPointerGetAttribute(&of, POINTER_MEMPOOL_HANDLE, third));
    assert_ptr_equal(of, fallback);
    OK(cu.cuMemFree_v2(second));
    OK(cu.cuMemFree_v2(third));
    assert_int_equal(pool_bytes(fallback, USED), 0);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemAllocFromPoolAsync(&first, 1000, own, NULL));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemPoolDestroy(fallback));
}

static void contexts_reach_each_others_memory(void **state)
{
    CUcontext second;
    uint32_t down = 0;
    CUdeviceptr here = allocate(4), there;
    (void)state;
    OK(cu.cuMemsetD32_v2(here, 5, 1));
    OK(cu.cuCtxCreate_v2(&second, 0, 0));
    there = allocate(4);
    OK(cu.cuMemcpy(there, here, 4));
    OK(cu.cuMemcpyDtoH_v2(&down, there, 4));
    assert_int_equal(down, 5);
    OK(cu.cuCtxDestroy_v2(second));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH_v2(&down, there, 4));
    OK(cu.cuMemFree_v2(here));
}

/* ---- memory apart from its addresses ---- */

enum { CHUNK = 2 << 20 };

/* CUmemAllocationProp: pinned, exportable as a file descriptor, on device 0; CUmemAccessDesc: the device reads and
 * writes. */
static const struct {
    int32_t type, handle_types, location_type, location;
    void *windows;
    unsigned char flags[8];
} chunk = {1, 1, 1, 0, NULL, {0}};
static const int32_t access_all[3] = {1, 0, 3};

static void mapped_memory_is_the_devices(void **state)
{
    uint64_t handle = 0, address = 0;
    size_t granularity = 0, length = 0;
    CUdeviceptr first = 0;
    uint32_t down = 0;
    unsigned type = 0;
    (void)state;
    OK(cu.cuMemGetAllocationGranularity(&granularity, &chunk, 0));
    assert_int_equal(granularity, CHUNK);
    OK(cu.cuMemCreate(&handle, CHUNK, &chunk, 0));
    OK(cu.cuMemAddressReserve(&address, 2 * CHUNK, 0, 0, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32_v2(address, 1, 1)); /* nothing is there yet */
    OK(cu.cuMemMap(address + CHUNK, CHUNK, 0, handle, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemMap(address + CHUNK, CHUNK, 0, handle, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32_v2(address + CHUNK, 1, 1)); /* nobody may touch it yet */
    OK(cu.cuMemSetAccess(address + CHUNK, CHUNK, access_all, 1));
    OK(cu.cuMemRelease(handle)); /* the mapping keeps the memory */
    OK(cu.cuMemsetD32_v2(address + CHUNK, 33, CHUNK / 4));
    OK(cu.cuMemcpyDtoH_v2(&down, address + 2 * CHUNK - 4, 4));
    assert_int_equal(down, 33);
    OK(cu.cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, address + CHUNK));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    OK(cu.cuMemGetAddressRange_v2(&first, &length, address + CHUNK + 5));
    assert_int_equal(first, address + CHUNK);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(address + CHUNK));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemAddressFree(address, 2 * CHUNK)); /* still in use */
    OK(cu.cuMemUnmap(address + CHUNK, CHUNK));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH_v2(&down, address + CHUNK, 4));
    OK(cu.cuMemAddressFree(address, 2 * CHUNK));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemRelease(handle));
}

/* One thread: copies 32 bytes into shared memory and adds them to where they came from. */
static const char twice[] = ".version 8.3\n.target sm_90a\n.address_size 64\n"
                            ".visible .entry twice(.param .u64 place)\n{\n"
                            ".reg .pred %p1;\n.reg .b32 %r<2>;\n.reg .b64 %rd1;\n"
                            ".shared .align 16 .b8 room[32];\n.shared .align 8 .b64 full;\n"
                            "ld.param.u64 %rd1, [place];\n"
                            "mov.u32 %r0, full;\nmov.u32 %r1, room;\n"
                            "mbarrier.init.shared::cta.b64 [%r0], 1;\n"
                            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], 32;\n"
                            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 32, "
                            "[%r0];\n"
                            "$again:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r0], 0;\n@!%p1 bra $again;\n"
                            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 32;\n"
                            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";

/* As allocators that grow do it: addresses reserved once, memory added chunk by chunk. */
static void chunks_side_by_side_are_one_memory(void **state)
{
    uint64_t handles[2] = {0}, address = 0;
    uint32_t up[8] = {1, 2, 3, 4, 5, 6, 7, 8}, down[8] = {0};
    CUmodule module = NULL;
    CUfunction function = NULL;
    (void)state;
    OK(cu.cuModuleLoadData(&module, twice));
    OK(cu.cuModuleGetFunction(&function, module, "twice"));
    OK(cu.cuMemAddressReserve(&address, 3 * CHUNK, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        OK(cu.cuMemCreate(&handles[i], CHUNK, &chunk, 0));
        OK(cu.cuMemMap(address + (uint64_t)i * CHUNK, CHUNK, 0, handles[i], 0));
        OK(cu.cuMemRelease(handles[i]));
    }
    OK(cu.cuMemSetAccess(address, 2 * CHUNK, access_all, 1));
    CUdeviceptr edge = address + CHUNK - 16;
    void *parameters[] = {&edge};
    OK(cu.cuMemcpyHtoD_v2(edge, up, sizeof up));
    OK(cu.cuMemcpyDtoH_v2(down, edge, sizeof down));
    assert_memory_equal(down, up, sizeof up);
    OK(cu.cuMemsetD32_v2(edge, 9, 8));
    OK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    OK(cu.cuMemcpyDtoH_v2(down, edge, sizeof down));
    for (int i = 0; i < 8; i++)
        assert_int_equal(down[i], 18);
    assert_cuda(CUDA_ERROR_INVALID_VALUE,
                cu.cuMemsetD32_v2(address + 2 * CHUNK - 8, 9, 4)); /* the third is not there */
    OK(cu.cuModuleUnload(module));
    OK(cu.cuMemUnmap(address, 2 * CHUNK));
    OK(cu.cuMemAddressFree(address, 3 * CHUNK));
}

static void exported_memory_outlives_its_context(void **state)
{
    CUcontext second;
    uint64_t handle = 0, again = 0, address = 0;
    uint32_t kept = 0, down = 0;
    int file = -1;
    (void)state;
    OK(cu.cuCtxCreate_v2(&second, 0, 0));
    OK(cu.cuMemCreate(&handle, CHUNK, &chunk, 0));
    OK(cu.cuMemExportToShareableHandle(&file, handle, 1, 0));
    OK(cu.cuMemAddressReserve(&address, CHUNK, 0, 0, 0));
    OK(cu.cuMemMap(address, CHUNK, 0, handle, 0));
    OK(cu.cuMemSetAccess(address, CHUNK, access_all, 1));
    OK(cu.cuMemsetD32_v2(address + 8, 44, 1));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuCtxDestroy_v2(second));
    assert_int_equal(pread(file, &kept, 4, 8), 4);
    assert_int_equal(kept, 44);
    OK(cu.cuMemUnmap(address, CHUNK));
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemImportFromShareableHandle(&again, (void *)(intptr_t)file, 1));
    close(file);
    OK(cu.cuMemMap(address, CHUNK, 0, again, 0));
    OK(cu.cuMemSetAccess(address, CHUNK, access_all, 1));
    OK(cu.cuMemcpyDtoH_v2(&down, address + 8, 4));
    assert_int_equal(down, 44);
    OK(cu.cuMemUnmap(address, CHUNK));
    OK(cu.cuMemRelease(again));
    OK(cu.cuMemAddressFree(address, CHUNK));
}

static void wrong_mappings_are_refused(void **state)
{
    uint64_t handle = 0, address = 0;
    (void)state;
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemCreate(&handle, CHUNK + 1, &chunk, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemCreate(&handle, 0, &chunk, 0));
    assert_cuda(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemCreate(&handle, (size_t)1 << 46, &chunk, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemAddressReserve(&address, 4096, 0, 0, 0));
    assert_cuda(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAddressReserve(&address, (size_t)1 << 60, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, CHUNK, &chunk, 0));
    OK(cu.cuMemAddressReserve(&address, CHUNK, 0, 0, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemMap(address + CHUNK, CHUNK, 0, handle, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemMap(address, 2 * CHUNK, 0, handle, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemMap(address, CHUNK, CHUNK, handle, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemMap(address, CHUNK, 0, 12345, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemSetAccess(address, CHUNK, access_all, 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuMemUnmap(address, CHUNK));
    OK(cu.cuMemAddressFree(address, CHUNK));
    OK(cu.cuMemRelease(handle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_up_comes_down),
        cmocka_unit_test(allocations_are_aligned_and_described),
        cmocka_unit_test(wrong_sizes_and_addresses_are_refused),
        cmocka_unit_test(free_memory_is_counted),
        cmocka_unit_test(fills_of_each_width),
        cmocka_unit_test(rectangles_keep_what_is_beside_them),
        cmocka_unit_test(boxes_have_slices),
        cmocka_unit_test(memory_of_the_host_has_one_address),
        cmocka_unit_test(registered_memory_is_registered_once),
        cmocka_unit_test(managed_memory_is_the_hosts_too),
        cmocka_unit_test(memory_in_stream_order),
        cmocka_unit_test(memory_is_given_back_once),
        cmocka_unit_test(pools_count_what_is_used),
        cmocka_unit_test(contexts_reach_each_others_memory),
        cmocka_unit_test(mapped_memory_is_the_devices),
        cmocka_unit_test(chunks_side_by_side_are_one_memory),
        cmocka_unit_test(exported_memory_outlives_its_context),
        cmocka_unit_test(wrong_mappings_are_refused),
    };
    return cmocka_run_group_tests(tests, api_begin, api_end);
}
