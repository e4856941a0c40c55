// REGS_PARTIAL_WARPGROUP error: one warp is elected before its warpgroup has released.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        if (FIXED || threadIdx.x < WARP)
            RELEASE(40); // here
        if (threadIdx.x < WARP)
            out[threadIdx.x] = n;
    } else {
        REQUEST(232);
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
