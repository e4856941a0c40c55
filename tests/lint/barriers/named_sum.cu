// NAMED_COUNT error: one warpgroup arrives, another one syncs, and the count is that of three.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ float values[128];
    if (threadIdx.x < 128) {
        values[threadIdx.x] = out[threadIdx.x];
        SIGNAL(1, FIXED ? 256 : 384);
    } else {
        SYNC(1, FIXED ? 256 : 384); // here
        out[threadIdx.x] = values[threadIdx.x - 128];
    }
}

extern "C" __global__ void __launch_bounds__(256) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(256) fixed(float *out) { body<true>(out); }
