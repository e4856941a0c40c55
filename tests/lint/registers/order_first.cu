// REGS_ORDER error: nobody can be served first, though each gives everything back.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < 2 * GROUP) {
        REQUEST(240); // here
        out[threadIdx.x] = n;
        RELEASE(24);
        out[threadIdx.x] += 3 * n;
    } else {
        if (FIXED)
            RELEASE(96);
        out[threadIdx.x] = 5 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
