// NAMED_ID_SHARED warning: two pairs of warps use one id.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out, int trips)
{
    __shared__ float values[128];
    if (threadIdx.x < 64) {
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            values[threadIdx.x] = out[threadIdx.x];
            SYNC(3, 64);
            out[threadIdx.x] = values[threadIdx.x ^ 32];
        }
    } else {
#pragma unroll 1
        for (int i = 0; i < trips / 2; i++) {
            values[threadIdx.x] = 2 * out[threadIdx.x];
            SYNC(FIXED ? 4 : 3, 64); // here
            out[threadIdx.x] = values[threadIdx.x ^ 32];
        }
    }
}

extern "C" __global__ void __launch_bounds__(128) defect(float *out, int trips) { body<false>(out, trips); }
extern "C" __global__ void __launch_bounds__(128) fixed(float *out, int trips) { body<true>(out, trips); }
