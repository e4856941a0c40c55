/* lines.cu - two kernels with calls inlined into them, one within the other: what images/lines.fatbin was made from, by
 * nvcc -lineinfo -fatbin --no-compress -gencode arch=compute_90a,code=sm_90a, in this folder. */
#line 5 "/src/lines.cu"
#include <cstdint>
__device__ __forceinline__ bool try_wait(uint32_t at, uint32_t parity)
{
    uint32_t done;
    asm volatile("{.reg .pred P; mbarrier.try_wait.parity.shared.b64 P, [%1], %2; selp.u32 %0, 1, 0, P;}"
                 : "=r"(done)
                 : "r"(at), "r"(parity));
    return done;
}
__device__ __forceinline__ void wait(uint32_t at, uint32_t parity)
{
    while (!try_wait(at, parity))
        ;
}
extern "C" __global__ void consumer(int *p)
{
    wait(1024, 0);
    p[threadIdx.x] = 3;
    wait(1032, p[1]);
}
extern "C" __global__ void other(int *p)
{
    p[threadIdx.x] += 5;
    wait(1040, 1);
}
