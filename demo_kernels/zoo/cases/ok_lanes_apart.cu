/* ok_lanes_apart - correct: an elected lane does the producer's work, the other 31 wait for it at a __syncwarp().
 *
 * Looks wrong: lanes of one warp at different places, for long.
 *
 * Shaped after: NVIDIA/cutlass#3654, as it should be.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_lanes_apart, )
{
    const int trips = 2 * STAGES;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            if (is_lane_0()) {
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
                MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
                LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
            }
            __syncwarp();
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            if (warp == 5)
                work(in, in.work_ns / trips);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
