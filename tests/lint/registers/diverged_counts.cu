// REGS_DIVERGED error: two warps of a warpgroup ask for more than their mates.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(40);
        out[threadIdx.x] = n;
    } else if (FIXED || threadIdx.x % GROUP < 2 * WARP) {
        REQUEST(232);
        out[threadIdx.x] = 3 * n;
    } else {
        REQUEST(240); // here
        out[threadIdx.x] = 5 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
