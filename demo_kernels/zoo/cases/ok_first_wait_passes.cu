/* ok_first_wait_passes - correct: the producer's first wait has parity 1 on a fresh barrier and passes at once; a
 * consumer is slow.
 *
 * Looks wrong: a wait that nobody has arrived for, and then a producer that waits for ever so long.
 *
 * Shaped after: rchardx/hopper-gemm#3.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_first_wait_passes, )
{
    const int trips = 3 * STAGES;
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
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            if (warp == 4)
                work(in, in.work_ns / trips);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
