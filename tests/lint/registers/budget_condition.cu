// REGS_BUDGET warning: too much, if the launch says so.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(40);
        out[threadIdx.x] = n;
    } else {
        if (n > 7)
            REQUEST(FIXED ? 232 : 240); // here
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
