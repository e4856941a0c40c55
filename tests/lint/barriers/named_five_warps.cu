// NAMED_COUNT warning: five warps take part, the count says two: pairs of them pass, the fifth waits.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ float values[160];
    if (threadIdx.x < 160) {
        values[threadIdx.x] = out[threadIdx.x];
        SYNC(2, FIXED ? 160 : 64); // here
        out[threadIdx.x] = values[159 - threadIdx.x];
    }
}

extern "C" __global__ void __launch_bounds__(256) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(256) fixed(float *out) { body<true>(out); }
