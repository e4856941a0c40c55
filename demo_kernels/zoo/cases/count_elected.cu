/* count_elected - "full" is initialised for every thread of the producer's warpgroup; one elected lane arrives.
 *
 * Shaped after: NVIDIA/cutlass#2404.
 * Cause: ARRIVE_SHORT.  Roles: the consumers wait for a slot whose bytes are there.  Barrier: full[0].
 * Fix: the count is 1.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(count_elected, )
{
    const int trips = 3 * STAGES;
    RING_INIT(w, s, FIXED ? 1 : WARPGROUP_THREADS, CONSUMER_WARPS);
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
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
