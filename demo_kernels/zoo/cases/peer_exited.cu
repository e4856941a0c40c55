/* peer_exited - CTA 0 waits for a word from the other CTA of its pair, which has left the kernel without it.
 *
 * Shaped after: Dao-AILab/flash-attention, AI/DEBUG_2CTA.md (the tail waits on a consumer of the other CTA that has
 * exited). Cause: PEER_EXITED.  Roles: the consumers of CTA 1 have exited, the producer of CTA 0 waits.  Barrier: done.
 * Fix: arrive before leaving.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES(, WSDBG_MBARRIER(BARRIER_THIRD, "done", 1, BIT(ROLE_CONSUMER), BIT(ROLE_PRODUCER)))

ZOO_CASE(peer_exited, __cluster_dims__(CLUSTER_CTAS, 1, 1))
{
    const uint32_t rank = blockIdx.x % CLUSTER_CTAS;
    if (threadIdx.x == 0)
        MBARRIER_INIT(w, BARRIER_THIRD, s->third, 0, CLUSTER_CTAS * CONSUMER_WARPS);
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    CLUSTER_SYNC(w);
    if (warp == 0 && rank == 0) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        if (is_lane_0())
            MBARRIER_WAIT(w, BARRIER_THIRD, s->third, 0, 0, 0);
        __syncwarp();
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        const bool has_rows = rank == 0 || load_word(in.words) != 0;
        if ((FIXED || has_rows) && is_lane_0())
            MBARRIER_ARRIVE_REMOTE(w, BARRIER_THIRD, s->third, 0, 0, 0);
        __syncwarp();
    }
    /* The fixed kernel closes with a cluster barrier, so that no arrival finds its CTA gone. */
    if (FIXED)
        CLUSTER_SYNC(w);
}
