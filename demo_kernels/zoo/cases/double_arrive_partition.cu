/* double_arrive_partition - both partitions of a role fill slot 0: two arrivals on "full" with no wait between them.
 *
 * The phase ends twice before the consumers, who need another operand first, look at it.
 *
 * Shaped after: facebookexperimental/triton#3658.
 * Cause: DOUBLE_ARRIVE.  Roles: the producer arrives twice, the consumers wait.  Barrier: full[0].
 * Fix: the second partition has a slot of its own.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES(, WSDBG_MBARRIER(BARRIER_THIRD, "operand", 1, BIT(ROLE_PRODUCER), BIT(ROLE_CONSUMER)))

ZOO_CASE(double_arrive_partition, )
{
    if (threadIdx.x == 0)
        MBARRIER_INIT(w, BARRIER_THIRD, s->third, 0, 32);
    RING_INIT(w, s, 32, CONSUMER_WARPS);
    if (warp == 0) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        for (int partition = 0; partition < 2; partition++) {
            const uint32_t slot = FIXED ? partition : 0;
            s->slots[slot][threadIdx.x] = (unsigned char)partition;
            MBARRIER_ARRIVE(w, BARRIER_FULL, s->full, slot, partition);
        }
        be_late();
        MBARRIER_ARRIVE(w, BARRIER_THIRD, s->third, 0, 0);
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        MBARRIER_WAIT(w, BARRIER_THIRD, s->third, 0, 0, 0);
        MBARRIER_WAIT(w, BARRIER_FULL, s->full, 0, 0, 0);
        consume(s, 0);
        if (FIXED)
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, 1, 0, 1);
    }
}
