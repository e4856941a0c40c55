/* lane_split_elected - the lanes that do not issue copies follow the phase on their own and fall behind the elected
 * one.
 *
 * Lanes 1 to 31 test "empty" later than lane 0, which has long gone round the ring: an odd number of releases later the
 * phase they wait for is under way and nobody will end it.
 *
 * Shaped after: NVIDIA/cutlass#3654.
 * Cause: LANE_SPLIT.  Roles: the producer's lanes.  Barrier: empty[0].
 * Fix: __syncwarp() after the elected lane's part, here: the others do not wait on their own.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define ROUNDS 3 /* odd */

ZOO_CASE(lane_split_elected, )
{
    const int trips = ROUNDS * STAGES;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        if (is_lane_0()) {
#pragma unroll 1
            for (int i = 0; i < trips; i++) {
                const uint32_t stage = i % STAGES;
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
                MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
                LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
            }
        } else if (!FIXED) {
            be_late();
#pragma unroll 1
            for (int i = 0; i < trips; i++)
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, i % STAGES, (i / STAGES ^ 1) & 1, i);
        }
        __syncwarp();
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
