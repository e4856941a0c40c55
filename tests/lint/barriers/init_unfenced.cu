// BARRIER_NOT_INIT warning: a relaxed cluster barrier publishes nothing, and there is no fence.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ uint64_t done;
    if (threadIdx.x == 0) {
        INIT(&done, 4); // here
        if (FIXED)
            INIT_FENCE();
    }
    CLUSTER_SYNC_RELAXED();
    if (is_lane_0())
        ARRIVE_REMOTE(&done, 1 - blockIdx.x % 2);
    __syncwarp();
    WAIT(&done, 0);
    out[threadIdx.x] = 1;
    CLUSTER_SYNC();
}

extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(2, 1, 1) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(2, 1, 1) fixed(float *out) { body<true>(out); }
