// ARRIVE_MISSING error: the consumers release the first slot's barrier and nobody the second one's.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(float *out)
{
    __shared__ uint64_t empty[2];
    if (threadIdx.x == 0) {
        INIT(&empty[0], 4);
        INIT(&empty[1], 4);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        WAIT(&empty[0], 0);
        WAIT(&empty[1], 0); // here
        out[threadIdx.x] = 1;
    } else if (is_lane_0()) {
        ARRIVE(&empty[0]);
        ARRIVE(&empty[FIXED]);
    }
}

extern "C" __global__ void __launch_bounds__(256) defect(float *out) { body<false>(out); }
extern "C" __global__ void __launch_bounds__(256) fixed(float *out) { body<true>(out); }
