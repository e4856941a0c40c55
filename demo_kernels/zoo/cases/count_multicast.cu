/* count_multicast - "empty" counts the consumers of two CTAs, as for multicast copies; there is no multicast and only
 * one CTA's arrive.
 *
 * Shaped after: deepseek-ai/DeepGEMM#51.
 * Cause: ARRIVE_SHORT.  Roles: the producer waits for a slot that all consumers have released.  Barrier: empty[0].
 * Fix: the count is the multicast factor (1) times the consumer warps.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(count_multicast, )
{
    const int trips = 3 * STAGES, multicast = FIXED ? 1 : 2;
    RING_INIT(w, s, 1, multicast * CONSUMER_WARPS);
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
