/* tx_multicast_mask - the mask of a multicast copy names CTA 0 only: CTA 1 announces bytes that go elsewhere.
 *
 * Each CTA of the pair loads half of a stage for both.  The defect is in CTA 1's half and in CTA 0's: both name CTA 0.
 *
 * Shaped after: facebookexperimental/triton#1425.
 * Cause: TX_MISMATCH.  Roles: the producers issue, the consumers of CTA 1 wait.  Barrier: full[0].
 * Fix: the mask is 3.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define PART_BYTES (COPY_BYTES / CLUSTER_CTAS)

ZOO_CASE(tx_multicast_mask, __cluster_dims__(CLUSTER_CTAS, 1, 1))
{
    const uint32_t rank = blockIdx.x % CLUSTER_CTAS;
    const uint16_t mask = FIXED ? (1 << CLUSTER_CTAS) - 1 : 1;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    CLUSTER_SYNC(w);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        /* One round: no slot is used twice, so nobody waits for the peer's. */
        for (int i = 0; i < STAGES; i++) {
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, i, i, COPY_BYTES);
            WSDBG_TMA_ISSUE(w, BARRIER_FULL, i, i, PART_BYTES, mask);
            bulk_copy_multicast(s->slots[i] + rank * PART_BYTES, in.source + i * COPY_BYTES + rank * PART_BYTES,
                                PART_BYTES, &s->full[i], mask);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        for (int i = 0; i < STAGES; i++) {
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, i, 0, i);
            consume(s, i);
        }
    }
    __syncwarp();
    CLUSTER_SYNC(w);
}
