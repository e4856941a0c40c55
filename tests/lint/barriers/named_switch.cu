// NAMED_ID_SHARED warning: two roles that a table of branches parts each sync among themselves on the same id.
#include "barriers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    switch (threadIdx.x / 128) {
    case 0:
        out[threadIdx.x] = n;
        break;
    case 1:
        for (int i = 0; i < n; i++) {
            out[threadIdx.x] += i;
            SYNC(1, 128); // here
        }
        break;
    case 2:
        for (int i = 0; i < n; i++) {
            out[threadIdx.x] ^= i * n;
            SYNC(FIXED ? 2 : 1, 128);
        }
        break;
    case 3:
        out[threadIdx.x] = n * n;
        break;
    }
}

extern "C" __global__ void __launch_bounds__(512) defect(int *out, int n)
{
    body<false>(out, n);
}

extern "C" __global__ void __launch_bounds__(512) fixed(int *out, int n)
{
    body<true>(out, n);
}
