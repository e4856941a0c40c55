/* init_forgotten - the loop that initialises the barriers ends one stage early.
 *
 * The memory of the last stage's barriers is set to zero first, as a fresh CTA's is not defined.
 *
 * Shaped after: facebookexperimental/triton#462 (storage of barriers that is not what its users think).
 * Cause: BARRIER_NOT_INIT.  Roles: the consumers wait for it.  Barrier: full, the last stage.
 * Fix: initialise all stages.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(init_forgotten, )
{
    const int initialised = FIXED ? STAGES : STAGES - 1;
    if (threadIdx.x == 0) {
        s->full[STAGES - 1] = 0;
        for (int stage = 0; stage < STAGES; stage++)
            MBARRIER_INIT(w, BARRIER_EMPTY, s->empty, stage, CONSUMER_WARPS);
        for (int stage = 0; stage < initialised; stage++)
            MBARRIER_INIT(w, BARRIER_FULL, s->full, stage, 1);
        mbarrier_init_fence();
    }
    __syncthreads();
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        for (int i = 0; i < STAGES - (FIXED ? 0 : 1); i++) {
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, i, i, COPY_BYTES);
            LOAD_STAGE(w, s, i, i, in.source + i * COPY_BYTES, COPY_BYTES);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        for (int i = 0; i < STAGES; i++) {
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, i, 0, i);
            consume(s, i);
            RELEASE_STAGE(w, s, i, i);
        }
    }
}
