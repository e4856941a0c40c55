// NAMED_COUNT warning: the two sides of a hand-over name different counts.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out, int trips)
{
    __shared__ float values[128];
#pragma unroll 1
    for (int i = 0; i < trips; i++) {
        if (threadIdx.x < 128) {
            values[threadIdx.x] = out[threadIdx.x];
            SIGNAL(1, FIXED ? 256 : 128);
        } else {
            SYNC(1, 256); // here
            out[threadIdx.x] = values[threadIdx.x - 128];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) defect(float *out, int trips) { body<false>(out, trips); }
extern "C" __global__ void __launch_bounds__(256) fixed(float *out, int trips) { body<true>(out, trips); }
