/* assertion.cu - a call that ptxas cannot see into, outside of any stage.  WGMMA_SERIALIZED */
#include <cassert>

#include "wgmma.cuh"

KERNEL(defect)
{
    Tile d = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(d, a, b, 1);
        multiply(d, a + 2, b + 2, 1);
        COMMIT();
        WAIT(0);
        assert(in[k] >= 0);
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
        a += 4;
    }
    write(out, d);
}
