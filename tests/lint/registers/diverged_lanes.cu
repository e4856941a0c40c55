// REGS_DIVERGED warning: half of each warp releases.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        if (FIXED || threadIdx.x % WARP < 16)
            RELEASE(40); // here
        out[threadIdx.x] = n;
    } else {
        REQUEST(232);
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
