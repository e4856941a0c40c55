// REGS_ORDER error: the producer waits for a signal that a consumer gives behind its request.
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
        if (!FIXED)
            SIGNAL(1, 2 * GROUP);
        out[threadIdx.x] = 3 * n;
    } else {
        REQUEST(232);
        out[threadIdx.x] = 5 * n;
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
