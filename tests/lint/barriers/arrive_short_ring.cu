// ARRIVE_SHORT warning: "empty" counts the warps of two CTAs, and those of one release a slot.
#include "barriers.cuh"

#define STAGES 4

template <bool FIXED> __device__ __forceinline__ void body(const unsigned char *in, int trips, float *out)
{
    __shared__ uint64_t full[STAGES], empty[STAGES];
    __shared__ alignas(128) unsigned char slots[STAGES][1024];
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            INIT(&full[i], 1);
            INIT(&empty[i], FIXED ? 4 : 8);
        }
        INIT_FENCE();
    }
    __syncthreads();
    int stage = 0, phase = 0;
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            WAIT(&empty[stage], phase ^ 1); // here
            ARRIVE_EXPECT(&full[stage], 1024);
            COPY(slots[stage], in + i * 1024, 1024, &full[stage]);
            if (++stage == STAGES) {
                stage = 0;
                phase ^= 1;
            }
        }
    } else if (threadIdx.x >= 128) {
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            WAIT(&full[stage], phase);
            out[threadIdx.x] += slots[stage][threadIdx.x];
            __syncwarp();
            if (is_lane_0())
                ARRIVE(&empty[stage]);
            if (++stage == STAGES) {
                stage = 0;
                phase ^= 1;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) defect(const unsigned char *in, int trips, float *out) { body<false>(in, trips, out); }
extern "C" __global__ void __launch_bounds__(256) fixed(const unsigned char *in, int trips, float *out) { body<true>(in, trips, out); }
