// REGS_ORDER error: 128 registers a thread are released behind a __syncthreads() that the asking warps reach only later.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        if (FIXED)
            RELEASE(40);
        __syncthreads();
        if (!FIXED)
            RELEASE(40);
        out[threadIdx.x] = n;
    } else {
        REQUEST(232); // here
        out[threadIdx.x] = 3 * n;
        __syncthreads();
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
