/* cluster_cta_skips - CTA 1 of a pair has no rows in the second tile and skips it, with the releases that CTA 0 needs
 * of it.
 *
 * CTA 0 loads for both: its slots are free when the consumers of both have released them.
 *
 * Shaped after: facebookexperimental/triton#908 (the CTAs of odd rank go another way).
 * Cause: ARRIVE_MISSING.  Roles: the consumers of CTA 1, the producer of CTA 0 waits.  Barrier: empty.
 * Fix: skip the arithmetic, not the protocol.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define TILES 2
#define K_BLOCKS (2 * STAGES)

ZOO_CASE(cluster_cta_skips, __cluster_dims__(CLUSTER_CTAS, 1, 1))
{
    const uint32_t rank = blockIdx.x % CLUSTER_CTAS;
    const uint16_t all = (1 << CLUSTER_CTAS) - 1;
    RING_INIT(w, s, 1, CLUSTER_CTAS * CONSUMER_WARPS);
    CLUSTER_SYNC(w);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < TILES * K_BLOCKS; i++) {
            const uint32_t stage = i % STAGES;
            /* Both wait for the slot's bytes, CTA 0 alone for the slot, and fills it in both. */
            if (rank == 0)
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            if (rank == 0) {
                WSDBG_TMA_ISSUE(w, BARRIER_FULL, stage, i, COPY_BYTES, all);
                bulk_copy_multicast(s->slots[stage], in.source, COPY_BYTES, &s->full[stage], all);
            } else {
                MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            }
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < TILES * K_BLOCKS; i++) {
            const uint32_t stage = i % STAGES;
            if (!FIXED && rank == 1 && i >= K_BLOCKS)
                break;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            __syncwarp();
            if (is_lane_0())
                MBARRIER_ARRIVE_REMOTE(w, BARRIER_EMPTY, s->empty, stage, i, 0);
        }
    }
    __syncwarp();
    CLUSTER_SYNC(w);
}
