/* arrive_other_barrier - A and B have a slot each with its own "empty"; the consumers release A's and never B's.
 *
 * Shaped after: facebookresearch/CUTracer, tests/hang_test/hopper_matmul_kernel_tlx_ws.py.
 * Cause: ARRIVE_MISSING.  Roles: the consumers never arrive, the producer waits.  Barrier: empty b.
 * Fix: release both slots.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES(, WSDBG_MBARRIER_FREE(BARRIER_THIRD, "empty b", STAGES, BIT(ROLE_CONSUMER), BIT(ROLE_PRODUCER)))

ZOO_CASE(arrive_other_barrier, )
{
    const int trips = 3 * STAGES;
    if (threadIdx.x == 0)
        for (int stage = 0; stage < STAGES; stage++)
            MBARRIER_INIT(w, BARRIER_THIRD, s->third, stage, CONSUMER_WARPS);
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES, parity = (i / STAGES ^ 1) & 1;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, parity, i);
            MBARRIER_WAIT(w, BARRIER_THIRD, s->third, stage, parity, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, 2 * COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
            WSDBG_TMA_ISSUE(w, BARRIER_FULL, stage, i, COPY_BYTES, 0);
            bulk_copy(s->slots[stage] + COPY_BYTES, in.source, COPY_BYTES, &s->full[stage]);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
            if (FIXED && is_lane_0())
                MBARRIER_ARRIVE(w, BARRIER_THIRD, s->third, stage, i);
        }
    }
}
