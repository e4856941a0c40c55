/* tx_too_few - the box of the copy is twice as large as what is announced: the bytes of a stage never come out even.
 *
 * Shaped after: mirage-project/mirage#705 (1024 bytes expected, 2048 delivered).
 * Cause: TX_MISMATCH.  Roles: the producer announces, the consumers wait.  Barrier: full.
 * Fix: announce what the copy delivers.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define BOX_BYTES (2 * COPY_BYTES)

ZOO_CASE(tx_too_few, )
{
    const int trips = 8 * STAGES;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, FIXED ? BOX_BYTES : COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source, BOX_BYTES);
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
