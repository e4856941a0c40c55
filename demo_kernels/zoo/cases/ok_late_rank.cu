/* ok_late_rank - correct: one CTA of a pair works for long before it reaches the cluster barrier.
 *
 * Looks wrong: a CTA of which every warp stands at the cluster barrier.
 *
 * Shaped after: no report; uneven work in a cluster.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_late_rank, __cluster_dims__(CLUSTER_CTAS, 1, 1))
{
    if (blockIdx.x % 2 == 1 && warp == 0)
        work(in, in.work_ns);
    __syncwarp();
    CLUSTER_SYNC(w);
}
