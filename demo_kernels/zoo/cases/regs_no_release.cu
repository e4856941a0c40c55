/* regs_no_release - the compute warpgroups ask for 168 registers and nobody has given any back.
 *
 * Shaped after: pytorch/helion#3620.
 * Cause: REGS_EXHAUSTED.  Roles: the producer and the epilogue keep theirs, the consumers ask.  Barrier: register pool.
 * Fix: 80 for the producer and 88 for the epilogue: 80 + 2 x 168 + 88 = 504 of 512.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(regs_no_release, __launch_bounds__(512, 1))
{
    const int group = warp / 4;
    if (group == 0) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        if (FIXED)
            REGISTERS_RELEASE(w, 80);
    } else if (group < 3) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        REGISTERS_REQUEST(w, 168);
    } else {
        ROLE_BEGIN(w, ROLE_EPILOGUE);
        if (FIXED)
            REGISTERS_RELEASE(w, 88);
    }
    NAMED_SYNC(w, 0, 512);
}
