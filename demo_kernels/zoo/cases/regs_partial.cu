/* regs_partial - one warp of the producer's warpgroup is elected before the group has given its registers back: only
 * that one gives.
 *
 * Shaped after: NVIDIA/cutlass#2007.
 * Cause: REGS_PARTIAL_WARPGROUP.  Roles: the producer's warpgroup, the consumers ask.  Barrier: register pool.
 * Fix: release before the election.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(regs_partial, __launch_bounds__(384, 1))
{
    if (warp < 4) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        if (FIXED || warp == 0)
            REGISTERS_RELEASE(w, 40);
    } else {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        REGISTERS_REQUEST(w, 232);
    }
    NAMED_SYNC(w, 0, 384);
}
