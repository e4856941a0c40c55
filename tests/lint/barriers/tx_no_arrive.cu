// TX_NO_ARRIVE error: the bytes are announced by expect_tx, which does not arrive.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(const unsigned char *in, float *out)
{
    __shared__ uint64_t full;
    __shared__ alignas(128) unsigned char slot[1024];
    if (threadIdx.x == 0) {
        INIT(&full, 1);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (FIXED)
            ARRIVE_EXPECT(&full, 1024);
        else
            EXPECT(&full, 1024);
        COPY(slot, in, 1024, &full);
    }
    __syncwarp();
    WAIT(&full, 0); // here
    out[threadIdx.x] = slot[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) defect(const unsigned char *in, float *out) { body<false>(in, out); }
extern "C" __global__ void __launch_bounds__(128) fixed(const unsigned char *in, float *out) { body<true>(in, out); }
