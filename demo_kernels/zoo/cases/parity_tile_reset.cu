/* parity_tile_reset - a persistent producer starts every tile with the phase of the first one.
 *
 * A tile has as many k-blocks as the ring has stages, so after one tile every phase bit has turned; with twice as many
 * k-blocks nothing would be seen.  The producer lets the ring run empty at the end of a tile.
 *
 * Shaped after: tile-ai/tilelang#2674.
 * Cause: PARITY_DRIFT.  Roles: the producer waits in the second tile, and with it the consumers.  Barrier: empty[0].
 * Fix: carry the phase over from tile to tile.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define TILES 3
#define K_BLOCKS STAGES

ZOO_CASE(parity_tile_reset, )
{
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
        uint32_t phase = 1;
#pragma unroll 1
        for (int tile = 0; tile < TILES; tile++) {
            WSDBG_TILE_BEGIN(w, tile * K_BLOCKS, tile);
            if (!FIXED)
                phase = 1;
            for (int k = 0; k < K_BLOCKS; k++) {
                const int i = tile * K_BLOCKS + k;
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, k, phase, i);
                MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, k, i, COPY_BYTES);
                LOAD_STAGE(w, s, k, i, in.source + i * COPY_BYTES, COPY_BYTES);
            }
            phase ^= 1;
            for (int k = 0; k < K_BLOCKS; k++)
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, k, phase, tile * K_BLOCKS + k);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < TILES * K_BLOCKS; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
