/* trip_count - the producer rounds the number of k-blocks down, the consumers round it up.
 *
 * Shaped after: flashinfer-ai/flashinfer#2957 (roles that count the work of a tile differently).
 * Cause: WAKER_EXITED.  Roles: the producer is done and has exited, the consumers wait for one more block.  Barrier:
 * full. Fix: both round up.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define K_OF_BLOCK 64

ZOO_CASE(trip_count, )
{
    const int k = 3 * STAGES * K_OF_BLOCK + 8;
    const int produced = FIXED ? (k + K_OF_BLOCK - 1) / K_OF_BLOCK : k / K_OF_BLOCK;
    const int consumed = (k + K_OF_BLOCK - 1) / K_OF_BLOCK;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < produced; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < consumed; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
