/* wait_in_branch.cu - the last round waits for all groups, the others for all but one.  WGMMA_WAIT_IN_BRANCH */
#include "wgmma.cuh"

KERNEL(defect)
{
    Tile d = {};
    for (int k = 0; k < steps; k++) {
        FENCE();
        multiply(d, a, b, 1);
        multiply(d, a + 2, b + 2, 1);
        COMMIT();
        if (k == steps - 1)
            WAIT(0);
        else
            WAIT(1);
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
        WAIT(1);
        a += 4;
    }
    WAIT(0);
    write(out, d);
}
