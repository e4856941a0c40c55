/* cluster_one_role - the cluster barrier stands in the consumers' branch: the producers never reach it.
 *
 * Shaped after: triton-lang/triton#9456.
 * Cause: CLUSTER_MISSING.  Roles: the consumers stand at it, the producers wait for a slot of theirs.  Barrier: cluster
 * barrier. Fix: the consumers meet at an mbarrier, or every thread reaches the cluster barrier; here all do,
 * after the loops.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(cluster_one_role, __cluster_dims__(CLUSTER_CTAS, 1, 1))
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
            if (!FIXED && i == 0)
                CLUSTER_SYNC(w);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
    __syncwarp();
    CLUSTER_SYNC(w);
}
