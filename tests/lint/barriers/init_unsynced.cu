// BARRIER_NOT_INIT warning: warp 1 waits without having met the warp that initialises.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        INIT(&bar, 1);
        INIT_FENCE();
    }
    if (FIXED)
        __syncthreads();
    if (threadIdx.x == 0)
        ARRIVE(&bar);
    if (threadIdx.x >= 32) {
        WAIT(&bar, 0); // here
        out[threadIdx.x] = 1;
    }
}

extern "C" __global__ void __launch_bounds__(64) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(64) fixed(float *out) { body<true>(out); }
