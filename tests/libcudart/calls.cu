/* calls.cu - a program of the CUDA runtime, as users write them: what it calls must do on the simulator what it does on a GPU.
 *
 *     calls [works | hangs | faults]
 *
 * works: exits with 0 when every check held, else names the first one that did not.  hangs: a wait for an arrival that nobody makes.
 * faults: a kernel that stores to a bad address; the error stays until cudaDeviceReset.
 */
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            printf("line %d: %s does not hold (last error: %s)\n", __LINE__, #condition,   \
                   cudaGetErrorName(cudaPeekAtLastError()));                               \
            return 1;                                                                      \
        }                                                                                  \
    } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

enum { COUNT = 256, BYTES = COUNT * sizeof(float) };

__device__ int counter;
__constant__ float offset;
__managed__ int shared_with_host;

__global__ void add(float *x, float y)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += y + offset;
    atomicAdd(&counter, 1);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        shared_with_host = 7;
}

__global__ void __cluster_dims__(2, 1, 1) rank_of_cluster(int *ranks)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = (int)cooperative_groups::this_cluster().block_rank();
    ranks[blockIdx.x] = dynamic[0];
}

__global__ void meet(int *sum)
{
    atomicAdd(sum, 1);
    cooperative_groups::this_grid().sync();
}

__global__ void wait_for_two_arrivals()
{
    __shared__ uint64_t full;
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(&full);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at));
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(at));
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at));
}

__global__ void store_at(int *address)
{
    *address = 1;
}

static int memory_and_copies(float *device, float *host)
{
    float back[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    OK(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDefault));
    CHECK(memcmp(back, host, BYTES) == 0);
    OK(cudaMemset(device, 0, BYTES));
    OK(cudaMemcpy2D(device, 64, host, 128, 64, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
    CHECK(back[16] == 32 && back[63] == 111 && back[64] == 0);

    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, device));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0 && attributes.devicePointer == device);
    OK(cudaPointerGetAttributes(&attributes, back));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);

    void *from_pool;
    OK(cudaMallocAsync(&from_pool, 4096, 0));
    OK(cudaFreeAsync(from_pool, 0));
    size_t free_bytes, total_bytes;
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    CHECK(free_bytes > 0 && free_bytes <= total_bytes);
    return 0;
}

static int launches(float *device)
{
    const float two = 2;
    float host[COUNT];
    int count = 0, blocks = 0;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    float milliseconds = -1;
    OK(cudaMemset(device, 0, BYTES));
    OK(cudaMemcpyToSymbol(offset, &two, sizeof two));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(begin, stream));
    add<<<COUNT / 128, 128, 0, stream>>>(device, 1.5f);
    OK(cudaGetLastError());
    OK(cudaEventRecord(end, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds >= 0);
    OK(cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 3.5f && host[COUNT - 1] == 3.5f);
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(count == COUNT && shared_with_host == 7);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
    CHECK(blocks > 0);
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    OK(cudaStreamDestroy(stream));
    return 0;
}

static int launches_with_attributes(int *device)
{
    int ranks[4], sum, *arguments = device;
    void *list[] = {&arguments};
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, rank_of_cluster));
    CHECK(attributes.maxThreadsPerBlock > 0 && attributes.requiredClusterWidth == 2);
    OK(cudaFuncSetAttribute(rank_of_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = 100000;
    OK(cudaLaunchKernelEx(&config, rank_of_cluster, device));
    OK(cudaMemcpy(ranks, device, sizeof ranks, cudaMemcpyDeviceToHost));
    CHECK(ranks[0] == 0 && ranks[1] == 1 && ranks[2] == 0 && ranks[3] == 1);
    OK(cudaMemset(device, 0, sizeof sum));
    OK(cudaLaunchCooperativeKernel((const void *)meet, dim3(8), dim3(32), list, 0, NULL));
    OK(cudaMemcpy(&sum, device, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(sum == 8 * 32);
    return 0;
}

static int errors(float *device)
{
    void *nothing = NULL;
    CHECK(cudaMalloc(&nothing, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaSuccess);
    add<<<1, 4096>>>(device, 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaLaunchKernel((const void *)&shared_with_host, dim3(1), dim3(1), NULL, 0, NULL) == cudaErrorInvalidDeviceFunction);
    CHECK(cudaGetSymbolAddress(&nothing, (const void *)&errors) == cudaErrorInvalidSymbol);
    CHECK(cudaSetDevice(1000) == cudaErrorInvalidDevice);
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    cudaGetLastError();
    return 0;
}

static int works()
{
    cudaDeviceProp properties;
    int count = 0, version = 0, major = 0;
    float *device, *host;
    OK(cudaGetDeviceCount(&count));
    OK(cudaSetDevice(0));
    OK(cudaGetDeviceProperties(&properties, 0));
    OK(cudaRuntimeGetVersion(&version));
    OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK(count >= 1 && version / 1000 == CUDART_VERSION / 1000 && properties.major == 9 && major == 9);
    CHECK(properties.multiProcessorCount == 132 && properties.warpSize == 32 && properties.sharedMemPerBlockOptin == 232448);
    CHECK(properties.clusterLaunch == 1 && properties.totalGlobalMem > 0 && properties.maxThreadsPerMultiProcessor == 2048);
    OK(cudaMalloc(&device, BYTES));
    OK(cudaMallocHost(&host, BYTES));
    if (memory_and_copies(device, host) || launches(device) || launches_with_attributes((int *)device) || errors(device))
        return 1;
    OK(cudaFreeHost(host));
    OK(cudaFree(device));
    OK(cudaDeviceReset());
    return 0;
}

static int faults()
{
    void *memory;
    int *device;
    OK(cudaMalloc(&device, sizeof *device));
    CHECK(cudaMalloc(&memory, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    store_at<<<1, 1>>>((int *)64);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress && cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaPeekAtLastError() == cudaErrorIllegalAddress);
    CHECK(cudaMalloc(&memory, 16) == cudaErrorIllegalAddress && cudaFree(device) == cudaErrorIllegalAddress);
    CHECK(cudaMemcpy(memory, memory, 0, cudaMemcpyDefault) == cudaErrorIllegalAddress);
    store_at<<<1, 1>>>(device);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    OK(cudaMalloc(&device, sizeof *device));
    store_at<<<1, 1>>>(device);
    OK(cudaDeviceSynchronize());
    CHECK(cudaMalloc(&memory, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    OK(cudaDeviceSynchronize());
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    OK(cudaGetLastError());
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "hangs") == 0) {
        wait_for_two_arrivals<<<1, 32>>>();
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    return argc > 1 && strcmp(argv[1], "faults") == 0 ? faults() : works();
}
