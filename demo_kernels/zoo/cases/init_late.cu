/* init_late - no sync after the initialisation: a producer that is early arrives on barriers that are then initialised
 * over it.
 *
 * Warp 4 initialises, late; warp 0 has arrived by then and does not come again.  A race in the wild; the delay makes it
 * hang every time.  Shared memory holds what a CTA before left there, mostly barriers of the same kernel: here too.  (On
 * a word that is no barrier the arrival would be an error.)
 *
 * Shaped after: NVIDIA/Fuser#1552.
 * Cause: BARRIER_NOT_INIT: used before it was initialised.  Roles: the producer's arrival is lost, the consumers wait.
 * Barrier: full[0]. Fix: __syncthreads() after the initialisation.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(init_late, )
{
    if (threadIdx.x == 0)
        mbarrier_init(&s->full[0], 1); /* the CTA before, not this one */
    __syncthreads();
    if (threadIdx.x == WARPGROUP_THREADS) {
        be_late();
        MBARRIER_INIT(w, BARRIER_FULL, s->full, 0, 1);
        mbarrier_init_fence();
    }
    if (FIXED || warp >= 4) {
        __syncwarp();
        NAMED_SYNC(w, 1, FIXED ? RING_THREADS : CONSUMER_THREADS);
    }
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        MBARRIER_ARRIVE(w, BARRIER_FULL, s->full, 0, 0);
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        MBARRIER_WAIT(w, BARRIER_FULL, s->full, 0, 0, 0);
        consume(s, 0);
    }
}
