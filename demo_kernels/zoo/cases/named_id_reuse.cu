/* named_id_reuse - two pairs of warps, each with a barrier of its own in mind, use one id: warps of different pairs
 * meet there.
 *
 * Pair one meets once, pair two twice.  Warp 0 meets warp 2, then warp 2 meets warp 1; warp 3, the last, meets nobody.
 *
 * Shaped after: flashinfer-ai/flashinfer#4533 (two sites of a warpgroup with one id).
 * Cause: NAMED_ID_SHARED.  Roles: the epilogue.  Barrier: named barrier 3.
 * Fix: an id for each pair.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(named_id_reuse, )
{
    ROLE_BEGIN(w, ROLE_EPILOGUE);
    if (warp < 2) {
        if (warp == 1)
            be_late();
        NAMED_SYNC(w, 3, 64);
    } else if (warp < 4) {
        if (warp == 3)
            for (int i = 0; i < 4; i++)
                be_late();
        for (int i = 0; i < 2; i++)
            NAMED_SYNC(w, FIXED ? 4 : 3, 64);
    }
}
