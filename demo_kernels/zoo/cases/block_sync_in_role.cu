/* block_sync_in_role - a sync of the whole block stands in the consumers' branch, which the producer
 * never enters.
 *
 * Shaped after: NVIDIA/Fuser#4187.
 * Cause: BLOCK_SYNC_IN_ROLE.  Roles: the consumers stand at it, the producer waits for a slot of theirs.  Barrier:
 * named barrier 0. Fix: a named barrier with the consumers' count.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(block_sync_in_role, )
{
    const int trips = 3 * STAGES;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; is_lane_0() && i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
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
            if (FIXED)
                NAMED_SYNC(w, 1, CONSUMER_THREADS);
            else
                NAMED_SYNC(w, 0, RING_THREADS);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
