// PEER_EXITED warning: CTA 0 arrives on a barrier of CTA 1, which may have left the kernel.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ uint64_t done;
    if (threadIdx.x == 0) {
        INIT(&done, 4);
        INIT_FENCE();
    }
    CLUSTER_SYNC();
    out[threadIdx.x] = 1;
    if (blockIdx.x % 2 == 0 && is_lane_0())
        ARRIVE_REMOTE(&done, 1); // here
    __syncwarp();
    if (FIXED)
        CLUSTER_SYNC();
}

extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(2, 1, 1) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(2, 1, 1) fixed(float *out) { body<true>(out); }
