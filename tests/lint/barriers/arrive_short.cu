// ARRIVE_SHORT error: the count is a warpgroup's threads, one lane of each warp arrives.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ uint64_t done;
    if (threadIdx.x == 0) {
        INIT(&done, FIXED ? 4 : 128);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        WAIT(&done, 0); // here
        out[threadIdx.x] = 1;
    } else {
        out[threadIdx.x] = 2;
        if (is_lane_0())
            ARRIVE(&done);
    }
}

extern "C" __global__ void __launch_bounds__(256) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(256) fixed(float *out) { body<true>(out); }
