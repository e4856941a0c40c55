// REGS_BUDGET error: four roles, told apart by a table of branches: 2 x 24 + 2 x 240 of 4 x 128.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    switch (threadIdx.x / GROUP) {
    case 0:
        RELEASE(24);
        out[threadIdx.x] = n;
        break;
    case 1:
        RELEASE(24);
        out[threadIdx.x] = 2 * n;
        break;
    case 2:
        REQUEST(FIXED ? 232 : 240);
        out[threadIdx.x] = 3 * n;
        break;
    case 3:
        REQUEST(FIXED ? 232 : 240); // here
        out[threadIdx.x] = n * n;
        break;
    }
}

KERNELS(__launch_bounds__(4 * GROUP, 1))
