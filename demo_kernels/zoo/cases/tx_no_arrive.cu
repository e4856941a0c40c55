/* tx_no_arrive - the bytes of a copy are expected and land, and nobody arrives: expect_tx is no arrival.
 *
 * Shaped after: tile-ai/tilelang#2566 (the one-dimensional bulk copy, a loop of one trip).
 * Cause: TX_NO_ARRIVE.  Roles: the producer expects, the consumers wait.  Barrier: full[0].
 * Fix: mbarrier.arrive.expect_tx.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(tx_no_arrive, )
{
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, 0, 1, 0);
        if (FIXED)
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, 0, 0, COPY_BYTES);
        else
            MBARRIER_EXPECT_TX(w, BARRIER_FULL, s->full, 0, 0, COPY_BYTES);
        LOAD_STAGE(w, s, 0, 0, in.source, COPY_BYTES);
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        MBARRIER_WAIT(w, BARRIER_FULL, s->full, 0, 0, 0);
        consume(s, 0);
        RELEASE_STAGE(w, s, 0, 0);
    }
}
