/* peer_gone - CTA 1 of a pair leaves the kernel; CTA 0 arrives on a barrier in its shared memory afterwards: an error,
 * not a hang.
 *
 * Shaped after: sgl-project/sglang#32907 (no cluster barrier at the end of the kernel).
 * Cause: PEER_EXITED, from a dump of the error.  Roles: the consumers of CTA 0.  Barrier: empty[0].
 * Fix: a cluster barrier at the end.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(peer_gone, __cluster_dims__(CLUSTER_CTAS, 1, 1))
{
    const uint32_t rank = blockIdx.x % CLUSTER_CTAS;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    CLUSTER_SYNC(w);
    if (rank == 0 && warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        be_late();
        if (is_lane_0())
            MBARRIER_ARRIVE_REMOTE(w, BARRIER_EMPTY, s->empty, 0, 0, 1);
        __syncwarp();
        be_late();
    }
    if (FIXED)
        CLUSTER_SYNC(w);
}
