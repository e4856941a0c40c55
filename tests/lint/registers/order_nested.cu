// REGS_ORDER error: one barrier behind another; the first two to ask get what there is for one of them.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        SYNC(2, 2 * GROUP);
        RELEASE(24);
        out[threadIdx.x] = n;
    } else if (threadIdx.x < 2 * GROUP) {
        REQUEST(152); // here
        out[threadIdx.x] = 3 * n;
        SYNC(1, 2 * GROUP);
        SYNC(2, 2 * GROUP);
    } else if (threadIdx.x < 3 * GROUP) {
        REQUEST(152);
        out[threadIdx.x] = 5 * n;
        SYNC(1, 2 * GROUP);
    } else {
        RELEASE(FIXED ? 80 : 104);
        out[threadIdx.x] = 7 * n;
    }
}

KERNELS(__launch_bounds__(4 * GROUP, 1))
