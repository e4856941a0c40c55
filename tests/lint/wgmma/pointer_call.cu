/* pointer_call.cu - a call through a pointer, outside of any stage.  WGMMA_SERIALIZED */
#include "wgmma.cuh"

using function = int (*)(int);
__device__ int once(int n)
{
    return n;
}
__device__ int twice(int n)
{
    return 2 * n;
}
__device__ const function table[2] = {once, twice};

KERNEL(defect)
{
    Tile d = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(d, a, b, 1);
        multiply(d, a + 2, b + 2, 1);
        COMMIT();
        WAIT(0);
        a += table[k & 1](k);
    }
    write(out, d);
}

KERNEL(fixed)
{
    Tile d = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(d, a, b, 1);
        multiply(d, a + 2, b + 2, 1);
        COMMIT();
        WAIT(0);
        a += k & 1 ? twice(k) : once(k);
    }
    write(out, d);
}
