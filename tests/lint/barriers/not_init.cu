// BARRIER_NOT_INIT error: the second barrier is waited for, and only the first one is initialised.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ uint64_t bars[2];
    if (threadIdx.x == 0) {
        INIT(&bars[0], 1);
        if (FIXED)
            INIT(&bars[1], 1);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ARRIVE(&bars[0]);
        if (FIXED)
            ARRIVE(&bars[1]);
    }
    WAIT(&bars[0], 0);
    WAIT(&bars[1], 0); // here
    out[threadIdx.x] = 1;
}

extern "C" __global__ void __launch_bounds__(128) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(128) fixed(float *out) { body<true>(out); }
