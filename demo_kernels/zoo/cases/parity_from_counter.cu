/* parity_from_counter - the iteration is taken for the phase: its lowest bit turns at every k-block, not at every round
 * of the ring.
 *
 * Shaped after: Dao-AILab/flash-attention, AI/DEBUG_2CTA.md (a counter that only grows is passed as the phase).
 * Cause: PARITY_DRIFT: the first wait is right, the second is not.  Roles: the producer waits.  Barrier: empty[1].
 * Fix: the parity is that of the round, i / STAGES.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(parity_from_counter, )
{
    const int trips = 3 * STAGES;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES, counter = FIXED ? i / STAGES : i;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (counter ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
