/* ok_slow_producer - correct: all consumers wait for a slot, the producer computes for long before each copy.
 *
 * Looks wrong: a full warpgroup in one mbarrier wait, and no copy under way.
 *
 * Shaped after: no report; what a watchdog must not take for a hang.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_slow_producer, )
{
    const int trips = 2 * STAGES;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            work(in, in.work_ns / trips);
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
