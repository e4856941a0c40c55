/* tx_rank_asymmetry - the CTAs of a pair decide for themselves whether B may be multicast, and disagree.
 *
 * The pair straddles two groups.  Rank 0 finds multicast wrong there and loads B for itself; rank 1 finds it right and
 * counts on rank 0's copy.
 *
 * Shaped after: deepseek-ai/DeepGEMM#415.
 * Cause: CLUSTER_RANK_ASYMMETRY.  Roles: the producers, the consumers of CTA 1 wait.  Barrier: full[0].
 * Fix: both decide from the group of the same CTA.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define HALF_BYTES (COPY_BYTES / 2)

/* Group 0 is one row of tiles: the pair of CTAs 0 and 1 has a tile in either group. */
DEVICE bool may_multicast(uint32_t tile)
{
    const uint32_t group = tile < 1 ? 0 : 1;
    return group == 1;
}

ZOO_CASE(tx_rank_asymmetry, __cluster_dims__(CLUSTER_CTAS, 1, 1))
{
    const uint32_t rank = blockIdx.x % CLUSTER_CTAS;
    const uint16_t all = (1 << CLUSTER_CTAS) - 1;
    const bool is_multicast = may_multicast(FIXED ? blockIdx.x - rank : blockIdx.x);
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    CLUSTER_SYNC(w);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        for (int i = 0; i < STAGES; i++) {
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, i, i, COPY_BYTES);
            LOAD_STAGE(w, s, i, i, in.source + i * COPY_BYTES, HALF_BYTES);
            if (is_multicast && rank == 0) {
                WSDBG_TMA_ISSUE(w, BARRIER_FULL, i, i, HALF_BYTES, all);
                bulk_copy_multicast(s->slots[i] + HALF_BYTES, in.source, HALF_BYTES, &s->full[i], all);
            } else if (!is_multicast) {
                WSDBG_TMA_ISSUE(w, BARRIER_FULL, i, i, HALF_BYTES, 0);
                bulk_copy(s->slots[i] + HALF_BYTES, in.source, HALF_BYTES, &s->full[i]);
            }
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
