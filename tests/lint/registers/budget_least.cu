// REGS_BUDGET error: 32 + 2 x 240 of 3 x 168; with 24 it fits.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(FIXED ? 24 : 32);
        out[threadIdx.x] = n;
    } else {
        REQUEST(240); // here
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
