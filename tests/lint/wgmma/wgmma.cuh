/* wgmma.cuh - one warpgroup's matrix instruction, small: 64 x 32 += 64 x 16 times 16 x 32, bf16 into fp32.  The kernels
 * beside this file are compiled and looked at, not run: descriptors are arguments. */
#ifndef WGMMA_CUH
#define WGMMA_CUH

#include <cstdint>

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory")

struct Tile {
    float at[16];
};

#define FOUR(i) "+f"(d.at[i]), "+f"(d.at[(i) + 1]), "+f"(d.at[(i) + 2]), "+f"(d.at[(i) + 3])

/* d = a * b, or with scale_d d += a * b. */
__device__ __forceinline__ void multiply(Tile &d, uint64_t a, uint64_t b, int scale_d)
{
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %18, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p, 1, 1, 0, 0;\n\t}"
                 : FOUR(0), FOUR(4), FOUR(8), FOUR(12)
                 : "l"(a), "l"(b), "r"(scale_d));
}

__device__ __forceinline__ void write(float *out, const Tile &d)
{
#pragma unroll
    for (int i = 0; i < 16; i++)
        out[i * 128 + threadIdx.x] = d.at[i];
}

#define KERNEL(name)                                  \
    extern "C" __global__ void __launch_bounds__(128) \
        name(float *out, int steps, uint64_t a, uint64_t b, const int *in, float factor)

#endif
