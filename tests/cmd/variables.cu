/* variables.cu - two kernels of one module, whose mbarriers are other variables: `first` ends, `second` hangs. */
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
__device__ uint32_t sa(void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sa(b)), "r"(n) : "memory"); }
__device__ void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(b)) : "memory"); }
__device__ void wait(uint64_t *b, uint32_t parity)
{
    asm volatile("{\n.reg .pred p;\nL%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D%=;\nbra L%=;\nD%=:\n}" ::"r"(sa(b)), "r"(parity) : "memory");
}
__global__ void first(int *out)
{
    __shared__ uint64_t start, stop;
    if (threadIdx.x == 0) { init(&start, 1); init(&stop, 1); }
    __syncthreads();
    if (threadIdx.x == 0) { arrive(&start); wait(&stop, 0); }
    if (threadIdx.x == 32) { wait(&start, 0); arrive(&stop); }
    out[threadIdx.x] = 1;
}
__global__ void second(int *out, int n)
{
    __shared__ uint64_t ready[4], taken[4];
    if (threadIdx.x == 0)
        for (int i = 0; i < 4; i++) { init(ready + i, 1); init(taken + i, 1); }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++) { wait(taken + i % 4, i / 4 % 2 ^ 1); if (i != 9) arrive(ready + i % 4); }
    if (threadIdx.x == 32)
        for (int i = 0; i < n; i++) { wait(ready + i % 4, i / 4 % 2); arrive(taken + i % 4); }
    out[threadIdx.x] = 1;
}
int main()
{
    int *out;
    cudaMalloc(&out, 4096);
    first<<<1, 64>>>(out);
    second<<<1, 64>>>(out, 32);
    return cudaDeviceSynchronize() != cudaSuccess;
}
