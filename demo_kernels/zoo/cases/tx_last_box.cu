/* tx_last_box - the last k-block is half a box: the copy is cut there, the bytes announced are not.
 *
 * Shaped after: mirage-project/mirage#705 (bytes announced and bytes delivered differ), at a ragged end.
 * Cause: TX_MISMATCH.  Roles: the producer announces, the consumers wait for the last k-block.  Barrier: full.
 * Fix: announce what the copy delivers.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(tx_last_box, )
{
    const int total_bytes = 3 * STAGES * COPY_BYTES - COPY_BYTES / 2;
    const int trips = (total_bytes + COPY_BYTES - 1) / COPY_BYTES;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES, bytes = min(COPY_BYTES, total_bytes - i * COPY_BYTES);
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, FIXED ? bytes : COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, bytes);
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
