// BLOCK_SYNC_IN_ROLE warning: a __syncthreads in the consumers' loop, before they release what the producer waits for.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int trips, float *out)
{
    __shared__ uint64_t full, empty;
    __shared__ float values[128];
    if (threadIdx.x == 0) {
        INIT(&full, 128);
        INIT(&empty, 4);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            WAIT(&empty, (i & 1) ^ 1);
            values[threadIdx.x] = i;
            ARRIVE(&full);
        }
    } else {
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            WAIT(&full, i & 1);
            out[threadIdx.x] += values[threadIdx.x - 128];
            if (FIXED)
                SYNC(1, 128);
            else
                __syncthreads(); // here
            if (is_lane_0())
                ARRIVE(&empty);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) defect(int trips, float *out) { body<false>(trips, out); }
extern "C" __global__ void __launch_bounds__(256) fixed(int trips, float *out) { body<true>(trips, out); }
