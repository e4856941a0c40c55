/* role_disagree - the slot with the number of tiles is written again before all roles have read it: they disagree about
 * the end.
 *
 * The consumers read that there is one tile and go to the closing sync of the block; the producer reads two.
 *
 * Shaped after: tile-ai/tilelang#2410.
 * Cause: ROLE_DISAGREE.  Roles: the consumers have left their loop, the producer waits for slots of the second tile.
 * Barrier: empty. Fix: a sync between the reads and the next write.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define K_BLOCKS (2 * STAGES)

ZOO_CASE(role_disagree, )
{
    if (threadIdx.x == 0)
        s->words[0] = 1;
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    volatile uint32_t *const slot = &s->words[0];
    uint32_t tiles = 1;
    if (FIXED || warp >= 4) {
        tiles = *slot;
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *slot = 2;
    if (!FIXED && warp < 4) {
        __syncwarp();
        tiles = *slot;
    }
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int i = 0; i < (int)tiles * K_BLOCKS; i++) {
            const uint32_t stage = i % STAGES;
            if (i % K_BLOCKS == 0)
                WSDBG_TILE_BEGIN(w, i, i / K_BLOCKS);
            MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
            MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
            LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < (int)tiles * K_BLOCKS; i++) {
            const uint32_t stage = i % STAGES;
            if (i % K_BLOCKS == 0)
                WSDBG_TILE_BEGIN(w, i, i / K_BLOCKS);
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
    __syncwarp();
    NAMED_SYNC(w, 0, RING_THREADS);
}
