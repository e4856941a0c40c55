// REGS_BUDGET error: the producer asks back what the consumers hold to the end.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(40);
        out[threadIdx.x] = n;
        if (!FIXED)
            REQUEST(168);
        out[threadIdx.x + n] = n;
    } else {
        REQUEST(232); // here
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
