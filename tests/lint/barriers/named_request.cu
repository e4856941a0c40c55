// NAMED_ID_SHARED warning: two roles sync on one id behind a request for registers, a loop at the head of each; where
// they sync together, the count is that of both.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    switch (threadIdx.x / 128) {
    case 0:
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x < 32)
            out[0] = n;
        break;
    case 1:
        asm volatile("setmaxnreg.inc.sync.aligned.u32 192;");
        out[1] = n;
        SYNC(1, FIXED ? 256 : 128); // here
        break;
    case 2:
        asm volatile("setmaxnreg.inc.sync.aligned.u32 192;");
        out[2] = n + 1;
        SYNC(1, FIXED ? 256 : 128);
        break;
    case 3:
        asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
        out[3] = 2;
        break;
    }
}

extern "C" __global__ void __launch_bounds__(512, 1) defect(int *out, int n) { body<false>(out, n); }
extern "C" __global__ void __launch_bounds__(512, 1) fixed(int *out, int n) { body<true>(out, n); }
