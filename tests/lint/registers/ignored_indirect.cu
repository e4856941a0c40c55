// REGS_IGNORED warning: the kernel calls through a pointer what may be any code.
#include "registers.cuh"

using function = int (*)(int);
__device__ int once(int n)
{
    return n;
}
__device__ int twice(int n)
{
    return 2 * n;
}
__device__ const function table[2] = {once, twice};

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    RELEASE(40); // here
    out[threadIdx.x] = FIXED ? (n & 1 ? twice(n) : once(n)) : table[n & 1](n);
}

KERNELS(__launch_bounds__(GROUP, 1))
