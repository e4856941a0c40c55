// REGS_IGNORED warning: nothing says how many registers a thread has at launch.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        RELEASE(40); // here
        out[threadIdx.x] = n;
    } else {
        REQUEST(232);
        out[threadIdx.x] = 3 * n;
    }
}

extern "C" __global__ void defect(int *out, int n)
{
    body<false>(out, n);
}

extern "C" __global__ void __launch_bounds__(3 * GROUP, 1) fixed(int *out, int n)
{
    body<true>(out, n);
}
