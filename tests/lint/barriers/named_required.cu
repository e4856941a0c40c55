// NAMED_COUNT error: the kernel is always launched with three warps, which sync on a count of two.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ float values[96];
    values[threadIdx.x] = out[threadIdx.x];
    SYNC(1, FIXED ? 96 : 64); // here
    out[threadIdx.x] = values[95 - threadIdx.x];
}

extern "C" __global__ void __block_size__((96, 1, 1)) defect(float *out) { body<false>(out); }
extern "C" __global__ void __block_size__((96, 1, 1)) fixed(float *out) { body<true>(out); }
