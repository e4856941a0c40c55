/* tx_copy_stranded - the producer announces the bytes, the copy stands in the consumers' branch behind their wait for
 * it.
 *
 * Shaped after: cloudrift-ai/emmy#217 (the copies of a producer that a compiler left in the branch of the consumer).
 * Cause: TMA_NEVER_COMPLETED: announced, arrived, never issued.  Roles: the consumers wait for bytes that they would
 * ask for themselves.  Barrier: full[0]. Fix: the producer issues the copy.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(tx_copy_stranded, )
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
            if (FIXED)
                LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            if (!FIXED && threadIdx.x == WARPGROUP_THREADS)
                LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
