// REGS_BUDGET error: launch bounds of two blocks leave 80 a thread.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(24);
        out[threadIdx.x] = n;
    } else {
        REQUEST(FIXED ? 104 : 240); // here
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 2))
