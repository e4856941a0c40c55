/* tail_exited_consumer - the producer's tail waits for slots of blocks that the consumers skipped: they have exited by
 * then.
 *
 * The last round of blocks is masked out altogether.  The consumers leave their loop before it; the producer loads it,
 * and waits for all slots before it ends.
 *
 * Shaped after: Dao-AILab/flash-attention, AI/DEBUG_2CTA.md (the tail waits on a consumer that has exited).
 * Cause: WAKER_EXITED.  Roles: the consumers have exited, the producer waits.  Barrier: empty.
 * Fix: both leave out the masked blocks.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(tail_exited_consumer, )
{
    const int blocks = 4 * STAGES, unmasked = 3 * STAGES;
    const int trips = FIXED ? unmasked : blocks;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
        }
#pragma unroll 1
        for (int i = trips; i < trips + STAGES; i++)
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, i % STAGES, (i / STAGES ^ 1) & 1, i);
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < unmasked; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
