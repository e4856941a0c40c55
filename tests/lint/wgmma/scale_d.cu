/* scale_d.cu - scale-d of each step is read from memory.  WGMMA_SCALE_D */
#include "wgmma.cuh"

KERNEL(defect)
{
    Tile d = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(d, a, b, in[k + threadIdx.x]);
        multiply(d, a + 2, b + 2, in[k + 1 + threadIdx.x]);
        multiply(d, a + 4, b + 4, in[k + 2 + threadIdx.x]);
        COMMIT();
        WAIT(1);
        a += 8;
    }
    WAIT(0);
    write(out, d);
}

KERNEL(fixed)
{
    Tile d = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(d, a, b, 1);
        multiply(d, a + 2, b + 2, 1);
        multiply(d, a + 4, b + 4, 1);
        COMMIT();
        WAIT(1);
        a += 8;
    }
    WAIT(0);
    write(out, d);
}
