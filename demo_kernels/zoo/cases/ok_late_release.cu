/* ok_late_release - correct: the consumers wait for registers until the producer, after long work of its own, gives its
 * back.
 *
 * Looks wrong: eight warps in setmaxnreg.inc, and a pool that cannot serve them yet.
 *
 * Shaped after: NVIDIA/cutlass#2007, with numbers that fit.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_late_release, __launch_bounds__(384, 1))
{
    if (warp < 4) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        work(in, in.work_ns);
        REGISTERS_RELEASE(w, 40);
    } else {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        REGISTERS_REQUEST(w, 232);
    }
    NAMED_SYNC(w, 0, 384);
}
