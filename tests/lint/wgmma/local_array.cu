/* local_array.cu - two accumulators in an array that a loop indexes: it lies in local memory.  WGMMA_SPILL */
#include "wgmma.cuh"

KERNEL(defect)
{
    Tile d[2] = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
#pragma unroll 1
        for (int row = 0; row < 2; row++)
            multiply(d[row], a + 64 * row, b, 1);
        COMMIT();
        WAIT(0);
        a += 4;
    }
    write(out, d[0]);
    write(out + 2048, d[1]);
}

KERNEL(fixed)
{
    Tile upper = {}, lower = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(upper, a, b, 1);
        multiply(lower, a + 64, b, 1);
        COMMIT();
        WAIT(0);
        a += 4;
    }
    write(out, upper);
    write(out + 2048, lower);
}
