// REGS_PARTIAL_WARPGROUP warning: one warp alone asks; the pool has enough.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(40);
        out[threadIdx.x] = n;
    } else {
        if (FIXED || threadIdx.x >= GROUP + WARP)
            REQUEST(232); // here
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
