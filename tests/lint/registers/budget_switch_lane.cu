// REGS_BUDGET error: a table of branches by what the first lane has: 40 + 232 + 2 x 128 of 4 x 128.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    const int group = __shfl_sync(0xffffffff, (int)threadIdx.x / GROUP, 0);
    switch (group) {
    case 0:
        RELEASE(40);
        out[threadIdx.x] = n;
        break;
    case 1:
        REQUEST(FIXED ? 216 : 232); // here
        out[threadIdx.x] = 3 * n;
        break;
    case 2:
        out[threadIdx.x] = n * n;
        break;
    default:
        out[threadIdx.x] = 2 * n;
        break;
    }
}

KERNELS(__launch_bounds__(4 * GROUP, 1))
