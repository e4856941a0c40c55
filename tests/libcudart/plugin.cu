/* plugin.cu - a library with a kernel and a CUDA runtime, as extensions of Python are: opened later, or linked with. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *values, int with)
{
    values[threadIdx.x] = with;
}

__global__ void never_arrives(void)
{
    __shared__ unsigned long long barrier;
    const unsigned address = (unsigned)__cvta_generic_to_shared(&barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address));
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(address)
                     : "memory");
}

/* What a kernel stored; -1 and a line where a call failed. */
extern "C" int plugin_run(int with, int hangs)
{
    int *values = nullptr, got = -1;
    cudaError_t result = cudaMalloc(&values, 32 * sizeof *values);
    if (result == cudaSuccess) {
        fill<<<1, 32>>>(values, with);
        if (hangs)
            never_arrives<<<1, 32>>>();
        result = cudaMemcpy(&got, values + 31, sizeof got, cudaMemcpyDeviceToHost);
    }
    cudaFree(values);
    if (result != cudaSuccess)
        printf("the plugin's call failed: %s\n", cudaGetErrorName(result));
    return result == cudaSuccess ? got : -1;
}
