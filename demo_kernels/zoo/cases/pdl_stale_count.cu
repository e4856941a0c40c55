/* pdl_stale_count - one role of a dependent grid reads the number of blocks before the grid that writes it is done:
 * stale, zero.
 *
 * Launched twice in a stream, the second time as a programmatic dependent.  The first grid lets the second one start,
 * waits until it has, is late, and writes the count.
 *
 * Shaped after: Dao-AILab/quack#206, NVIDIA/cutlass#2962.
 * Cause: WAKER_EXITED.  Roles: the consumers found no work and have exited, the producer waits.  Barrier: empty[0].
 * Fix: griddepcontrol.wait before the read, in every role.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define BLOCKS (2 * STAGES)

ZOO_CASE(pdl_stale_count, )
{
    if (in.part == 0) {
        asm volatile("griddepcontrol.launch_dependents;");
        if (threadIdx.x == 0)
            while (load_word(&in.words[1]) == 0)
                __nanosleep(100);
        __syncthreads();
        be_late();
        if (threadIdx.x == 0)
            store_word(&in.words[0], BLOCKS);
        return;
    }
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (threadIdx.x == 0)
        store_word(&in.words[1], 1);
    if (warp == 0) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        asm volatile("griddepcontrol.wait;" ::: "memory");
        const int blocks = load_word(&in.words[0]);
#pragma unroll 1
        for (int i = 0; is_lane_0() && i < blocks; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        if (FIXED)
            asm volatile("griddepcontrol.wait;" ::: "memory");
        const int blocks = load_word(&in.words[0]);
#pragma unroll 1
        for (int i = 0; i < blocks; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
    __syncwarp();
}
