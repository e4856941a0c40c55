// REGS_ORDER error: what follows in loops does not matter; of a barrier that a loop may pass before nothing is said.
#include "registers.cuh"

template <bool FIXED> __device__ __forceinline__ void body(int *out, int n)
{
    if (threadIdx.x < GROUP) {
        if (FIXED)
            for (int i = 0; i < n; i++)
                SYNC(1, 3 * GROUP);
        else
            SYNC(1, 3 * GROUP);
        RELEASE(40);
        for (int i = 0; i < n; i++) {
            out[threadIdx.x] += i * n;
            SYNC(2, 3 * GROUP);
        }
    } else {
        REQUEST(232); // here
        for (int i = 0; i < n; i++) {
            out[threadIdx.x] ^= 3 * i;
            SYNC(2, 3 * GROUP);
        }
        SYNC(1, 3 * GROUP);
    }
}

KERNELS(__launch_bounds__(3 * GROUP, 1))
