// REGS_BUDGET error: two warpgroups ask and nobody gives.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        if (FIXED)
            RELEASE(40);
        out[threadIdx.x] = n;
    } else {
        REQUEST(232); // here
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
