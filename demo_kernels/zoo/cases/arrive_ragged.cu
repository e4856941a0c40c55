/* arrive_ragged - a consumer warp whose rows lie outside of a ragged tile takes an early `continue`, past the release
 * of the slot.
 *
 * Shaped after: huggingface/candle#3603.
 * Cause: ARRIVE_MISSING.  Roles: one warp of the consumers leaves out its arrival, the producer waits.  Barrier: empty.
 * Fix: release the slot on that path, too.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(arrive_ragged, )
{
    const int trips = 4 * STAGES, rows_of_warp = 16;
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
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            const int rows = i < 2 * STAGES ? CONSUMER_WARPS * rows_of_warp : CONSUMER_WARPS * rows_of_warp - 24;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            if ((warp - 4) * rows_of_warp >= rows) {
                if (FIXED)
                    RELEASE_STAGE(w, s, stage, i);
                continue;
            }
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
