/* parity_first_phase - the producer begins with the parity of a consumer: it waits for a slot that nobody has filled
 * yet.
 *
 * Shaped after: rchardx/hopper-gemm#3, where the first wait of the producer passes at once by design.
 * Cause: PARITY_WRONG.  Roles: the producer waits, and with it the consumers.  Barrier: empty[0].
 * Fix: the producer's phase starts at 1.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(parity_first_phase, )
{
    const int trips = 3 * STAGES;
    const uint32_t first_phase = FIXED ? 1 : 0;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        uint32_t stage = 0, phase = first_phase;
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, phase, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
            if (++stage == STAGES) {
                stage = 0;
                phase ^= 1;
            }
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        uint32_t stage = 0, phase = 0;
#pragma unroll 1
        for (int i = 0; i < trips; i++) {
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, phase, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
            if (++stage == STAGES) {
                stage = 0;
                phase ^= 1;
            }
        }
    }
}
