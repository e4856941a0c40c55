/* regs_four_groups - 24 and 240 registers, right for one producer and two consumers, used with two and two.
 *
 * 512 threads get 128 registers each at launch: 4 x 128 = 512 a "row" of four, and 2 x 24 + 2 x 240 = 528.
 *
 * Shaped after: tile-ai/tilelang#2406.
 * Cause: REGS_EXHAUSTED.  Roles: the consumers ask.  Barrier: register pool.
 * Fix: 24 and 232.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(regs_four_groups, __launch_bounds__(512, 1))
{
    if (warp < 8) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        REGISTERS_RELEASE(w, 24);
    } else if (FIXED) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        REGISTERS_REQUEST(w, 232);
    } else {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        REGISTERS_REQUEST(w, 240);
    }
    /* Registers of warps that have exited do not come back: the producers stay until the end. */
    NAMED_SYNC(w, 0, 512);
}
