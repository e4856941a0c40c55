// REGS_ORDER error: a named barrier of the producer and one consumer; only an arrival in front of the request is right.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        SYNC(1, 2 * GROUP);
        RELEASE(40);
        out[threadIdx.x] = n;
    } else if (threadIdx.x < 2 * GROUP) {
        if (FIXED)
            SIGNAL(1, 2 * GROUP);
        REQUEST(232); // here
        out[threadIdx.x] = 3 * n;
        if (!FIXED)
            SYNC(1, 2 * GROUP);
    } else {
        REQUEST(232);
        out[threadIdx.x] = 5 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
