/* accumulators_read.cu - accumulators are looked at before the wait for them.  WGMMA_SERIALIZED */
#include "wgmma.cuh"

KERNEL(defect)
{
    Tile d = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(d, a, b, 1);
        multiply(d, a + 2, b + 2, 1);
        COMMIT();
        out[k] = d.at[3];
        WAIT(0);
        a += 4;
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
        out[k] = d.at[3];
        a += 4;
    }
    write(out, d);
}
