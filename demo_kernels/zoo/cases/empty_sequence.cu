/* empty_sequence - for a sequence of length zero the producer returns at once; the consumers always wait for a first
 * block.
 *
 * Shaped after: Dao-AILab/flash-attention#1254 (variable lengths, some zero).
 * Cause: WAKER_EXITED.  Roles: the producer has exited, the consumers wait.  Barrier: full[0].
 * Fix: the consumers test for length zero, too.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(empty_sequence, )
{
    const int length = blockIdx.x == 0 ? 4 * STAGES : 0;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < length; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
        }
    } else if (warp >= 4 && !(FIXED && length == 0)) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        int i = 0;
        do {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        } while (++i < length);
    }
}
