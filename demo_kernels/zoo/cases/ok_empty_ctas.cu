/* ok_empty_ctas - correct: most CTAs have no tile and exit at once, one works; its spare producer warps have exited,
 * too.
 *
 * Looks wrong: exited warps and CTAs beside one whose consumers wait.
 *
 * Shaped after: Dao-AILab/flash-attention#1254, as it should be.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_empty_ctas, )
{
    const int trips = blockIdx.x == 0 ? 2 * STAGES : 0;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            if (i == STAGES)
                work(in, in.work_ns);
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
