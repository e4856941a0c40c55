// REGS_UNBALANCED warning: the consumers ask twice and give nothing back between.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(40);
        out[threadIdx.x] = n;
    } else {
        REQUEST(200); // here
        out[threadIdx.x] = 3 * n;
        if (FIXED)
            RELEASE(168);
        REQUEST(232);
        out[threadIdx.x + n] = 5 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
