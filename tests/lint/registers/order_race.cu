// REGS_ORDER warning: who is served first decides; who exits gives nothing back.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(80);
        out[threadIdx.x] = n;
    } else if (threadIdx.x < 2 * GROUP) {
        RELEASE(96);
        out[threadIdx.x] = 3 * n;
    } else if (threadIdx.x < 3 * GROUP) {
        REQUEST(192); // here
        out[threadIdx.x] = 5 * n;
        RELEASE(80);
    } else {
        REQUEST(FIXED ? 144 : 160);
        out[threadIdx.x] = 7 * n;
    }
}

KERNELS(__launch_bounds__(4 * GROUP, 1))
