/* regs_two_blocks - a launch bound of two blocks a multiprocessor halves the registers at launch; the requests are
 * those of one block.
 *
 * 384 threads get 80 registers each: 240 a row of three warpgroups, and 24 + 2 x 240 are asked for.
 *
 * Shaped after: tile-ai/tilelang#2559.
 * Cause: REGS_EXHAUSTED.  Roles: the consumers ask.  Barrier: register pool.
 * Fix: one block a multiprocessor, which gives 168; here the requests that fit two: 24 + 2 x 104.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(regs_two_blocks, __launch_bounds__(384, 2))
{
    if (warp < 4) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        REGISTERS_RELEASE(w, 24);
    } else if (FIXED) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        REGISTERS_REQUEST(w, 104);
    } else {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        REGISTERS_REQUEST(w, 240);
    }
    NAMED_SYNC(w, 0, 384);
}
