/* ok_surplus_release - correct: the consumers release the slots of the last round although nothing is loaded any more.
 *
 * Looks wrong: more arrivals than waits at the end, while another warpgroup works on.
 *
 * Shaped after: Dao-AILab/flash-attention#1372 (a last arrive that the next tile would need).
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_surplus_release, )
{
    const int trips = 2 * STAGES;
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
            RELEASE_STAGE(w, s, stage, i);
        }
        if (warp == 4)
            work(in, in.work_ns);
    }
    __syncwarp();
    NAMED_SYNC(w, 0, RING_THREADS);
}
