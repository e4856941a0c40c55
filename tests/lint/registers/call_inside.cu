// REGS_CALL_INSIDE warning: printf where 40 registers are left.
#include <stdio.h>

#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(40);
        if (!FIXED)
            printf("%d\n", n); // here
        out[threadIdx.x] = n;
    } else {
        REQUEST(232);
        out[threadIdx.x] = 3 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
