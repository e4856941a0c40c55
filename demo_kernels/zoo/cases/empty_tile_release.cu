/* empty_tile_release - for an empty tile the consumers release slots that nobody filled: the phase turns once too
 * often.
 *
 * The second of three tiles has no k-blocks.  The producer, which has a table to read between tiles, comes late enough
 * to find the phase back where it was.
 *
 * Shaped after: Dao-AILab/flash-attention#2258.
 * Cause: DOUBLE_ARRIVE.  Roles: the consumers arrive twice, the producer waits.  Barrier: empty[0].
 * Fix: release only what was waited for.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define TILES 3

DEVICE int k_blocks_of(int tile)
{
    return tile == 1 ? 0 : STAGES;
}

ZOO_CASE(empty_tile_release, )
{
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        int i = 0;
#pragma unroll 1
        for (int tile = 0; tile < TILES; tile++) {
            WSDBG_TILE_BEGIN(w, i, tile);
#pragma unroll 1
            for (int k = 0; k < k_blocks_of(tile); k++, i++) {
                const uint32_t stage = i % STAGES;
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (i / STAGES ^ 1) & 1, i);
                MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
                LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
            }
            be_late();
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
        int i = 0;
#pragma unroll 1
        for (int tile = 0; tile < TILES; tile++) {
            WSDBG_TILE_BEGIN(w, i, tile);
#pragma unroll 1
            for (int k = 0; k < k_blocks_of(tile); k++, i++) {
                const uint32_t stage = i % STAGES;
                MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
                consume(s, stage);
                RELEASE_STAGE(w, s, stage, i);
            }
            if (!FIXED && k_blocks_of(tile) == 0)
                RELEASE_STAGE(w, s, i % STAGES, i);
        }
    }
}
