/* ok_arrive_counts_both - correct: 128 threads arrive and 128 sync on a named barrier whose count is 256, the total of
 * both.
 *
 * Looks wrong: a role of 128 threads that names 256.  Every hand-over takes a consumer long.
 *
 * Shaped after: deepseek-ai/FlashMLA#41, and #57 which "fixed" it.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define ROUNDS 4

ZOO_CASE(ok_arrive_counts_both, )
{
    const uint32_t both = RING_THREADS;
    if (warp < 4) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < ROUNDS; i++) {
            NAMED_ARRIVE(w, 1, both);
            NAMED_SYNC(w, 2, both);
        }
    } else {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < ROUNDS; i++) {
            NAMED_SYNC(w, 1, both);
            if (warp == 4)
                work(in, in.work_ns / ROUNDS);
            NAMED_ARRIVE(w, 2, both);
        }
    }
}
