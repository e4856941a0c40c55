/* tx_wrong_stage - a stage index left over from the loop before: the bytes of one stage complete on the barrier of
 * another.
 *
 * Shaped after: tile-ai/tilelang#1828.
 * Cause: TX_MISMATCH: what is announced on a stage and what its copy completes there differ.  Roles: the producer
 * issues, the consumers wait.  Barrier: full. Fix: one stage index for the barrier of the announcement and of the copy.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(tx_wrong_stage, )
{
    const int trips = 3 * STAGES;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        const uint32_t left_over = FIXED ? 0 : STAGES - 1;
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES, stage_of_copy = FIXED ? stage : left_over;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            LOAD_STAGE(w, s, stage_of_copy, i, in.source + i * COPY_BYTES, COPY_BYTES);
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
