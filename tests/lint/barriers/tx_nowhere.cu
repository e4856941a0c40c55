// TX_MISMATCH warning: the bytes are announced on one barrier, the copy completes on another one.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(const unsigned char *in, float *out)
{
    __shared__ uint64_t full[2];
    __shared__ alignas(128) unsigned char slot[1024];
    if (threadIdx.x == 0) {
        INIT(&full[0], 1);
        INIT(&full[1], 1);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ARRIVE_EXPECT(&full[0], 1024);
        COPY(slot, in, 1024, &full[!FIXED]);
    }
    __syncwarp();
    WAIT(&full[0], 0); // here
    out[threadIdx.x] = slot[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) defect(const unsigned char *in, float *out) { body<false>(in, out); }
extern "C" __global__ void __launch_bounds__(128) fixed(const unsigned char *in, float *out) { body<true>(in, out); }
