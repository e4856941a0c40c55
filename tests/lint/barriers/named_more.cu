// NAMED_COUNT error: the count is higher than all the threads that the block can have.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ float values[128];
    values[threadIdx.x] = out[threadIdx.x];
    SYNC(1, FIXED ? 128 : 256); // here
    out[threadIdx.x] = values[threadIdx.x ^ 64];
}

extern "C" __global__ void __launch_bounds__(128) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(128) fixed(float *out) { body<true>(out); }
