/* named_double_arrive - the math warps arrive on a named barrier twice before the warps that move data reach it once.
 *
 * 256 + 256 arrivals on a barrier for 384: a phase ends without the last warpgroup, which then waits with 128 of them
 * for 128 more.
 *
 * Shaped after: flashinfer-ai/flashinfer#4732.
 * Cause: DOUBLE_ARRIVE.  Roles: the consumers arrive twice, the epilogue waits.  Barrier: named barrier 1.
 * Fix: two ids in turn.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(named_double_arrive, )
{
    const uint32_t count = 3 * WARPGROUP_THREADS;
    if (warp < 8) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        for (int tile = 0; tile < 2; tile++)
            NAMED_ARRIVE(w, FIXED ? 1 + tile : 1, count);
    } else {
        ROLE_BEGIN(w, ROLE_EPILOGUE);
        be_late();
        for (int tile = 0; tile < 2; tile++)
            NAMED_SYNC(w, FIXED ? 1 + tile : 1, count);
    }
    __syncwarp();
    /* The math warps stay: with warps that exit the hardware counts otherwise. */
    NAMED_SYNC(w, 0, count);
}
